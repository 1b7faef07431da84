//! The mind on the control plane: when to ask, what an answer means, what is still to be told.

use jiff::Timestamp;

use crate::domain::input::Edition;
use crate::domain::release::Outcome;
use crate::domain::span::Seconds;
use crate::wire::agent::RebuiltBody;

use super::heard::{Answer, Deed, Mail, Setback};
use super::memory::Offer;
use super::mind::{Mind, named};
use super::pace::{Pace, WAIT_BELIEVED, later};

/// Shortest time between the beginnings of two polls, in milliseconds: a fast answer never becomes a busy loop.
const GAP_MS: u64 = 250;

/// Before asking again for what got lost on this side, in milliseconds.
const BREATH_MS: u64 = 1_000;

/// An answer that took at least this long was held by the control plane, in milliseconds.
const HELD_MS: i128 = 1_000;

/// Where the polling stands.
#[derive(Debug, Clone)]
pub(super) struct Asking {
    /// Of the last poll.
    number: u64,
    in_flight: Option<Asked>,
    next_at: Timestamp,
    /// The next poll may be held.
    patient: bool,
    pace: Pace,
}

/// A poll in flight.
#[derive(Debug, Clone, Copy)]
struct Asked {
    at: Timestamp,
    wait: Seconds,
    /// Whatever there was to tell had been tried before: the answer counts as word (see `word_needed`).
    fresh: bool,
    /// Every report had arrived before.
    informed: bool,
}

/// Where the sending stands.
#[derive(Debug, Clone)]
pub(super) struct Posting {
    in_flight: Option<Sent>,
    next_at: Timestamp,
    pace: Pace,
    /// Why the last attempt failed.
    setback: Option<Setback>,
}

/// What is being sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sent {
    Rebuilt,
    /// The report of the run that began then.
    Report(Timestamp),
}

impl Asking {
    pub(super) fn new(now: Timestamp) -> Self {
        Self { number: 0, in_flight: None, next_at: now, patient: false, pace: Pace::default() }
    }

    /// What the poll in flight will say was asked before something happened that the control plane has to know.
    pub(super) fn spoil(&mut self) {
        if let Some(asked) = &mut self.in_flight {
            asked.fresh = false;
            asked.informed = false;
        }
    }
}

impl Posting {
    pub(super) fn new(now: Timestamp) -> Self {
        Self { in_flight: None, next_at: now, pace: Pace::default(), setback: None }
    }
}

impl Mind {
    pub(super) fn answered(&mut self, number: u64, answer: Answer, now: Timestamp) {
        if number != self.asking.number {
            return;
        }
        let Some(asked) = self.asking.in_flight.take() else { return };
        self.asking.pace.reset();
        if self.posting.setback == Some(Setback::Away) {
            self.posting.next_at = now;
        }
        let served = answer.offer.as_ref().map(|offer| offer.edition);
        let same = served == self.memory.edition();
        self.plan_next_poll(asked, same, answer.poll_after, now);
        self.word_needed &= !asked.fresh;
        self.confirm(asked, served);
        self.accept(answer, same);
        self.adopt();
    }

    /// The assignment that counts from now on. `cancel` beside the edition that runs withdraws it until the next word.
    fn accept(&mut self, answer: Answer, same: bool) {
        let running = self.memory.run.is_some();
        if !same {
            let words = answer.offer.as_ref().map_or("nothing".to_owned(), |offer| named(offer.edition));
            self.say(format!("the control plane serves {words}"));
        }
        if running && (answer.cancel || !same) {
            self.stop(Outcome::Canceled);
        }
        self.memory.current = answer.offer.filter(|_| !(running && same && answer.cancel));
    }

    /// After an informed poll that finds no new generation the control plane surely counts the success (R175).
    fn confirm(&mut self, asked: Asked, served: Option<Edition>) {
        if let Some(applied) = &mut self.memory.applied {
            applied.confirmed |= asked.informed && served.is_none_or(|served| served == applied.edition);
        }
    }

    /// A done machine that is served its release in the next generation works on nothing.
    fn adopt(&mut self) {
        let Some(offer) = self.memory.current.clone().filter(|offer| self.is_proven(offer)) else { return };
        if let Some(applied) = &mut self.memory.applied {
            applied.edition = offer.edition;
            self.say(format!("{} is applied already", named(offer.edition)));
        }
    }

    /// True if the control plane is sure to count this machine as done in a generation that is new to it. A generation
    /// that was missed may have displaced the release, and then nobody is done (R175): that is worth a run.
    fn is_proven(&self, offer: &Offer) -> bool {
        self.memory.run.is_none()
            && self.memory.applied.as_ref().is_some_and(|applied| {
                applied.confirmed
                    && applied.digest == offer.digest
                    && applied.edition.release == offer.edition.release
                    && applied.edition.generation.checked_add(1) == Some(offer.edition.generation)
            })
    }

