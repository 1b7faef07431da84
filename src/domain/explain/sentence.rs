//! The entry: picks the subject and says one sentence about it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::super::ids::{MachineId, RingId};
use super::super::observed::Observed;
use super::super::world::World;
use super::{machine, ring, rollout};

/// What is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// The current rollout.
    Rollout,
    /// A ring, in the environment where it matters most now.
    Ring(RingId),
    /// A machine.
    Machine(MachineId),
}

/// The answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// One sentence.
    pub sentence: String,
    /// Whom or what it waits for.
    pub on: Option<String>,
    /// Since when.
    pub since: Option<Timestamp>,
    /// What one can do next, most useful first.
    pub next: Vec<String>,
}

impl Explanation {
    pub(super) fn of(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), ..Self::default() }
    }

    pub(super) fn on(mut self, on: &str) -> Self {
        self.on = Some(on.to_owned());
        self
    }

    pub(super) fn since(mut self, since: Option<Timestamp>) -> Self {
        self.since = since;
        self
    }

    pub(super) fn next(mut self, next: &[&str]) -> Self {
        self.next.extend(next.iter().map(|n| (*n).to_owned()));
        self
    }
}

/// Says what the subject waits for.
pub fn explain(world: &World, observed: &Observed, subject: Subject, now: Timestamp) -> Explanation {
    match subject {
        Subject::Rollout => rollout::explain(world, observed, now),
        Subject::Ring(id) => ring::explain(world, observed, id, now),
        Subject::Machine(id) => machine::explain(world, observed, id, now),
    }
}
