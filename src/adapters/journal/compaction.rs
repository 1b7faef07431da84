//! Compaction: old entries give way to the world they came to. Links of the audit are kept as they are.

use std::time::Duration;

use jiff::Timestamp;

use super::row::READ_MAX;
use super::tended::Tended;
use crate::control::ports::JournalError;
use crate::domain::change::{Cause, Entry};
use crate::domain::ids::{AccountId, Revision};
use crate::domain::world::World;

/// Entries one round archives: what is held in memory, and what a kill can make somebody do again.
pub const ROUND_MAX: u64 = 50_000;

/// Rows one transaction deletes: a server beside never waits longer than that takes.
pub const DELETED_AT_ONCE: u64 = 2_000;

/// Between two transactions that delete, so that a server gets its turn.
const PAUSE: Duration = Duration::from_millis(20);

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

/// The next entries to archive: the world behind the last of them, and the links of the audit among them.
#[derive(Debug, Clone)]
pub struct Round {
    /// What they came to.
    pub world: World,
    /// Oldest first.
    pub links: Vec<Entry>,
}

/// Archives everything that `keep` does not keep, round by round, beside servers that append. Wherever it is killed the
/// journal is whole: an entry is deleted only after a world that includes it is on the disk. `told` hears the revision
/// up to which entries are gone.
pub async fn compact(
    journal: &impl Tended,
    account: AccountId,
    keep: Keep,
    mut told: impl FnMut(Revision),
) -> Result<Archived, JournalError> {
    let head = journal.head(account).await?;
    let last = head.revision.saturating_sub(keep.entries);
    let mut world = journal.world_before_oldest(account, head).await?;
    let mut archived = Archived { oldest: head.oldest, ..Archived::default() };
    delete_archived(journal, account, &mut told).await?;
    while let Some(round) = next_round(journal, account, &world, last, keep.since).await? {
        journal.archive(account, world.revision + 1, &round).await?;
        archived.entries += round.world.revision - world.revision;
        archived.links += u64::try_from(round.links.len()).unwrap_or(u64::MAX);
        archived.oldest = round.world.revision + 1;
        world = round.world;
        delete_archived(journal, account, &mut told).await?;
    }
    Ok(archived)
}

/// None once there is nothing more to archive. It ends behind a whole verb, so that the link of a verb and the changes it
/// speaks of go together.
async fn next_round(
    journal: &impl Tended,
    account: AccountId,
    from: &World,
    last: Revision,
    since: Option<Timestamp>,
) -> Result<Option<Round>, JournalError> {
    let (mut world, mut whole) = (from.clone(), Round { world: from.clone(), links: Vec::new() });
    let mut links = Vec::new();
    'reading: while world.revision - from.revision < ROUND_MAX {
        let entries = journal.read(account, world.revision, READ_MAX).await?;
        if entries.is_empty() {
            break;
        }
        for entry in entries {
            if entry.revision > last || since.is_some_and(|since| entry.at >= since) {
                break 'reading;
            }
            world.apply(&entry);
            let ends = ends_something(&entry);
            if entry.is_audit() {
                links.push(entry);
            }
            if ends {
                whole.world = world.clone();
                whole.links.append(&mut links);
            }
        }
    }
    Ok((whole.world.revision > from.revision).then_some(whole))
}

async fn delete_archived(
    journal: &impl Tended,
    account: AccountId,
    told: &mut impl FnMut(Revision),
) -> Result<(), JournalError> {
    while let Some(gone) = journal.sweep(account).await? {
        told(gone);
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}

/// The changes of a verb are followed by its link; nothing else hangs together.
fn ends_something(entry: &Entry) -> bool {
    entry.is_audit() || !matches!(entry.cause, Cause::Verb { .. })
}
