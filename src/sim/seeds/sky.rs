//! What no journal says: when results could not be read, who could not be rendered, whose wall clock was off.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::domain::ids::MachineId;

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
    fn cover(&self, at: Timestamp) -> bool {
        self.since.is_some_and(|since| since < at) || self.over.iter().any(|(from, to)| *from < at && at < *to)
    }
}

/// All outages of one world.
#[derive(Debug, Default)]
pub(super) struct Sky {
    telemetry: Outages,
    renders: BTreeMap<MachineId, Outages>,
    clocks: BTreeMap<String, Outages>,
}

impl Sky {
    /// The results store goes down or comes up.
    pub(super) fn telemetry(&mut self, up: bool, now: Timestamp) {
        if up { self.telemetry.end(now) } else { self.telemetry.begin(now) }
    }

    /// A machine cannot be rendered, or can be again.
    pub(super) fn render(&mut self, machine: MachineId, well: bool, now: Timestamp) {
        let outages = self.renders.entry(machine).or_default();
        if well { outages.end(now) } else { outages.begin(now) }
    }

    /// The wall clock of a process jumps, or is set right.
    pub(super) fn suspect(&mut self, process: &str, suspect: bool, now: Timestamp) {
        let outages = self.clocks.entry(process.to_owned()).or_default();
        if suspect { outages.begin(now) } else { outages.end(now) }
    }

    /// The wall clock of a process was off at `at` (R168).
    pub(super) fn is_suspect(&self, process: &str, at: Timestamp) -> bool {
        self.clocks.get(process).is_some_and(|outages| outages.cover(at))
    }

    /// Results could not be read at `at`.
    pub(super) fn is_dark(&self, at: Timestamp) -> bool {
        self.telemetry.cover(at)
    }

    /// The machine could not be rendered at `at`.
    pub(super) fn is_unrendered(&self, machine: MachineId, at: Timestamp) -> bool {
        self.renders.get(&machine).is_some_and(|outages| outages.cover(at))
    }
}
