//! A scenario that goes on live: the script ends, and whoever was moved by it acts by itself from then on.
//!
//! Faults stay as they are, ticks go on as the file says, and a person at a console is the operator.

use jiff::Timestamp;

use super::super::agents::agent::Served;
use super::super::agents::behaviour::Behaviour;
use super::super::cluster::objects::Objects;
use super::super::executor::Hook;
use super::ladders::ConsoleLink;
use super::process::USUAL;
use super::run::{Run, Stuck};
use super::screens::Consoles;
use crate::control::local::Introduction;
use crate::control::ports::{Clock, FailedState};
use crate::control::service::Loop;
use crate::domain::fleet::Machine;
use crate::domain::input::Edition;
use crate::domain::release::Outcome;
use crate::domain::span::Seconds;

impl<C: Consoles> Run<C> {
    /// Virtual time.
    pub fn now(&self) -> Timestamp {
        self.ground.outside.clock.now()
    }

    /// Calls `hook` whenever somebody wants to go on, from whichever thread.
    pub fn on_wake(&self, hook: Hook) {
        self.ground.executor.on_wake(hook);
    }

    /// Changes the simulated cluster, as nobody in the scenario would.
    pub fn with_cluster(&mut self, change: fn(&mut Objects)) {
        self.ground.outside.cluster.with(change);
    }

    /// A console's end of the usual process, and the painter it needs; none where that process does not live. Where the
    /// scenario has a console that is attached to it, that console's end: what it needs is under way.
    pub fn link(&mut self, introduction: Introduction) -> Option<(ConsoleLink, Option<Loop>)> {
        let ladder = self.processes.iter().find_map(|process| process.ladder()).cloned();
        if let Some(ladder) = ladder {
            return Some((ConsoleLink::Attached(ladder), None));
        }
        let (link, painter) = self.service(USUAL)?.link(introduction);
        Some((ConsoleLink::Local(link), Some(painter)))
    }

    /// Nobody follows the script any more: every machine gets an agent that goes on where the machine stands and says
    /// so at once, and a console watches.
    pub fn go_live(&mut self, painter: Option<Loop>) -> Result<(), Stuck> {
        self.playbill.strike(&self.scenario.when);
        self.scenario.then.clear();
        self.scenario.never.clear();
        self.judge.then.clear();
        self.judge.never.clear();
        self.calm.stir();
        let machines: Vec<Machine> = self.witness.world.machines.values().cloned().collect();
        machines.iter().for_each(|machine| self.take_over(machine));
        self.advance_to(self.now())?;
        if let Some(painter) = painter {
            self.ground.executor.spawn(painter.name, painter.future);
        }
        Ok(self.ground.settle()?)
    }

    fn take_over(&mut self, machine: &Machine) {
        let now = self.now();
        if self.roster.has(machine.id) {
            return;
        }
        self.roster.enroll(now, machine.id, character(machine));
        if self.records.silent.contains(&machine.id) {
            self.roster.silence(machine.id);
        } else if let Some(served) = self.work_of(machine) {
            match has_failed(machine, served.edition) {
                true => self.roster.latch(machine.id, served),
                false => self.roster.resume(now, machine.id, served, now),
            }
        }
    }

    /// What the machine works on, or failed on; a machine that is done begins with its next poll.
    fn work_of(&self, machine: &Machine) -> Option<Served> {
        let edition = self.records.have(machine.id)?;
        let release = self.witness.world.releases.get(&edition.release)?;
        let done = machine.is_done(edition.release);
        let served = Served { edition, timeout: release.timeout_seconds, done, rebuilds: Some(machine.rebuilds) };
        Some(served).filter(|served| !served.done)
    }
}

fn has_failed(machine: &Machine, edition: Edition) -> bool {
    machine.last_result.as_ref().is_some_and(|last| {
        last.release == edition.release && last.generation == edition.generation && last.outcome.is_failure()
    })
}

/// What failed is mended when it is tried again, unless it already failed twice in the same state.
fn character(machine: &Machine) -> Behaviour {
    let usual = Behaviour { drift: Seconds(1_500), ..Behaviour::default() };
    match machine.last_result.as_ref().filter(|last| last.repeats) {
        None => usual,
        Some(last) => {
            let id = last.failed_state.clone().unwrap_or_default();
            let failed_state = FailedState { name: id.clone(), id, ..usual.failed_state };
            Behaviour { outcome: Outcome::Failed, failed_state, ..usual }
        }
    }
}
