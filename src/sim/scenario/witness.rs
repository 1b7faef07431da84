//! The witness: folds the journal verdict by verdict, so that everything can be looked at after every commit.

use crate::domain::change::{Change, Entry};
use crate::domain::ids::RolloutId;
use crate::domain::rollout::Rollout;
use crate::domain::world::{ROLLOUTS_KEPT, World};

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
    /// Rollouts the world does not keep any more, oldest first.
    older: Vec<Rollout>,
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

    /// Every rollout there ever was, oldest first.
    pub(super) fn rollouts(&self) -> impl Iterator<Item = &Rollout> {
        self.older.iter().chain(self.world.rollouts.iter())
    }

    /// One of them.
    pub(super) fn rollout(&self, id: RolloutId) -> Option<&Rollout> {
        self.rollouts().find(|rollout| rollout.id == id)
    }

    fn fold(&mut self, entry: &Entry) {
        if matches!(entry.change, Change::RolloutStarted { .. }) {
            self.started += 1;
            let is_full = self.world.rollouts.len() >= ROLLOUTS_KEPT;
            self.older.extend(self.world.rollouts.front().filter(|_| is_full).cloned());
        }
        self.world.apply(entry);
    }
}

/// Entries that were decided together.
pub(super) fn verdicts(entries: &[Entry]) -> impl Iterator<Item = &[Entry]> {
    entries.chunk_by(|a, b| (a.at, &a.by, &a.cause) == (b.at, &b.by, &b.cause))
}
