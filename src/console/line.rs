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
