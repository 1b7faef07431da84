//! When something was seen first. Where a control plane tells no times, ages begin here.

use std::collections::BTreeMap;

use jiff::Timestamp;

/// What was seen of one thing, such as a slot it holds.
pub type Mark = (&'static str, String);

/// Remembers since when each mark is seen without a break. Holds what is seen now, and nothing else.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    known: BTreeMap<Mark, Timestamp>,
    seen: BTreeMap<Mark, Timestamp>,
}

impl Memory {
    /// Since when this is seen; it is, at `now`.
    pub fn since(&mut self, what: &'static str, whose: &str, now: Timestamp) -> Timestamp {
        let mark = (what, whose.to_owned());
        let since = self.known.get(&mark).copied().unwrap_or(now);
        *self.seen.entry(mark).or_insert(since)
    }

    /// A reading is over: what it did not show is forgotten.
    pub fn turn(&mut self) {
        self.known = std::mem::take(&mut self.seen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::span::Seconds;

    #[test]
    fn what_was_away_for_a_reading_begins_anew() {
        let at = |seconds| Seconds(seconds).after(Timestamp::UNIX_EPOCH);
        let mut memory = Memory::default();
        for now in [5, 10] {
            assert_eq!(memory.since("slot", "ash", at(now)), at(5));
            memory.turn();
        }
        memory.turn();
        assert_eq!(memory.since("slot", "ash", at(20)), at(20));
        assert_eq!(memory.since("pause", "ash", at(21)), at(21), "another mark of the same thing");
    }
}
