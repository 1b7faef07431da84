//! Compaction in a database: what a round archives, and what is deleted behind it.

use sqlx::PgConnection;

use super::super::compaction::{DELETED_AT_ONCE, Round};
use super::super::kept::{FOLD_VERSION, base_at, body};
use super::super::row::{EntryRow, signed, unsigned};
use super::super::tended::{archived_meanwhile, begun_already};
use super::journal::PostgresJournal;
use super::rows::{ARCHIVED, head_of, insert, locked_head, move_head};
use super::snapshot::base;
use crate::control::ports::{Head, JournalError};
use crate::domain::change::Entry;
use crate::domain::ids::{AccountId, Revision};
use crate::domain::world::World;

const ATTEMPT: &str = "compact";

/// An account that another journal's entries are copied to.
const BEGIN: &str = "begin an account";

impl PostgresJournal {
    pub(super) async fn read_base(&self, account: AccountId, head: Head) -> Result<World, JournalError> {
        if head.oldest <= 1 {
            return Ok(World::default());
        }
        let failed = self.failed(ATTEMPT);
        let mut lease = self.database.lease().await.map_err(&failed)?;
        let base = base(&mut lease, &account.to_string()).await.map_err(&failed)?;
        lease.keep();
        let place = head.oldest - 1;
        base_at(place, base)
    }

    /// Holds the head meanwhile: appends of this account wait, and find the new oldest entry in it.
    pub(super) async fn archive_round(
        &self,
        account: AccountId,
        oldest: Revision,
        round: &Round,
    ) -> Result<(), JournalError> {
        let failed = self.failed(ATTEMPT);
        let account = account.to_string();
        let (body, links) = (body(ATTEMPT, &round.world)?, EntryRow::all(&round.links)?);
        let mut lease = self.database.lease().await.map_err(&failed)?;
        let mut transaction = lease.writing().await.map_err(&failed)?;
        let head = locked_head(&mut transaction, &account).await.map_err(&failed)?;
        if head.oldest != oldest {
            transaction.rollback().await.map_err(&failed)?;
            lease.keep();
            return Err(archived_meanwhile(head));
        }
        insert(&mut transaction, ARCHIVED, &account, links).await.map_err(&failed)?;
        move_oldest(&mut transaction, &account, round.world.revision, body).await.map_err(&failed)?;
        transaction.commit().await.map_err(&failed)?;
        lease.keep();
        Ok(())
    }

    pub(super) async fn begin_with(
        &self,
        account: AccountId,
        base: &World,
        links: &[Entry],
    ) -> Result<(), JournalError> {
        let failed = self.failed(BEGIN);
        let account = account.to_string();
        let (body, links) = (body(BEGIN, base)?, EntryRow::all(links)?);
        let mut lease = self.database.lease().await.map_err(&failed)?;
        let mut transaction = lease.writing().await.map_err(&failed)?;
        let head = locked_head(&mut transaction, &account).await.map_err(&failed)?;
        if head.revision > 0 {
            transaction.rollback().await.map_err(&failed)?;
            lease.keep();
            return Err(begun_already(head));
        }
        insert(&mut transaction, ARCHIVED, &account, links).await.map_err(&failed)?;
        let head = Head { revision: base.revision, epoch: base.seat.epoch, oldest: 1 };
        move_head(&mut transaction, &account, head).await.map_err(&failed)?;
        if base.revision > 0 {
            move_oldest(&mut transaction, &account, base.revision, body).await.map_err(&failed)?;
        }
        transaction.commit().await.map_err(&failed)?;
        lease.keep();
        Ok(())
    }

    pub(super) async fn sweep_some(&self, account: AccountId) -> Result<Option<Revision>, JournalError> {
        let failed = self.failed(ATTEMPT);
        let mut lease = self.database.lease().await.map_err(&failed)?;
        let mut transaction = lease.writing().await.map_err(&failed)?;
        let gone = delete_some(&mut transaction, &account.to_string()).await.map_err(&failed)?;
        transaction.commit().await.map_err(&failed)?;
        lease.keep();
        Ok(gone)
    }
}

async fn move_oldest(
    connection: &mut PgConnection,
    account: &str,
    base: Revision,
    world: Vec<u8>,
) -> Result<(), sqlx::Error> {
    const BASE: &str = "INSERT INTO bases (account, fold, revision, world) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (account) DO UPDATE SET fold = excluded.fold, revision = excluded.revision, world = excluded.world";
    const OLDEST: &str = "UPDATE heads SET oldest = $2 WHERE account = $1";
    const SNAPSHOTS: &str = "DELETE FROM snapshots WHERE account = $1 AND revision < $2";
    sqlx::query(BASE).bind(account).bind(FOLD_VERSION).bind(signed(base)).bind(world).execute(&mut *connection).await?;
    sqlx::query(OLDEST).bind(account).bind(signed(base + 1)).execute(&mut *connection).await?;
    sqlx::query(SNAPSHOTS).bind(account).bind(signed(base)).execute(&mut *connection).await?;
    Ok(())
}

/// The last revision that was deleted; none where nothing was left to delete.
async fn delete_some(connection: &mut PgConnection, account: &str) -> Result<Option<Revision>, sqlx::Error> {
    const FIRST: &str = "SELECT min(revision) FROM entries WHERE account = $1";
    const DELETE: &str = "DELETE FROM entries WHERE account = $1 AND revision <= $2";
    let oldest = head_of(connection, account).await?.oldest;
    let first: Option<i64> = sqlx::query_scalar(FIRST).bind(account).fetch_one(&mut *connection).await?;
    let Some(first) = first.map(unsigned).filter(|first| *first < oldest) else { return Ok(None) };
    let last = (first + DELETED_AT_ONCE - 1).min(oldest - 1);
    sqlx::query(DELETE).bind(account).bind(signed(last)).execute(connection).await?;
    Ok(Some(last))
}
