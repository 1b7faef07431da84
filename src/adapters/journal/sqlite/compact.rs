//! Compaction in a file: what a round archives, and what is deleted behind it.

use sqlx::sqlite::SqliteConnection;

use super::super::compaction::{DELETED_AT_ONCE, Round};
use super::super::kept::{FOLD_VERSION, base_at, body, world};
use super::super::row::{EntryRow, signed, unsigned};
use super::super::tended::{archived_meanwhile, begun_already};
use super::journal::SqliteJournal;
use super::rows::{ARCHIVED, head_of, insert, move_head};
use crate::control::ports::{Head, JournalError};
use crate::domain::change::Entry;
use crate::domain::ids::{AccountId, Revision};
use crate::domain::world::World;

const ATTEMPT: &str = "compact";

/// An account that another journal's entries are copied to.
const BEGIN: &str = "begin an account";

impl SqliteJournal {
    pub(super) async fn read_base(&self, account: AccountId, head: Head) -> Result<World, JournalError> {
        if head.oldest <= 1 {
            return Ok(World::default());
        }
        let mut reader = self.file.reader().await.map_err(|fault| fault.during(ATTEMPT))?;
        let base = base(&mut reader, &account.to_string()).await.map_err(|e| self.file.fault(&e).during(ATTEMPT))?;
        let place = head.oldest - 1;
        base_at(place, base)
    }

    pub(super) async fn archive_round(
        &self,
        account: AccountId,
        oldest: Revision,
        round: &Round,
    ) -> Result<(), JournalError> {
        let failed = |error: sqlx::Error| self.file.fault(&error).during(ATTEMPT);
        let account = account.to_string();
        let (body, links) = (body(ATTEMPT, &round.world)?, EntryRow::all(&round.links)?);
        let mut writer = self.file.writer().await.map_err(|fault| fault.during(ATTEMPT))?;
        let mut transaction = writer.begin().await.map_err(failed)?;
        let head = head_of(&mut transaction, &account).await.map_err(failed)?;
        if head.oldest != oldest {
            transaction.rollback().await.map_err(failed)?;
            return Err(archived_meanwhile(head));
        }
        insert(&mut transaction, ARCHIVED, &account, &links).await.map_err(failed)?;
        move_oldest(&mut transaction, &account, round.world.revision, body).await.map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        writer.keep();
        Ok(())
    }

    pub(super) async fn begin_with(
        &self,
        account: AccountId,
        base: &World,
        links: &[Entry],
    ) -> Result<(), JournalError> {
        let failed = |error: sqlx::Error| self.file.fault(&error).during(BEGIN);
        let account = account.to_string();
        let (body, links) = (body(BEGIN, base)?, EntryRow::all(links)?);
        let mut writer = self.file.writer().await.map_err(|fault| fault.during(BEGIN))?;
        let mut transaction = writer.begin().await.map_err(failed)?;
        let head = head_of(&mut transaction, &account).await.map_err(failed)?;
        if head.revision > 0 {
            transaction.rollback().await.map_err(failed)?;
            return Err(begun_already(head));
        }
        insert(&mut transaction, ARCHIVED, &account, &links).await.map_err(failed)?;
        let head = Head { revision: base.revision, epoch: base.seat.epoch, oldest: 1 };
        move_head(&mut transaction, &account, head).await.map_err(failed)?;
        if base.revision > 0 {
            move_oldest(&mut transaction, &account, base.revision, body).await.map_err(failed)?;
        }
        transaction.commit().await.map_err(failed)?;
        writer.keep();
        Ok(())
    }

    pub(super) async fn sweep_some(&self, account: AccountId) -> Result<Option<Revision>, JournalError> {
        let failed = |error: sqlx::Error| self.file.fault(&error).during(ATTEMPT);
        let mut writer = self.file.writer().await.map_err(|fault| fault.during(ATTEMPT))?;
        let mut transaction = writer.begin().await.map_err(failed)?;
        let gone = delete_some(&mut transaction, &account.to_string()).await.map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        writer.keep();
        Ok(gone)
    }
}

async fn move_oldest(
    connection: &mut SqliteConnection,
    account: &str,
    base: Revision,
    world: Vec<u8>,
) -> Result<(), sqlx::Error> {
    const BASE: &str = "INSERT OR REPLACE INTO bases (account, fold, revision, world) VALUES (?1, ?2, ?3, ?4)";
    const OLDEST: &str = "UPDATE heads SET oldest = ?2 WHERE account = ?1";
    const SNAPSHOTS: &str = "DELETE FROM snapshots WHERE account = ?1 AND revision < ?2";
    sqlx::query(BASE).bind(account).bind(FOLD_VERSION).bind(signed(base)).bind(world).execute(&mut *connection).await?;
    sqlx::query(OLDEST).bind(account).bind(signed(base + 1)).execute(&mut *connection).await?;
    sqlx::query(SNAPSHOTS).bind(account).bind(signed(base)).execute(&mut *connection).await?;
    Ok(())
}

/// The last revision that was deleted; none where nothing was left to delete.
async fn delete_some(connection: &mut SqliteConnection, account: &str) -> Result<Option<Revision>, sqlx::Error> {
    const FIRST: &str = "SELECT min(revision) FROM entries WHERE account = ?1";
    const DELETE: &str = "DELETE FROM entries WHERE account = ?1 AND revision <= ?2";
    let oldest = head_of(connection, account).await?.oldest;
    let first: Option<i64> = sqlx::query_scalar(FIRST).bind(account).fetch_one(&mut *connection).await?;
    let Some(first) = first.map(unsigned).filter(|first| *first < oldest) else { return Ok(None) };
    let last = (first + DELETED_AT_ONCE - 1).min(oldest - 1);
    sqlx::query(DELETE).bind(account).bind(signed(last)).execute(connection).await?;
    Ok(Some(last))
}

/// The base of an account: its world, or why that cannot be read. One of an older fold is read as well: there is no
/// other.
pub(super) async fn base(
    connection: &mut SqliteConnection,
    account: &str,
) -> Result<Option<Result<World, String>>, sqlx::Error> {
    const BASE: &str = "SELECT world FROM bases WHERE account = ?1";
    let body: Option<Vec<u8>> = sqlx::query_scalar(BASE).bind(account).fetch_optional(connection).await?;
    Ok(body.map(|body| world(&body)))
}
