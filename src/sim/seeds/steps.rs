//! One verdict at a time: what its changes may be, given the world before them and who caused them.

use jiff::Timestamp;

use super::naive;
use super::sky::{Sky, When};
use crate::domain::change::{Cause, Change, Entry, LeaseEnd};
use crate::domain::fleet::Machine;
use crate::domain::ids::MachineId;
use crate::domain::release::Outcome;
use crate::domain::rollout::{Ending, HaltCause, Rollout};
use crate::domain::world::World;

/// The entries of one verdict, with the world they were decided on.
pub(super) struct Step<'a> {
    pub(super) before: &'a World,
    pub(super) entries: &'a [Entry],
    pub(super) sky: &'a Sky,
    /// When it was decided; the entries say it by the clock of their process.
    pub(super) when: When,
}

impl Step<'_> {
    /// Every rule the step breaks, in words.
    pub(super) fn broken(&self) -> Vec<String> {
        let fault = |entry| self.unseated(entry).or_else(|| self.fault(entry)).or_else(|| self.untimely(entry));
        let faults = self.entries.iter().filter_map(fault);
        faults.collect()
    }

    /// Only whoever has the seat ticks, and each who takes it has an epoch of its own (A21).
    fn unseated(&self, entry: &Entry) -> Option<String> {
        let seat = &self.before.seat;
        match (&entry.cause, &entry.change) {
            (Cause::Tick | Cause::Seen, _) if seat.holder.as_ref() != Some(&entry.by) => {
                Some(format!("A21: {} ticked in epoch {}, which is of {:?}", entry.by, seat.epoch, seat.holder))
            }
            (_, Change::SeatTaken { epoch, holder, .. }) if *epoch != seat.epoch + 1 => {
                Some(format!("A21: {holder} took the seat in epoch {epoch} after {}", seat.epoch))
            }
            _ => None,
        }
    }

    /// Nothing stalls, promotes or completes by a clock that is off (R168).
    fn untimely(&self, entry: &Entry) -> Option<String> {
        let timed = match &entry.change {
            Change::RingHalted { halt, .. } => halt.cause == HaltCause::Stall,
            Change::CursorMoved { .. } | Change::RolloutEnded { ending: Ending::Completed, .. } => {
                entry.cause == Cause::Tick
            }
            _ => false,
        };
        let fault = timed && self.sky.is_suspect(&entry.by, self.when);
        fault.then(|| format!("R168: {} acted on time while its clock was off", entry.by))
    }

    fn fault(&self, entry: &Entry) -> Option<String> {
        match (&entry.change, &entry.cause) {
            (Change::LeaseGranted { machine, .. }, Cause::Poll) => self.ungrantable(*machine, entry.at),
            (Change::LeaseGranted { machine, .. }, _) => self.unadoptable(*machine),
            (Change::AssignmentServed { machine, .. }, _) => self.unjoinable(*machine, entry.at),
            (Change::ResultReported { machine, release, generation, .. }, _) => {
                let current = self.before.current()?;
                let belongs = (current.release, current.generation) == (*release, *generation);
                (!belongs).then(|| format!("R175: a result of {} of the past counts", self.before.hostname(*machine)))
            }
            (Change::LeaseEnded { machine, cause }, _) => self.unendable(*machine, *cause, &entry.cause),
            (Change::CursorMoved { rollout, .. }, Cause::Tick) => {
                let rollout = self.before.rollout(*rollout).filter(|rollout| rollout.cursor.is_some())?;
                self.unpassable(rollout, entry.at)
            }
            (Change::RolloutEnded { rollout, ending: Ending::Completed }, _) => {
                let rollout = self.before.rollout(*rollout)?;
                let holder = self.before.machines.values().find(|machine| machine.lease.is_some());
                let held = holder.map(|holder| format!("R86: completed although {} holds a slot", holder.hostname));
                held.or_else(|| self.unpassable(rollout, entry.at))
            }
            _ => None,
        }
    }

    /// What a machine needs to be served for the first time in a generation, capped or not (R17).
    fn inadmissible(&self, machine: &Machine, rollout: &Rollout, at: Timestamp) -> Option<String> {
        let name = &machine.hostname;
        let Some((environment, ring)) = machine.place() else { return Some(format!("R12: {name} is out of scope")) };
        let faults = [
            (!naive::is_open(self.before, rollout, environment), "R13: its environment is closed"),
            (naive::is_held(self.before, machine), "R17: it, its ring or its environment is paused"),
            (rollout.halted_rings.contains_key(&ring), "R66: its ring is halted"),
            (machine.is_done(rollout.release), "R16: it is done"),
            (!naive::is_elected(self.before, rollout, machine, at), "R72: it is not elected"),
            (self.sky.is_unrendered(machine.id, self.when), "R148: it cannot be rendered"),
        ];
        faults.iter().find(|(broken, _)| *broken).map(|(_, why)| format!("{why}, and {name} is admitted"))
    }

    /// Why a poll may not have got a slot: capacity, order and everything else (R17-R21, R31, R143).
    fn ungrantable(&self, machine: MachineId, at: Timestamp) -> Option<String> {
        let (rollout, machine) = self.parties(machine)?;
        if let Some(why) = self.inadmissible(machine, rollout, at) {
            return Some(why);
        }
        let (name, key) = (&machine.hostname, machine.place()?);
        let cap = self.before.rings.get(&key.1)?.settings.max_in_flight;
        let free = usize::try_from(cap).ok()?.saturating_sub(naive::taken(self.before, rollout, key, at));
        let own = naive::rank(rollout, machine);
        let waits = |m: &&Machine| {
            m.lease.is_none()
                && m.paused.is_none()
                && !m.is_done(rollout.release)
                && naive::is_elected(self.before, rollout, m, at)
                && naive::rank(rollout, m) < own
        };
        let ahead = naive::members(self.before, key).filter(waits).count();
        let faults = [
            (cap == 0, format!("R18: {name} got a slot in an uncapped ring")),
            (free == 0, format!("R21: {name} got a slot where all {cap} are taken")),
            (ahead >= free, format!("R31: {name} got one of {free} slots before {ahead} ahead of it")),
            (self.sky.is_dark(self.when), format!("R143: {name} got a slot while results could not be read")),
        ];
        faults.into_iter().find(|(broken, _)| *broken).map(|(_, why)| why)
    }

    /// Only who was served and is not done becomes a holder by a cap (R29).
    fn unadoptable(&self, machine: MachineId) -> Option<String> {
        let (rollout, machine) = self.parties(machine)?;
        let served = machine.served.as_ref().is_some_and(|served| served.generation == rollout.generation);
        let runs = served && machine.paused.is_none() && !machine.is_done(rollout.release);
        (!runs).then(|| format!("R29: {} was adopted without a run", machine.hostname))
    }

    fn unjoinable(&self, machine: MachineId, at: Timestamp) -> Option<String> {
        let (rollout, machine) = self.parties(machine)?;
        let ring = self.before.rings.get(&machine.ring?)?;
        if ring.settings.max_in_flight > 0 {
            return Some(format!("R18: {} was served without a slot in a capped ring", machine.hostname));
        }
        self.inadmissible(machine, rollout, at)
    }

    /// A lease ends on these and nothing else (R22, R23, R25, R26).
    fn unendable(&self, machine: MachineId, end: LeaseEnd, cause: &Cause) -> Option<String> {
        if end == LeaseEnd::Success && !self.succeeds(machine) {
            return Some(format!("R26: {} lost its slot without a success", self.before.hostname(machine)));
        }
        let verb = match cause {
            Cause::Verb { name, .. } => name.as_str(),
            Cause::Report => "report",
            _ => "nobody",
        };
        let fits = match end {
            LeaseEnd::Success | LeaseEnd::Rebuilt => verb == "report",
            LeaseEnd::Paused => verb == "pause-machine",
            LeaseEnd::Superseded | LeaseEnd::Reset => verb == "start",
            LeaseEnd::Uncapped => verb == "patch-ring",
            LeaseEnd::Halted => matches!(verb, "halt" | "yank"),
            LeaseEnd::Moved => verb == "assign-machine",
            LeaseEnd::Removed => verb == "remove-machine",
        };
        (!fits).then(|| format!("R23: the lease of {} ended as {end:?} by {verb}", self.before.hostname(machine)))
    }

    /// The same verdict files a success of the machine.
    fn succeeds(&self, of: MachineId) -> bool {
        self.entries.iter().any(|entry| {
            matches!(entry.change, Change::ResultReported { machine, outcome: Outcome::Success, .. } if machine == of)
        })
    }

    fn unpassable(&self, rollout: &Rollout, at: Timestamp) -> Option<String> {
        if self.sky.is_dark(self.when) {
            return Some("R143: the cursor moved while results could not be read".to_owned());
        }
        naive::unpassable(self.before, rollout, at).map(|why| format!("the cursor moved: {why}"))
    }

    /// The running rollout and the machine, as they were before the step.
    fn parties(&self, machine: MachineId) -> Option<(&Rollout, &Machine)> {
        Some((self.before.running()?, self.before.machines.get(&machine)?))
    }
}
