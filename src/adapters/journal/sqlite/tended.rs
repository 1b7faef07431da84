//! What a person who looks after a file asks of it, and no server does: who is in it, is it whole, a copy of it.

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};

use super::super::compaction::Round;
use super::super::kept::{FOLD_VERSION, world};
use super::super::row::unsigned;
use super::super::tended::{Snapshot, Standing, Tended};
use super::journal::SqliteJournal;
use crate::adapters::sqlite::fault::{Flaw, StoreFault};
use crate::control::ports::{Head, JournalError};
use crate::domain::change::Entry;
use crate::domain::ids::{AccountId, Revision};
use crate::domain::world::World;

impl Tended for SqliteJournal {
    async fn accounts(&self) -> Result<Vec<Standing>, JournalError> {
        const ATTEMPT: &str = "list the accounts";
        const ALL: &str = "SELECT account, revision, epoch, oldest, (SELECT count(*) FROM entries \
             WHERE entries.account = heads.account AND (entries.revision < heads.oldest \
             OR entries.revision > heads.revision)) FROM heads ORDER BY account";
        let mut reader = self.file.reader().await.map_err(|fault| fault.during(ATTEMPT))?;
        let rows: Vec<(String, i64, i64, i64, i64)> =
            sqlx::query_as(ALL).fetch_all(&mut *reader).await.map_err(|e| self.file.fault(&e).during(ATTEMPT))?;
        let standing = |(account, revision, epoch, oldest, stray): (String, i64, i64, i64, i64)| {
            let unreadable = |error| JournalError::Store { attempt: ATTEMPT, source: Box::new(error) };
            let head = Head { revision: unsigned(revision), epoch: unsigned(epoch), oldest: unsigned(oldest) };
            Ok(Standing { account: AccountId(account.parse().map_err(unreadable)?), head, stray: unsigned(stray) })
        };
        rows.into_iter().map(standing).collect()
    }

    async fn faults(&self) -> Result<Vec<String>, JournalError> {
        const ATTEMPT: &str = "check the file";
        const CHECK: &str = "PRAGMA integrity_check(20)";
        let mut reader = self.file.reader().await.map_err(|fault| fault.during(ATTEMPT))?;
        let said: Vec<String> =
            sqlx::query_scalar(CHECK).fetch_all(&mut *reader).await.map_err(|e| self.file.fault(&e).during(ATTEMPT))?;
        Ok(said.into_iter().filter(|line| line != "ok").collect())
    }

    async fn snapshots(&self, account: AccountId) -> Result<Vec<Snapshot>, JournalError> {
        const ATTEMPT: &str = "read the snapshots";
        const ALL: &str = "SELECT revision, world FROM snapshots WHERE account = ?1 AND fold = ?2 ORDER BY revision";
        let mut reader = self.file.reader().await.map_err(|fault| fault.during(ATTEMPT))?;
        let query = sqlx::query_as(ALL).bind(account.to_string()).bind(FOLD_VERSION);
        let rows: Vec<(i64, Vec<u8>)> =
            query.fetch_all(&mut *reader).await.map_err(|e| self.file.fault(&e).during(ATTEMPT))?;
        Ok(rows.into_iter().map(|(revision, body)| (unsigned(revision), world(&body))).collect())
    }

    async fn archived_links(
        &self,
        account: AccountId,
        after: Revision,
        limit: usize,
    ) -> Result<Vec<Entry>, JournalError> {
        self.read_archived_links(account, after, limit).await
    }

    async fn world_before_oldest(&self, account: AccountId, head: Head) -> Result<World, JournalError> {
        self.read_base(account, head).await
    }

    async fn archive(&self, account: AccountId, oldest: Revision, round: &Round) -> Result<(), JournalError> {
        self.archive_round(account, oldest, round).await
    }

    async fn sweep(&self, account: AccountId) -> Result<Option<Revision>, JournalError> {
        self.sweep_some(account).await
    }

    async fn begin(&self, account: AccountId, base: &World, links: &[Entry]) -> Result<(), JournalError> {
        self.begin_with(account, base, links).await
    }
}

impl SqliteJournal {
    /// Writes a copy as of one moment, while servers append. Nothing may be at `path`.
    pub async fn copy_to(&self, path: &Path) -> Result<(), StoreFault> {
        let mut connection = self.file.connect().await?;
        let copied = sqlx::query("VACUUM INTO ?1").bind(path.to_string_lossy()).execute(&mut connection).await;
        let flaw = copied.err().map(|error| Flaw::of(&error, path));
        flaw.map_or(Ok(()), |flaw| Err(StoreFault { store: "copy of the journal", path: path.to_owned(), flaw }))
    }

    /// Whether another process has the file open. Where none has, its write-ahead log goes into it, so that the one file
    /// is all of it. A file that cannot be read is nobody's.
    pub async fn is_in_use(path: &Path) -> bool {
        let options = SqliteConnectOptions::new().filename(path).busy_timeout(Duration::ZERO);
        let Ok(mut connection) = options.connect().await else { return false };
        let alone: Result<String, sqlx::Error> =
            sqlx::query_scalar("PRAGMA journal_mode = DELETE").fetch_one(&mut connection).await;
        let _ = connection.close().await;
        alone.is_err_and(|error| matches!(Flaw::of(&error, path), Flaw::Locked))
    }
}
