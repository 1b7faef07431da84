//! Snapshots: worlds beside the entries. Losing one costs time, never facts.

use sqlx::PgConnection;

use super::super::kept::{FOLD_VERSION, SNAPSHOTS_KEPT, body_beside, world, world_beside};
use super::super::row::{signed, unsigned};
use super::journal::PostgresJournal;
use crate::control::batch::check_snapshot;
use crate::control::ports::{Head, JournalError};
use crate::domain::ids::{AccountId, Revision};
use crate::domain::world::World;

const ATTEMPT: &str = "keep a snapshot";

impl PostgresJournal {
    /// Refuses a world that is ahead of the journal: it was decided, and never appended.
    pub(super) async fn keep_snapshot(&self, account: AccountId, world: World) -> Result<(), JournalError> {
        let failed = self.failed(ATTEMPT);
        check_snapshot(self.read_head(account).await?, &world)?;
        let revision = world.revision;
        let body = body_beside(ATTEMPT, world).await?;
        let account = account.to_string();
        let mut lease = self.database.lease().await.map_err(&failed)?;
        let mut transaction = lease.writing().await.map_err(&failed)?;
        insert(&mut transaction, &account, revision, body).await.map_err(&failed)?;
        prune(&mut transaction, &account).await.map_err(&failed)?;
        transaction.commit().await.map_err(&failed)?;
        lease.keep();
        Ok(())
    }
}

async fn insert(
    connection: &mut PgConnection,
    account: &str,
    revision: Revision,
    body: Vec<u8>,
) -> Result<(), sqlx::Error> {
    const INSERT: &str = "INSERT INTO snapshots (account, fold, revision, world) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (account, fold, revision) DO UPDATE SET world = excluded.world";
    sqlx::query(INSERT).bind(account).bind(FOLD_VERSION).bind(signed(revision)).bind(body).execute(connection).await?;
    Ok(())
}

/// Those of older folds go; those of a newer one belong to a newer program that runs beside this one.
async fn prune(connection: &mut PgConnection, account: &str) -> Result<(), sqlx::Error> {
    const PRUNE: &str = "DELETE FROM snapshots WHERE account = $1 AND (fold < $2 OR (fold = $2 AND revision NOT IN \
         (SELECT revision FROM snapshots WHERE account = $1 AND fold = $2 ORDER BY revision DESC LIMIT $3)))";
    sqlx::query(PRUNE).bind(account).bind(FOLD_VERSION).bind(SNAPSHOTS_KEPT).execute(connection).await?;
    Ok(())
}

/// The newest snapshot of this fold that can be read, does not reach past the head and includes what is archived.
pub(super) async fn newest_snapshot(
    connection: &mut PgConnection,
    account: &str,
    head: Head,
) -> Result<Option<World>, sqlx::Error> {
    const KEPT: &str = "SELECT revision, world FROM snapshots WHERE account = $1 AND fold = $2 AND revision <= $3 \
         AND revision >= $4 ORDER BY revision DESC LIMIT 1 OFFSET $5";
    for nth in 0..SNAPSHOTS_KEPT {
        let query = sqlx::query_as(KEPT)
            .bind(account)
            .bind(FOLD_VERSION)
            .bind(signed(head.revision))
            .bind(signed(head.oldest.saturating_sub(1)))
            .bind(nth);
        let Some((revision, body)) = query.fetch_optional(&mut *connection).await? else { return Ok(None) };
        match world_beside(unsigned(revision), body).await {
            Ok(world) => return Ok(Some(world)),
            Err(problem) => tracing::warn!(account, revision, problem, "a snapshot cannot be read, folding further"),
        }
    }
    Ok(None)
}

/// The base of an account: its world, or why that cannot be read. One of an older fold is read as well: there is no
/// other.
pub(super) async fn base(
    connection: &mut PgConnection,
    account: &str,
) -> Result<Option<Result<World, String>>, sqlx::Error> {
    const BASE: &str = "SELECT world FROM bases WHERE account = $1";
    let body: Option<Vec<u8>> = sqlx::query_scalar(BASE).bind(account).fetch_optional(connection).await?;
    Ok(body.map(|body| world(&body)))
}
