//! The fold of the facts about Kura servers; the only code that changes an estate.

use std::sync::Arc;

use imbl::{OrdMap, Vector};
use jiff::Timestamp;

use super::super::ids::{DeploymentId, ServerId};
use super::change::KuraChange;
use super::deployment::{Closing, Deployment, DeploymentStatus, Wait, WaitKind};
use super::estate::{Estate, RUNTIME_TAGS_KEPT};
use super::home::Home;
use super::remembered::Remembered;
use super::server::{
    AppliedManifest, COUNTED_TAGS, DEPLOYMENTS_KEPT, ForeignEdit, MovePhase, Roll, Server, ServerStatus,
};
use super::tag::{RuntimeTag, forgettable};

impl Estate {
    /// Folds one fact. Total: one about something that is gone changes nothing.
    pub fn apply(&mut self, at: Timestamp, change: &KuraChange) {
        match change {
            KuraChange::TagReleased { tag } => self.release(tag, at),
            KuraChange::ServerAdded { server } => {
                self.added += 1;
                self.servers.insert(server.id, Server { number: self.added, ..Server::clone(server) });
            }
            KuraChange::Asked { asked } => self.asked.push_back(asked.clone()),
            KuraChange::AskedDone { object, uid, finalizer, .. } => self.asked.retain(|asked| {
                let is_other = finalizer.is_some() && asked.finalizer != *finalizer;
                asked.object != *object || asked.uid != *uid || is_other
            }),
            KuraChange::Collected { .. } => {}
            KuraChange::ClusterAccepted { uid } => self.home = Some(Home { uid: uid.clone(), since: at }),
            _ => {
                let server = change.server().and_then(|id: ServerId| self.servers.get_mut(&id));
                server.into_iter().for_each(|server| apply_to_server(server, at, change));
            }
        }
    }

    fn release(&mut self, tag: &str, released_at: Timestamp) {
        if self.tags.iter().all(|known| known.tag != tag) {
            self.tags.push_back(RuntimeTag { tag: tag.to_owned(), released_at });
        }
        while self.tags.len() > RUNTIME_TAGS_KEPT {
            let used = |tag: &str| self.servers.values().any(|server| server.wanted_tag() == Some(tag));
            self.tags.remove(forgettable(&self.tags, used));
        }
    }
}

fn apply_to_server(server: &mut Server, at: Timestamp, change: &KuraChange) {
    if changes_the_manifest(change) {
        server.rendered = Remembered::default();
    }
    match change {
        KuraChange::SpecChanged { spec, .. } => server.spec = Arc::new((**spec).clone()),
        KuraChange::Moved { phase, .. } => server.move_phase = *phase,
        KuraChange::StatusChanged { status, .. } => project(server, *status),
        KuraChange::ImageObserved { tag, .. } => server.observed_image_tag.clone_from(tag),
        KuraChange::Pinned { pin, .. } => server.pin.clone_from(pin),
        KuraChange::DeploymentOpened { deployment, .. } => open(server, deployment),
        KuraChange::DeploymentStarted { deployment, revision, .. } => start(server, *deployment, revision, at),
        KuraChange::DeploymentWaits { deployment, wait, .. } => wait_for(server, *deployment, wait.as_ref(), at),
        KuraChange::DeploymentClosed { deployment, closing, .. } => close(server, *deployment, closing, at),
        KuraChange::ManifestApplied { .. } => applied(server, at, change),
        KuraChange::RollFixed { image, pods, .. } => {
            server.roll = Some(Roll { image: image.clone(), fixed: true, pods: pods.clone() });
        }
        KuraChange::PodDeleted { image, uid, .. } => pod_deleted(server, image, uid),
        KuraChange::FieldWrittenBack { field, times: 0, .. } => drop(server.foreign.remove(field)),
        KuraChange::FieldWrittenBack { field, manager, times, .. } => {
            let edit = ForeignEdit { manager: manager.clone(), times: *times, counted: true };
            server.foreign.insert(field.clone(), edit);
        }
        KuraChange::WriteTroubled { object, trouble, .. } => {
            match trouble {
                Some(trouble) => server.troubles.insert(object.to_string(), trouble.clone()),
                None => server.troubles.remove(&object.to_string()),
            };
        }
        _ => {}
    }
}

/// Its spec, or the tag it is to carry.
fn changes_the_manifest(change: &KuraChange) -> bool {
    use KuraChange as Fact;
    matches!(change, Fact::SpecChanged { .. } | Fact::DeploymentOpened { .. } | Fact::DeploymentClosed { .. })
}

