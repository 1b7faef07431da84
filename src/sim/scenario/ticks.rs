//! Ticks of a run: asked for at whole periods after the start, or where the file says so.

use std::collections::BTreeSet;

use super::file::act::Act;
use super::process::Process;
use super::records::{Answer, Ended};
use super::run::{Run, Stuck};
use super::screens::Consoles;
use crate::control::door::DoorError;
use crate::domain::ids::Epoch;
use crate::domain::input::Input;
use crate::domain::verdict::Reply;
use crate::wire::answer::{NO_CONTENT, Said};

impl<C: Consoles> Run<C> {
    /// An automatic tick: of every process that believes it has the seat.
    pub(super) fn tick_all(&mut self) -> Result<(), Stuck> {
        let holders: Vec<String> =
            self.processes.iter().filter(|one| seat(one).is_some()).map(|one| one.name.clone()).collect();
        for holder in holders {
            self.tick(&holder)?;
        }
        Ok(())
    }

    /// An explicit tick, at the process of an entry.
    pub(super) fn tick_at(&mut self, act: &Act) -> Result<Answer, Stuck> {
        let process = self.process_of(act).to_owned();
        if self.service(&process).is_none() {
            return Ok(Answer::none(Ended::Refused));
        }
        Ok(match self.tick(&process)? {
            None => Answer::none(Ended::Unanswered),
            Some(Ok(_)) => self.done(Said { status: NO_CONTENT, body: None }, false),
            Some(Err(error)) => self.refusal(&error.into()),
        })
    }

    /// One tick, which brings the identity of the rollout that an unattended starter may begin; then answers to steps of
    /// rolls that it began take effect.
    fn tick(&mut self, name: &str) -> Result<Option<Result<Reply, DoorError>>, Stuck> {
        let fresh = self.fresh_rollout(None);
        let reply = self.ask_holder(name, Input::Tick { fresh })?;
        self.deliver()?;
        Ok(reply)
    }

    /// Answers of the file to steps of rolls: whoever holds the seat sees that the fleet looks otherwise.
    pub(super) fn deliver(&mut self) -> Result<(), Stuck> {
        let now = self.ground.now();
        if !self.ground.outside.cluster.with(|objects| objects.deliver(now)) {
            return Ok(());
        }
        let holders: Vec<String> =
            self.processes.iter().filter(|one| seat(one).is_some()).map(|one| one.name.clone()).collect();
        for holder in holders {
            self.ask_holder(&holder, Input::Seen { ran: Vec::new(), tried: BTreeSet::new() })?;
        }
        Ok(())
    }

    /// Asks a process that has the seat. A frozen one has at most one such question waiting for it.
    fn ask_holder(&mut self, name: &str, input: Input) -> Result<Option<Result<Reply, DoorError>>, Stuck> {
        let Some(process) = self.processes.iter().find(|one| one.name == name) else { return Ok(None) };
        let Some(epoch) = seat(process) else { return Ok(Some(Err(DoorError::Deposed))) };
        let Some(life) = process.life.as_ref() else { return Ok(None) };
        if life.ticking.with(|ticking| std::mem::replace(ticking, true)) {
            return Ok(None);
        }
        let (door, ticking) = (life.service.door.clone(), life.ticking.clone());
        let reply = self.ground.run("tick", async move {
            let reply = door.ask_under(epoch, input).await;
            ticking.with(|ticking| *ticking = false);
            reply
        })?;
        self.rest()?;
        Ok(reply)
    }
}

/// The epoch a process believes it has the seat in.
fn seat(process: &Process) -> Option<Epoch> {
    *process.service()?.held.epochs().borrow()
}
