//! Holding the line: everybody who waits in a ring is skipped, whoever holds a slot finishes.

use std::collections::{BTreeSet, VecDeque};

use jiff::Timestamp;

use super::dialog::Ask;
use super::snapshot::Snapshot;
use super::target::Target;
use crate::domain::change::Level;
use crate::domain::ids::{MachineId, Revision, RingId};
use crate::domain::input::Verb;
use crate::domain::plan::{Plan, PlanKind, PlanLine, plan};
use crate::domain::rows::LaneView;
use crate::domain::world::World;

/// Machines one line may have: each of them is an order of its own.
pub(super) const LINE_MAX: usize = 64;

/// Machines of a line that are named one by one in what is said about it.
const NAMED_MAX: usize = 6;

/// A line that is being held: one skip after the other, each sent once the one before is done, so that nobody starts in
/// between and the first that fails ends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Of which ring.
    pub ring: RingId,
    /// The ring as it was named when it was asked about.
    pub target: Target,
    /// The revision of the plan that was confirmed.
    pub planned_at: Revision,
    /// In the person's words.
    pub reason: Option<String>,
    /// Host names of those that are skipped.
    pub done: Vec<String>,
    /// Whose skip is on its way.
    pub now: (MachineId, String),
    /// Who comes after that, the next one first.
    pub left: VecDeque<(MachineId, String)>,
}

impl Line {
    /// A line as it was confirmed; none where nobody is in it.
    pub(super) fn of(ask: &Ask, ring: RingId, reason: Option<String>, world: &World) -> Option<Self> {
        let named = |id: &MachineId| (*id, world.hostname(*id).to_owned());
        let mut left: VecDeque<_> = ask.line.iter().map(named).collect();
        let now = left.pop_front()?;
        let (target, planned_at) = (ask.target.clone(), ask.plan.revision);
        Some(Self { ring, target, planned_at, reason, done: Vec::new(), now, left })
    }

    /// What is going on.
    pub(super) fn doing(&self) -> String {
        let (at, all) = (self.done.len() + 1, self.done.len() + 1 + self.left.len());
        format!("holding the line of ring {}: skipping {} ({at} of {all})", self.target.name, self.now.1)
    }

    /// The skip on its way is done; what is on its way then, or none where that was the last one.
    pub(super) fn step(mut self) -> Result<Self, String> {
        self.done.push(std::mem::take(&mut self.now.1));
        match self.left.pop_front() {
            Some(next) => Ok(Self { now: next, ..self }),
            None => Err(format!("the line of ring {} is held: {} skipped", self.target.name, named(&self.done))),
        }
    }

    /// What was done, and what was not, because of what happened to the skip that was next.
    pub(super) fn stopped(&self, why: &str) -> String {
        let done = if self.done.is_empty() { "nobody".to_owned() } else { named(&self.done) };
        let left: Vec<String> = self.left.iter().map(|(_, name)| name.clone()).collect();
        let left = if left.is_empty() { String::new() } else { format!("; not tried: {}", named(&left)) };
        let (ring, at) = (&self.target.name, &self.now.1);
        format!("the line of ring {ring} is not held, it stopped at {at}: {why}; skipped: {done}{left}")
    }
}

fn named(names: &[String]) -> String {
    let more = names.len().saturating_sub(NAMED_MAX);
    let shown = names.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

/// Who waits in the queues of a ring, the last one first: skipping them in that order starts nobody on the way. Where
/// there is no cap, those wait who were not served yet.
pub(super) fn waiting(picture: &Snapshot, ring: RingId, now: Timestamp) -> Vec<MachineId> {
    let world = &picture.world;
    let Some(rollout) = world.running() else { return Vec::new() };
    let keys = world.lanes().iter().map(|(key, _)| *key).filter(|(_, id)| *id == ring);
    let queues = keys.filter_map(|key| LaneView::of(world, rollout, key, now)).flat_map(|view| view.queue());
    let mut waiting: Vec<MachineId> = queues.filter(|id| !in_flight(world, *id)).collect();
    waiting.reverse();
    waiting
}

/// It holds a slot, or was served where there is no cap and has not finished: a skip would cancel its run.
pub(super) fn in_flight(world: &World, id: MachineId) -> bool {
    let Some(machine) = world.machines.get(&id) else { return false };
    let lane = machine.place().and_then(|key| world.lane(key));
    machine.lease.is_some() || lane.is_some_and(|lane| lane.served.contains(&id) && lane.unfinished.contains(&id))
}

/// Why a line cannot be held, if it cannot.
pub(super) fn unholdable(line: &[MachineId]) -> Option<String> {
    match line.len() {
        0 => Some("nobody waits in its queue".to_owned()),
        1..=LINE_MAX => None,
        n => Some(format!(
            "{n} machines wait, more than {LINE_MAX}: hold the ring instead, which cancels the runs in it too"
        )),
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
    let members = lanes.flat_map(|(_, lane)| lane.members.iter().map(|(_, id)| *id));
    let running: BTreeSet<MachineId> = members.filter(|id| in_flight(&picture.world, *id)).collect();
    match running.is_empty() {
        true => say(PlanKind::Stays, "no run of it is in flight".to_owned()),
        false => {
            let more = running.len().saturating_sub(NAMED_MAX);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let (goes, its) = if running.len() == 1 { ("goes", "its run") } else { ("go", "their runs") };
            let shown = names(&mut running.into_iter().take(NAMED_MAX));
            say(PlanKind::Stays, format!("{shown}{more} {goes} on and may finish {its}"));
        }
    }
    say(PlanKind::Stays, "no run is cancelled and no slot is given back".to_owned());
    say(PlanKind::Warns, "they have not applied: the cursor waits until each of them joins again".to_owned());
    whole
}