    /// A held poll is followed by the next one, so that a withdrawal arrives at once; a control plane that does not
    /// hold polls says itself how often it wants to be asked.
    fn plan_next_poll(&mut self, asked: Asked, same: bool, poll_after: Seconds, now: Timestamp) {
        let took = now.duration_since(asked.at).as_millis();
        let holds = !self.habits.wait.is_off() && (!same || asked.wait.is_off() || took >= HELD_MS);
        self.asking.patient = true;
        self.asking.next_at = if holds {
            later(asked.at, GAP_MS).max(now)
        } else {
            poll_after.clamp(Seconds(1), WAIT_BELIEVED).after(now)
        };
    }

    pub(super) fn not_answered(&mut self, number: u64, setback: Setback, now: Timestamp) {
        if number == self.asking.number && self.asking.in_flight.take().is_some() {
            self.asking.patient = false;
            self.asking.next_at = self.asking.pace.after(setback, now, &mut self.dice);
        }
    }

    pub(super) fn ask_at(&self) -> Option<Timestamp> {
        let wanted = !self.leaving || self.memory.run.is_some();
        let allowed = self.memory.rebuilt.as_ref().is_none_or(|rebuilt| rebuilt.told);
        (wanted && allowed && self.asking.in_flight.is_none()).then_some(self.asking.next_at)
    }

    pub(super) fn ask_if_due(&mut self, now: Timestamp) {
        if self.ask_at().is_none_or(|at| at > now) {
            return;
        }
        let wait = if self.asking.patient { self.habits.wait } else { Seconds(0) };
        let (fresh, informed) = (self.has_spoken(), self.memory.reports.is_empty());
        self.asking.number += 1;
        self.asking.in_flight = Some(Asked { at: now, wait, fresh, informed });
        self.want(Deed::Ask { number: self.asking.number, have: self.memory.edition(), wait });
    }

    /// Gives up the poll in flight for one that is answered at once, unless the control plane is away.
    fn ask_anew(&mut self, now: Timestamp) {
        if self.asking.pace.failed == 0 {
            self.asking.in_flight = None;
            self.asking.patient = false;
            self.asking.next_at = now;
        }
    }

    pub(super) fn ask_anew_once_spoken(&mut self, now: Timestamp) {
        if self.has_spoken() {
            self.ask_anew(now);
        }
    }

    /// The same after a second: what failed here may fail again.
    pub(super) fn ask_anew_after_a_breath(&mut self, now: Timestamp) {
        self.ask_anew(now);
        self.asking.next_at = self.asking.next_at.max(later(now, BREATH_MS));
    }

    /// The oldest thing that is not told yet. A rebuild comes first: it makes the control plane forget what it knows.
    fn mail(&self) -> Option<(Sent, Mail)> {
        if let Some(rebuilt) = self.memory.rebuilt.as_ref().filter(|r| !r.told) {
            return Some((Sent::Rebuilt, Mail::Rebuilt(RebuiltBody { baked_version: Some(rebuilt.version.clone()) })));
        }
        let report = self.memory.reports.first()?;
        Some((Sent::Report(report.started_at), Mail::Report(report.clone())))
    }

    fn has_mail(&self) -> bool {
        !self.memory.reports.is_empty() || self.memory.rebuilt.as_ref().is_some_and(|rebuilt| !rebuilt.told)
    }

    /// Everything is told, or could not be told at least once.
    pub(super) fn has_spoken(&self) -> bool {
        self.posting.in_flight.is_none() && (self.posting.pace.failed > 0 || !self.has_mail())
    }

    pub(super) fn post_at(&self) -> Option<Timestamp> {
        (self.posting.in_flight.is_none() && self.has_mail()).then_some(self.posting.next_at)
    }

    pub(super) fn post_if_due(&mut self, now: Timestamp) {
        if self.post_at().is_none_or(|at| at > now) {
            return;
        }
        let Some((sent, mail)) = self.mail() else { return };
        self.posting.in_flight = Some(sent);
        self.want(Deed::Send(mail));
    }

    pub(super) fn delivered(&mut self, now: Timestamp) {
        self.posting.pace.reset();
        self.posting.setback = None;
        self.posting.next_at = now;
        match self.posting.in_flight.take() {
            Some(Sent::Rebuilt) => {
                if let Some(rebuilt) = &mut self.memory.rebuilt {
                    rebuilt.told = true;
                }
            }
            Some(Sent::Report(run)) => self.memory.reports.retain(|report| report.started_at != run),
            None => return,
        }
        let unsure = self.memory.applied.as_ref().is_some_and(|applied| !applied.confirmed);
        if self.word_needed || unsure {
            self.ask_anew_once_spoken(now);
        }
    }

    /// Sending it again would be refused again.
    pub(super) fn refused(&mut self, why: &str, now: Timestamp) {
        let what = match self.posting.in_flight {
            Some(Sent::Rebuilt) => "the rebuild".to_owned(),
            Some(Sent::Report(run)) => format!("the report of the run that began at {run}"),
            None => return,
        };
        self.say(format!("{what} is given up, the control plane refused it: {why}"));
        self.delivered(now);
    }

    pub(super) fn undelivered(&mut self, setback: Setback, now: Timestamp) {
        if self.posting.in_flight.take().is_none() {
            return;
        }
        self.posting.setback = Some(setback);
        self.posting.next_at = self.posting.pace.after(setback, now, &mut self.dice);
        if self.word_needed {
            self.ask_anew(now);
        }
    }
}
