//! The mind on its runs: what runs next, when it must end, and what follows from how it ended.

use jiff::Timestamp;

use crate::domain::input::Edition;
use crate::domain::release::Outcome;
use crate::domain::span::Seconds;
use crate::wire::agent::{FailedStateBody, ReportBody};

use super::heard::{Deed, Ending, Exit};
use super::memory::{Applied, Offer, ProcessMark, REPORTS_MAX, Remedy, Run, RunKind, Trouble};
use super::mind::{Mind, named};
use super::pace::later;

/// A run that is to begin at an instant.
struct Due<'a> {
    at: Timestamp,
    kind: RunKind,
    offer: &'a Offer,
}

impl Mind {
    /// What runs next if nothing else happens.
    fn due(&self) -> Option<Due<'_>> {
        let current = self.memory.current.as_ref()?;
        if let Some(applied) = self.memory.applied.as_ref().filter(|a| a.edition == current.edition) {
            return Some(Due { at: applied.drift_at?, kind: RunKind::Drift, offer: current });
        }
        match self.memory.trouble.as_ref().filter(|t| t.edition == current.edition).map(|t| t.remedy) {
            None => Some(Due { at: Timestamp::MIN, kind: RunKind::Arc, offer: current }),
            Some(Remedy::RetryAt(at)) => Some(Due { at, kind: RunKind::Arc, offer: current }),
            Some(Remedy::Latched { good_tried: true }) => None,
            Some(Remedy::Latched { good_tried: false }) => {
                let good = self.memory.good.as_ref().filter(|good| good.digest != current.digest)?;
                Some(Due { at: Timestamp::MIN, kind: RunKind::LastGood, offer: good })
            }
        }
    }

    fn is_free(&self) -> bool {
        self.memory.run.is_none() && !self.word_needed && !self.leaving
    }

    pub(super) fn work_at(&self) -> Option<Timestamp> {
        if self.is_free() { self.due().map(|due| due.at) } else { None }
    }

    pub(super) fn take_up_work(&mut self, now: Timestamp) {
        if !self.is_free() {
            return;
        }
        let Some(due) = self.due().filter(|due| due.at <= now) else { return };
        let (kind, offer) = (due.kind, due.offer.clone());
        self.start(kind, offer, now);
    }

    fn start(&mut self, kind: RunKind, offer: Offer, now: Timestamp) {
        let started_at = self.name_of_next_run(now);
        if kind != RunKind::Drift {
            self.memory.applied = None;
        }
        if let (RunKind::LastGood, Some(trouble)) = (kind, &mut self.memory.trouble) {
            trouble.remedy = Remedy::Latched { good_tried: true };
        }
        self.say(format!("{} run of {}", kind.word(), named(offer.edition)));
        let run = Run { kind, offer, started_at, process: None };
        self.memory.last_run_at = Some(started_at);
        self.memory.run = Some(run.clone());
        self.want(Deed::Start(run));
    }

    /// Whole milliseconds, which every store can keep, and later than the last one whatever the clock says.
    fn name_of_next_run(&self, now: Timestamp) -> Timestamp {
        let now = Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now);
        self.memory.last_run_at.map_or(now, |last| now.max(later(last, 1)))
    }

    pub(super) fn spawned(&mut self, process: ProcessMark) {
        let Some(run) = &mut self.memory.run else { return };
        run.process = Some(process);
        if self.stopping.is_none() {
            self.want(Deed::LetGo);
        }
    }

    /// When the run in flight must be over (R4).
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        let run = self.memory.run.as_ref().filter(|_| self.stopping.is_none())?;
        let limit = run.offer.timeout_seconds;
        (!limit.is_off()).then(|| limit.after(run.started_at))
    }

    pub(super) fn keep_the_deadline(&mut self, now: Timestamp) {
        if self.deadline().is_some_and(|deadline| deadline <= now) {
            self.say("the run in flight is past its deadline");
            self.stop(Outcome::Timeout);
        }
    }

    /// Ends the run in flight, once; the first reason is the one that is reported.
    pub(super) fn stop(&mut self, why: Outcome) {
        if self.stopping.is_none() {
            self.stopping = Some(why);
            self.want(Deed::Stop);
        }
    }

    pub(super) fn ended(&mut self, ending: Ending, now: Timestamp) {
        let Some(run) = self.memory.run.take() else { return };
        let by_itself = if ending.exit == Exit::Code(0) { Outcome::Success } else { Outcome::Failed };
        let outcome = self.stopping.take().unwrap_or(by_itself);
        self.last = Some(outcome);
        self.say(format!("{} run of {}: {}", run.kind.word(), named(run.offer.edition), told(outcome, &ending.exit)));
        self.asking.spoil();
        if run.kind != RunKind::LastGood {
            self.keep_report(report(&run, outcome, ending, now));
        }
        match (run.kind, outcome) {
            (_, Outcome::Canceled) => self.withdrawn(now),
            (RunKind::LastGood, _) => {}
            (_, Outcome::Success) => self.succeeded(run.offer, now),
            (_, Outcome::Failed | Outcome::Timeout) => self.failed(run.offer.edition, now),
        }
    }

    /// Keeps the newest reports.
    fn keep_report(&mut self, report: ReportBody) {
        if self.memory.reports.len() >= REPORTS_MAX {
            self.memory.reports.remove(0);
            self.say(format!("more than {REPORTS_MAX} reports wait to be sent: the oldest was given up"));
        }
        self.memory.reports.push(report);
    }

    fn succeeded(&mut self, offer: Offer, now: Timestamp) {
        let drift = self.habits.drift;
        let drift_at = drift.map(|(least, most)| Seconds(self.dice.u64(least.0..=most.0.max(least.0))).after(now));
        let (edition, digest) = (offer.edition, offer.digest.clone());
        self.memory.applied = Some(Applied { edition, digest, confirmed: false, drift_at });
        self.memory.trouble = None;
        self.memory.good = Some(offer);
    }

    /// Retry, then latch until a new generation is served (R63).
    fn failed(&mut self, edition: Edition, now: Timestamp) {
        self.memory.applied = None;
        let before = self.memory.trouble.as_ref().filter(|t| t.edition == edition).map_or(0, |t| t.failures);
        let failures = before.saturating_add(1);
        let remedy = if failures > self.habits.retries {
            self.say(format!("latched: {} is not tried again before a new generation", named(edition)));
            Remedy::Latched { good_tried: false }
        } else {
            let at = self.habits.retry_after.after(now);
            self.say(format!("retry {failures} of {} in {}", self.habits.retries, self.habits.retry_after));
            Remedy::RetryAt(at)
        };
        self.memory.trouble = Some(Trouble { edition, failures, remedy });
    }

    /// A withdrawn run leaves the machine anywhere. What comes next is what the control plane says once it knows: a
    /// run that begins on older word might have to be withdrawn again, in the middle of a drain (R161).
    fn withdrawn(&mut self, now: Timestamp) {
        self.memory.applied = None;
        self.word_needed = true;
        self.ask_anew_once_spoken(now);
    }

    /// Without its content nothing can run: forget the assignment, so that the control plane sends it again.
    pub(super) fn content_lost(&mut self, now: Timestamp) {
        let Some(run) = self.memory.run.take() else { return };
        self.stopping = None;
        self.say(format!("the content of {} is gone or damaged", named(run.offer.edition)));
        if run.kind == RunKind::LastGood {
            self.memory.good = None;
        } else {
            self.memory.current = None;
            self.word_needed = true;
            self.ask_anew_after_a_breath(now);
        }
    }
}

