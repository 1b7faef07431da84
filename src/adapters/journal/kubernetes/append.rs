//! Append: the head is replaced under the version it was compared at, with the new entries in it.

use super::book::{Book, Span, TAIL_MAX, count};
use super::journal::{KubernetesJournal, TRIES_MAX, crowded};
use super::names::Part;
use crate::control::batch::{advance, check_shape};
use crate::control::ports::{AppendError, Batch, Clock, Head, JournalError};
use crate::domain::change::Entry;
use crate::domain::ids::{AccountId, Revision};

const ATTEMPT: &str = "append";

impl<C: Clock> KubernetesJournal<C> {
    /// One write where this process wrote the last head as well. Whoever is outrun reads the head as it is before it
    /// says so. Entries that give way are in their piece before the head stops carrying them.
    pub(super) async fn append_batch(&self, batch: &Batch) -> Result<Head, AppendError> {
        check_shape(batch)?;
        let lines = lines(&batch.entries)?;
        let mut known = self.take_written(batch.account);
        for _ in 0..TRIES_MAX {
            let (book, is_fresh) = match known.take() {
                Some(book) => (book, false),
                None => (self.book(batch.account, ATTEMPT).await?, true),
            };
            let moved = match advance(book.head(), batch) {
                Ok(moved) => moved,
                Err(refused) if is_fresh => return Err(refused),
                Err(_perhaps) => continue,
            };
            let next = self.grown(batch.account, book, moved, &lines).await?;
            if let Some(book) = self.put(batch.account, ATTEMPT, next).await? {
                self.remember(batch.account, book);
                return Ok(moved);
            }
        }
        Err(crowded(ATTEMPT).into())
    }

    /// The book with these lines behind what is in it.
    async fn grown(
        &self,
        account: AccountId,
        mut book: Book,
        head: Head,
        lines: &[String],
    ) -> Result<Book, JournalError> {
        let more: usize = lines.iter().map(|line| line.len() + 1).sum();
        if more > TAIL_MAX {
            book.tail.extend_from_slice(lines);
            self.spill(account, &mut book).await?;
        } else {
            if book.is_full(more) {
                self.spill(account, &mut book).await?;
            }
            book.tail.extend_from_slice(lines);
        }
        (book.record.revision, book.record.epoch) = (head.revision, head.epoch);
        Ok(book)
    }

    /// The tail becomes pieces.
    async fn spill(&self, account: AccountId, book: &mut Book) -> Result<(), JournalError> {
        let tail = std::mem::take(&mut book.tail);
        for lines in portions(&tail) {
            let first = book.record.spilled + 1;
            let span = self.keep_lines(account, Part::Entries, first, lines).await?;
            book.record.spilled = span.last;
            book.record.entries.push(span);
        }
        Ok(())
    }

    /// Lines of which the first is of revision `first`, and each is of the next, as one piece.
    async fn keep_lines(
        &self,
        account: AccountId,
        part: Part,
        first: Revision,
        lines: &[String],
    ) -> Result<Span, JournalError> {
        let last = first + count(lines).saturating_sub(1);
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let piece = self.keep_piece(account, part, &format!("{first:020}"), text.as_bytes()).await?;
        Ok(Span { first, last, piece })
    }
}

/// Lines that fit a piece together; at least one.
pub(super) fn portions(lines: &[String]) -> Vec<&[String]> {
    let (mut all, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (nth, line) in lines.iter().enumerate() {
        if bytes + line.len() + 1 > TAIL_MAX && nth > start {
            all.push(&lines[start..nth]);
            (start, bytes) = (nth, 0);
        }
        bytes += line.len() + 1;
    }
    if start < lines.len() {
        all.push(&lines[start..]);
    }
    all
}

/// Entries as they are kept: JSON, one a line.
pub(super) fn lines(entries: &[Entry]) -> Result<Vec<String>, JournalError> {
    let line = |entry: &Entry| {
        serde_json::to_string(entry)
            .map_err(|error| JournalError::Corrupt { revision: entry.revision, problem: error.to_string() })
    };
    entries.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_as_large_as_it_may_be_and_a_line_is_never_cut() {
        let lines: Vec<String> =
            [TAIL_MAX / 2, TAIL_MAX / 3, TAIL_MAX / 3, 2 * TAIL_MAX, 1].map(|n| "x".repeat(n)).into();
        let sizes: Vec<usize> = portions(&lines).iter().map(|portion| portion.len()).collect();
        assert_eq!(sizes, [2, 1, 1, 1]);
        assert!(portions(&[]).is_empty());
    }
}
