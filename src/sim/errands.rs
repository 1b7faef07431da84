//! Errands on a stage: what agents and people carry to processes, and what comes back.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, join_all, select};

use super::agents::agent::Served;
use super::agents::roster::{Errand, Roster};
use super::clock::VirtualClock;
use super::host::SimHost;
use super::journal::SimJournal;
use super::post::{Fate, Post};
use super::record::{Answer, Handed, Record, Span, Told};
use super::renderer::SimRenderer;
use super::shared::Shared;
use super::toll::{Mishap, Toll};
use super::trail::Trail;
use crate::control::desk::{DeskError, Handout, PollAnswer};
use crate::control::door::{Door, DoorError};
use crate::control::ports::{ApplyResult, Clock};
use crate::control::service::Service;
use crate::domain::ids::{AccountId, MachineId};
use crate::domain::input::{Edition, Input, Order};
use crate::domain::world::World;

/// Orders of one cue that wait for the loop at the same time.
const ORDERS_AT_ONCE: usize = 1_024;

/// Tells the agents of a process's nudges. Whoever lags behind the waves takes everybody for nudged.
pub(super) async fn pass_on_nudges(
    service: Service<SimHost, SimRenderer>,
    roster: Shared<Roster>,
    clock: VirtualClock,
) {
    let mut waves = service.nudges.waves();
    loop {
        let wave = waves.recv().await;
        let now = clock.instant();
        roster.with(|roster| match wave {
            Ok(wave) => roster.nudge(now, wave.iter()),
            Err(_) => roster.nudge_all(now),
        });
    }
}

/// Where the answers to orders go.
pub(super) struct Ledger {
    pub(super) clock: VirtualClock,
    pub(super) refusals: Shared<Vec<String>>,
    pub(super) record: Option<Shared<Record>>,
}

impl Ledger {
    fn note(&self, answer: Answer) {
        self.refusals.with(|list| list.extend(answer.complaint()));
        if let Some(record) = &self.record {
            record.with(|record| record.answers.push(answer));
        }
    }
}

/// Gives orders in sequence, in groups that fit into the queue of the loop.
pub(super) async fn give(door: Option<Door>, orders: Vec<Order>, ledger: Ledger) {
    for group in orders.chunks(ORDERS_AT_ONCE) {
        let asked = group.iter().map(|order| ask(door.clone(), order.clone(), &ledger.clock));
        join_all(asked).await.into_iter().for_each(|answer| ledger.note(answer));
    }
}

/// Gives one order.
async fn ask(door: Option<Door>, order: Order, clock: &VirtualClock) -> Answer {
    let Some(door) = door else {
        let (at, span) = (clock.now(), Span::default());
        return Answer { at, order, reply: Err(DoorError::Stopped), span };
    };
    let since = door.world().revision;
    let reply = door.ask(Input::Verb(order.clone())).await;
    Answer { at: clock.now(), order, reply, span: Span { since, until: door.world().revision } }
}

/// Carries one errand of an agent to the desk of a process, and the answer back.
pub(super) struct Courier {
    /// Of the process it goes to.
    pub(super) trail: Trail,
    pub(super) roster: Shared<Roster>,
    pub(super) clock: VirtualClock,
    pub(super) service: Option<Service<SimHost, SimRenderer>>,
    pub(super) post: Post,
    pub(super) toll: Shared<Toll>,
    pub(super) record: Option<(Shared<Record>, SimJournal, AccountId)>,
}

impl Courier {
    /// Whoever asks a process that dies over it hears no answer.
    pub(super) async fn run(self, errand: Errand) {
        let trail = self.trail.clone();
        let (answer, death) = (pin!(self.go(errand.clone())), pin!(trail.death()));
        if let Either::Left(_) = select(answer, death).await {
            return;
        }
        match errand {
            Errand::Poll { machine, .. } => self.roster.with(|roster| roster.unanswered(machine)),
            Errand::Report(result) => self.roster.with(|roster| roster.undelivered(self.clock.now(), *result)),
        }
    }

    async fn go(&self, errand: Errand) {
        match errand {
            Errand::Poll { machine, have } => self.poll(machine, have).await,
            Errand::Report(result) => self.send(*result).await,
        }
    }

    async fn poll(&self, machine: MachineId, have: Option<Edition>) {
        let Some(service) = &self.service else { return self.roster.with(|roster| roster.unanswered(machine)) };
        let since = service.door.world().revision;
        let Ok(answer) = service.desk.poll(machine, have, Duration::ZERO).await else {
            return self.roster.with(|roster| roster.unanswered(machine));
        };
        let world = service.door.world();
        self.note_handed(machine, &answer, Span { since, until: world.revision });
        if self.post.answer_gets_lost() {
            self.count(Mishap::LostPoll);
            return self.roster.with(|roster| roster.unanswered(machine));
        }
        let served = served(&world, machine, &answer);
        let canceled = self.roster.with(|roster| roster.answered(self.clock.now(), machine, served));
        if let Some(Errand::Report(result)) = canceled {
            self.send(*result).await;
        }
    }

    /// A report goes into the post, which may keep it for a while or deliver it twice.
    async fn send(&self, result: ApplyResult) {
        self.note_told(&result);
        let now = self.clock.now();
        match self.post.fate() {
            Fate::Arrives => self.report(result).await,
            Fate::Late(span) => {
                self.count(Mishap::LateReport);
                self.roster.with(|roster| roster.postpone(span.after(now), result));
            }
            Fate::Twice(span) => {
                self.count(Mishap::DoubleReport);
                self.report(result.clone()).await;
                self.roster.with(|roster| roster.postpone(span.after(now), result));
            }
        }
    }

    fn count(&self, mishap: Mishap) {
        self.toll.with(|toll| toll.count(mishap));
    }

    /// What was refused is over; what reached nobody is sent again.
    async fn report(&self, result: ApplyResult) {
        let told = match &self.service {
            Some(service) => service.desk.report(result.clone()).await,
            None => Err(DeskError::Outrun),
        };
        if let Err(DeskError::Door(_) | DeskError::Outrun) = told {
            self.roster.with(|roster| roster.undelivered(self.clock.now(), result));
        }
    }

    fn note_handed(&self, machine: MachineId, answer: &PollAnswer, span: Span) {
        let (Some((record, ..)), Some(handout)) = (&self.record, &answer.assignment) else { return };
        let handed = Handed { at: self.clock.now(), machine, edition: handout.edition, span };
        record.with(|record| record.handed.push(handed));
    }

    fn note_told(&self, result: &ApplyResult) {
        let Some((record, journal, account)) = &self.record else { return };
        let told = Told { result: result.clone(), head: journal.world(*account).revision };
        record.with(|record| record.told.push(told));
    }
}

fn served(world: &World, machine: MachineId, answer: &PollAnswer) -> Option<Served> {
    let Handout { edition, timeout_seconds, rebuilds, .. } = answer.assignment.as_ref()?;
    let done = world.machines.get(&machine).is_some_and(|known| known.is_done(edition.release));
    Some(Served { edition: *edition, timeout: *timeout_seconds, done, rebuilds: Some(*rebuilds) })
}