/// The report of a run. Where the command names no failing state the way it ended is named instead.
fn report(run: &Run, outcome: Outcome, ending: Ending, now: Timestamp) -> ReportBody {
    let mut failed_states = ending.failed_states;
    if outcome.is_failure() && failed_states.is_empty() {
        let comment = match outcome {
            Outcome::Timeout => format!("stopped at its deadline of {}", run.offer.timeout_seconds),
            _ => told(outcome, &ending.exit),
        };
        failed_states.push(FailedStateBody {
            id: "command".to_owned(),
            name: "the agent's command".to_owned(),
            comment,
        });
    }
    ReportBody {
        release_uuid: run.offer.edition.release,
        generation: run.offer.edition.generation,
        outcome,
        started_at: run.started_at,
        finished_at: now.max(run.started_at),
        changed_count: ending.changed_count,
        failed_states,
        log_tail: ending.log_tail,
        rebuilds: run.offer.rebuilds,
    }
}

fn told(outcome: Outcome, exit: &Exit) -> String {
    match (outcome, exit) {
        (Outcome::Success, _) => "success".to_owned(),
        (Outcome::Timeout, _) => "stopped at its deadline".to_owned(),
        (Outcome::Canceled, _) => "withdrawn".to_owned(),
        (Outcome::Failed, Exit::Code(code)) => format!("failed with exit code {code}"),
        (Outcome::Failed, Exit::Signal(signal)) => format!("killed by signal {signal}"),
        (Outcome::Failed, Exit::NotStarted(why)) => format!("could not be started: {why}"),
    }
}
