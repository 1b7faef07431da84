//! Reading: pieces, and the world they come to with what the head carries.

use std::collections::VecDeque;
use std::sync::Arc;

use super::super::kept::FOLD_VERSION;
use super::super::row::{READ_MAX, corrupt};
use super::book::{Book, Pieces, Span, entry};
use super::journal::{KubernetesJournal, TRIES_MAX, damaged};
use super::names::{Part, labels, piece};
use crate::adapters::kube::drawer::{Kept, Shelf};
use crate::adapters::kube::fault::ClusterFault;
use crate::adapters::kube::piece::{PIECE_MAX, packed, seal, unpacked};
use crate::control::ports::{Clock, JournalError};
use crate::domain::change::Entry;
use crate::domain::ids::{AccountId, Revision};
use crate::domain::world::World;

/// Pieces of entries that are remembered: they never change.
const PIECES_REMEMBERED: usize = 32;

const PIECE: &str = "piece";

/// Pieces that were read lately.
#[derive(Debug, Default)]
pub(super) struct Shelves(VecDeque<(String, Arc<Vec<Entry>>)>);

impl Shelves {
    fn find(&self, name: &str) -> Option<Arc<Vec<Entry>>> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, entries)| Arc::clone(entries))
    }

    fn keep(&mut self, name: String, entries: Arc<Vec<Entry>>) {
        if self.0.len() == PIECES_REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back((name, entries));
    }
}

impl<C: Clock> KubernetesJournal<C> {
    /// A piece whose archived entries were deleted between the head and it: the head says so when it is read again.
    pub(super) async fn read_entries(
        &self,
        account: AccountId,
        after: Revision,
        limit: usize,
    ) -> Result<Vec<Entry>, JournalError> {
        for _ in 0..TRIES_MAX {
            let book = self.book(account, "read entries").await?;
            let oldest = book.record.oldest;
            if after.saturating_add(1) < oldest {
                return Err(JournalError::Compacted { oldest });
            }
            if let Some(entries) = self.entries_of(account, &book, after, limit.min(READ_MAX)).await? {
                return Ok(entries);
            }
        }
        Err(corrupt(after.saturating_add(1), "the piece it is in is missing"))
    }

    pub(super) async fn load_world(&self, account: AccountId) -> Result<World, JournalError> {
        for _ in 0..TRIES_MAX {
            let book = self.book(account, "load").await?;
            let Some(mut world) = self.start(account, &book).await? else { continue };
            let Some(entries) = self.entries_of(account, &book, world.revision, usize::MAX).await? else { continue };
            entries.iter().for_each(|entry| world.apply(entry));
            if world.revision != book.record.revision {
                let problem = format!("it is missing, the head stands at {}", book.record.revision);
                return Err(corrupt(world.revision + 1, problem));
            }
            return Ok(world);
        }
        Err(damaged("load", "a piece that the head names is missing".to_owned()))
    }

