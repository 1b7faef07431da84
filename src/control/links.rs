//! Links of the audit where a journal keeps no list of them: found by looking through its entries.

use super::ports::{Journal, JournalError, Stretch};
use crate::domain::change::Entry;
use crate::domain::ids::{AccountId, Revision};

/// Entries that are looked through at a time.
const ENTRIES_AT_ONCE: usize = 1_000;

/// Looks through as many entries as it takes. What is archived is not there.
pub(super) async fn looked_up<J: Journal + ?Sized>(
    journal: &J,
    account: AccountId,
    stretch: Stretch,
    limit: usize,
) -> Result<Vec<Entry>, JournalError> {
    match stretch {
        Stretch::After(after) => behind(journal, account, after, limit).await,
        Stretch::Before(before) => in_front(journal, account, before, limit).await,
    }
}

async fn behind<J: Journal + ?Sized>(
    journal: &J,
    account: AccountId,
    mut after: Revision,
    limit: usize,
) -> Result<Vec<Entry>, JournalError> {
    let mut links: Vec<Entry> = Vec::new();
    while links.len() < limit {
        let entries = match journal.read(account, after, ENTRIES_AT_ONCE).await {
            Err(JournalError::Compacted { oldest }) if oldest > after + 1 => {
                after = oldest - 1;
                continue;
            }
            read => read?,
        };
        let Some(last) = entries.last() else { break };
        after = last.revision;
        links.extend(entries.into_iter().filter(Entry::is_audit).take(limit - links.len()));
    }
    Ok(links)
}

async fn in_front<J: Journal + ?Sized>(
    journal: &J,
    account: AccountId,
    before: Revision,
    limit: usize,
) -> Result<Vec<Entry>, JournalError> {
    let head = journal.head(account).await?;
    let (mut end, mut floor) = (before.min(head.revision.saturating_add(1)), head.oldest.saturating_sub(1));
    let mut newest_first: Vec<Entry> = Vec::new();
    while newest_first.len() < limit && end > floor + 1 {
        let after = end.saturating_sub(1 + ENTRIES_AT_ONCE as Revision).max(floor);
        let entries = match journal.read(account, after, ENTRIES_AT_ONCE).await {
            Err(JournalError::Compacted { oldest }) if oldest > floor + 1 => {
                floor = oldest - 1;
                continue;
            }
            read => read?,
        };
        let found = entries.into_iter().rev().filter(|entry| entry.revision < end && entry.is_audit());
        newest_first.extend(found.take(limit - newest_first.len()));
        end = after + 1;
    }
    newest_first.reverse();
    Ok(newest_first)
}
