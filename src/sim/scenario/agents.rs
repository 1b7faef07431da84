//! Agents of a run: polls that never wait, reports, and what is remembered of both.

use std::time::Duration;

use super::super::agents::agent::Served;
use super::super::agents::roster::Errand;
use super::super::host::SimHost;
use super::super::renderer::SimRenderer;
use super::requests::Asked;
use super::run::{Run, Stuck};
use super::screens::Consoles;
use crate::control::desk::{Desk, DeskError, PollAnswer};
use crate::control::ports::{ApplyResult, Presence};
use crate::domain::ids::MachineId;
use crate::domain::input::Edition;
use crate::domain::verdict::Reply;
use crate::wire::answer::OK;
use crate::wire::problem::Problem;

/// What a desk answers; none = it was not reached, or did not answer.
pub(super) type Heard<T> = Option<Result<T, DeskError>>;

impl<C: Consoles> Run<C> {
    /// One errand of an agent that acts by itself.
    pub(super) fn run_errand(&mut self, errand: Errand) -> Result<(), Stuck> {
        match errand {
            Errand::Poll { machine, have } => self.poll_by_itself(machine, have),
            Errand::Report(result) => self.tell(*result, None).map(drop),
        }
    }

    /// A poll of an agent that acts by itself; one that would change nothing is a sign of life and no more.
    fn poll_by_itself(&mut self, machine: MachineId, have: Option<Edition>) -> Result<(), Stuck> {
        let now = self.ground.now();
        if self.calm.holds(machine, &self.witness.world, now) {
            self.ground.outside.presence.saw(self.ground.account, machine, now.max(self.witness.world.at));
            self.roster.unanswered(machine);
            return Ok(());
        }
        let revision = self.witness.world.revision;
        let told = self.poll(machine, have, None)?;
        let is_same = self.witness.world.revision == revision && self.roster.have(machine) == have;
        if matches!(told, Some(Ok(_))) && is_same && self.is_plain() {
            self.calm.settle(machine, &self.witness.world, now);
        }
        Ok(())
    }

    /// No line is cut and no clock is wrong: nothing but the world and the time decides about an answer.
    fn is_plain(&self) -> bool {
        let now = self.ground.now();
        self.processes.iter().all(|process| process.is_plain(now))
    }

    /// A poll at a process, or at the first one that agents reach. A run that its answer withdraws is reported at once.
    pub(super) fn poll(
        &mut self,
        machine: MachineId,
        have: Option<Edition>,
        process: Option<&str>,
    ) -> Result<Heard<PollAnswer>, Stuck> {
        let answer = match self.desk(process) {
            Some(desk) => self.ground.run("poll", async move { desk.poll(machine, have, Duration::ZERO).await })?,
            None => None,
        };
        self.count_heard(&answer, Asked::poll);
        let Some(Ok(told)) = &answer else {
            self.roster.unanswered(machine);
            self.rest()?;
            return Ok(answer);
        };
        let edition = told.assignment.as_ref().map(|handout| handout.edition);
        self.records.answered(self.ground.moment(), machine, edition);
        let served = told.assignment.as_ref().map(|handout| Served {
            edition: handout.edition,
            timeout: handout.timeout_seconds,
            done: false,
            rebuilds: Some(handout.rebuilds),
        });
        self.rest()?;
        let is_done = |served: &Served| {
            self.witness.world.machines.get(&machine).is_some_and(|known| known.is_done(served.edition.release))
        };
        let served = served.map(|served| Served { done: is_done(&served), ..served });
        if let Some(Errand::Report(canceled)) = self.roster.answered(self.ground.now(), machine, served) {
            self.tell(*canceled, process)?;
        }
        Ok(answer)
    }

    /// A report at a process, or at the first one that agents reach. An agent that acts by itself sends it again
    /// where nobody took it.
    pub(super) fn tell(&mut self, result: ApplyResult, process: Option<&str>) -> Result<Heard<Reply>, Stuck> {
        self.calm.stir();
        let told = result.clone();
        let answer = match self.desk(process) {
            Some(desk) => self.ground.run("report", async move { desk.report(told).await })?,
            None => None,
        };
        self.count_heard(&answer, Asked::report);
        if matches!(answer, None | Some(Err(DeskError::Door(_) | DeskError::Outrun))) {
            self.roster.undelivered(self.ground.now(), result);
        }
        self.rest()?;
        Ok(answer)
    }

    fn count_heard<T>(&mut self, heard: &Heard<T>, asked: impl Fn(u16) -> Asked) {
        let status = match heard {
            None => return,
            Some(Ok(_)) => OK,
            Some(Err(error)) => Problem::from(error.clone()).kind.status(),
        };
        self.records.count(asked(status));
    }

    /// The desk of a process that agents reach: of the one that is named, or of the first in the file.
    pub(super) fn desk(&self, process: Option<&str>) -> Option<Desk<SimHost, SimRenderer>> {
        let now = self.ground.now();
        let reached = |one: &&super::process::Process| {
            one.is_reached_by_agents(now) && process.is_none_or(|named| named == one.name)
        };
        self.processes.iter().find(reached)?.service().map(|service| service.desk.clone())
    }
}
