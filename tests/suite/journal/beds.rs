//! Test beds: a journal of each backend, and how another process would open the same one.

use kura_console::adapters::journal::memory::MemoryJournal;
use kura_console::adapters::journal::sqlite::journal::SqliteJournal;
use kura_console::control::ports::{Heartbeats, Journal};
use kura_console::sim::clock::VirtualClock;
use kura_console::sim::journal::SimJournal;
use tempfile::TempDir;

/// One journal that any number of processes may open.
pub(crate) trait Bed {
    /// The backend.
    type Journal: Journal + Heartbeats;

    /// One more process that opens it.
    async fn open(&self) -> Self::Journal;
}

/// In memory; all handles are in this process.
#[derive(Default)]
pub(crate) struct Memory(MemoryJournal);

impl Bed for Memory {
    type Journal = MemoryJournal;

    async fn open(&self) -> MemoryJournal {
        self.0.clone()
    }
}

/// In a file; every handle has connections of its own and knows nothing of the others.
pub(crate) struct File(pub(crate) TempDir);

impl Default for File {
    fn default() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
}

impl File {
    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.0.path().join("kura.db")
    }
}

impl Bed for File {
    type Journal = SqliteJournal;

    async fn open(&self) -> SqliteJournal {
        SqliteJournal::open(self.path()).await.unwrap()
    }
}

/// In memory, in virtual time; each call is pending once.
pub(crate) struct Simulated(SimJournal);

impl Default for Simulated {
    fn default() -> Self {
        Self(SimJournal::new(VirtualClock::starting_at(jiff::Timestamp::UNIX_EPOCH)))
    }
}

impl Bed for Simulated {
    type Journal = SimJournal;

    async fn open(&self) -> SimJournal {
        self.0.clone()
    }
}
