//! Orders on their way, and what is said about the last one.

use jiff::Timestamp;

use super::dialog::Ask;
use super::line::Line;
use super::snapshot::Snapshot;
use crate::domain::change::{Cause, Entry};
use crate::domain::span::Seconds;

/// Orders that may be on their way at once.
pub const ORDERS_MAX: usize = 16;

/// How long a live journal is searched for an order whose answer was lost.
pub const CHECK_FOR: Seconds = Seconds(60);

/// How long good news stays in the status line.
pub const GOOD_NEWS_FOR: Seconds = Seconds(30);

/// An order that was sent and is not settled.
#[derive(Debug, Clone)]
pub struct InFlight {
    /// Its idempotency key.
    pub key: String,
    /// What it does, such as `pausing ring pine-workers`.
    pub doing: String,
    /// What it is done to; one order per target at a time.
    pub target: uuid::Uuid,
    /// Its answer was lost at this moment: the journal will tell.
    pub checking: Option<Timestamp>,
    /// What was asked, to ask again if it moved meanwhile; none where that makes no sense.
    pub asked: Option<Box<Ask>>,
    /// The line it is one of; its answer decides whether the next one leaves.
    pub line: Option<Box<Line>>,
}

/// Whether news are good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Done.
    Good,
    /// Worth reading.
    Note,
    /// Refused, lost, broken.
    Bad,
}

/// The last news.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// How it went.
    pub tone: Tone,
    /// One sentence.
    pub text: String,
    /// When.
    pub at: Timestamp,
}

impl Status {
    /// When it leaves the screen by itself; bad news stay until they are read.
    pub fn leaves_at(&self) -> Option<Timestamp> {
        (self.tone != Tone::Bad).then(|| GOOD_NEWS_FOR.after(self.at))
    }
}

/// The change an order with that key made, if the picture has it.
pub fn trace<'a>(picture: &'a Snapshot, key: &str) -> Option<&'a Entry> {
    let made = |entry: &&Entry| matches!(&entry.cause, Cause::Verb { key: Some(made), .. } if made == key);
    picture.tail.iter().rev().map(AsRef::as_ref).find(made)
}
