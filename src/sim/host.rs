//! A process of a simulated world: the stores all processes share, its own name, and virtual time.

use uuid::Uuid;

use super::clock::VirtualClock;
use super::journal::SimJournal;
use super::shared::Shared;
use super::stores::{SimPresence, SimResults, SimVault};
use crate::control::host::Host;

/// The outside that all processes of a simulation share. Clones are the same outside.
#[derive(Debug, Clone)]
pub struct Outside {
    /// The log of changes, and the signs of life of the seat beside it.
    pub journal: SimJournal,
    /// Last polls.
    pub presence: SimPresence,
    /// Apply results.
    pub results: SimResults,
    /// Contents.
    pub vault: SimVault,
    /// Time.
    pub clock: VirtualClock,
}

impl Outside {
    /// Empty stores around a clock.
    pub fn new(clock: VirtualClock) -> Self {
        Self {
            journal: SimJournal::new(clock.clone()),
            presence: SimPresence::default(),
            results: SimResults::default(),
            vault: SimVault::default(),
            clock,
        }
    }
}

/// One process on it.
#[derive(Debug, Clone)]
pub struct SimHost {
    outside: Outside,
    process: String,
    drawn: Shared<u64>,
}

impl SimHost {
    /// The process called `process`.
    pub fn new(outside: Outside, process: &str) -> Self {
        Self { outside, process: process.to_owned(), drawn: Shared::new(0) }
    }
}

impl Host for SimHost {
    type Journal = SimJournal;
    type Heartbeats = SimJournal;
    type Presence = SimPresence;
    type Results = SimResults;
    type Vault = SimVault;
    type Clock = VirtualClock;

    fn journal(&self) -> &SimJournal {
        &self.outside.journal
    }

    fn heartbeats(&self) -> &SimJournal {
        &self.outside.journal
    }

    fn presence(&self) -> &SimPresence {
        &self.outside.presence
    }

    fn results(&self) -> &SimResults {
        &self.outside.results
    }

    fn vault(&self) -> &SimVault {
        &self.outside.vault
    }

    fn clock(&self) -> &VirtualClock {
        &self.outside.clock
    }

    /// The next one of this process: the same in every run.
    fn fresh(&self) -> Uuid {
        let nth = self.drawn.with(|drawn| {
            *drawn += 1;
            *drawn
        });
        Uuid::new_v5(&Uuid::NAMESPACE_URL, format!("kura:fresh:{}:{nth}", self.process).as_bytes())
    }

    fn process(&self) -> &str {
        &self.process
    }
}
