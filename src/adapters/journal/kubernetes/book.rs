//! The head of an account as it lies in its object: where it stands, which pieces count, and the newest entries.

use serde::{Deserialize, Serialize};

use crate::adapters::kube::drawer::Kept;
use crate::adapters::kube::piece::{packed, unpacked};
use crate::control::ports::Head;
use crate::domain::change::Entry;
use crate::domain::ids::Revision;

/// Bytes of entries the head carries, before they are compressed; behind that the older ones become a piece.
pub const TAIL_MAX: usize = 128 * 1_024;

/// Bytes of the head. It grows with the number of pieces: compaction makes it small again.
pub const HEAD_MAX: usize = 700 * 1_024;

/// How the object is written. One of a newer program is left alone.
const FORMAT: u32 = 1;

/// No journal is longer than a database can count.
const REVISION_MAX: Revision = i64::MAX.unsigned_abs();

const RECORD: &str = "head";
const TAIL: &str = "tail";

/// Entries or links that became a piece.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Span {
    /// The revision of the first of them.
    pub(super) first: Revision,
    /// And of the last.
    pub(super) last: Revision,
    /// The end of the piece's name.
    pub(super) piece: String,
}

/// A world in pieces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pieces {
    /// Which.
    pub(super) revision: Revision,
    /// The fold that made it.
    pub(super) fold: i64,
    /// The ends of the names of its pieces, in order.
    pub(super) pieces: Vec<String>,
}

/// Where an account stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    format: u32,
    pub(super) revision: Revision,
    pub(super) epoch: u64,
    pub(super) oldest: Revision,
    /// The last entry that is in a piece; everything behind it is in the tail.
    pub(super) spilled: Revision,
    /// Entries in pieces, oldest first.
    pub(super) entries: Vec<Span>,
    /// Archived links of the audit, oldest first.
    pub(super) links: Vec<Span>,
    /// The world before the oldest entry; none where that is the first one.
    pub(super) base: Option<Pieces>,
}

/// An account as it was read, or as it is to be.
#[derive(Debug, Clone, Default)]
pub(super) struct Book {
    /// The version it was read at; none where there is no object yet.
    pub(super) version: Option<String>,
    pub(super) record: Record,
    /// Entries behind `record.spilled`, a line of JSON each.
    pub(super) tail: Vec<String>,
}

impl Book {
    /// Of an account nobody has written to yet.
    pub(super) fn empty() -> Self {
        Self { record: Record { format: FORMAT, oldest: 1, ..Record::default() }, ..Self::default() }
    }

    pub(super) fn head(&self) -> Head {
        let Record { revision, epoch, oldest, .. } = self.record;
        Head { revision, epoch, oldest }
    }

    /// As it was read.
    pub(super) fn of(kept: &Kept) -> Result<Self, String> {
        let part = |key: &str| kept.bytes.get(key).ok_or_else(|| format!("{}: it has no {key}", kept.name));
        let record: Record =
            serde_json::from_slice(part(RECORD)?).map_err(|error| format!("{}: its head: {error}", kept.name))?;
        if record.format > FORMAT {
            return Err(format!("{} was written by a newer version of this program", kept.name));
        }
        let tail = unpacked(part(TAIL)?).map_err(|error| format!("{}: its tail: {error}", kept.name))?;
        let tail = String::from_utf8(tail).map_err(|error| format!("{}: its tail: {error}", kept.name))?;
        let tail: Vec<String> = tail.lines().map(str::to_owned).collect();
        let book = Self { version: kept.version.clone(), record, tail };
        book.check().map_err(|why| format!("{}: {why}", kept.name))?;
        Ok(book)
    }

    /// Whether its numbers fit together: an object can be edited by hand.
    fn check(&self) -> Result<(), String> {
        let Record { revision, oldest, spilled, .. } = self.record;
        if spilled.checked_add(count(&self.tail)) != Some(revision) {
            return Err(format!("its tail has {} entries behind {spilled}", self.tail.len()));
        }
        if revision > REVISION_MAX || oldest.checked_sub(1).is_none_or(|before| before > revision) {
            return Err(format!("it begins at {oldest} and ends at {revision}, which no journal does"));
        }
        Ok(())
    }

    /// What its object holds.
    pub(super) fn bytes(&self) -> Result<[(String, Vec<u8>); 2], String> {
        let record = serde_json::to_vec(&self.record).map_err(|error| error.to_string())?;
        let tail = packed(self.tail.iter().map(|line| format!("{line}\n")).collect::<String>().as_bytes());
        if record.len() + tail.len() > HEAD_MAX {
            let bytes = record.len() + tail.len();
            return Err(format!("its head comes to {bytes} bytes, and {HEAD_MAX} is the most: compact it"));
        }
        Ok([(RECORD.to_owned(), record), (TAIL.to_owned(), tail)])
    }

