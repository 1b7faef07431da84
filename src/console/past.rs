//! The past: what people did before the changes a picture brings along, read from the audit page by page as somebody
//! looks further back.

use std::sync::Arc;

use imbl::Vector;
use jiff::Timestamp;

use crate::domain::change::Entry;
use crate::domain::ids::Revision;
use crate::domain::span::Seconds;

/// Older deeds that are kept; whoever looks further back than that reads `kura-console audit show`.
pub const PAST_KEPT: usize = 5_000;

/// How long an answer to the question for older ones is waited for, and when it is asked again after one that failed.
pub const PAST_WAIT: Seconds = Seconds(30);

/// Links of the audit in front of the tail of a picture, without a gap in between.
#[derive(Debug, Clone, Default)]
pub struct Past {
    links: Vector<Arc<Entry>>,
    whole: bool,
    /// When, and in front of which revision, older ones were asked for; none once the answer is there.
    asked: Option<(Timestamp, Revision)>,
    failed_at: Option<Timestamp>,
}

impl Past {
    /// Oldest first.
    pub fn links(&self) -> impl Iterator<Item = &Entry> {
        self.links.iter().map(AsRef::as_ref)
    }

    /// The link at a revision.
    pub fn link(&self, revision: Revision) -> Option<&Entry> {
        let place = self.links.binary_search_by_key(&revision, |link| link.revision).ok()?;
        self.links.get(place).map(AsRef::as_ref)
    }

    /// The same in front of a newer tail: what fell out of the older one is past. Nothing where the two do not meet.
    #[must_use]
    pub fn slid(mut self, older: &Vector<Arc<Entry>>, newer: &Vector<Arc<Entry>>) -> Self {
        if older.ptr_eq(newer) {
            return self;
        }
        let (Some(first), Some(last), Some(front)) = (older.front(), older.back(), newer.front()) else {
            return Self::default();
        };
        if front.revision < first.revision || front.revision > last.revision.saturating_add(1) {
            return Self::default();
        }
        let fallen = older.iter().take_while(|entry| entry.revision < front.revision);
        self.links.extend(fallen.filter(|entry| entry.is_audit()).cloned());
        while self.links.len() > PAST_KEPT {
            self.links.pop_front();
            self.whole = false;
        }
        self
    }

    /// In front of which revision older ones are to be asked for; none where there are none, there is no more room, or
    /// they were asked for already.
    pub fn wanted(&mut self, tail: &Vector<Arc<Entry>>, now: Timestamp) -> Option<Revision> {
        let waits = |since: Timestamp| PAST_WAIT.after(since) > now;
        let is_full = self.links.len() >= PAST_KEPT;
        if self.whole || is_full || self.asked.is_some_and(|(at, _)| waits(at)) || self.failed_at.is_some_and(waits) {
            return None;
        }
        let first = self.links.front().or(tail.front()).map(|entry| entry.revision)?;
        if first <= 1 {
            self.whole = true;
            return None;
        }
        self.asked = Some((now, first));
        Some(first)
    }

    /// The answer to the question for those in front of `before`: none left means that all are there. False where
    /// nobody waits for it any more.
    pub fn answered(&mut self, before: Revision, links: Vec<Entry>) -> bool {
        if !self.waited_for(before) {
            return false;
        }
        self.failed_at = None;
        self.whole = links.is_empty();
        let room = PAST_KEPT.saturating_sub(self.links.len());
        let older = links.into_iter().rev().filter(|link| link.revision < before && link.is_audit()).take(room);
        older.for_each(|link| self.links.push_front(Arc::new(link)));
        true
    }

    /// There is no answer; it is asked again after a while. False where nobody waits for it any more.
    pub fn failed(&mut self, before: Revision, now: Timestamp) -> bool {
        let waited_for = self.waited_for(before);
        if waited_for {
            self.failed_at = Some(now);
        }
        waited_for
    }

    fn waited_for(&mut self, before: Revision) -> bool {
        self.asked.take_if(|(_, asked)| *asked == before).is_some()
    }
}