fn project(server: &mut Server, status: ServerStatus) {
    server.status = status;
    if status.is_leaving() {
        server.move_phase = MovePhase::None;
    }
    if status == ServerStatus::Destroyed {
        server.url = None;
        server.troubles.clear();
    }
}

/// Changes a row while it is open; one that has ended stays as it is, whatever is still told about it (K5).
fn edit(server: &mut Server, id: DeploymentId, edit: impl FnOnce(&mut Deployment)) {
    let place = server.deployments.iter().rposition(|row| row.id == id && row.status.is_open());
    if let Some(row) = place.and_then(|place| server.deployments.get_mut(place)) {
        edit(row);
    }
}

fn open(server: &mut Server, deployment: &Deployment) {
    server.attempts += 1;
    server.deployments.push_back(deployment.clone());
    while server.deployments.len() > DEPLOYMENTS_KEPT {
        server.deployments.remove(superfluous(&server.deployments));
    }
}

/// The row that is forgotten first: the oldest one whose tag a later row has too. A tag whose last row is forgotten would
/// look as if nobody had ever tried it (K9).
fn superfluous(rows: &Vector<Deployment>) -> usize {
    let said_again =
        |(n, row): (usize, &Deployment)| rows.iter().skip(n + 1).any(|later| later.image_tag == row.image_tag);
    rows.iter().enumerate().position(|(n, row)| said_again((n, row))).unwrap_or(0)
}

fn start(server: &mut Server, id: DeploymentId, revision: &str, at: Timestamp) {
    edit(server, id, |row| {
        if row.status == DeploymentStatus::Pending {
            row.status = DeploymentStatus::Running;
            row.started_at = Some(at);
        }
        row.manifest_revision = Some(revision.to_owned());
    });
}

/// The wait names since when its link is the first broken one: another detail of the same link starts nothing anew.
fn wait_for(server: &mut Server, id: DeploymentId, wait: Option<&(WaitKind, String)>, at: Timestamp) {
    edit(server, id, |row| {
        row.wait = wait.map(|(kind, detail)| {
            let known = row.wait.as_ref().filter(|known| known.kind == *kind);
            Wait { kind: *kind, since: known.map_or(at, |known| known.since), detail: detail.clone() }
        });
    });
}

fn close(server: &mut Server, id: DeploymentId, closing: &Closing, at: Timestamp) {
    let Some(tag) = server.deployment(id).filter(|row| row.status.is_open()).map(|row| row.image_tag.clone()) else {
        return;
    };
    edit(server, id, |row| row.close(closing, at));
    match closing {
        Closing::Succeeded { url, .. } => {
            server.url = url.clone().or(server.url.take());
            server.current_image_tag = Some(tag);
        }
        Closing::Superseded { .. } => count(&mut server.superseded_total, &tag),
        Closing::Failed { .. } | Closing::Cancelled => {}
    }
}

/// Whoever writes a field back is counted anew for another manifest, and again after each apply of the same (K28).
fn applied(server: &mut Server, at: Timestamp, change: &KuraChange) {
    let KuraChange::ManifestApplied { deployment, revision, image, new_image, over, .. } = change else { return };
    if server.applied.as_ref().is_some_and(|known| known.revision != *revision) {
        server.foreign.clear();
    }
    let again =
        |(field, edit): (&String, &ForeignEdit)| (field.clone(), ForeignEdit { counted: false, ..edit.clone() });
    server.foreign = server.foreign.iter().map(again).collect();
    if *new_image {
        server.roll = Some(Roll { image: image.clone(), fixed: false, pods: Vec::new() });
    }
    let (revision, image, over) = (revision.clone(), image.clone(), over.clone());
    server.applied = Some(AppliedManifest { revision: revision.clone(), image, at, over });
    if let Some(id) = deployment {
        start(server, *id, &revision, at);
        edit(server, *id, |row| row.applied = true);
    }
}

fn pod_deleted(server: &mut Server, image: &str, uid: &str) {
    let marks = server.roll.iter_mut().filter(|roll| roll.image == image).flat_map(|roll| roll.pods.iter_mut());
    let mut fresh = marks.filter(|mark| mark.uid == uid && !mark.done);
    if let Some(mark) = fresh.next() {
        mark.done = true;
        count(&mut server.deleted_total, image);
    }
}

fn count(totals: &mut OrdMap<String, u64>, key: &str) {
    *totals.entry(key.to_owned()).or_insert(0) += 1;
    while totals.len() > COUNTED_TAGS {
        let Some(lowest) = totals.keys().find(|known| *known != key).cloned() else { return };
        totals.remove(&lowest);
    }
}
