//! Rows and what they mean: the head and the entries, as SQL and as domain values.

use sqlx::PgConnection;

use super::super::row::{EntryRow, READ_MAX, signed, unsigned};
use super::journal::PostgresJournal;
use crate::control::batch::EMPTY;
use crate::control::ports::{Head, JournalError};
use crate::domain::change::Entry;
use crate::domain::ids::{AccountId, Revision};

/// Entries of an account behind a revision, in order. Shared by `read` and `load`.
pub(super) const ENTRIES_AFTER: &str = "SELECT revision, at, \"by\", cause, change FROM entries \
     WHERE account = $1 AND revision > $2 ORDER BY revision LIMIT $3";

/// Where `insert` puts rows: among the entries.
pub(super) const ENTRIES: &str = "INSERT INTO entries (account, revision, at, \"by\", cause, change) \
     SELECT $1, * FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[])";

/// Or among the links of archived entries.
pub(super) const ARCHIVED: &str = "INSERT INTO archived_links (account, revision, at, \"by\", cause, change) \
     SELECT $1, * FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[])";

/// Inserts rows, all with one statement.
pub(super) async fn insert(
    connection: &mut PgConnection,
    into: &'static str,
    account: &str,
    rows: Vec<EntryRow>,
) -> Result<(), sqlx::Error> {
    let (mut places, mut times, mut authors, mut causes, mut changes) = (vec![], vec![], vec![], vec![], vec![]);
    for row in rows {
        places.push(row.revision);
        times.push(row.at);
        authors.push(row.by);
        causes.push(row.cause);
        changes.push(row.change);
    }
    let query = sqlx::query(into).bind(account).bind(places).bind(times).bind(authors).bind(causes).bind(changes);
    query.execute(connection).await?;
    Ok(())
}

type HeadRow = (i64, i64, i64);

fn head((revision, epoch, oldest): HeadRow) -> Head {
    Head { revision: unsigned(revision), epoch: unsigned(epoch), oldest: unsigned(oldest) }
}

/// Where an account stands, as this connection sees it.
pub(super) async fn head_of(connection: &mut PgConnection, account: &str) -> Result<Head, sqlx::Error> {
    const HEAD: &str = "SELECT revision, epoch, oldest FROM heads WHERE account = $1";
    let row: Option<HeadRow> = sqlx::query_as(HEAD).bind(account).fetch_optional(connection).await?;
    Ok(row.map_or(EMPTY, head))
}

/// The same, and nobody else moves it before this transaction ends. An account that nobody has written to gets a row
/// first, so that there is something to hold.
pub(super) async fn locked_head(connection: &mut PgConnection, account: &str) -> Result<Head, sqlx::Error> {
    const LOCK: &str = "SELECT revision, epoch, oldest FROM heads WHERE account = $1 FOR UPDATE";
    const FIRST: &str = "INSERT INTO heads (account, revision, epoch, oldest) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (account) DO NOTHING";
    if let Some(row) = sqlx::query_as(LOCK).bind(account).fetch_optional(&mut *connection).await? {
        return Ok(head(row));
    }
    let Head { revision, epoch, oldest } = EMPTY;
    let first = sqlx::query(FIRST).bind(account).bind(signed(revision)).bind(signed(epoch)).bind(signed(oldest));
    first.execute(&mut *connection).await?;
    sqlx::query_as(LOCK).bind(account).fetch_one(connection).await.map(head)
}

/// Moves an account's head.
pub(super) async fn move_head(connection: &mut PgConnection, account: &str, head: Head) -> Result<(), sqlx::Error> {
    const MOVE: &str = "UPDATE heads SET revision = $2, epoch = $3 WHERE account = $1";
    let query = sqlx::query(MOVE).bind(account).bind(signed(head.revision)).bind(signed(head.epoch));
    query.execute(connection).await?;
    Ok(())
}

impl PostgresJournal {
    pub(super) async fn read_head(&self, account: AccountId) -> Result<Head, JournalError> {
        let failed = self.failed("read the head");
        let mut lease = self.database.lease().await.map_err(&failed)?;
        let head = head_of(&mut lease, &account.to_string()).await.map_err(&failed)?;
        lease.keep();
        Ok(head)
    }

    /// Head and entries are read at one moment, so that a compaction in between cannot be taken for a hole.
    pub(super) async fn read_entries(
        &self,
        account: AccountId,
        after: Revision,
        limit: usize,
    ) -> Result<Vec<Entry>, JournalError> {
        let failed = self.failed("read entries");
        let account = account.to_string();
        let mut lease = self.database.lease().await.map_err(&failed)?;
        let mut view = lease.viewing().await.map_err(&failed)?;
        let Head { oldest, .. } = head_of(&mut view, &account).await.map_err(&failed)?;
        if after.saturating_add(1) < oldest {
            view.rollback().await.map_err(&failed)?;
            lease.keep();
            return Err(JournalError::Compacted { oldest });
        }
        let limit = i64::try_from(limit.min(READ_MAX)).unwrap_or(i64::MAX);
        let query = sqlx::query_as(ENTRIES_AFTER).bind(&account).bind(signed(after)).bind(limit);
        let rows: Vec<EntryRow> = query.fetch_all(&mut *view).await.map_err(&failed)?;
        view.rollback().await.map_err(&failed)?;
        lease.keep();
        (1..).zip(rows).map(|(nth, row): (u64, EntryRow)| row.entry(after.saturating_add(nth))).collect()
    }
}
