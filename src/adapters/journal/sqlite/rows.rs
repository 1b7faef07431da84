//! Rows and what they mean: the head and the entries, as SQL and as domain values.

use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{FromRow, QueryBuilder, Row};

use super::super::batch::EMPTY;
use super::journal::SqliteJournal;
use crate::control::ports::{Head, JournalError};
use crate::domain::change::Entry;
use crate::domain::ids::{AccountId, Revision};

/// Entries one read returns at most, whatever its limit says.
pub const READ_MAX: usize = 10_000;

/// Rows one statement inserts.
const ROWS_AT_ONCE: usize = 64;

/// Entries of an account between two revisions, in order. Shared by `read` and `load`.
pub(super) const ENTRIES_AFTER: &str = "SELECT revision, at, \"by\", cause, change FROM entries \
     WHERE account = ?1 AND revision > ?2 ORDER BY revision LIMIT ?3";

/// Where `insert` puts rows: among the entries.
pub(super) const ENTRIES: &str = "INSERT INTO entries (account, revision, at, \"by\", cause, change) ";

/// Or among the links of archived entries.
pub(super) const ARCHIVED: &str = "INSERT INTO archived_links (account, revision, at, \"by\", cause, change) ";

/// A row of `entries`.
#[derive(Debug)]
pub(super) struct EntryRow {
    revision: i64,
    at: String,
    by: String,
    cause: String,
    change: String,
}

impl FromRow<'_, SqliteRow> for EntryRow {
    fn from_row(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            revision: row.try_get("revision")?,
            at: row.try_get("at")?,
            by: row.try_get("by")?,
            cause: row.try_get("cause")?,
            change: row.try_get("change")?,
        })
    }
}

impl EntryRow {
    /// As a row: what `append` writes.
    pub(super) fn of(entry: &Entry) -> Result<Self, JournalError> {
        let text = |json: serde_json::Result<String>| json.map_err(|error| corrupt(entry.revision, error));
        Ok(Self {
            revision: signed(entry.revision),
            at: entry.at.to_string(),
            by: entry.by.clone(),
            cause: text(serde_json::to_string(&entry.cause))?,
            change: text(serde_json::to_string(&entry.change))?,
        })
    }

    /// As an entry, wherever it stands.
    pub(super) fn entry_anywhere(self) -> Result<Entry, JournalError> {
        let place = unsigned(self.revision);
        self.entry(place)
    }

    /// As an entry, which must stand at `place`.
    pub(super) fn entry(self, place: Revision) -> Result<Entry, JournalError> {
        let revision = unsigned(self.revision);
        if revision != place {
            return Err(corrupt(place, format!("it is missing, entry {revision} follows instead")));
        }
        Ok(Entry {
            revision,
            at: self.at.parse().map_err(|error| corrupt(place, format!("its time `{}`: {error}", self.at)))?,
            by: self.by,
            cause: serde_json::from_str(&self.cause).map_err(|error| corrupt(place, format!("its cause: {error}")))?,
            change: serde_json::from_str(&self.change)
                .map_err(|error| corrupt(place, format!("its change: {error}")))?,
        })
    }
}

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

/// A count as SQLite keeps it. No journal gets that long.
pub(super) fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The way back; the schema has no negative ones.
pub(super) fn unsigned(count: i64) -> u64 {
    u64::try_from(count).unwrap_or(0)
}

pub(super) fn corrupt(revision: Revision, problem: impl ToString) -> JournalError {
    JournalError::Corrupt { revision, problem: problem.to_string() }
}
