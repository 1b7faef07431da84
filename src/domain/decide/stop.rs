//! Stopping: halt and yank. Both work on protected rollouts, neither needs force (R114-R117).

use super::super::change::{Change, LeaseEnd};
use super::super::ids::{ReleaseId, RolloutId};
use super::super::input::Order;
use super::super::refusal::Refusal;
use super::super::release::Yank;
use super::super::rollout::Ending;
use super::super::verdict::Reply;
use super::draft::Draft;

/// Ends a running rollout: nothing is served any more, the holders' runs are cancelled (R115).
pub(super) fn halt(draft: &mut Draft<'_>, id: RolloutId, order: &Order) -> Reply {
    let Some(rollout) = draft.world().rollout(id) else { return Reply::Refused(Refusal::NoRollout(id)) };
    if !rollout.is_running() {
        return Reply::Refused(Refusal::NotRunning { rollout: id, status: rollout.status() });
    }
    let reason = match &order.reason {
        Some(reason) => format!("halted by {}: {reason}", order.by),
        None => format!("halted by {}", order.by),
    };
    end(draft, id, reason);
    Reply::Done
}

/// Withdraws a release for good; the rollout that runs it halts (R116). Doing it twice is doing it once.
pub(super) fn yank(draft: &mut Draft<'_>, id: ReleaseId, order: &Order) -> Reply {
    let Some(release) = draft.world().releases.get(&id) else { return Reply::Refused(Refusal::NoRelease(id)) };
    if release.yanked.is_some() {
        return Reply::Done;
    }
    let yank = Yank { at: draft.now, by: order.by.clone(), reason: order.reason.clone() };
    draft.push(Change::ReleaseYanked { release: id, yank });
    let running = draft.world().running().filter(|r| r.release == id).map(|r| r.id);
    if let Some(rollout) = running {
        end(draft, rollout, "release yanked".to_owned());
    }
    Reply::Done
}

fn end(draft: &mut Draft<'_>, rollout: RolloutId, reason: String) {
    draft.end_all_leases(LeaseEnd::Halted);
    draft.push(Change::RolloutEnded { rollout, ending: Ending::Halted { reason } });
}
