//! The entry: picks the subject, and says one sentence about it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::super::ids::{MachineId, RingId};
use super::super::observed::Observed;
use super::super::world::World;

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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

/// Says what the subject waits for.
pub fn explain(world: &World, observed: &Observed, subject: Subject, now: Timestamp) -> Explanation {
    let _ = (world, observed, subject, now);
    Explanation { sentence: String::new(), on: None, since: None, next: Vec::new() }
}
