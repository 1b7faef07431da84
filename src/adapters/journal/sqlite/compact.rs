//! Compaction: old entries give way to the world they came to. Links of the audit are kept as they are.

use std::time::Duration;

use jiff::Timestamp;
use sqlx::sqlite::SqliteConnection;

use super::super::row::{EntryRow, READ_MAX, corrupt, signed, unsigned};
use super::journal::SqliteJournal;
use super::rows::{ARCHIVED, head_of, insert};
use super::snapshot::FOLD_VERSION;
use crate::control::ports::{Head, JournalError};
use crate::domain::change::{Cause, Entry};
use crate::domain::ids::{AccountId, Revision};
use crate::domain::world::World;

/// Entries one round archives: what is held in memory, and what a kill can make somebody do again.
pub const ROUND_MAX: usize = 50_000;

/// Rows one transaction deletes: a server beside never waits longer than that takes.
const DELETED_AT_ONCE: u64 = 2_000;

/// Between two transactions that delete, so that a server gets its turn.
const PAUSE: Duration = Duration::from_millis(20);

const ATTEMPT: &str = "compact";

/// What stays an entry: what either of the two keeps.
#[derive(Debug, Clone, Copy, Default)]
pub struct Keep {
    /// The newest so many; 0 = none of them for their number.
    pub entries: u64,
    /// Those from this moment on; none = none of them for their age.
    pub since: Option<Timestamp>,
}

/// What a compaction did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Archived {
    /// Entries that are gone.
    pub entries: u64,
    /// Those among them that were links of the audit, and are kept.
    pub links: u64,
    /// The oldest that is still an entry.
    pub oldest: Revision,
}

/// The next entries to archive, and the world behind the last of them.
struct Round {
    world: World,
    links: Vec<EntryRow>,
}

impl SqliteJournal {
    /// Archives everything that `keep` does not keep, round by round, beside servers that append. Wherever it is
    /// killed the journal is whole: an entry is deleted only after a world that includes it is on the disk.
    /// `told` hears the revision up to which entries are gone.
    pub async fn compact(
        &self,
        account: AccountId,
        keep: Keep,
        mut told: impl FnMut(Revision),
    ) -> Result<Archived, JournalError> {
        let head = self.read_head(account).await?;
        let last = head.revision.saturating_sub(keep.entries);
        let mut world = self.world_before_oldest(account, head).await?;
        let mut archived = Archived { oldest: head.oldest, ..Archived::default() };
        self.delete_archived(account, &mut told).await?;
        while let Some(round) = self.round(account, &world, last, keep.since).await? {
            archived.entries += round.world.revision - world.revision;
            archived.links += u64::try_from(round.links.len()).unwrap_or(u64::MAX);
            archived.oldest = round.world.revision + 1;
            world = self.archive(account, &world, round).await?;
            self.delete_archived(account, &mut told).await?;
        }
        Ok(archived)
    }

    /// The world that everything which is still an entry builds on.
    pub async fn world_before_oldest(&self, account: AccountId, head: Head) -> Result<World, JournalError> {
        if head.oldest <= 1 {
            return Ok(World::default());
        }
        let mut reader = self.file.reader().await.map_err(|fault| fault.during(ATTEMPT))?;
        let base = base(&mut reader, &account.to_string()).await.map_err(|e| self.file.fault(&e).during(ATTEMPT))?;
        let place = head.oldest - 1;
        match base {
            Some(Ok(world)) if world.revision == place => Ok(world),
            Some(Ok(world)) => Err(corrupt(place, format!("the world before it is of {}", world.revision))),
            Some(Err(problem)) => Err(corrupt(place, format!("the world up to it: {problem}"))),
            None => Err(corrupt(place, "it is archived, and the world up to it is not kept")),
        }
    }

    /// None once there is nothing more to archive. It ends behind a whole verb, so that the link of a verb and the
    /// changes it speaks of go together.
    async fn round(
        &self,
        account: AccountId,
        from: &World,
        last: Revision,
        since: Option<Timestamp>,
    ) -> Result<Option<Round>, JournalError> {
        let (mut world, mut whole) = (from.clone(), Round { world: from.clone(), links: Vec::new() });
        'reading: while world.revision - from.revision < u64::try_from(ROUND_MAX).unwrap_or(u64::MAX) {
            let entries = self.read_entries(account, world.revision, READ_MAX).await?;
            if entries.is_empty() {
                break;
            }
            for entry in &entries {
                if entry.revision > last || since.is_some_and(|since| entry.at >= since) {
                    break 'reading;
                }
                world.apply(entry);
                if entry.is_audit() {
                    whole.links.push(EntryRow::of(entry)?);
                }
                if ends_something(entry) {
                    whole.world = world.clone();
                }
            }
        }
        Ok((whole.world.revision > from.revision).then_some(whole))
    }

    /// From here on the entries of a round count as archived.
    async fn archive(&self, account: AccountId, before: &World, round: Round) -> Result<World, JournalError> {
        let failed = |error: sqlx::Error| self.file.fault(&error).during(ATTEMPT);
        let Round { world, links } = round;
        let account = account.to_string();
        let body = serde_json::to_vec(&world)
            .map_err(|unwritable| JournalError::Store { attempt: ATTEMPT, source: Box::new(unwritable) })?;
        let mut writer = self.file.writer().await.map_err(|fault| fault.during(ATTEMPT))?;
        let mut transaction = writer.begin().await.map_err(failed)?;
        let head = head_of(&mut transaction, &account).await.map_err(failed)?;
        if head.oldest != before.revision + 1 {
            transaction.rollback().await.map_err(failed)?;
            let source = format!("somebody else does: the oldest entry is {} by now", head.oldest).into();
            return Err(JournalError::Store { attempt: ATTEMPT, source });
        }
        insert(&mut transaction, ARCHIVED, &account, &links).await.map_err(failed)?;
        move_oldest(&mut transaction, &account, world.revision, body).await.map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        writer.keep();
        Ok(world)
    }

    /// Deletes what counts as archived, also what a compaction that was killed left behind.
    async fn delete_archived(&self, account: AccountId, told: &mut impl FnMut(Revision)) -> Result<(), JournalError> {
        let failed = |error: sqlx::Error| self.file.fault(&error).during(ATTEMPT);
        let account = account.to_string();
        loop {
            let mut writer = self.file.writer().await.map_err(|fault| fault.during(ATTEMPT))?;
            let mut transaction = writer.begin().await.map_err(failed)?;
            let gone = delete_some(&mut transaction, &account).await.map_err(failed)?;
            transaction.commit().await.map_err(failed)?;
            writer.keep();
            let Some(gone) = gone else { return Ok(()) };
            told(gone);
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// The changes of a verb are followed by its link; nothing else hangs together.
fn ends_something(entry: &Entry) -> bool {
    entry.is_audit() || !matches!(entry.cause, Cause::Verb { .. })
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
    Ok(body.map(|body| serde_json::from_slice(&body).map_err(|error| error.to_string())))
}
