//! What no journal says: when results could not be read, who could not be rendered, whose wall clock was off.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::super::clock::VirtualClock;
use crate::domain::ids::MachineId;
use crate::domain::span::Seconds;

/// A process stands still for no longer than this between a decision and its append.
const LONGEST_PAUSE: Seconds = Seconds(180);

/// When something was decided, by virtual time: at some instant from one to the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct When {
    pub(super) from: Timestamp,
    pub(super) to: Timestamp,
}

impl When {
    /// What an entry says, as long as every process goes by virtual time.
    pub(super) fn exactly(at: Timestamp) -> Self {
        Self { from: at, to: at }
    }

    /// Where a process may go by another clock that a person accepted, only the append is known.
    pub(super) fn before(appended: Timestamp) -> Self {
        Self { from: LONGEST_PAUSE.before(appended), to: appended }
    }
}

/// Since when something is out, and the outages that are over.
#[derive(Debug, Default)]
struct Outages {
    since: Option<Timestamp>,
    over: Vec<(Timestamp, Timestamp)>,
}

impl Outages {
    fn begin(&mut self, now: Timestamp) {
        self.since = self.since.or(Some(now));
    }

    fn end(&mut self, now: Timestamp) {
        self.over.extend(self.since.take().map(|since| (since, now)));
    }

    /// Out for sure: at the very instants of a switch either is right.
    fn cover(&self, when: When) -> bool {
        self.covering(when).is_some()
    }

    /// Since when it is out for sure.
    fn covering(&self, when: When) -> Option<Timestamp> {
        let over = || self.over.iter().find(|(from, to)| *from < when.from && when.to < *to).map(|(from, _)| *from);
        self.since.filter(|since| *since < when.from).or_else(over)
    }

    /// Out at any time between two moments.
    fn touch(&self, from: Timestamp, to: Timestamp) -> bool {
        let ongoing = self.since.is_some_and(|since| since <= to);
        ongoing || self.over.iter().any(|(begin, end)| *begin <= to && from <= *end)
    }
}

/// All outages of one world.
#[derive(Debug, Default)]
pub(super) struct Sky {
    telemetry: Outages,
    renders: BTreeMap<MachineId, Outages>,
    clocks: BTreeMap<String, VirtualClock>,
    freezes: BTreeMap<String, Outages>,
    rebuilds: BTreeMap<MachineId, Timestamp>,
}

impl Sky {
    /// The results store goes down or comes up. True where an outage begins.
    pub(super) fn telemetry(&mut self, up: bool, now: Timestamp) -> bool {
        let begins = !up && self.telemetry.since.is_none();
        if up {
            self.telemetry.end(now)
        } else {
            self.telemetry.begin(now)
        }
        begins
    }

    /// A machine cannot be rendered, or can be again.
    pub(super) fn render(&mut self, machine: MachineId, well: bool, now: Timestamp) {
        let outages = self.renders.entry(machine).or_default();
        if well { outages.end(now) } else { outages.begin(now) }
    }

    /// A machine is reimaged.
    pub(super) fn rebuild(&mut self, machine: MachineId, at: Timestamp) {
        self.rebuilds.insert(machine, at);
    }

    /// When a machine was reimaged last: a process that freezes may hear of it long after its new system ran.
    pub(super) fn rebuilt(&self, machine: MachineId) -> Option<Timestamp> {
        self.rebuilds.get(&machine).copied()
    }

    /// A process freezes, or thaws.
    pub(super) fn freeze(&mut self, process: &str, frozen: bool, now: Timestamp) {
        let outages = self.freezes.entry(process.to_owned()).or_default();
        if frozen { outages.begin(now) } else { outages.end(now) }
    }

    /// A process starts, with a wall clock of its own.
    pub(super) fn watch(&mut self, process: &str, clock: VirtualClock) {
        self.clocks.insert(process.to_owned(), clock);
    }

    /// The wall clock of a process was off, and nobody had accepted it (R168).
    pub(super) fn is_suspect(&self, process: &str, when: When) -> bool {
        self.clocks.get(process).is_some_and(|clock| clock.was_suspect(when.from, when.to))
    }

    /// A process that follows its wall clock more often than people said that the clocks are right (R168).
    pub(super) fn believer(&self, said: u64) -> Option<&str> {
        self.clocks.iter().find(|(_, clock)| clock.acceptances() > said).map(|(process, _)| process.as_str())
    }

    /// Results could not be read.
    pub(super) fn is_dark(&self, when: When) -> bool {
        self.telemetry.cover(when)
    }

    /// The machine could not be rendered, nor could it when it asked: a process that froze meanwhile may have rendered
    /// for it before.
    pub(super) fn is_unrendered(&self, machine: MachineId, when: When) -> bool {
        let since = self.renders.get(&machine).and_then(|outages| outages.covering(when));
        since.is_some_and(|since| !self.freezes.values().any(|frozen| frozen.touch(since, when.to)))
    }
}
