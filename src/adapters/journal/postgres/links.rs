//! Links of the audit: archived ones and those among the entries, as one chain.

use super::super::row::{EntryRow, READ_MAX, signed};
use super::journal::PostgresJournal;
use crate::control::ports::{JournalError, Stretch};
use crate::domain::change::Entry;
use crate::domain::ids::{AccountId, Revision};

/// Archived links, and links among the entries from the oldest one on: what an archived entry left behind until it is
/// deleted is there once only. One statement, so one moment; both halves are read along an index.
const AFTER: &str = "SELECT * FROM ((SELECT revision, at, \"by\", cause, change FROM archived_links \
     WHERE account = $1 AND revision > $2 ORDER BY revision LIMIT $3) \
     UNION ALL (SELECT revision, at, \"by\", cause, change FROM entries \
     WHERE account = $1 AND revision > $2 AND left(change, 17) = '{\"kind\":\"audited\"' \
     AND revision >= (SELECT oldest FROM heads WHERE account = $1) ORDER BY revision LIMIT $3)) AS links \
     ORDER BY revision LIMIT $3";

/// The same backwards.
const BEFORE: &str = "SELECT * FROM ((SELECT revision, at, \"by\", cause, change FROM archived_links \
     WHERE account = $1 AND revision < $2 ORDER BY revision DESC LIMIT $3) \
     UNION ALL (SELECT revision, at, \"by\", cause, change FROM entries \
     WHERE account = $1 AND revision < $2 AND left(change, 17) = '{\"kind\":\"audited\"' \
     AND revision >= (SELECT oldest FROM heads WHERE account = $1) ORDER BY revision DESC LIMIT $3)) AS links \
     ORDER BY revision DESC LIMIT $3";

const ARCHIVED: &str = "SELECT revision, at, \"by\", cause, change FROM archived_links \
     WHERE account = $1 AND revision > $2 ORDER BY revision LIMIT $3";

impl PostgresJournal {
    pub(super) async fn read_links(
        &self,
        account: AccountId,
        stretch: Stretch,
        limit: usize,
    ) -> Result<Vec<Entry>, JournalError> {
        match stretch {
            Stretch::After(after) => self.links_by(AFTER, account, after, limit).await,
            Stretch::Before(before) => {
                let mut newest_first = self.links_by(BEFORE, account, before, limit).await?;
                newest_first.reverse();
                Ok(newest_first)
            }
        }
    }

    pub(super) async fn read_archived_links(
        &self,
        account: AccountId,
        after: Revision,
        limit: usize,
    ) -> Result<Vec<Entry>, JournalError> {
        self.links_by(ARCHIVED, account, after, limit).await
    }

    async fn links_by(
        &self,
        statement: &'static str,
        account: AccountId,
        revision: Revision,
        limit: usize,
    ) -> Result<Vec<Entry>, JournalError> {
        let failed = self.failed("read links of the audit");
        let mut lease = self.database.lease().await.map_err(&failed)?;
        let limit = i64::try_from(limit.min(READ_MAX)).unwrap_or(i64::MAX);
        let query = sqlx::query_as(statement).bind(account.to_string()).bind(signed(revision)).bind(limit);
        let rows: Vec<EntryRow> = query.fetch_all(&mut *lease).await.map_err(&failed)?;
        lease.keep();
        rows.into_iter().map(EntryRow::entry_anywhere).collect()
    }
}
