//! What came of steps, as facts (K23, K27, K28, K39).

use super::super::super::ids::{DeploymentId, ServerId};
use super::super::super::kura::change::KuraChange;
use super::super::super::kura::deployment::Closing;
use super::super::super::kura::object::{ObjectKind, ObjectRef, Version};
use super::super::super::kura::step::{Deed, Outcome, Purpose, Ran, Step};
use super::super::draft::Draft;

/// Records one outcome. Trouble is told once, and once more when it is over.
pub(super) fn record(draft: &mut Draft<'_>, ran: &Ran) {
    let (step, outcome) = (&ran.step, &ran.outcome);
    if *outcome == Outcome::Done {
        done(draft, step);
    }
    match &step.purpose {
        Purpose::Converge { server, .. } | Purpose::NotReady { server, .. } | Purpose::Destroy { server } => {
            troubled(draft, *server, &step.object, outcome);
        }
        Purpose::Asked => asked(draft, step, outcome),
        Purpose::Collect | Purpose::Roll { .. } => {}
    }
    if let (Purpose::Converge { server, deployment: Some(row), .. }, Outcome::Invalid { why }) =
        (&step.purpose, outcome)
    {
        fail(draft, *server, *row, why);
    }
}

fn done(draft: &mut Draft<'_>, step: &Step) {
    match &step.purpose {
        Purpose::Converge { server, deployment, revision, image, new_image }
            if step.object.kind == ObjectKind::KuraInstance =>
        {
            let (server, deployment, new_image) = (*server, *deployment, *new_image);
            let (revision, image) = (revision.clone(), image.clone());
            let over = version(step).map(|version| version.resource_version.clone());
            draft.tell(KuraChange::ManifestApplied { server, deployment, revision, image, new_image, over });
        }
        Purpose::NotReady { server, image } => {
            let (pod, uid) =
                (step.object.name.clone(), version(step).map_or(String::new(), |version| version.uid.clone()));
            draft.tell(KuraChange::PodDeleted { server: *server, image: image.clone(), pod, uid });
        }
        Purpose::Collect => draft.tell(KuraChange::Collected { object: step.object.clone() }),
        _ => {}
    }
}

/// An object that moved on is no trouble: the next pass decides anew.
fn troubled(draft: &mut Draft<'_>, id: ServerId, object: &ObjectRef, outcome: &Outcome) {
    let known =
        draft.world().kura.servers.get(&id).and_then(|server| server.troubles.get(&object.to_string()).cloned());
    let trouble = outcome.trouble();
    if *outcome != Outcome::Stale && known != trouble {
        draft.tell(KuraChange::WriteTroubled { server: id, object: object.clone(), trouble });
    }
}

/// What the cluster can never take, or this identity never do, is not asked for again; the person is told.
fn asked(draft: &mut Draft<'_>, step: &Step, outcome: &Outcome) {
    let over = matches!(outcome, Outcome::Done | Outcome::Invalid { .. } | Outcome::Forbidden { .. });
    let Some(version) = version(step).filter(|_| over) else { return };
    let finalizer = match &step.deed {
        Deed::StripFinalizer { finalizer, .. } => Some(finalizer.clone()),
        _ => None,
    };
    let (object, uid, trouble) = (step.object.clone(), version.uid.clone(), outcome.trouble());
    draft.tell(KuraChange::AskedDone { object, uid, finalizer, trouble });
}

fn version(step: &Step) -> Option<&Version> {
    match &step.deed {
        Deed::Apply { from, .. } => from.as_ref(),
        Deed::Delete { from }
        | Deed::StripFinalizer { from, .. }
        | Deed::Cordon { from, .. }
        | Deed::Evict { from, .. } => Some(from),
    }
}

/// Only what the cluster refuses for good fails a deployment; errors of reading or reaching it never do (K27). Whatever
/// took its place meanwhile was not refused.
fn fail(draft: &mut Draft<'_>, id: ServerId, deployment: DeploymentId, why: &str) {
    let open = draft.world().kura.servers.get(&id).and_then(|server| Some(server.open()?.id));
    if open == Some(deployment) {
        let closing = Closing::Failed { error: why.to_owned() };
        draft.tell(KuraChange::DeploymentClosed { server: id, deployment, closing });
    }
}
