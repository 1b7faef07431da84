//! The journal behind the port: a handle on the file, and which part answers which question.

use std::path::Path;
use std::sync::Arc;

use super::watch::Watch;
use crate::adapters::sqlite::fault::{Flaw, StoreFault};
use crate::adapters::sqlite::file::{Durability, SqliteFile};
use crate::adapters::sqlite::schema::Schema;
use crate::control::ports::{AppendError, Batch, Beat, Head, Heartbeats, Journal, JournalError, Stretch};
use crate::domain::change::Entry;
use crate::domain::ids::{AccountId, Revision};
use crate::domain::world::World;

/// The format of the file.
const SCHEMA: Schema = Schema { store: "journal", kind: 0, steps: &[include_str!("v1.sql"), include_str!("v2.sql")] };

/// A handle; clones share the connections.
#[derive(Debug, Clone)]
pub struct SqliteJournal {
    pub(super) file: Arc<SqliteFile>,
    pub(super) watch: Arc<Watch>,
}

impl SqliteJournal {
    /// Opens the file or makes it. Any number of processes may open the same one.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, StoreFault> {
        Ok(Self::on(SqliteFile::open(path.as_ref(), SCHEMA, Durability::Full).await?))
    }

    /// Opens a file that is there. One that this user may only read is read, and refuses whatever would change it.
    pub async fn open_existing(path: impl AsRef<Path>) -> Result<Self, StoreFault> {
        match Self::open(&path).await {
            Err(StoreFault { flaw: Flaw::ReadOnly | Flaw::Forbidden(_), .. }) => {
                SqliteFile::open_to_read(path.as_ref(), SCHEMA).await.map(Self::on)
            }
            opened => opened,
        }
    }

    fn on(file: SqliteFile) -> Self {
        let file = Arc::new(file);
        let watch = Arc::new(Watch::start(&file));
        Self { file, watch }
    }

    /// Which file this is.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Whether this user may write it. Nothing is written.
    ///
    /// # Errors
    /// Why not, in a few words.
    pub async fn takes_writes(&self) -> Result<(), String> {
        if self.file.is_barred().await { Err("it is read-only for this user".to_owned()) } else { Ok(()) }
    }

    /// Moves the write-ahead log into the file, so that a copy of the one file is a copy of the journal.
    pub async fn checkpoint(&self) -> Result<(), StoreFault> {
        self.file.checkpoint().await
    }

    /// For a graceful exit: waits for the append in flight, moves the log into the file, closes. Later uses of any
    /// clone are refused.
    pub async fn close(&self) -> Result<(), StoreFault> {
        self.watch.stop();
        self.file.close().await
    }
}

impl Journal for SqliteJournal {
    fn kind(&self) -> &'static str {
        "sqlite"
    }

    async fn head(&self, account: AccountId) -> Result<Head, JournalError> {
        self.read_head(account).await
    }

    async fn load(&self, account: AccountId) -> Result<World, JournalError> {
        self.load_world(account).await
    }

    async fn append(&self, batch: Batch) -> Result<Head, AppendError> {
        self.append_batch(&batch).await
    }

    async fn read(&self, account: AccountId, after: Revision, limit: usize) -> Result<Vec<Entry>, JournalError> {
        self.read_entries(account, after, limit).await
    }

    async fn links(&self, account: AccountId, stretch: Stretch, limit: usize) -> Result<Vec<Entry>, JournalError> {
        self.read_links(account, stretch, limit).await
    }

    async fn follow(&self, account: AccountId, after: Revision) -> Result<Head, JournalError> {
        self.follow_head(account, after).await
    }

    async fn snapshot(&self, account: AccountId, world: &World) -> Result<(), JournalError> {
        self.keep_snapshot(account, world.clone()).await
    }
}

impl Heartbeats for SqliteJournal {
    async fn beat(&self, account: AccountId, beat: Beat) -> Result<(), JournalError> {
        self.keep_beat(account, &beat).await
    }

    async fn last(&self, account: AccountId) -> Result<Option<Beat>, JournalError> {
        self.last_beat(account).await
    }
}
