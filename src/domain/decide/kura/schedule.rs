//! Newest intent wins: a newer release displaces whatever is open, in one commit (K8-K17).

use super::super::super::ids::ServerId;
use super::super::super::kura::change::KuraChange;
use super::super::super::kura::deployment::{Deployment, DeploymentStatus};
use super::super::super::kura::estate::Estate;
use super::super::super::kura::server::{MovePhase, Server};
use super::super::super::kura::tag::is_newer;
use super::super::draft::Draft;
use super::deploy;

/// Servers that are scheduled in one tick (K17).
pub(super) const SCHEDULED_PER_TICK: usize = 100;

/// Who a scheduled row is asked for by.
pub(super) const SCHEDULER: &str = "scheduler";

/// Gives the newest tag to those who want it, oldest first.
pub(super) fn schedule(draft: &mut Draft<'_>) {
    let Some(target) = draft.world().kura.target().map(str::to_owned) else { return };
    for id in due(&draft.world().kura, &target) {
        let Some(server) = draft.world().kura.servers.get(&id).cloned() else { continue };
        if server.pin.is_some() {
            draft.tell(KuraChange::Pinned { server: id, pin: None });
        }
        let row = Deployment::pending(server.next_deployment(), &target, SCHEDULER, draft.now);
        deploy::schedule(draft, &server, row);
    }
}

fn due(estate: &Estate, target: &str) -> Vec<ServerId> {
    let mut due: Vec<&Server> = estate.servers.values().filter(|server| wants(estate, server, target)).collect();
    due.sort_by_key(|server| (server.inserted_at, server.number));
    due.into_iter().take(SCHEDULED_PER_TICK).map(|server| server.id).collect()
}

/// K9: not while it moves or leaves, only to what is provably newer than what it has and what is open, not while a
/// person holds it back, and each tag once.
fn wants(estate: &Estate, server: &Server, target: &str) -> bool {
    let newer_than = |tag: Option<&str>| tag.is_none_or(|tag| is_newer(&estate.tags, target, tag));
    let tried = |row: &Deployment| row.image_tag == target && row.status != DeploymentStatus::Cancelled;
    let held = server.pin.as_ref().is_some_and(|pin| !is_newer(&estate.tags, target, &pin.newest));
    // The most common answer first: it is there already.
    server.current_image_tag.as_deref() != Some(target)
        && server.move_phase == MovePhase::None
        && !server.status.is_leaving()
        && newer_than(server.current_image_tag.as_deref())
        && newer_than(server.open().map(|row| row.image_tag.as_str()))
        && !held
        && !server.deployments.iter().any(tried)
}
