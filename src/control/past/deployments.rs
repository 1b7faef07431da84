//! Deployments of a server that the World no longer holds: its entries, read backwards, a stretch for each answer.

use std::collections::{BTreeMap, BTreeSet};

use super::super::ports::{Journal, JournalError};
use super::reading::{ENTRIES_AT_ONCE, ENTRIES_MAX, ENTRIES_READ, PastError};
use crate::domain::ids::{AccountId, DeploymentId, Revision};
use crate::domain::kura::deployment::Deployment;
use crate::domain::kura::past::PastDeployments;
use crate::domain::kura::server::Server;

/// Where one page ends, and the next one goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// The last row that was told; none = none that the World does not hold.
    pub after: Option<DeploymentId>,
    /// Rows that were opened in front of this revision come next.
    pub before: Revision,
}

/// Some of them, newest first.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// Those; there may be none, and more all the same.
    pub rows: Vec<Deployment>,
    /// Where it goes on; none = all of them were told.
    pub next: Option<Mark>,
}

/// Attempts that the World does not hold, with their numbers.
fn forgotten(server: &Server) -> BTreeMap<DeploymentId, u64> {
    let kept: BTreeSet<DeploymentId> = server.deployments.iter().map(|row| row.id).collect();
    let ever = (1..=server.attempts).map(|number| (server.attempt(number), number));
    ever.filter(|(id, _)| !kept.contains(id)).collect()
}

/// The number of an attempt there ever was.
pub fn number_of(server: &Server, id: DeploymentId) -> Option<u64> {
    (1..=server.attempts).rev().find(|number| server.attempt(*number) == id)
}

/// Those behind `mark`.
///
/// # Errors
/// Where the journal cannot be read, where the rest went with a compaction, and where one row lies across too much.
pub async fn page<J: Journal>(
    journal: &J,
    account: AccountId,
    server: &Server,
    mark: Mark,
    limit: usize,
) -> Result<Page, PastError> {
    let head = journal.head(account).await?;
    let mut left = forgotten(server);
    if let Some(number) = mark.after.and_then(|after| number_of(server, after)) {
        left.retain(|_, known| *known < number);
    }
    let (mut end, mut floor) = (mark.before.min(head.revision.saturating_add(1)), head.oldest.saturating_sub(1));
    if end <= floor + 1 && floor > 0 && !left.is_empty() {
        return Err(archived(server, left.len(), head.oldest));
    }
    let (mut past, mut page, mut read) = (PastDeployments::of(server.id), Page::default(), 0);
    let mut after = mark.after;
    while end > floor + 1 && !left.is_empty() {
        let from = end.saturating_sub(1 + ENTRIES_AT_ONCE as Revision).max(floor);
        let entries = match journal.read(account, from, ENTRIES_AT_ONCE).await {
            Err(JournalError::Compacted { oldest }) if oldest > floor + 1 => {
                floor = oldest - 1;
                continue;
            }
            entries => entries?,
        };
        read += entries.len();
        for entry in entries.into_iter().rev().filter(|entry| entry.revision < end) {
            let revision = entry.revision;
            let Some(row) = past.take(entry) else { continue };
            // One that was told before, or that the World holds, is none of those.
            if left.remove(&row.id).is_some() {
                after = Some(row.id);
                page.rows.push(row);
            }
            if page.rows.len() >= limit || left.is_empty() {
                page.next = (!left.is_empty()).then_some(Mark { after, before: revision });
                return Ok(page);
            }
        }
        end = from + 1;
        if read >= ENTRIES_READ && !past.is_torn() {
            page.next = Some(Mark { after, before: end });
            return Ok(page);
        }
        if read >= ENTRIES_MAX {
            let what = format!("a deployment of {} began", server.name());
            return Err(PastError::TooFar { what, limit: ENTRIES_MAX, unit: "entries" });
        }
    }
    // What is left went with a compaction: whoever goes on is told so.
    page.next = (floor > 0 && !left.is_empty()).then_some(Mark { after, before: floor + 1 });
    Ok(page)
}

fn archived(server: &Server, count: usize, oldest: Revision) -> PastError {
    let what = match count {
        1 => format!("1 deployment of {} is", server.name()),
        count => format!("{count} deployments of {} are", server.name()),
    };
    PastError::Archived { what, oldest }
}
