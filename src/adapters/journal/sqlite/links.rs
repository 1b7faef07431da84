//! Links of the audit: archived ones and those among the entries, as one chain.

use super::super::row::{EntryRow, READ_MAX, signed};
use super::journal::SqliteJournal;
use crate::control::ports::{JournalError, Stretch};
use crate::domain::change::Entry;
use crate::domain::ids::{AccountId, Revision};

const ATTEMPT: &str = "read links of the audit";

/// Archived links, and links among the entries from the oldest one on: what an archived entry left behind until it is
/// deleted is there once only. One statement, so one moment; both halves are read along an index.
const AFTER: &str = "SELECT revision, at, \"by\", cause, change FROM archived_links WHERE account = ?1 AND revision > ?2 \
     UNION ALL SELECT revision, at, \"by\", cause, change FROM entries INDEXED BY entries_links \
     WHERE account = ?1 AND revision > ?2 AND substr(change, 1, 17) = '{\"kind\":\"audited\"' \
     AND revision >= (SELECT oldest FROM heads WHERE account = ?1) ORDER BY revision LIMIT ?3";

/// The same backwards.
const BEFORE: &str = "SELECT revision, at, \"by\", cause, change FROM archived_links WHERE account = ?1 AND revision < ?2 \
     UNION ALL SELECT revision, at, \"by\", cause, change FROM entries INDEXED BY entries_links \
     WHERE account = ?1 AND revision < ?2 AND substr(change, 1, 17) = '{\"kind\":\"audited\"' \
     AND revision >= (SELECT oldest FROM heads WHERE account = ?1) ORDER BY revision DESC LIMIT ?3";

const ARCHIVED: &str = "SELECT revision, at, \"by\", cause, change FROM archived_links \
     WHERE account = ?1 AND revision > ?2 ORDER BY revision LIMIT ?3";

impl SqliteJournal {
    pub(super) async fn read_links(
        &self,
        account: AccountId,
        stretch: Stretch,
        limit: usize,
    ) -> Result<Vec<Entry>, JournalError> {
        match stretch {
            Stretch::After(after) => self.rows_of(AFTER, account, after, limit).await,
            Stretch::Before(before) => {
                let mut newest_first = self.rows_of(BEFORE, account, before, limit).await?;
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
        self.rows_of(ARCHIVED, account, after, limit).await
    }

    async fn rows_of(
        &self,
        statement: &'static str,
        account: AccountId,
        revision: Revision,
        limit: usize,
    ) -> Result<Vec<Entry>, JournalError> {
        let mut reader = self.file.reader().await.map_err(|fault| fault.during(ATTEMPT))?;
        let limit = i64::try_from(limit.min(READ_MAX)).unwrap_or(i64::MAX);
        let query = sqlx::query_as(statement).bind(account.to_string()).bind(signed(revision)).bind(limit);
        let rows: Vec<EntryRow> =
            query.fetch_all(&mut *reader).await.map_err(|e| self.file.fault(&e).during(ATTEMPT))?;
        rows.into_iter().map(EntryRow::entry_anywhere).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::ports::Journal;

    #[tokio::test]
    async fn both_ways_go_along_an_index_and_nothing_is_sorted() {
        let folder = tempfile::tempdir().unwrap();
        let journal = SqliteJournal::open(folder.path().join("kura.db")).await.unwrap();
        let account = AccountId::named("acme");
        assert_eq!(journal.links(account, Stretch::After(0), 3).await.unwrap(), []);
        let mut reader = journal.file.reader().await.unwrap();
        for statement in [AFTER, BEFORE] {
            let explained = sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}"));
            let plan = sqlx::query_as(explained).bind(account.to_string()).bind(7).bind(3);
            let plan: Vec<(i64, i64, i64, String)> = plan.fetch_all(&mut *reader).await.unwrap();
            let plan: Vec<String> = plan.into_iter().map(|(.., step)| step).collect();
            let plan = plan.join("\n");
            assert!(!plan.contains("SCAN") && !plan.contains("TEMP B-TREE"), "{plan}");
            assert!(plan.contains("INDEX entries_links (account=? AND revision"), "{plan}");
        }
    }
}