    /// True where so many more bytes belong in a piece.
    pub(super) fn is_full(&self, more: usize) -> bool {
        let bytes: usize = self.tail.iter().map(|line| line.len() + 1).sum();
        bytes > 0 && bytes + more > TAIL_MAX
    }

    /// Entries of the tail behind a revision.
    pub(super) fn tail_after(&self, after: Revision) -> Result<Vec<Entry>, (Revision, String)> {
        let skipped = usize::try_from(after.saturating_sub(self.record.spilled)).unwrap_or(usize::MAX);
        let places = self.record.spilled + 1..;
        places.zip(&self.tail).skip(skipped).map(|(place, line)| entry(place, line)).collect()
    }

    /// Nothing before `oldest` is an entry any more.
    pub(super) fn forget_before(&mut self, oldest: Revision) {
        self.record.oldest = oldest;
        self.record.entries.retain(|span| span.last >= oldest);
        let gone = oldest.saturating_sub(self.record.spilled + 1);
        self.tail.drain(..usize::try_from(gone).unwrap_or(usize::MAX).min(self.tail.len()));
        self.record.spilled += gone;
    }
}

/// Where an account stands by an object that anybody may have written, and the newest entries.
///
/// # Errors
/// What is wrong with it, in one sentence.
pub fn read_head(kept: &Kept) -> Result<(Head, Vec<Entry>), String> {
    let book = Book::of(kept)?;
    let tail = book.tail_after(0).map_err(|(place, problem)| format!("entry {place}: {problem}"))?;
    Ok((book.head(), tail))
}

pub(super) fn count(lines: &[String]) -> u64 {
    u64::try_from(lines.len()).unwrap_or(u64::MAX)
}

/// A line as an entry, which must stand at `place`.
pub(super) fn entry(place: Revision, line: &str) -> Result<Entry, (Revision, String)> {
    let entry: Entry = serde_json::from_str(line).map_err(|error| (place, error.to_string()))?;
    match entry.revision == place {
        true => Ok(entry),
        false => Err((place, format!("it is missing, entry {} follows instead", entry.revision))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(spilled: Revision, lines: usize) -> Book {
        let mut book = Book::empty();
        book.record.spilled = spilled;
        book.tail = vec!["{}".to_owned(); lines];
        book.record.revision = spilled + count(&book.tail);
        book
    }

    #[test]
    fn what_is_archived_leaves_pieces_and_tail() {
        let span = |first, last| Span { first, last, piece: format!("{first}") };
        let mut compacted = book(20, 10);
        compacted.record.entries = vec![span(1, 10), span(11, 20)];
        let mut some = compacted.clone();
        some.forget_before(15);
        assert_eq!((some.record.entries.len(), some.tail.len(), some.record.spilled), (1, 10, 20));
        compacted.forget_before(25);
        assert_eq!((compacted.record.entries.len(), compacted.tail.len(), compacted.record.spilled), (0, 6, 24));
        assert_eq!(compacted.record.revision, 30);
    }

    /// How heads were written first: they have to load for ever.
    const FIRST: &str = r#"{"format":1,"revision":31,"epoch":2,"oldest":11,"spilled":30,"entries":[{"first":1,"last":30,"piece":"1.ab"}],"links":[{"first":4,"last":8,"piece":"4.cd"}],"base":{"revision":10,"fold":4,"pieces":["10.4.000.ef"]}}"#;

    #[test]
    fn the_first_head_that_was_ever_written_still_loads() {
        let record: Record = serde_json::from_str(FIRST).unwrap();
        assert_eq!((record.revision, record.epoch, record.oldest, record.spilled), (31, 2, 11, 30));
        assert_eq!(serde_json::to_string(&record).unwrap(), FIRST);
    }

    #[test]
    fn a_head_that_cannot_be_trusted_is_refused() {
        let kept =
            |book: &Book| Kept { name: "head".to_owned(), bytes: book.bytes().unwrap().into(), ..Kept::default() };
        assert!(Book::of(&kept(&book(3, 4))).is_ok());
        let mut short = book(3, 4);
        short.record.revision = 9;
        assert!(Book::of(&kept(&short)).unwrap_err().contains("4 entries behind 3"));
        let mut newer = book(3, 4);
        newer.record.format = FORMAT + 1;
        assert!(Book::of(&kept(&newer)).unwrap_err().contains("newer version"));
        assert!(Book::of(&Kept::default()).unwrap_err().contains("no head"));
        let refused = |change: fn(&mut Record)| {
            let mut book = book(3, 0);
            change(&mut book.record);
            Book::of(&kept(&book)).unwrap_err()
        };
        assert!(refused(|record| record.spilled = u64::MAX).contains("0 entries behind"));
        for change in [
            |record: &mut Record| record.oldest = 0,
            |record: &mut Record| record.oldest = 5,
            |record: &mut Record| (record.spilled, record.revision) = (u64::MAX, u64::MAX),
        ] {
            assert!(refused(change).contains("which no journal does"));
        }
    }
}
