//! One simulated agent as a pure state machine: what it works on, and what follows from the answer to a poll.

use jiff::Timestamp;

use super::behaviour::Behaviour;
use crate::domain::ids::MachineId;
use crate::domain::input::Edition;
use crate::domain::release::Outcome;
use crate::domain::span::Seconds;

/// What is served to an agent, as far as it matters to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Served {
    /// Release and generation.
    pub edition: Edition,
    /// Deadline of one apply; 0 = none.
    pub timeout: Seconds,
    /// The control plane counts the machine as done: it is served again, and works on nothing.
    pub done: bool,
    /// How often the machine was reimaged until now; none = it was served before anybody looked.
    pub rebuilds: Option<u32>,
}

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunEnd {
    /// What ran.
    pub edition: Edition,
    /// How it ended.
    pub outcome: Outcome,
    /// When it began.
    pub began: Timestamp,
    /// It changed nothing: an anti-drift run.
    pub drift: bool,
    /// What its assignment said of that.
    pub rebuilds: Option<u32>,
}

/// What an agent is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Applying {
        began: Timestamp,
        ends: Timestamp,
        outcome: Outcome,
    },
    RetryAt(Timestamp),
    /// Failed for good: only another edition unlatches it (R63).
    Latched,
    Converged {
        drifts: Option<Timestamp>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Work {
    served: Served,
    retries_left: u32,
    phase: Phase,
}

/// One agent.
#[derive(Debug, Clone)]
pub struct Agent {
    /// On which machine.
    pub machine: MachineId,
    /// Its character.
    pub behaviour: Behaviour,
    silent: bool,
    /// When it polls for the first time; before that nobody can tell it anything.
    begins: Timestamp,
    next_poll: Option<Timestamp>,
    work: Option<Work>,
    failed_arcs: u32,
}

impl Agent {
    /// An agent that starts at `now` and has done nothing yet.
    pub fn starting_at(now: Timestamp, machine: MachineId, behaviour: Behaviour) -> Self {
        let next_poll = (!behaviour.poll.is_off()).then(|| behaviour.first_poll.after(now));
        Self {
            machine,
            behaviour,
            silent: false,
            begins: next_poll.unwrap_or(now),
            next_poll,
            work: None,
            failed_arcs: 0,
        }
    }

    /// It is in the middle of a run that began before it was looked at; one that should be over by then ends now.
    pub fn resume(&mut self, now: Timestamp, served: Served, began: Timestamp) {
        let mut phase = self.apply(began, served, true);
        if let Phase::Applying { ends, .. } = &mut phase {
            *ends = (*ends).max(now);
        }
        self.work = Some(Work { served, retries_left: self.behaviour.retries, phase });
    }

    /// It failed on this for good before it was looked at (R63).
    pub fn latch(&mut self, served: Served) {
        self.work = Some(Work { served, retries_left: 0, phase: Phase::Latched });
    }

    /// It polled before or does so now, so that a nudge can reach it.
    pub fn has_begun(&self, now: Timestamp) -> bool {
        self.begins <= now
    }

    /// Its next turn on the grid of `first_poll + n * poll`.
    pub fn next_poll(&self) -> Option<Timestamp> {
        self.next_poll
    }

    /// Moves on to the next turn of the grid.
    pub fn skip_to_next_poll(&mut self) {
        self.next_poll = self.next_poll.map(|at| self.behaviour.poll.after(at));
    }

    /// When its run ends, or its next begins.
    pub fn next_result(&self) -> Option<Timestamp> {
        match self.work?.phase {
            Phase::Applying { ends, .. } => Some(ends),
            Phase::RetryAt(at) => Some(at),
            Phase::Converged { drifts } => drifts,
            Phase::Latched => None,
        }
    }

    /// Nothing of it reaches the control plane.
    pub fn is_silent(&self) -> bool {
        self.silent
    }

    /// It goes silent: its run dies with it.
    pub fn fall_silent(&mut self) {
        self.silent = true;
        self.work = self.work.filter(|work| matches!(work.phase, Phase::Latched | Phase::Converged { .. }));
    }

    /// It is back, and begins its arc anew with the next assignment.
    pub fn come_back(&mut self) {
        self.silent = false;
    }

    /// A new system: nothing is left of the old one (R152).
    pub fn rebuild(&mut self) {
        self.work = None;
    }

    /// What it tells in a poll that it has or runs.
    pub fn have(&self) -> Option<Edition> {
        self.work.map(|work| work.served.edition)
    }

    /// Takes the answer to a poll. Returns the run that was withdrawn by it, if one was in flight.
    pub fn answered(&mut self, now: Timestamp, served: Option<Served>) -> Option<RunEnd> {
        let edition = served.map(|served| served.edition);
        if edition.is_some() && edition == self.have() {
            return None;
        }
        let withdrawn = self.withdraw();
        if let Some(served) = served {
            self.begin(now, served);
        }
        withdrawn
    }

    /// What happens at the moment `next_result` told: a run ends, or a retry begins, which tells nobody.
    pub fn take_result(&mut self, now: Timestamp) -> Option<RunEnd> {
        let work = self.work?;
        let Served { edition, rebuilds, .. } = work.served;
        match work.phase {
            Phase::Applying { began, outcome, .. } => {
                self.work = Some(Work { phase: self.phase_after(now, outcome, work.retries_left), ..work });
                Some(RunEnd { edition, outcome, began, drift: false, rebuilds })
            }
            Phase::RetryAt(_) => {
                let phase = self.apply(now, work.served, false);
                self.work = Some(Work { phase, retries_left: work.retries_left.saturating_sub(1), ..work });
                None
            }
            Phase::Converged { drifts: Some(_) } => {
                self.work = Some(Work { phase: self.converged(now), ..work });
                Some(RunEnd { edition, outcome: Outcome::Success, began: now, drift: true, rebuilds })
            }
            Phase::Converged { drifts: None } | Phase::Latched => None,
        }
    }

    /// Stops what is in flight. What is over stays: the same assignment is not worked on twice.
    fn withdraw(&mut self) -> Option<RunEnd> {
        let work = self.work?;
        match work.phase {
            Phase::Applying { began, .. } => {
                self.work = None;
                let Served { edition, rebuilds, .. } = work.served;
                Some(RunEnd { edition, outcome: Outcome::Canceled, began, drift: false, rebuilds })
            }
            Phase::RetryAt(_) => {
                self.work = None;
                None
            }
            Phase::Latched | Phase::Converged { .. } => None,
        }
    }

    fn begin(&mut self, now: Timestamp, served: Served) {
        let phase = if served.done { self.converged(now) } else { self.apply(now, served, true) };
        self.work = Some(Work { served, retries_left: self.behaviour.retries, phase });
    }

    fn apply(&mut self, now: Timestamp, served: Served, new_arc: bool) -> Phase {
        let sick = self.behaviour.heals_after.is_none_or(|arcs| self.failed_arcs < arcs + u32::from(!new_arc));
        let outcome = if sick { self.behaviour.outcome } else { Outcome::Success };
        if new_arc && outcome != Outcome::Success {
            self.failed_arcs += 1;
        }
        let late = !served.timeout.is_off() && self.behaviour.apply > served.timeout;
        let (span, outcome) = if late { (served.timeout, Outcome::Timeout) } else { (self.behaviour.apply, outcome) };
        Phase::Applying { began: now, ends: span.after(now), outcome }
    }

    fn phase_after(&self, now: Timestamp, outcome: Outcome, retries_left: u32) -> Phase {
        if outcome == Outcome::Success {
            return self.converged(now);
        }
        if outcome.is_failure() && retries_left > 0 {
            return Phase::RetryAt(self.behaviour.retry.after(now));
        }
        Phase::Latched
    }

    fn converged(&self, now: Timestamp) -> Phase {
        let drift = self.behaviour.drift;
        Phase::Converged { drifts: (!drift.is_off()).then(|| drift.after(now)) }
    }
}