    /// Where folding begins: a snapshot, the base of a journal that was compacted, or nothing. None where the base is
    /// not there any more.
    async fn start(&self, account: AccountId, book: &Book) -> Result<Option<World>, JournalError> {
        let head = book.head();
        for kept in self.index(account).await?.list.iter().rev() {
            let counts = kept.fold == FOLD_VERSION
                && kept.revision <= head.revision
                && kept.revision >= head.oldest.saturating_sub(1);
            if !counts {
                continue;
            }
            match self.world(account, kept).await {
                Ok(Some(world)) => return Ok(Some(world)),
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(%account, revision = kept.revision, %error, "a snapshot cannot be read, folding further");
                }
            }
        }
        match &book.record.base {
            Some(base) => self.world(account, base).await,
            None => Ok(Some(World::default())),
        }
    }

    /// Entries behind a revision; none where a piece of them is not there any more.
    pub(super) async fn entries_of(
        &self,
        account: AccountId,
        book: &Book,
        after: Revision,
        limit: usize,
    ) -> Result<Option<Vec<Entry>>, JournalError> {
        let mut found = Vec::new();
        for span in book.record.entries.iter().filter(|span| span.last > after) {
            if found.len() >= limit {
                break;
            }
            let Some(entries) = self.span(account, Part::Entries, span).await? else { return Ok(None) };
            let wanted = entries.iter().filter(|entry| entry.revision > after && entry.revision >= book.record.oldest);
            found.extend(wanted.take(limit - found.len()).cloned());
        }
        if found.len() < limit {
            let tail = book.tail_after(after).map_err(|(place, problem)| corrupt(place, problem))?;
            found.extend(tail.into_iter().take(limit - found.len()));
        }
        let first = after.max(book.record.oldest - 1).saturating_add(1);
        match found.iter().zip(first..).find(|(entry, place)| entry.revision != *place) {
            Some((_, place)) => Err(corrupt(place, "it is missing")),
            None => Ok(Some(found)),
        }
    }

    /// What is in a piece of entries or of links; none where it is not there.
    pub(super) async fn span(
        &self,
        account: AccountId,
        part: Part,
        span: &Span,
    ) -> Result<Option<Arc<Vec<Entry>>>, JournalError> {
        let name = piece(&self.name, account, part, &span.piece);
        let known = self.shelves().find(&name);
        if known.is_some() {
            return Ok(known);
        }
        let Some(bytes) = self.piece(&name).await? else { return Ok(None) };
        let text = unpacked(&bytes).and_then(|bytes| String::from_utf8(bytes).map_err(|error| error.to_string()));
        let text = text.map_err(|problem| corrupt(span.first, format!("{name}: {problem}")))?;
        let entries: Result<Vec<Entry>, JournalError> = match part {
            Part::Entries => (span.first..)
                .zip(text.lines())
                .map(|(place, line)| entry(place, line).map_err(|(place, problem)| corrupt(place, problem)))
                .collect(),
            _ => text
                .lines()
                .map(|line| serde_json::from_str(line).map_err(|error| corrupt(span.first, format!("{name}: {error}"))))
                .collect(),
        };
        let entries = Arc::new(entries?);
        if entries.last().is_none_or(|entry| entry.revision != span.last) {
            return Err(corrupt(span.last, format!("{name} does not end with it")));
        }
        self.shelves().keep(name, Arc::clone(&entries));
        Ok(Some(entries))
    }

    /// A world in pieces; none where one of them is not there.
    pub(super) async fn world(&self, account: AccountId, kept: &Pieces) -> Result<Option<World>, JournalError> {
        let mut whole = Vec::new();
        for end in &kept.pieces {
            let name = piece(&self.name, account, Part::World, end);
            let Some(bytes) = self.piece(&name).await? else { return Ok(None) };
            whole.extend(bytes);
        }
        let revision = kept.revision;
        let read = tokio::task::spawn_blocking(move || {
            let body = unpacked(&whole)?;
            serde_json::from_slice::<World>(&body).map_err(|error| error.to_string())
        });
        match read.await.unwrap_or_else(|stopped| Err(stopped.to_string())) {
            Ok(world) if world.revision == revision => Ok(Some(world)),
            Ok(world) => Err(corrupt(revision, format!("the world up to it is of {}", world.revision))),
            Err(problem) => Err(corrupt(revision, format!("the world up to it: {problem}"))),
        }
    }

    /// Keeps a world as pieces: the ends of their names.
    pub(super) async fn keep_world(
        &self,
        account: AccountId,
        attempt: &'static str,
        world: &World,
    ) -> Result<Pieces, JournalError> {
        let world = world.clone();
        let revision = world.revision;
        let whole = tokio::task::spawn_blocking(move || serde_json::to_vec(&world).map(|body| packed(&body))).await;
        let whole = whole
            .map_err(|stopped| damaged(attempt, stopped.to_string()))?
            .map_err(|unwritable| damaged(attempt, unwritable.to_string()))?;
        let mut pieces = Vec::new();
        for (nth, bytes) in whole.chunks(PIECE_MAX).enumerate() {
            let start = format!("{revision:020}.{FOLD_VERSION}.{nth:03}");
            pieces.push(self.keep_bytes(account, Part::World, &start, bytes.to_vec()).await?);
        }
        Ok(Pieces { revision, fold: FOLD_VERSION, pieces })
    }

    /// Compresses and keeps: the end of the name.
    pub(super) async fn keep_piece(
        &self,
        account: AccountId,
        part: Part,
        start: &str,
        bytes: &[u8],
    ) -> Result<String, JournalError> {
        self.keep_bytes(account, part, start, packed(bytes)).await
    }

    /// A name tells what is in its piece, so one that is there already is the same.
    async fn keep_bytes(
        &self,
        account: AccountId,
        part: Part,
        start: &str,
        bytes: Vec<u8>,
    ) -> Result<String, JournalError> {
        let end = format!("{start}.{}", seal(&bytes));
        let kept = Kept {
            name: piece(&self.name, account, part, &end),
            labels: labels(&self.name, account, part),
            bytes: [(PIECE.to_owned(), bytes)].into(),
            is_final: true,
            ..Kept::default()
        };
        match self.drawer.create(Shelf::ConfigMap, &kept).await {
            Ok(_) | Err(ClusterFault::Exists { .. }) => Ok(end),
            Err(fault) => Err(self.failed("keep a piece")(fault)),
        }
    }

    /// What a piece holds, as it was written; none where it is not there.
    async fn piece(&self, name: &str) -> Result<Option<Vec<u8>>, JournalError> {
        let kept = self.drawer.get(Shelf::ConfigMap, name).await.map_err(self.failed("read a piece"))?;
        let Some(mut kept) = kept else { return Ok(None) };
        let bytes = kept.bytes.remove(PIECE).unwrap_or_default();
        match name.ends_with(&seal(&bytes)) {
            true => Ok(Some(bytes)),
            false => {
                Err(damaged("read a piece", format!("{name} is damaged: it holds something else than its name says")))
            }
        }
    }
}
