//! The witness: folds the journal verdict by verdict, so that everything can be looked at after every commit.

use crate::domain::change::{Change, Entry};
use crate::domain::world::World;

/// The world as of the last verdict that was looked at.
#[derive(Debug, Default)]
pub(super) struct Witness {
    pub(super) world: World,
    /// Entries since the start.
    pub(super) entries: Vec<Entry>,
    /// The same in words.
    pub(super) lines: Vec<String>,
    /// Rollouts that were ever started.
    pub(super) started: usize,
}

impl Witness {
    /// Takes over the past.
    pub(super) fn begin(&mut self, past: &[Entry]) {
        past.iter().for_each(|entry| self.fold(entry));
    }

    /// Folds one verdict: all of its changes together. `say` puts a change into words, given the world after it.
    pub(super) fn take(&mut self, verdict: &[Entry], say: impl Fn(&World, &Entry) -> String) {
        for entry in verdict {
            self.fold(entry);
            self.lines.push(say(&self.world, entry));
        }
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
