//! Compaction: what a round archives, and which pieces nothing needs any more.

use std::collections::BTreeSet;

use jiff::SignedDuration;

use super::super::compaction::Round;
use super::super::kept::base_at;
use super::super::tended::{archived_meanwhile, begun_already};
use super::append::{lines, portions};
use super::book::{Book, Span};
use super::journal::{KubernetesJournal, TRIES_MAX, crowded};
use super::names::{Part, piece, selector};
use crate::adapters::kube::drawer::Shelf;
use crate::control::ports::{Clock, Head, JournalError};
use crate::domain::change::Entry;
use crate::domain::ids::{AccountId, Revision};
use crate::domain::world::World;

const ATTEMPT: &str = "compact";

/// An account that another journal's entries are copied to.
const BEGIN: &str = "begin an account";

/// A piece that nothing names may be about to be named: it is left alone for so long.
const UNNAMED_FOR: SignedDuration = SignedDuration::from_mins(10);

impl<C: Clock> KubernetesJournal<C> {
    pub(super) async fn read_base(&self, account: AccountId, head: Head) -> Result<World, JournalError> {
        if head.oldest <= 1 {
            return Ok(World::default());
        }
        let (place, base) = (head.oldest - 1, self.book(account, ATTEMPT).await?.record.base);
        let base = match base {
            None => None,
            Some(kept) => Some(self.world(account, &kept).await?.ok_or_else(|| "a piece of it is missing".to_owned())),
        };
        base_at(place, base)
    }

    /// World and links are in their pieces before the head names them. Appends in between are no reason to begin anew.
    pub(super) async fn archive_round(
        &self,
        account: AccountId,
        oldest: Revision,
        round: &Round,
    ) -> Result<(), JournalError> {
        let base = self.keep_world(account, ATTEMPT, &round.world).await?;
        let links = self.keep_links(account, &round.links).await?;
        for _ in 0..TRIES_MAX {
            let mut book = self.book(account, ATTEMPT).await?;
            if book.record.oldest != oldest {
                return Err(archived_meanwhile(book.head()));
            }
            book.record.base = Some(base.clone());
            book.record.links.extend_from_slice(&links);
            book.forget_before(round.world.revision + 1);
            if self.put(account, ATTEMPT, book).await?.is_some() {
                return Ok(());
            }
        }
        Err(crowded(ATTEMPT))
    }

    pub(super) async fn begin_with(
        &self,
        account: AccountId,
        base: &World,
        links: &[Entry],
    ) -> Result<(), JournalError> {
        let mut book = self.book(account, BEGIN).await?;
        if book.record.revision > 0 {
            return Err(begun_already(book.head()));
        }
        if base.revision == 0 {
            return Ok(());
        }
        let version = book.version.take();
        book = Book { version, ..Book::empty() };
        (book.record.revision, book.record.spilled) = (base.revision, base.revision);
        (book.record.epoch, book.record.oldest) = (base.seat.epoch, base.revision + 1);
        book.record.base = Some(self.keep_world(account, BEGIN, base).await?);
        book.record.links = self.keep_links(account, links).await?;
        match self.put(account, BEGIN, book).await? {
            Some(_) => Ok(()),
            None => Err(begun_already(self.book(account, BEGIN).await?.head())),
        }
    }

    /// As pieces.
    async fn keep_links(&self, account: AccountId, links: &[Entry]) -> Result<Vec<Span>, JournalError> {
        let (mut spans, mut rest) = (Vec::new(), links);
        for lines in portions(&lines(links)?) {
            let (these, others) = rest.split_at(lines.len().min(rest.len()));
            rest = others;
            let (Some(first), Some(last)) = (these.first(), these.last()) else { break };
            let (first, last) = (first.revision, last.revision);
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let piece = self.keep_piece(account, Part::Links, &format!("{first:020}"), text.as_bytes()).await?;
            spans.push(Span { first, last, piece });
        }
        Ok(spans)
    }

    /// Deletes pieces that nothing names: at once where nothing ever will again, and after a while where they may have
    /// been made for a head that is about to be written.
    pub(super) async fn sweep_some(&self, account: AccountId) -> Result<Option<Revision>, JournalError> {
        let failed = self.failed(ATTEMPT);
        let book = self.book(account, ATTEMPT).await?;
        let index = self.index(account).await?;
        let worlds = index.list.iter().chain(&book.record.base).flat_map(|kept| &kept.pieces);
        let worlds = worlds.map(|end| piece(&self.name, account, Part::World, end));
        let spans = |part, spans: &[Span]| -> Vec<String> {
            spans.iter().map(|span| piece(&self.name, account, part, &span.piece)).collect()
        };
        let named: BTreeSet<String> = worlds
            .chain(spans(Part::Entries, &book.record.entries))
            .chain(spans(Part::Links, &book.record.links))
            .collect();
        let now = self.drawer.clock().now();
        let mut gone = None;
        for part in [Part::Entries, Part::Links, Part::World] {
            let labels = selector(&self.name, Some(account), part);
            for kept in self.drawer.list(Shelf::ConfigMap, &labels).await.map_err(&failed)? {
                let is_old = kept.made_at.is_none_or(|made| now.duration_since(made) > UNNAMED_FOR);
                let is_past =
                    part == Part::Entries && revision_of(&kept.name).is_some_and(|first| first < book.record.oldest);
                if !named.contains(&kept.name) && (is_old || is_past) {
                    self.drawer.delete(Shelf::ConfigMap, &kept.name).await.map_err(&failed)?;
                    gone = Some(book.record.oldest - 1);
                }
            }
        }
        Ok(gone)
    }
}

/// The first revision in a piece, by its name.
fn revision_of(name: &str) -> Option<Revision> {
    name.rsplit('.').nth(1)?.parse().ok()
}
