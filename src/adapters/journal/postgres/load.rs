//! Load: the newest snapshot that can be read, and the entries after it.

use futures_util::TryStreamExt;
use sqlx::PgConnection;

use super::super::row::{EntryRow, corrupt, signed};
use super::journal::PostgresJournal;
use super::rows::{ENTRIES_AFTER, head_of};
use super::snapshot::{base, newest_snapshot};
use crate::control::ports::{Head, JournalError};
use crate::domain::ids::AccountId;
use crate::domain::world::World;

const ATTEMPT: &str = "load";

impl PostgresJournal {
    /// Everything is read at one moment. A world that does not reach the head is never returned.
    pub(super) async fn load_world(&self, account: AccountId) -> Result<World, JournalError> {
        let failed = self.failed(ATTEMPT);
        let account = account.to_string();
        let mut lease = self.database.lease().await.map_err(&failed)?;
        let mut view = lease.loading().await.map_err(&failed)?;
        let head = head_of(&mut view, &account).await.map_err(&failed)?;
        let world = self.start(&mut view, &account, head).await?;
        let world = self.fold(&mut view, &account, world, head).await?;
        view.rollback().await.map_err(&failed)?;
        lease.keep();
        Ok(world)
    }

    /// Where folding begins: a snapshot, the base of a journal that was compacted, or nothing.
    async fn start(&self, view: &mut PgConnection, account: &str, head: Head) -> Result<World, JournalError> {
        let failed = self.failed(ATTEMPT);
        if let Some(world) = newest_snapshot(view, account, head).await.map_err(&failed)? {
            return Ok(world);
        }
        match base(view, account).await.map_err(&failed)? {
            Some(Ok(world)) => Ok(world),
            Some(Err(problem)) => Err(corrupt(head.oldest.saturating_sub(1), format!("the world up to it: {problem}"))),
            None => Ok(World::default()),
        }
    }

    async fn fold(
        &self,
        view: &mut PgConnection,
        account: &str,
        mut world: World,
        head: Head,
    ) -> Result<World, JournalError> {
        if world.revision.saturating_add(1) < head.oldest {
            return Err(corrupt(head.oldest - 1, "it is archived, and no snapshot that includes it can be read"));
        }
        let query = sqlx::query_as(ENTRIES_AFTER).bind(account).bind(signed(world.revision)).bind(i64::MAX);
        let mut rows = query.fetch(view);
        while let Some(row) = rows.try_next().await.map_err(self.failed(ATTEMPT))? {
            let row: EntryRow = row;
            world.apply(&row.entry(world.revision + 1)?);
        }
        if world.revision == head.revision {
            Ok(world)
        } else {
            Err(corrupt(world.revision + 1, format!("it is missing, the head stands at {}", head.revision)))
        }
    }
}
