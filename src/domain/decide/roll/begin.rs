//! A step begins: what has to be true of the world right before it.

use super::super::super::roll::change::{CordonEnd, RollChange};
use super::super::super::roll::fleet_roll::Roll;
use super::super::super::roll::node::{STAGE_AGAIN_AFTER, StepEnding, StepName};
use super::super::super::roll::order::remaining;
use super::super::super::roll::sight::FleetSight;
use super::super::draft::Draft;
use super::staging;
use super::turn::{Move, hindrance, registry};

/// What a node is told that was cordoned before.
pub(super) const CORDONED_BEFORE: &str = "cordoned before the roll";

pub(super) fn begin(draft: &mut Draft<'_>, fleet: &FleetSight, roll: &Roll, node: &str, step: StepName) -> Move {
    match step {
        StepName::Stage => stage(draft, roll, node),
        StepName::Cordon => cordon(draft, fleet, roll, node),
        StepName::Boot => boot(draft, fleet, roll, node),
        StepName::Uncordon if roll.nodes.get(node).is_some_and(|node| node.was_cordoned) => {
            began(draft, roll, node, step);
            ended(draft, roll, node, step, StepEnding::Skipped { why: CORDONED_BEFORE.to_owned() });
            Move::On
        }
        _ => {
            began(draft, roll, node, step);
            Move::On
        }
    }
}

pub(super) fn began(draft: &mut Draft<'_>, roll: &Roll, node: &str, step: StepName) {
    let node = node.to_owned();
    draft.note(RollChange::StepBegan { roll: roll.id, node, step, boot_id: None, unschedulable: None });
}

pub(super) fn ended(draft: &mut Draft<'_>, roll: &Roll, node: &str, step: StepName, ending: StepEnding) {
    draft.note(RollChange::StepEnded { roll: roll.id, node: node.to_owned(), step, ending });
}

/// Its own pull, where it was not staged ahead or that failed; what failed is shown until it is tried again (F19).
fn stage(draft: &mut Draft<'_>, roll: &Roll, node: &str) -> Move {
    if staging::is_due_again(draft, roll, node) {
        staging::begin(draft, roll.id, node);
        return Move::Waits;
    }
    let row = roll.nodes.get(node).and_then(|node| node.step(StepName::Stage));
    Move::Held(row.and_then(|row| row.detail.clone()).unwrap_or_else(|| format!("{node} is not staged")))
}

/// Another digest than the one that is rolled is there: it is pulled again, not more often than a pull that failed (F21).
fn stage_again(draft: &mut Draft<'_>, roll: &Roll, node: &str) -> Move {
    let known = roll.nodes.get(node);
    let ended = known.and_then(|node| node.step(StepName::Stage)).and_then(|row| row.ended_at);
    if ended.is_none_or(|ended| draft.now >= STAGE_AGAIN_AFTER.after(ended)) {
        staging::begin(draft, roll.id, node);
        return Move::Waits;
    }
    let staged = known.and_then(|node| node.staged.as_deref()).unwrap_or("nothing");
    let rolled = roll.digest.as_deref().unwrap_or(&roll.image);
    Move::Held(format!("{node} has {staged} staged, and {rolled} is rolled: it is staged again"))
}

/// The last moment at which nothing has happened yet: the order may be another by now, something may be in the way, the
/// digest may be another one (F21, F28). The bit is remembered before it is touched (A11).
fn cordon(draft: &mut Draft<'_>, fleet: &FleetSight, roll: &Roll, node: &str) -> Move {
    let host = registry(roll, fleet);
    if host.as_deref() == Some(node) && !remaining(roll, host.as_deref()).is_empty() {
        draft.note(RollChange::TurnPutBack { roll: roll.id, node: node.to_owned() });
        return Move::On;
    }
    if let Some(reason) = hindrance(draft, fleet, roll, node) {
        return Move::Held(reason);
    }
    let staged = roll.nodes.get(node).and_then(|node| node.staged.clone());
    if roll.digest.is_some() && roll.digest != staged {
        return stage_again(draft, roll, node);
    }
    let Some(seen) = fleet.nodes.get(node) else { return Move::Waits };
    let theirs = draft.world().rolls.is_foreign(seen);
    let (boot_id, unschedulable, step) = (seen.boot_id.clone(), Some(theirs), StepName::Cordon);
    draft.note(RollChange::StepBegan { roll: roll.id, node: node.to_owned(), step, boot_id, unschedulable });
    if theirs {
        ended(draft, roll, node, step, StepEnding::Skipped { why: CORDONED_BEFORE.to_owned() });
    } else {
        draft.note(RollChange::CordonTaken { roll: roll.id, node: node.to_owned() });
    }
    Move::On
}

/// Right before the step that cannot be taken back: the node must still be ours alone, and nobody else in trouble (A11).
fn boot(draft: &mut Draft<'_>, fleet: &FleetSight, roll: &Roll, node: &str) -> Move {
    let Some(seen) = fleet.nodes.get(node) else { return Move::Held(format!("{node} is not there")) };
    if !seen.unschedulable {
        return lifted(draft, node);
    }
    if let Some(reason) = hindrance_of_others(draft, fleet, roll, node) {
        return Move::Held(reason);
    }
    let (boot_id, step) = (seen.boot_id.clone(), StepName::Boot);
    draft.note(RollChange::StepBegan { roll: roll.id, node: node.to_owned(), step, boot_id, unschedulable: None });
    Move::On
}

/// Somebody lifted the cordon: the roll stops, and the node is not ours any more.
pub(super) fn lifted(draft: &mut Draft<'_>, node: &str) -> Move {
    if draft.world().rolls.ledger.contains_key(node) {
        draft.note(RollChange::CordonEnded { node: node.to_owned(), how: CordonEnd::Lifted });
    }
    Move::Fails(format!("{node} is schedulable again: somebody lifted its cordon before the boot"))
}

/// The registry has moved off a node that was drained: only the others count now.
fn hindrance_of_others(draft: &Draft<'_>, fleet: &FleetSight, roll: &Roll, node: &str) -> Option<String> {
    let free = Roll { registry: None, ..roll.clone() };
    hindrance(draft, fleet, &free, node)
}
