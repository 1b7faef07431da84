//! Who should poll again now, rather than at its next turn: derived from what changed, in every process alike (R38).

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::change::{Change, Level};
use super::ids::MachineId;
use super::lane::Lane;
use super::rollout::Rollout;
use super::rows::LaneView;
use super::world::World;

/// Machines whose answer may have changed through `changes`, which are folded into `world` already.
pub fn after_changes(world: &World, changes: &[Change], now: Timestamp) -> BTreeSet<MachineId> {
    let mut nudged = BTreeSet::new();
    let mut reach = Reach::None;
    for change in changes {
        reach = reach.max(reach_of(change));
        nudged.extend(directly(world, change));
    }
    match reach {
        Reach::None => {}
        Reach::Heads => nudged.extend(heads(world, now)),
        Reach::Wave => nudged.extend(heads(world, now).into_iter().chain(wave(world, now))),
        Reach::Everybody => nudged.extend(world.lanes().iter().flat_map(|(_, lane)| members(lane))),
    }
    nudged
}

/// Machines at the head of a queue with a free slot: the tick's nudge, for windows that closed meanwhile (R38, R89).
pub fn heads(world: &World, now: Timestamp) -> BTreeSet<MachineId> {
    let admitting = admitting(world, now).filter(|view| view.ring.is_capped());
    admitting.flat_map(|view| view.queue().take(view.slots(now).free)).collect()
}

/// Machines of uncapped rings that are elected and were not served yet: the tick's nudge for a ladder's next step.
pub fn wave(world: &World, now: Timestamp) -> BTreeSet<MachineId> {
    let admitting = admitting(world, now).filter(|view| !view.ring.is_capped());
    admitting.flat_map(|view| view.queue().filter(move |id| !view.lane.served.contains(id))).collect()
}

/// How far a change reaches beyond the machine it names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    None,
    Heads,
    Wave,
    Everybody,
}

fn reach_of(change: &Change) -> Reach {
    match change {
        Change::RolloutStarted { .. } | Change::RolloutReset { .. } | Change::RolloutEnded { .. } => Reach::Everybody,
        Change::CursorMoved { .. }
        | Change::RingChanged { .. }
        | Change::EnvironmentChanged { .. }
        | Change::Unpaused { .. } => Reach::Wave,
        Change::LeaseEnded { .. }
        | Change::ResultReported { .. }
        | Change::MachineAdded { .. }
        | Change::MachineAssigned { .. }
        | Change::MachineRemoved { .. }
        | Change::MachineRebuilt { .. } => Reach::Heads,
        _ => Reach::None,
    }
}

/// The machines a change is about: those whose run it withdraws or whose hold it ends.
fn directly(world: &World, change: &Change) -> Vec<MachineId> {
    match change {
        Change::LeaseEnded { machine, .. }
        | Change::MachineAssigned { machine, .. }
        | Change::MachineRebuilt { machine, .. }
        | Change::RenderRecovered { machine } => vec![*machine],
        Change::MachineAdded { machine } => vec![machine.id],
        Change::Paused { what, .. } | Change::Unpaused { what } => in_flight(world, *what),
        _ => Vec::new(),
    }
}

fn in_flight(world: &World, level: Level) -> Vec<MachineId> {
    let inside = |environment, ring| level == Level::Ring(ring) || level == Level::Environment(environment);
    match level {
        Level::Machine(machine) => vec![machine],
        _ => {
            let lanes = world.lanes().iter().filter(|((environment, ring), _)| inside(*environment, *ring));
            lanes.flat_map(|(_, lane)| lane.holders.iter().chain(&lane.served).copied()).collect()
        }
    }
}

fn members(lane: &Lane) -> impl Iterator<Item = MachineId> {
    lane.members.iter().map(|(_, machine)| *machine)
}

/// Lanes in which a machine can be served for the first time right now.
fn admitting(world: &World, now: Timestamp) -> impl Iterator<Item = LaneView<'_>> {
    let lanes =
        world.running().into_iter().flat_map(|rollout| world.lanes().iter().map(move |(key, _)| (rollout, *key)));
    lanes.filter_map(move |(rollout, key)| admits(world, rollout, LaneView::of(world, rollout, key, now)?))
}

fn admits<'a>(world: &World, rollout: &Rollout, view: LaneView<'a>) -> Option<LaneView<'a>> {
    let environment = world.environments.get(&view.key.0)?;
    let open = view.open && environment.paused.is_none() && view.ring.paused.is_none();
    (open && !rollout.halted_rings.contains_key(&view.key.1)).then_some(view)
}
