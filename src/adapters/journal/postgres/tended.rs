//! What a person who looks after a database asks of the journal in it: who is in it, is it whole.

use super::super::compaction::Round;
use super::super::kept::{FOLD_VERSION, world};
use super::super::row::unsigned;
use super::super::tended::{Snapshot, Standing, Tended};
use super::journal::PostgresJournal;
use crate::control::ports::{Head, JournalError};
use crate::domain::change::Entry;
use crate::domain::ids::{AccountId, Revision};
use crate::domain::world::World;

type StandingRow = (String, i64, i64, i64, i64);

impl Tended for PostgresJournal {
    async fn accounts(&self) -> Result<Vec<Standing>, JournalError> {
        const ATTEMPT: &str = "list the accounts";
        const ALL: &str = "SELECT account, revision, epoch, oldest, (SELECT count(*) FROM entries \
             WHERE entries.account = heads.account AND (entries.revision < heads.oldest \
             OR entries.revision > heads.revision)) FROM heads ORDER BY account";
        let failed = self.failed(ATTEMPT);
        let mut lease = self.database.lease().await.map_err(&failed)?;
        let rows: Vec<StandingRow> = sqlx::query_as(ALL).fetch_all(&mut *lease).await.map_err(&failed)?;
        lease.keep();
        let standing = |(account, revision, epoch, oldest, stray): StandingRow| {
            let unreadable = |error| JournalError::Store { attempt: ATTEMPT, source: Box::new(error) };
            let head = Head { revision: unsigned(revision), epoch: unsigned(epoch), oldest: unsigned(oldest) };
            Ok(Standing { account: AccountId(account.parse().map_err(unreadable)?), head, stray: unsigned(stray) })
        };
        rows.into_iter().map(standing).collect()
    }

    /// PostgreSQL says by itself when a page it reads is damaged (`data_checksums`); what it does not say of an index
    /// that was left behind by a build that failed, is asked here.
    async fn faults(&self) -> Result<Vec<String>, JournalError> {
        const BROKEN: &str = "SELECT 'the index ' || indexrelid::regclass || ' is not valid: REINDEX it' \
             FROM pg_index JOIN pg_class ON pg_class.oid = indrelid \
             WHERE relnamespace = current_schema()::regnamespace AND NOT indisvalid";
        let failed = self.failed("check the database");
        let mut lease = self.database.lease().await.map_err(&failed)?;
        let broken = sqlx::query_scalar(BROKEN).fetch_all(&mut *lease).await.map_err(&failed)?;
        lease.keep();
        Ok(broken)
    }

    async fn snapshots(&self, account: AccountId) -> Result<Vec<Snapshot>, JournalError> {
        const ALL: &str = "SELECT revision, world FROM snapshots WHERE account = $1 AND fold = $2 ORDER BY revision";
        let failed = self.failed("read the snapshots");
        let mut lease = self.database.lease().await.map_err(&failed)?;
        let query = sqlx::query_as(ALL).bind(account.to_string()).bind(FOLD_VERSION);
        let rows: Vec<(i64, Vec<u8>)> = query.fetch_all(&mut *lease).await.map_err(&failed)?;
        lease.keep();
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
