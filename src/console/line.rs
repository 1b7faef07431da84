//! Holding the line: everybody who waits in a ring is skipped, whoever holds a slot finishes.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::snapshot::Snapshot;
use crate::domain::change::Level;
use crate::domain::ids::{MachineId, RingId};
use crate::domain::input::Verb;
use crate::domain::plan::{Plan, PlanKind, PlanLine, plan};
use crate::domain::rows::LaneView;

/// Machines one line may have: each of them is an order of its own.
pub(super) const LINE_MAX: usize = 64;

/// Who waits in the queues of a ring, the last one first: skipping them in that order starts nobody on the way.
pub(super) fn waiting(picture: &Snapshot, ring: RingId, now: Timestamp) -> Vec<MachineId> {
    let world = &picture.world;
    let Some(rollout) = world.running() else { return Vec::new() };
    let keys = world.lanes().iter().map(|(key, _)| *key).filter(|(_, id)| *id == ring);
    let mut waiting: Vec<MachineId> =
        keys.filter_map(|key| LaneView::of(world, rollout, key, now)).flat_map(|view| view.queue()).collect();
    waiting.reverse();
    waiting
}

/// Why a line cannot be held, if it cannot.
pub(super) fn unholdable(line: &[MachineId]) -> Option<String> {
    match line.len() {
        0 => Some("nobody waits in its queue".to_owned()),
        1..=LINE_MAX => None,
        n => Some(format!("{n} machines wait, more than {LINE_MAX}: hold the ring instead")),
    }
}

/// What would follow: the skip of each of them, decided one by one.
pub(super) fn rehearsed(picture: &Snapshot, ring: RingId, line: &[MachineId], by: &str, now: Timestamp) -> Plan {
    let mut whole = Plan { revision: picture.world.revision, ..Plan::default() };
    for machine in line.iter().take(LINE_MAX) {
        let skip = plan(&Verb::Pause(Level::Machine(*machine)), &picture.world, &picture.observed, by, now);
        whole.ended.extend(skip.ended);
        whole.cancelled.extend(skip.cancelled);
        whole.names.extend(skip.names);
        whole.refused = whole.refused.or(skip.refused);
    }
    let names = |ids: &mut dyn Iterator<Item = MachineId>| {
        ids.map(|id| picture.world.hostname(id)).collect::<Vec<_>>().join(", ")
    };
    let mut say = |kind, text| whole.lines.push(PlanLine { kind, text });
    say(PlanKind::Ends, format!("skipped one by one: {}", names(&mut line.iter().rev().copied())));
    let lanes = picture.world.lanes().iter().filter(|((_, id), _)| *id == ring);
    let holders: BTreeSet<MachineId> = lanes.flat_map(|(_, lane)| lane.holders.iter().copied()).collect();
    match holders.is_empty() {
        true => say(PlanKind::Stays, "nobody holds a slot of it".to_owned()),
        false => say(PlanKind::Stays, format!("{} keeps its slot and finishes", names(&mut holders.into_iter()))),
    }
    say(PlanKind::Stays, "no run is cancelled and no slot is given back".to_owned());
    say(PlanKind::Warns, "they have not applied: the cursor waits until each of them joins again".to_owned());
    whole
}
