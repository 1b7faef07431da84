//! Rows and what they mean: the head and the entries, as SQL and as domain values.

use sqlx::QueryBuilder;
use sqlx::sqlite::SqliteConnection;

use super::super::row::{EntryRow, READ_MAX, signed, unsigned};
use super::journal::SqliteJournal;
use crate::control::batch::EMPTY;
use crate::control::ports::{Head, JournalError};
use crate::domain::change::Entry;
use crate::domain::ids::{AccountId, Revision};

/// Rows one statement inserts.
const ROWS_AT_ONCE: usize = 64;

/// Entries of an account between two revisions, in order. Shared by `read` and `load`.
pub(super) const ENTRIES_AFTER: &str = "SELECT revision, at, \"by\", cause, change FROM entries \
     WHERE account = ?1 AND revision > ?2 ORDER BY revision LIMIT ?3";

/// Where `insert` puts rows: among the entries.
pub(super) const ENTRIES: &str = "INSERT INTO entries (account, revision, at, \"by\", cause, change) ";

/// Or among the links of archived entries.
pub(super) const ARCHIVED: &str = "INSERT INTO archived_links (account, revision, at, \"by\", cause, change) ";

/// Inserts rows, many with one statement: each statement is a way to the connection's thread and back.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    into: &str,
    account: &str,
    rows: &[EntryRow],
) -> Result<(), sqlx::Error> {
    for rows in rows.chunks(ROWS_AT_ONCE) {
        let mut statement = QueryBuilder::new(into);
        statement.push_values(rows, |mut values, row| {
            values.push_bind(account).push_bind(row.revision).push_bind(&row.at).push_bind(&row.by);
            values.push_bind(&row.cause).push_bind(&row.change);
        });
        statement.build().execute(&mut *connection).await?;
    }
    Ok(())
}

/// Where an account stands, as this connection sees it.
pub(super) async fn head_of(connection: &mut SqliteConnection, account: &str) -> Result<Head, sqlx::Error> {
    const HEAD: &str = "SELECT revision, epoch, oldest FROM heads WHERE account = ?1";
    let row: Option<(i64, i64, i64)> = sqlx::query_as(HEAD).bind(account).fetch_optional(connection).await?;
    Ok(row.map_or(EMPTY, |(revision, epoch, oldest)| Head {
        revision: unsigned(revision),
        epoch: unsigned(epoch),
        oldest: unsigned(oldest),
    }))
}

/// Moves an account's head.
pub(super) async fn move_head(connection: &mut SqliteConnection, account: &str, head: Head) -> Result<(), sqlx::Error> {
    const MOVE: &str = "INSERT INTO heads (account, revision, epoch, oldest) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (account) DO UPDATE SET revision = excluded.revision, epoch = excluded.epoch";
    sqlx::query(MOVE)
        .bind(account)
        .bind(signed(head.revision))
        .bind(signed(head.epoch))
        .bind(signed(head.oldest))
        .execute(connection)
        .await?;
    Ok(())
}

impl SqliteJournal {
    pub(super) async fn read_head(&self, account: AccountId) -> Result<Head, JournalError> {
        let mut reader = self.file.reader().await.map_err(|fault| fault.during("read the head"))?;
        head_of(&mut reader, &account.to_string())
            .await
            .map_err(|error| self.file.fault(&error).during("read the head"))
    }

    /// Head and entries are read at one moment, so that a compaction in between cannot be taken for a hole.
    pub(super) async fn read_entries(
        &self,
        account: AccountId,
        after: Revision,
        limit: usize,
    ) -> Result<Vec<Entry>, JournalError> {
        const ATTEMPT: &str = "read entries";
        let failed = |error: sqlx::Error| self.file.fault(&error).during(ATTEMPT);
        let account = account.to_string();
        let mut reader = self.file.reader().await.map_err(|fault| fault.during(ATTEMPT))?;
        let mut view = sqlx::Connection::begin(&mut *reader).await.map_err(failed)?;
        let Head { oldest, .. } = head_of(&mut view, &account).await.map_err(failed)?;
        if after.saturating_add(1) < oldest {
            return Err(JournalError::Compacted { oldest });
        }
        let limit = i64::try_from(limit.min(READ_MAX)).unwrap_or(i64::MAX);
        let query = sqlx::query_as(ENTRIES_AFTER).bind(&account).bind(signed(after)).bind(limit);
        let rows: Vec<EntryRow> = query.fetch_all(&mut *view).await.map_err(failed)?;
        view.rollback().await.map_err(failed)?;
        (1..).zip(rows).map(|(nth, row): (u64, EntryRow)| row.entry(after.saturating_add(nth))).collect()
    }
}
