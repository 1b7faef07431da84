//! The node in turn, one step after the other, and who is next (F23, F28).

use super::super::super::ids::RollId;
use super::super::super::roll::change::RollChange;
use super::super::super::roll::fleet_roll::{Ending, Roll};
use super::super::super::roll::green::Prints;
use super::super::super::roll::node::Standing;
use super::super::super::roll::order::{registry_forbids, remaining};
use super::super::super::roll::sight::FleetSight;
use super::super::draft::Draft;
use super::{begin, finish, gates, leftover};

/// Things that may follow each other in one pass: every step of a node, and the next node's first.
const MOVES_MAX: usize = 16;

/// What a move came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Move {
    /// Something was decided: look again.
    On,
    /// Nothing to decide until something is seen.
    Waits,
    /// A step is to begin, and a mere look begins none: what is in its way is what the last tick found.
    Looks,
    /// Something is in the way.
    Held(String),
    /// It cannot go on.
    Fails(String),
}

/// Goes on as far as it can. What is in the way is told once, and once more when it is gone.
pub(super) fn go_on(draft: &mut Draft<'_>, fleet: &FleetSight, id: RollId, may_begin: bool) {
    for _ in 0..MOVES_MAX {
        let Some(roll) = draft.world().rolls.roll(id).filter(|roll| roll.is_live()).cloned() else { return };
        match one(draft, fleet, &roll, may_begin) {
            Move::On => {}
            Move::Waits => {
                let reason = broken(draft, fleet, &roll);
                return block(draft, &roll, reason);
            }
            Move::Looks => {
                let reason = broken(draft, fleet, &roll);
                return reason.into_iter().for_each(|reason| block(draft, &roll, Some(reason)));
            }
            Move::Held(reason) => return block(draft, &roll, Some(reason)),
            Move::Fails(reason) => {
                return draft.note(RollChange::Ended { roll: id, ending: Ending::Failed { reason } });
            }
        }
    }
}

fn one(draft: &mut Draft<'_>, fleet: &FleetSight, roll: &Roll, may_begin: bool) -> Move {
    let turn = roll.in_turn().map(str::to_owned);
    let Some(node) = turn else { return between(draft, fleet, roll, may_begin) };
    match roll.nodes.get(&node).map(super::super::super::roll::node::NodeRoll::standing) {
        Some(Standing::Running(step)) => finish::finish(draft, fleet, roll, &node, step),
        Some(Standing::Next(step)) if may_begin => begin::begin(draft, fleet, roll, &node, step),
        Some(Standing::Next(_)) => Move::Looks,
        _ => Move::Waits,
    }
}

/// No node is in turn: a gate, the next node, or the soak.
fn between(draft: &mut Draft<'_>, fleet: &FleetSight, roll: &Roll, may_begin: bool) -> Move {
    if roll.gate.is_some() {
        return Move::Waits;
    }
    if roll.next_gate().is_some() {
        gates::reach(draft, roll.id);
        return Move::On;
    }
    if roll.soaking_since.is_some() {
        return soak(draft, fleet, roll);
    }
    let registry = registry(roll, fleet);
    let Some(next) = remaining(roll, registry.as_deref()).first().map(|node| (*node).to_owned()) else {
        draft.note(RollChange::SoakBegan { roll: roll.id });
        return Move::On;
    };
    if let Some(reason) = hindrance(draft, fleet, roll, &next) {
        return Move::Held(reason);
    }
    // The mutex: one node at a time, over all rolls (F23).
    if !may_begin || draft.world().rolls.in_turn().is_some() {
        return Move::Waits;
    }
    draft.note(RollChange::TurnBegan { roll: roll.id, node: next });
    Move::On
}

/// Not terminal: a broken verdict fails it and names the node (F55).
fn soak(draft: &mut Draft<'_>, fleet: &FleetSight, roll: &Roll) -> Move {
    let Some(since) = roll.soaking_since else { return Move::Waits };
    if let Some(reason) = broken(draft, fleet, roll) {
        return Move::Fails(reason);
    }
    if draft.now < roll.spec.soak_seconds.after(since) {
        return Move::Waits;
    }
    draft.note(RollChange::Ended { roll: roll.id, ending: Ending::Succeeded });
    Move::Waits
}

/// Where the registry is right now.
pub(super) fn registry(roll: &Roll, fleet: &FleetSight) -> Option<String> {
    roll.spec.registry.as_ref().and_then(|registry| fleet.registry_host(registry)).map(str::to_owned)
}

/// Why nobody else may be disrupted now; none = a node may be.
pub(super) fn hindrance(draft: &Draft<'_>, fleet: &FleetSight, roll: &Roll, node: &str) -> Option<String> {
    let down = |other: &&&str| **other != node && fleet.nodes.get(other).is_none_or(|other| !other.ready);
    let nodes = roll.spec.all_nodes();
    let elsewhere = || broken_anywhere(draft, fleet);
    broken(draft, fleet, roll)
        .or_else(elsewhere)
        .or_else(|| leftover::forbids(&draft.world().rolls, fleet, node))
        .or_else(|| registry_forbids(roll, node, fleet))
        .or_else(|| {
            nodes.iter().find(down).map(|other| format!("{other} is not Ready: {node} waits, two down is one too many"))
        })
        .or_else(|| fleet.nodes.get(node).is_none().then(|| format!("{node} is not there")))
}

/// A rolled node whose runtime is broken (F13); one that another roll has taken over since is that one's.
pub(super) fn broken(draft: &Draft<'_>, fleet: &FleetSight, roll: &Roll) -> Option<String> {
    let (watched, prints) = (draft.world().rolls.watched(draft.now), Prints::of(fleet));
    watched.iter().filter(|(_, (id, _))| *id == roll.id).find_map(|(name, (_, node))| {
        let back = node.back_since()?;
        let seen = || node.broken().map(|finding| finding.reason.clone());
        prints.on(name, back).or_else(seen)
    })
}

fn broken_anywhere(draft: &Draft<'_>, fleet: &FleetSight) -> Option<String> {
    draft.world().rolls.rolls.iter().filter(|roll| roll.is_live()).find_map(|roll| broken(draft, fleet, roll))
}

/// Only what is new is told.
fn block(draft: &mut Draft<'_>, roll: &Roll, reason: Option<String>) {
    let known = roll.blocked.as_ref().map(|blocked| blocked.reason.clone());
    if known != reason {
        draft.note(RollChange::Blocked { roll: roll.id, reason });
    }
}
