//! What every reader of an account sees: the newest world, the changes that led to it, and how the journal stands.

use std::sync::Arc;

use imbl::Vector;
use jiff::Timestamp;
use tokio::sync::watch;

use super::picture::{Freshness, SeatView};
use crate::domain::change::Entry;
use crate::domain::ids::Revision;
use crate::domain::world::World;

/// Entries kept at hand for change streams; older ones are read from the journal.
pub const ENTRIES_AT_HAND: usize = 10_000;

/// One account as of its last turn. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Published {
    /// Facts.
    pub world: Arc<World>,
    /// The last changes without a gap, oldest first, the newest being the world's revision; at most
    /// `ENTRIES_AT_HAND`.
    pub tail: Vector<Arc<Entry>>,
    /// When this process last decided a tick; none = it did not yet.
    pub last_tick: Option<Timestamp>,
    /// `Connecting` until the journal was loaded, `Lost` while it cannot be read or written; never `Refused`.
    pub journal: Freshness,
}

impl Default for Published {
    fn default() -> Self {
        let world = Arc::new(World::default());
        Self { world, tail: Vector::new(), last_tick: None, journal: Freshness::Connecting }
    }
}

impl Published {
    /// False until the journal was loaded for the first time.
    pub fn is_loaded(&self) -> bool {
        self.journal != Freshness::Connecting
    }

    /// Who holds the seat, as the journal says, and when it ticked.
    pub fn seat(&self) -> SeatView {
        let seat = &self.world.seat;
        SeatView { holder: seat.holder.clone(), epoch: seat.epoch, last_tick: self.last_tick }
    }

    /// Everything after `revision`, oldest first; none where that reaches back further than what is at hand, so that
    /// the journal has to be read.
    pub fn entries_after(&self, revision: Revision) -> Option<Vec<Entry>> {
        if revision >= self.world.revision {
            return Some(Vec::new());
        }
        let first = self.tail.front()?.revision;
        let skipped = usize::try_from((revision + 1).checked_sub(first)?).ok()?;
        Some(self.tail.iter().skip(skipped).map(|entry| entry.as_ref().clone()).collect())
    }

    /// The same after `entries` were folded into `world`.
    fn extend(&mut self, world: Arc<World>, entries: impl IntoIterator<Item = Entry>) {
        self.world = world;
        self.tail.extend(entries.into_iter().map(Arc::new));
        let surplus = self.tail.len().saturating_sub(ENTRIES_AT_HAND);
        if surplus > 0 {
            self.tail = self.tail.split_off(surplus);
        }
    }
}

/// The writing end: held by the loop, and by nobody else.
#[derive(Debug)]
pub(super) struct Publisher {
    published: watch::Sender<Published>,
}

impl Publisher {
    pub(super) fn new() -> Self {
        Self { published: watch::Sender::new(Published::default()) }
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<Published> {
        self.published.subscribe()
    }

    /// What was published last.
    pub(super) fn world(&self) -> Arc<World> {
        Arc::clone(&self.published.borrow().world)
    }

    /// A copy of everything that was published last.
    pub(super) fn current(&self) -> Published {
        self.published.borrow().clone()
    }

    /// Publishes a world that was loaded, with the entries that led to it.
    pub(super) fn load(&self, world: World, tail: Vec<Entry>, now: Timestamp) {
        self.published.send_modify(|p| {
            p.tail = Vector::new();
            p.extend(Arc::new(world), tail);
            p.journal = Freshness::Live(now);
        });
    }

    /// Publishes a world that `entries` led to. Nothing is sent where there is nothing to say, and without entries nothing
    /// is said of a journal that is lost: nobody has asked it.
    pub(super) fn advance(&self, world: World, entries: Vec<Entry>, ticked: bool, now: Timestamp) {
        self.published.send_if_modified(|p| {
            let lost = matches!(p.journal, Freshness::Lost { .. });
            let (any, news) = (!entries.is_empty(), ticked || !entries.is_empty());
            if ticked {
                p.last_tick = Some(now);
            }
            if any {
                p.extend(Arc::new(world), entries);
            }
            if any || (news && !lost) {
                p.journal = Freshness::Live(now);
            }
            news
        });
    }

    /// The journal answers again.
    pub(super) fn found(&self, now: Timestamp) {
        self.published.send_if_modified(|p| {
            let lost = matches!(p.journal, Freshness::Lost { .. });
            if lost {
                p.journal = Freshness::Live(now);
            }
            lost
        });
    }

    /// The journal does not answer; the moment it was lost stays what it was. Before the first load there is no
    /// world to be stale, so nothing is said.
    pub(super) fn lost(&self, why: &str, now: Timestamp, retry_at: Option<Timestamp>) {
        self.published.send_if_modified(|p| {
            let since = match p.journal {
                Freshness::Connecting => return false,
                Freshness::Lost { since, .. } => since,
                _ => now,
            };
            p.journal = Freshness::Lost { since, why: why.to_owned(), retry_at };
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::change::{Cause, Change};
    use crate::domain::fleet::Account;

    fn entry(revision: Revision) -> Entry {
        let change = Change::AccountChanged { account: Account::default() };
        Entry { revision, at: Timestamp::UNIX_EPOCH, by: "op-a".to_owned(), cause: Cause::Tick, change }
    }

    #[test]
    fn a_stream_goes_on_from_what_is_at_hand_or_is_told_to_read() {
        let kept = u64::try_from(ENTRIES_AT_HAND).unwrap();
        let (last, mut published) = (kept + 5, Published::default());
        let mut world = World::default();
        world.revision = last;
        published.extend(Arc::new(world), (1..=last).map(entry));
        assert_eq!(published.tail.len(), ENTRIES_AT_HAND);
        let after = |revision| {
            published.entries_after(revision).map(|entries| entries.iter().map(|e| e.revision).collect::<Vec<_>>())
        };
        assert_eq!(after(last - 2), Some(vec![last - 1, last]));
        assert_eq!(after(last), Some(vec![]));
        assert_eq!(after(last + 7), Some(vec![]), "a reader ahead of this process waits");
        assert_eq!(after(5).map(|all| all.len()), Some(ENTRIES_AT_HAND));
        assert_eq!(after(4), None);
    }

    #[test]
    fn a_turn_that_leaves_nothing_does_not_say_that_a_lost_journal_answers() {
        let (publisher, now) = (Publisher::new(), Timestamp::UNIX_EPOCH);
        let is_live = || matches!(publisher.current().journal, Freshness::Live(_));
        publisher.load(World::default(), Vec::new(), now);
        publisher.lost("no route to host", now, None);
        publisher.advance(World::default(), Vec::new(), true, now);
        publisher.advance(World::default(), Vec::new(), false, now);
        assert!(!is_live() && publisher.current().last_tick == Some(now), "nobody has asked the journal");
        publisher.advance(World::default(), vec![entry(1)], false, now);
        assert!(is_live(), "it has taken an entry");
        publisher.lost("no route to host", now, None);
        publisher.found(now);
        assert!(is_live());
    }
}
