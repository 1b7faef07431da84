//! Snapshots: worlds beside the entries. Losing one costs time, never facts.

use sqlx::sqlite::SqliteConnection;

use super::super::kept::{FOLD_VERSION, SNAPSHOTS_KEPT, body_beside, world_beside};
use super::super::row::{signed, unsigned};
use super::journal::SqliteJournal;
use crate::control::batch::check_snapshot;
use crate::control::ports::{Head, JournalError};
use crate::domain::ids::{AccountId, Revision};
use crate::domain::world::World;

const ATTEMPT: &str = "keep a snapshot";

impl SqliteJournal {
    /// Refuses a world that is ahead of the journal: it was decided, and never appended.
    pub(super) async fn keep_snapshot(&self, account: AccountId, world: World) -> Result<(), JournalError> {
        let failed = |error: sqlx::Error| self.file.fault(&error).during(ATTEMPT);
        check_snapshot(self.read_head(account).await?, &world)?;
        let revision = world.revision;
        let body = body_beside(ATTEMPT, world).await?;
        let account = account.to_string();

        let mut writer = self.file.writer().await.map_err(|fault| fault.during(ATTEMPT))?;
        let mut transaction = writer.begin().await.map_err(failed)?;
        insert(&mut transaction, &account, revision, body).await.map_err(failed)?;
        prune(&mut transaction, &account).await.map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        writer.keep();
        Ok(())
    }
}

async fn insert(
    connection: &mut SqliteConnection,
    account: &str,
    revision: Revision,
    body: Vec<u8>,
) -> Result<(), sqlx::Error> {
    const INSERT: &str = "INSERT OR REPLACE INTO snapshots (account, fold, revision, world) VALUES (?1, ?2, ?3, ?4)";
    sqlx::query(INSERT).bind(account).bind(FOLD_VERSION).bind(signed(revision)).bind(body).execute(connection).await?;
    Ok(())
}

/// Those of older folds go; those of a newer one belong to a newer program that runs beside this one.
async fn prune(connection: &mut SqliteConnection, account: &str) -> Result<(), sqlx::Error> {
    const PRUNE: &str = "DELETE FROM snapshots WHERE account = ?1 AND (fold < ?2 OR (fold = ?2 AND revision NOT IN \
         (SELECT revision FROM snapshots WHERE account = ?1 AND fold = ?2 ORDER BY revision DESC LIMIT ?3)))";
    sqlx::query(PRUNE).bind(account).bind(FOLD_VERSION).bind(SNAPSHOTS_KEPT).execute(connection).await?;
    Ok(())
}

/// The newest snapshot of this fold that can be read, does not reach past the head and includes what is archived.
pub(super) async fn newest_snapshot(
    connection: &mut SqliteConnection,
    account: &str,
    head: Head,
) -> Result<Option<World>, sqlx::Error> {
    const KEPT: &str = "SELECT revision FROM snapshots WHERE account = ?1 AND fold = ?2 AND revision <= ?3 \
         AND revision >= ?5 ORDER BY revision DESC LIMIT ?4";
    let kept: Vec<i64> = sqlx::query_scalar(KEPT)
        .bind(account)
        .bind(FOLD_VERSION)
        .bind(signed(head.revision))
        .bind(SNAPSHOTS_KEPT)
        .bind(signed(head.oldest.saturating_sub(1)))
        .fetch_all(&mut *connection)
        .await?;
    for revision in kept {
        match read(connection, account, revision).await? {
            Ok(world) => return Ok(Some(world)),
            Err(problem) => tracing::warn!(account, revision, problem, "a snapshot cannot be read, folding further"),
        }
    }
    Ok(None)
}

async fn read(
    connection: &mut SqliteConnection,
    account: &str,
    revision: i64,
) -> Result<Result<World, String>, sqlx::Error> {
    const BODY: &str = "SELECT world FROM snapshots WHERE account = ?1 AND fold = ?2 AND revision = ?3";
    let query = sqlx::query_scalar(BODY).bind(account).bind(FOLD_VERSION).bind(revision);
    let body: Vec<u8> = query.fetch_one(connection).await?;
    Ok(world_beside(unsigned(revision), body).await)
}
