//! One verdict at a time: what its facts about Kura servers may be, given the estate before them; read naively from the
//! rules.

use crate::domain::change::{Cause, Change, Entry};
use crate::domain::kura::change::KuraChange;
use crate::domain::kura::deployment::{Closing, Deployment, DeploymentStatus};
use crate::domain::kura::estate::Estate;
use crate::domain::kura::server::{MovePhase, Server};
use crate::domain::kura::tag::is_newer;
use crate::domain::world::World;

/// What was seen of Kura servers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KuraTally {
    /// Deployments that were scheduled.
    pub scheduled: u64,
    /// Deployments that a newer intent closed.
    pub superseded: u64,
    /// Deployments that succeeded.
    pub succeeded: u64,
    /// Manifests the cluster took.
    pub applied: u64,
    /// Not-Ready pods that were deleted.
    pub rolled: u64,
    /// Gateways that were collected.
    pub collected: u64,
}

impl KuraTally {
    /// One more fact.
    pub fn count(&mut self, change: &Change) {
        let Change::Kura(change) = change else { return };
        let counter = match &**change {
            KuraChange::DeploymentOpened { .. } => &mut self.scheduled,
            KuraChange::DeploymentClosed { closing: Closing::Superseded { .. }, .. } => &mut self.superseded,
            KuraChange::DeploymentClosed { closing: Closing::Succeeded { .. }, .. } => &mut self.succeeded,
            KuraChange::ManifestApplied { .. } => &mut self.applied,
            KuraChange::PodDeleted { .. } => &mut self.rolled,
            KuraChange::Collected { .. } => &mut self.collected,
            _ => return,
        };
        *counter += 1;
    }

    /// Both together.
    pub fn add(&mut self, other: &Self) {
        self.scheduled += other.scheduled;
        self.superseded += other.superseded;
        self.succeeded += other.succeeded;
        self.applied += other.applied;
        self.rolled += other.rolled;
        self.collected += other.collected;
    }
}

/// The first rule that a verdict breaks, in words.
pub(in super::super) fn broken(before: &World, after: &World, entries: &[Entry]) -> Option<String> {
    let facts = entries.iter().filter_map(|entry| match &entry.change {
        Change::Kura(change) => Some((entry, &**change)),
        _ => None,
    });
    let facts: Vec<(&Entry, &KuraChange)> = facts.collect();
    let of_facts = facts.iter().find_map(|(entry, change)| unsound(&before.kura, entry, change, &facts));
    of_facts.or_else(|| after.kura.servers.values().find_map(|server| unsteady(&before.kura, server)))
}

/// A row that may not be opened or closed like this.
fn unsound(before: &Estate, entry: &Entry, change: &KuraChange, facts: &[(&Entry, &KuraChange)]) -> Option<String> {
    match change {
        KuraChange::DeploymentOpened { server, deployment } if entry.cause == Cause::Tick => {
            unschedulable(before, before.servers.get(server)?, deployment)
        }
        KuraChange::DeploymentClosed { server, closing: Closing::Superseded { by }, .. } => {
            let takes_its_place = |other: &KuraChange| {
                matches!(other, KuraChange::DeploymentOpened { server: of, deployment }
                    if of == server && deployment.image_tag == *by)
            };
            let name = before.server_name(*server);
            let alone = !facts.iter().any(|(_, other)| takes_its_place(other));
            alone.then(|| format!("K10: a row of {name} made way for {by}, which was not scheduled with it"))
        }
        KuraChange::DeploymentClosed { server, closing: Closing::Failed { error }, .. } => Some(format!(
            "K27: a deployment of {} failed, and nothing refused it: {error}",
            before.server_name(*server)
        )),
        _ => None,
    }
}

/// What the scheduler may give to whom (K8, K9, K11-K13, K25).
fn unschedulable(before: &Estate, server: &Server, row: &Deployment) -> Option<String> {
    let (name, tag) = (server.name(), row.image_tag.as_str());
    let newer = |other: &str| is_newer(&before.tags, tag, other);
    let tried = |known: &&Deployment| known.image_tag == tag && known.status != DeploymentStatus::Cancelled;
    let faults = [
        (before.tags.iter().any(|known| is_newer(&before.tags, &known.tag, tag)), "K8: something newer was released"),
        (server.move_phase != MovePhase::None, "K13: it moves"),
        (server.status.is_leaving(), "K9: it leaves"),
        (server.current_image_tag.as_deref().is_some_and(|tag| !newer(tag)), "K11: what it serves is not older"),
        (server.open().is_some_and(|open| !newer(&open.image_tag)), "K9: what is open is not older"),
        (server.deployments.iter().any(|row| tried(&row)), "K12: it was tried already"),
        (server.pin.as_ref().is_some_and(|pin| !newer(&pin.newest)), "K25: a person holds it"),
    ];
    let why = faults.into_iter().find(|(broken, _)| *broken).map(|(_, why)| why)?;
    Some(format!("{why}, and {tag} was scheduled for {name}"))
}

/// What must be true of a server at any instant, and never changes (K5, K6, K10).
fn unsteady(before: &Estate, server: &Server) -> Option<String> {
    let name = server.name();
    let open: Vec<&Deployment> = server.deployments.iter().filter(|row| row.status.is_open()).collect();
    if open.len() > 1 || open.first().is_some_and(|row| server.deployments.last() != Some(row)) {
        return Some(format!("K6: {} rows of {name} are open, or not the last one", open.len()));
    }
    if !open.is_empty() && server.status.is_leaving() {
        return Some(format!("K51: {name} is {} with an open row", server.status.word()));
    }
    let superseded = |row: &&Deployment| row.status == DeploymentStatus::Superseded && row.displaced_by.is_none();
    if server.deployments.iter().any(|row| superseded(&row)) {
        return Some(format!("K10: nobody knows what displaced a row of {name}"));
    }
    let past = before.servers.get(&server.id)?;
    let ended = past.deployments.iter().filter(|row| !row.status.is_open());
    let changed = ended.into_iter().find(|row| server.deployment(row.id).is_some_and(|now| now != *row));
    if let Some(row) = changed {
        return Some(format!("K5: the ended deployment of {} to {name} changed", row.image_tag));
    }
    let grows = |was: &imbl::OrdMap<String, u64>, is: &imbl::OrdMap<String, u64>| {
        was.iter().all(|(key, count)| is.get(key).is_some_and(|now| now >= count))
    };
    let counted = grows(&past.superseded_total, &server.superseded_total);
    let counted = counted && grows(&past.deleted_total, &server.deleted_total);
    (!counted).then(|| format!("K19: a counter of {name} went back"))
}
