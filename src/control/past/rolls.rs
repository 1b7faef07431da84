//! Rolls that the World no longer holds. Whoever began one left a link of the audit, and those are read along an index and
//! outlive every compaction: from there on its entries are folded.

use jiff::Timestamp;

use super::super::ports::{Head, Journal, JournalError, Stretch};
use super::reading::{ENTRIES_AT_ONCE, ENTRIES_MAX, ENTRIES_READ, LINKS_MAX, PastError, day};
use crate::domain::change::{Change, Entry};
use crate::domain::ids::{AccountId, Revision, RollId};
use crate::domain::roll::fleet_roll::Roll;
use crate::domain::roll::node::Finding;
use crate::domain::roll::past::{Begun, PastRoll};

/// Rolls on one page.
pub const PAGE_MAX: usize = 20;

/// Links that are in memory at a time.
const LINKS_AT_ONCE: usize = 1_000;

/// A roll as the journal tells it.
#[derive(Debug, Clone)]
pub struct ToldRoll {
    /// The roll.
    pub roll: Roll,
    /// Everything that was found of its nodes, oldest first.
    pub findings: Vec<(String, Finding)>,
    /// What is not told here, and why; none = nothing is left out.
    pub incomplete: Option<String>,
}

/// Some of them, newest first.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// Those.
    pub rolls: Vec<ToldRoll>,
    /// There are older ones.
    pub more: bool,
}

/// A roll by its identity; none where nobody ever began it.
///
/// # Errors
/// Where the journal cannot be read, where its entries went with a compaction, and where it is too far back.
pub async fn one<J: Journal>(journal: &J, account: AccountId, id: RollId) -> Result<Option<ToldRoll>, PastError> {
    let head = journal.head(account).await?;
    let mut starts = Starts::before(journal, account, head.revision.saturating_add(1));
    let Some(start) = starts.find(id).await? else { return Ok(None) };
    let mut read = 0;
    told(journal, account, head, &start, &mut read).await
}

/// Those begun before `after`, or all; without those that `is_known`. An answer has at least one where there is one.
///
/// # Errors
/// As above; none of `after` is none of an older roll either.
pub async fn page<J: Journal>(
    journal: &J,
    account: AccountId,
    after: Option<RollId>,
    limit: usize,
    is_known: impl Fn(RollId) -> bool,
) -> Result<Option<Page>, PastError> {
    let head = journal.head(account).await?;
    let mut starts = Starts::before(journal, account, head.revision.saturating_add(1));
    if let Some(after) = after
        && starts.find(after).await?.is_none()
    {
        return Ok(None);
    }
    let (mut page, mut read) = (Page::default(), 0);
    while let Some(start) = starts.next().await? {
        if is_known(start.begun.id) {
            continue;
        }
        page.more = page.rolls.len() >= limit.min(PAGE_MAX) || read >= ENTRIES_READ;
        if page.more {
            break;
        }
        match told(journal, account, head, &start, &mut read).await {
            Err(PastError::Archived { .. }) if !page.rolls.is_empty() => {
                page.more = true;
                break;
            }
            told => page.rolls.extend(told?),
        }
    }
    Ok(Some(page))
}

/// Where a roll began.
#[derive(Debug, Clone)]
struct Start {
    begun: Begun,
    at: Timestamp,
    /// The first of the changes that its verb made.
    first: Revision,
}

/// Walks along the audit, backwards, from one start of a roll to the one before.
struct Starts<'a, J> {
    journal: &'a J,
    account: AccountId,
    before: Revision,
    /// Oldest first; taken from the end.
    links: Vec<Entry>,
    looked_at: usize,
}

impl<'a, J: Journal> Starts<'a, J> {
    fn before(journal: &'a J, account: AccountId, before: Revision) -> Self {
        Self { journal, account, before, links: Vec::new(), looked_at: 0 }
    }

    async fn find(&mut self, id: RollId) -> Result<Option<Start>, PastError> {
        while let Some(start) = self.next().await? {
            if start.begun.id == id {
                return Ok(Some(start));
            }
        }
        Ok(None)
    }

    async fn next(&mut self) -> Result<Option<Start>, PastError> {
        loop {
            let Some(entry) = self.links.pop() else {
                if !self.turn_back().await? {
                    return Ok(None);
                }
                continue;
            };
            let Change::Audited { link } = &entry.change else { continue };
            if let Some(begun) = Begun::of(link) {
                let first = entry.revision.saturating_sub(link.changes);
                return Ok(Some(Start { begun, at: entry.at, first }));
            }
        }
    }

    /// The links in front of those that were looked at; false where there are none.
    async fn turn_back(&mut self) -> Result<bool, PastError> {
        if self.looked_at >= LINKS_MAX {
            let what = "the beginning of that roll is".to_owned();
            return Err(PastError::TooFar { what, limit: LINKS_MAX, unit: "links of the audit" });
        }
        self.links = self.journal.links(self.account, Stretch::Before(self.before), LINKS_AT_ONCE).await?;
        self.looked_at += self.links.len();
        self.before = self.links.first().map_or(self.before, |link| link.revision);
        Ok(!self.links.is_empty())
    }
}

/// Folds its entries until nothing more can be said of it. `read` counts them.
async fn told<J: Journal>(
    journal: &J,
    account: AccountId,
    head: Head,
    start: &Start,
    read: &mut usize,
) -> Result<Option<ToldRoll>, PastError> {
    let (mut past, mut after, from) = (PastRoll::of(start.begun.id), start.first.saturating_sub(1), *read);
    let mut stopped = None;
    'reading: while after < head.revision {
        let entries = match journal.read(account, after, ENTRIES_AT_ONCE).await {
            Err(JournalError::Compacted { oldest }) => return Err(archived(start, oldest)),
            entries => entries?,
        };
        let Some(last) = entries.last().map(|entry| entry.revision) else { break };
        *read += entries.len();
        for entry in &entries {
            if past.is_told(entry.at) {
                break 'reading;
            }
            past.take(entry);
        }
        after = last;
        if *read - from >= ENTRIES_MAX {
            stopped = Some(format!(
                "it lies across more than {ENTRIES_MAX} entries, and what came after revision {after} is not told here: \
                 kura-console journal export --after {after}"
            ));
            break;
        }
    }
    let Some(roll) = past.roll().cloned() else { return Ok(None) };
    let (findings, left_out) = past.findings();
    let surplus = (left_out > 0).then(|| format!("{left_out} probes before the first one here are not told"));
    Ok(Some(ToldRoll { roll, findings, incomplete: stopped.or(surplus) }))
}

fn archived(start: &Start, oldest: Revision) -> PastError {
    let Begun { name, revision, .. } = &start.begun;
    let what = format!("the roll of {name}, revision {revision}, begun on {}, is", day(start.at));
    PastError::Archived { what, oldest }
}
