//! The reconciler's pass over the estate: schedule, then bring every server a step nearer to what is wanted of it.

use std::collections::BTreeSet;

use super::super::super::ids::ServerId;
use super::super::super::kura::change::KuraChange;
use super::super::super::kura::object::{ObjectRef, Stamp};
use super::super::super::kura::server::ServerStatus;
use super::super::super::kura::sight::Sight;
use super::super::super::kura::step::{Deed, Purpose, Ran, STEPS_PER_PASS, Step};
use super::super::super::observed::Observed;
use super::super::draft::Draft;
use super::{collect, converge, destroy, project, ran, roll, schedule};

/// A tick: newest intent first, whether or not the cluster can be seen; then the cluster.
pub(in super::super) fn ticked(draft: &mut Draft<'_>, observed: &Observed) {
    if draft.world().kura.is_empty() {
        return;
    }
    schedule::schedule(draft);
    if let Some(sight) = &observed.cluster {
        tend(draft, sight);
    }
    draft.limit_steps(STEPS_PER_PASS);
}

/// Steps were carried out, or the cluster looks otherwise. What was tried since the tick is not tried again before the
/// next one: what is seen of it may lag behind what was written.
pub(in super::super) fn seen(
    draft: &mut Draft<'_>,
    observed: &Observed,
    outcomes: &[Ran],
    tried: &BTreeSet<ObjectRef>,
) {
    outcomes.iter().for_each(|one| ran::record(draft, one));
    if let Some(sight) = &observed.cluster {
        tend(draft, sight);
    }
    draft.drop_steps(|step| tried.contains(&step.object) || outcomes.iter().any(|one| one.step.object == step.object));
    draft.limit_steps(STEPS_PER_PASS);
}

/// Every server, then what is nobody's. Nothing is written on a reading of instances that is not fresh (K27).
fn tend(draft: &mut Draft<'_>, sight: &Sight) {
    if !sight.instances.is_fresh(draft.now) {
        return;
    }
    let ids: Vec<ServerId> = draft.world().kura.servers.keys().copied().collect();
    for id in ids {
        let Some(status) = draft.world().kura.servers.get(&id).map(|server| server.status) else { continue };
        match status {
            ServerStatus::Destroyed => {}
            ServerStatus::Destroying => destroy::destroy(draft, sight, id),
            _ => {
                converge::converge(draft, sight, id);
                roll::roll(draft, sight, id);
                project::project(draft, sight, id);
            }
        }
    }
    collect::collect(draft, sight);
    remove_what_was_asked(draft, sight);
}

/// Under the version that is seen now; another object of the same name is left alone.
fn remove_what_was_asked(draft: &mut Draft<'_>, sight: &Sight) {
    for asked in draft.world().kura.asked.clone() {
        let done = |draft: &mut Draft<'_>| {
            let (object, uid) = (asked.object.clone(), asked.uid.clone());
            draft.tell(KuraChange::AskedDone { object, uid, trouble: None });
        };
        let Some(stamp) = stamp_of(sight, &asked.object).filter(|stamp| stamp.uid == asked.uid) else {
            done(draft);
            continue;
        };
        let deed = match &asked.finalizer {
            Some(finalizer) if !stamp.finalizers.contains(finalizer) => {
                done(draft);
                continue;
            }
            Some(finalizer) => Deed::StripFinalizer { from: stamp.version(), finalizer: finalizer.clone() },
            None => Deed::Delete { from: stamp.version() },
        };
        draft.step(Step { object: asked.object.clone(), deed, purpose: Purpose::Asked });
    }
}

fn stamp_of<'a>(sight: &'a Sight, object: &ObjectRef) -> Option<&'a Stamp> {
    use super::super::super::kura::object::ObjectKind;
    match object.kind {
        ObjectKind::KuraGateway => sight.gateways.get(&object.name).map(|gateway| &gateway.stamp),
        ObjectKind::KuraInstance => sight.instances.get(&object.name).map(|live| &live.stamp),
        _ => None,
    }
}
