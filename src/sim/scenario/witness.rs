//! The witness: folds the journal verdict by verdict, so that everything can be looked at after every commit.

use crate::domain::change::{Change, Entry};
use crate::domain::world::World;

/// The world as of the last verdict that was looked at.
#[derive(Debug, Default)]
pub(super) struct Witness {
    pub(super) world: World,
    /// Entries since the start.
    pub(super) entries: Vec<Entry>,
    /// Rollouts that were ever started.
    pub(super) started: usize,
    /// The revision the run began at.
    pub(super) began_at: u64,
}

impl Witness {
    /// Takes over the past.
    pub(super) fn begin(&mut self, past: &[Entry]) {
        past.iter().for_each(|entry| self.fold(entry));
        self.began_at = self.world.revision;
    }

    /// Folds one verdict: all of its changes together.
    pub(super) fn take(&mut self, verdict: &[Entry]) {
        verdict.iter().for_each(|entry| self.fold(entry));
        self.entries.extend_from_slice(verdict);
    }

    fn fold(&mut self, entry: &Entry) {
        self.world.apply(entry);
        self.started += usize::from(matches!(entry.change, Change::RolloutStarted { .. }));
    }
}

/// Entries that were decided together.
pub(super) fn verdicts(entries: &[Entry]) -> impl Iterator<Item = &[Entry]> {
    entries.chunk_by(|a, b| (a.at, &a.by, &a.cause) == (b.at, &b.by, &b.cause))
}
