//! How much of a journal one answer reads, and why something cannot be read back.

use jiff::Timestamp;

use super::super::ports::JournalError;
use crate::domain::ids::Revision;

/// Entries that are in memory at a time.
pub const ENTRIES_AT_ONCE: usize = 1_000;

/// Entries one answer reads, after which it says how to go on.
pub const ENTRIES_READ: usize = 200_000;

/// Entries one answer reads at most, where there is nowhere to stop before: one row can lie across that many.
pub const ENTRIES_MAX: usize = 1_000_000;

/// Links of the audit one answer looks through.
pub const LINKS_MAX: usize = 200_000;

/// Why something cannot be read back.
#[derive(Debug, thiserror::Error)]
pub enum PastError {
    /// The journal itself cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A compaction took its entries.
    #[error("{what} older than what the journal keeps; export before you compact")]
    Archived {
        /// What is asked for, up to its verb.
        what: String,
        /// The oldest entry there is.
        oldest: Revision,
    },
    /// More lies in front of it than one answer reads.
    #[error("{what} more than {limit} {unit} back, which is more than one answer reads")]
    TooFar {
        /// What is asked for, up to its verb.
        what: String,
        /// How many were read.
        limit: usize,
        /// Of what.
        unit: &'static str,
    },
}

/// A day, for people.
pub(super) fn day(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d").to_string()
}
