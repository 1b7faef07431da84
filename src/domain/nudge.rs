//! Who should poll again now, rather than at its next turn: derived from what changed, in every process alike (R38).

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::change::Change;
use super::ids::MachineId;
use super::world::World;

/// Machines whose answer may have changed through `changes`, folded into `world` already.
pub fn after_changes(world: &World, changes: &[Change], now: Timestamp) -> BTreeSet<MachineId> {
    let _ = (world, changes, now);
    BTreeSet::new()
}

/// Machines at the head of a queue with a free slot: the tick's nudge, for windows that closed meanwhile (R38, R89).
pub fn heads(world: &World, now: Timestamp) -> BTreeSet<MachineId> {
    let _ = (world, now);
    BTreeSet::new()
}
