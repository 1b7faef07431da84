//! Links of the audit: archived ones and those among the entries, as one chain.

use super::super::row::{READ_MAX, corrupt};
use super::book::{Book, Span};
use super::journal::{KubernetesJournal, TRIES_MAX};
use super::names::Part;
use crate::control::ports::{Clock, JournalError, Stretch};
use crate::domain::change::Entry;
use crate::domain::ids::{AccountId, Revision};

impl<C: Clock> KubernetesJournal<C> {
    pub(super) async fn read_links(
        &self,
        account: AccountId,
        stretch: Stretch,
        limit: usize,
    ) -> Result<Vec<Entry>, JournalError> {
        for _ in 0..TRIES_MAX {
            let book = self.book(account, "read links of the audit").await?;
            let found = match stretch {
                Stretch::After(after) => self.links_after(account, &book, after, limit.min(READ_MAX)).await?,
                Stretch::Before(before) => self.links_before(account, &book, before, limit.min(READ_MAX)).await?,
            };
            if let Some(found) = found {
                return Ok(found);
            }
        }
        Err(corrupt(0, "a piece with links of the audit is missing"))
    }

    async fn links_after(
        &self,
        account: AccountId,
        book: &Book,
        after: Revision,
        limit: usize,
    ) -> Result<Option<Vec<Entry>>, JournalError> {
        let mut found = Vec::new();
        for (part, span) in spans(book).filter(|(_, span)| span.last > after) {
            if found.len() >= limit {
                break;
            }
            let Some(entries) = self.span(account, part, span).await? else { return Ok(None) };
            found.extend(entries.iter().filter(|link| link.revision > after && counts(book, part, link)).cloned());
        }
        if found.len() < limit {
            found.extend(tail(book)?.into_iter().filter(|link| link.revision > after));
        }
        found.truncate(limit);
        Ok(Some(found))
    }

    async fn links_before(
        &self,
        account: AccountId,
        book: &Book,
        before: Revision,
        limit: usize,
    ) -> Result<Option<Vec<Entry>>, JournalError> {
        let mut newest_first: Vec<Entry> =
            tail(book)?.into_iter().rev().filter(|link| link.revision < before).collect();
        let all: Vec<(Part, &Span)> = spans(book).filter(|(_, span)| span.first < before).collect();
        for (part, span) in all.into_iter().rev() {
            if newest_first.len() >= limit {
                break;
            }
            let Some(entries) = self.span(account, part, span).await? else { return Ok(None) };
            let links = entries.iter().rev().filter(|link| link.revision < before && counts(book, part, link));
            newest_first.extend(links.cloned());
        }
        newest_first.truncate(limit);
        newest_first.reverse();
        Ok(Some(newest_first))
    }

    /// Those among the archived entries alone.
    pub(super) async fn read_archived_links(
        &self,
        account: AccountId,
        after: Revision,
        limit: usize,
    ) -> Result<Vec<Entry>, JournalError> {
        let book = self.book(account, "read links of the audit").await?;
        let mut found = Vec::new();
        for span in book.record.links.iter().filter(|span| span.last > after) {
            if found.len() >= limit {
                break;
            }
            let links = self.span(account, Part::Links, span).await?;
            let links = links.ok_or_else(|| corrupt(span.first, "the piece with its link of the audit is missing"))?;
            found.extend(links.iter().filter(|link| link.revision > after).cloned());
        }
        found.truncate(limit);
        Ok(found)
    }
}

/// Pieces that links are in, oldest first.
fn spans(book: &Book) -> impl Iterator<Item = (Part, &Span)> {
    let archived = book.record.links.iter().map(|span| (Part::Links, span));
    archived.chain(book.record.entries.iter().map(|span| (Part::Entries, span)))
}

/// An archived entry that is still in its piece is not one any more.
fn counts(book: &Book, part: Part, link: &Entry) -> bool {
    part == Part::Links || (link.is_audit() && link.revision >= book.record.oldest)
}

fn tail(book: &Book) -> Result<Vec<Entry>, JournalError> {
    let entries = book.tail_after(book.record.spilled).map_err(|(place, problem)| corrupt(place, problem))?;
    Ok(entries.into_iter().filter(Entry::is_audit).collect())
}
