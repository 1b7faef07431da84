//! What an agent makes of what it hears: a pure machine from (memory, something heard, time) to things to do.
//!
//! Never here: processes, files, connections, clocks. `work.rs` has what concerns runs, `talk.rs` what concerns the
//! control plane.

use jiff::Timestamp;

use crate::domain::release::Outcome;
use crate::domain::span::Seconds;

use super::heard::{Deed, Heard};
use super::memory::{Memory, Remedy, RunKind};
use super::pace::later;
use super::talk::{Asking, Posting};

/// How an agent is told to behave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Habits {
    /// Further runs after a failed one, before it latches (R63).
    pub retries: u32,
    /// Between a failed run and the next.
    pub retry_after: Seconds,
    /// Shortest and longest time between drift runs (R9); none = no drift runs.
    pub drift: Option<(Seconds, Seconds)>,
    /// How long the control plane may hold a poll; 0 = not at all.
    pub wait: Seconds,
    /// Leave after one answer and what follows from it.
    pub once: bool,
}

/// The deciding part of an agent.
#[derive(Debug, Clone)]
pub struct Mind {
    pub(super) memory: Memory,
    pub(super) habits: Habits,
    pub(super) dice: fastrand::Rng,
    pub(super) asking: Asking,
    pub(super) posting: Posting,
    /// How the run in flight is going to be reported, once it is being stopped.
    pub(super) stopping: Option<Outcome>,
    /// Nothing begins before the control plane has answered: after a start, and after a run was withdrawn.
    pub(super) word_needed: bool,
    pub(super) leaving: bool,
    /// How the last run ended.
    pub(super) last: Option<Outcome>,
    deeds: Vec<Deed>,
}

impl Mind {
    /// Wakes up with what it remembers. A run that was in flight is gone by now; its arc starts anew once the control
    /// plane says that it is still wanted.
    pub fn new(memory: Memory, habits: Habits, seed: u64, now: Timestamp) -> Self {
        let mut mind = Self {
            memory,
            habits,
            dice: fastrand::Rng::with_seed(seed),
            asking: Asking::new(now),
            posting: Posting::new(now),
            stopping: None,
            word_needed: true,
            leaving: false,
            last: None,
            deeds: Vec::new(),
        };
        mind.forget_interrupted_run();
        mind.distrust_old_clocks(now);
        mind
    }

    /// What to keep on disk.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// How the last run of this process ended.
    pub fn last_outcome(&self) -> Option<Outcome> {
        self.last
    }

    /// True once it takes up nothing new.
    pub fn is_leaving(&self) -> bool {
        self.leaving
    }

    /// True once there is nothing left to do before leaving. Reports that could not be sent stay in the memory.
    pub fn may_leave(&self) -> bool {
        self.leaving && self.memory.run.is_none() && self.has_spoken()
    }

    /// Takes in what happened and says what to do. The memory is to be saved before any of it is done.
    pub fn hear(&mut self, heard: Heard, now: Timestamp) -> Vec<Deed> {
        match heard {
            Heard::Woke => {}
            Heard::Answer { number, answer } => self.answered(number, answer, now),
            Heard::NoAnswer { number, setback } => self.not_answered(number, setback, now),
            Heard::Delivered => self.delivered(now),
            Heard::Refused(why) => self.refused(&why, now),
            Heard::Undelivered(setback) => self.undelivered(setback, now),
            Heard::Spawned(process) => self.spawned(process),
            Heard::Ended(ending) => self.ended(ending, now),
            Heard::ContentLost => self.content_lost(now),
            Heard::Leave => self.leave(),
            Heard::LeaveNow => self.leave_now(),
        }
        self.keep_the_deadline(now);
        self.take_up_work(now);
        self.leaving |= self.habits.once && !self.word_needed;
        self.post_if_due(now);
        self.ask_if_due(now);
        std::mem::take(&mut self.deeds)
    }

    /// When to say `Woke`, if nothing is heard before; none = there is nothing to wait for but an answer or a run.
    pub fn wake_at(&self) -> Option<Timestamp> {
        [self.deadline(), self.work_at(), self.post_at(), self.ask_at()].into_iter().flatten().min()
    }

    pub(super) fn want(&mut self, deed: Deed) {
        self.deeds.push(deed);
    }

    pub(super) fn say(&mut self, words: impl Into<String>) {
        self.deeds.push(Deed::Say(words.into()));
    }

    fn leave(&mut self) {
        self.leaving = true;
        if self.memory.run.is_some() {
            self.say("leaving once the run in flight is over; a second signal stops it");
        }
    }

    fn leave_now(&mut self) {
        self.leaving = true;
        if self.memory.run.is_some() {
            self.stop(Outcome::Canceled);
        }
    }

    fn forget_interrupted_run(&mut self) {
        let Some(run) = self.memory.run.take() else { return };
        if run.kind != RunKind::LastGood {
            self.memory.applied = None;
        }
        self.say(format!("the {} run of {} was interrupted", run.kind.word(), named(run.offer.edition)));
    }

    /// Instants in the memory are by a clock that may have been set since; none of them may lie further ahead than
    /// it could when it was written.
    fn distrust_old_clocks(&mut self, now: Timestamp) {
        let drift = self.habits.drift;
        if let Some(applied) = &mut self.memory.applied {
            let latest = drift.map(|(_, longest)| later(now, longest.0.saturating_mul(1_000)));
            applied.drift_at = latest.map(|latest| applied.drift_at.unwrap_or(latest).min(latest));
        }
        let latest = later(now, self.habits.retry_after.0.saturating_mul(1_000));
        if let Some(Remedy::RetryAt(at)) = self.memory.trouble.as_mut().map(|t| &mut t.remedy) {
            *at = (*at).min(latest);
        }
    }
}

/// An edition as people read it.
pub(super) fn named(edition: crate::domain::input::Edition) -> String {
    format!("release {} generation {}", edition.release, edition.generation)
}

#[cfg(test)]
mod scene;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod storm;
