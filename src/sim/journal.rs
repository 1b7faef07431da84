//! The journal of a simulated world: in memory, shared by all its processes, with faults on demand.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use futures_util::future::{Either, select};
use jiff::Timestamp;
use sha2::Digest as _;

use super::book::{Book, Parcel};
use super::clock::VirtualClock;
use super::line::Line;
use super::shared::Shared;
use super::toll::{Mishap, Toll};
use super::trail::{Call, Point};
use crate::control::batch::check_snapshot;
use crate::control::ports::{AppendError, Batch, Beat, Clock, Head, Heartbeats, Journal, JournalError};
use crate::domain::change::Entry;
use crate::domain::ids::{AccountId, Epoch, Revision};
use crate::domain::span::Seconds;
use crate::domain::world::World;

pub use super::book::{Defect, ENTRIES_KEPT, JournalFault};

/// Longest wait of `follow`.
pub const FOLLOW_WAIT: Duration = Duration::from_secs(30);

/// What a process hears whose write is still under way when it gives up waiting.
#[derive(Debug, thiserror::Error)]
#[error("the simulated store did not answer in time")]
struct TimedOut;

/// What the store says while it has no room.
#[derive(Debug, thiserror::Error)]
#[error("no space left on the simulated device")]
struct DiskFull;

/// One store for all accounts. Clones are the same store.
#[derive(Debug, Clone)]
pub struct SimJournal {
    books: Shared<BTreeMap<AccountId, Book>>,
    clock: VirtualClock,
    line: Line,
    /// It is at the other end of a network, where writes may be under way for longer than anybody waits.
    is_far: Shared<bool>,
    toll: Shared<Toll>,
}

impl SimJournal {
    /// An empty store; `clock` bounds how long a follower waits.
    pub fn new(clock: VirtualClock) -> Self {
        let (is_far, toll) = (Shared::default(), Shared::default());
        Self { books: Shared::default(), clock, line: Line::default(), is_far, toll }
    }

    /// From now on it is at the other end of a network.
    pub fn move_away(&self) {
        self.is_far.with(|far| *far = true);
    }

    /// What went wrong so far, here and in everything that shares this world.
    pub fn toll(&self) -> Shared<Toll> {
        self.toll.clone()
    }

    /// The same store at the end of a line of one's own.
    #[must_use]
    pub fn over(&self, line: Line) -> Self {
        Self { line, ..self.clone() }
    }

    /// Writes entries that lie in the past, before anybody looks.
    pub fn write_past(&self, account: AccountId, entries: Vec<Entry>) -> Result<(), JournalError> {
        self.with(account, |book| {
            entries.into_iter().try_for_each(|entry| {
                let at = entry.at;
                book.keep(entry, at)
            })
        })
    }

    /// The entries after `after`, oldest first.
    pub fn entries_after(&self, account: AccountId, after: Revision) -> Vec<Entry> {
        self.with(account, |book| match book.head.revision > after {
            true => book.read(after, usize::MAX).unwrap_or_default(),
            false => Vec::new(),
        })
    }

    /// The same with the moment each was appended at, by virtual time.
    pub fn appended_after(&self, account: AccountId, after: Revision) -> Vec<(Timestamp, Entry)> {
        let entries = self.entries_after(account, after);
        self.with(account, |book| {
            let skipped = book.moments.len().saturating_sub(entries.len());
            book.moments.iter().skip(skipped).copied().zip(entries).collect()
        })
    }

    /// Nothing can be kept until then, for want of room.
    pub fn fill(&self, account: AccountId, until: Timestamp) {
        self.with(account, |book| book.full_until = book.full_until.max(Some(until)));
    }

    /// It has room, and no append goes wrong any more that was to.
    pub fn mend(&self, account: AccountId) {
        self.with(account, |book| {
            book.full_until = None;
            book.faults.clear();
        });
    }

    /// Something is wrong with the store itself: it has no room, or its next append goes wrong, or some write is still
    /// under way.
    pub fn is_troubled(&self, account: AccountId) -> bool {
        let now = self.clock.instant();
        self.with(account, |book| book.is_full(now) || !book.faults.is_empty() || !book.under_way.is_empty())
    }

    /// In which epoch a process took the seat last, and in which one the seat is.
    pub fn epochs_of(&self, process: &str) -> Option<(Epoch, Epoch)> {
        self.books.with(|books| books.values().find_map(|book| Some((*book.seats.get(process)?, book.head.epoch))))
    }

    /// A call on its way to the store.
    async fn reach(&self, call: Call, attempt: &'static str) -> Result<(), JournalError> {
        self.line.reach(&self.clock, call).await.map_err(|parted| {
            self.count(Mishap::CutCall);
            JournalError::Store { attempt, source: Box::new(parted) }
        })
    }

    /// Its answer on the way back.
    async fn answer<T>(
        &self,
        call: Call,
        attempt: &'static str,
        answer: Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        self.back(call, attempt, Point::of(&answer)).await?;
        answer
    }

    async fn back(&self, call: Call, attempt: &'static str, point: Point) -> Result<(), JournalError> {
        self.line.answer(&self.clock, call, point).await.map_err(|parted| {
            self.count(Mishap::LostReply);
            JournalError::Store { attempt, source: Box::new(parted) }
        })
    }

    fn count(&self, mishap: Mishap) {
        self.toll.with(|toll| toll.count(mishap));
    }

    /// The moment whose state a read shows: none = this one.
    fn past(&self) -> Option<Timestamp> {
        let lag = self.line.lag(self.clock.instant())?;
        self.count(Mishap::StaleRead);
        Some(lag.before(self.clock.instant()))
    }

    /// Keeps a write, or says that it failed and lets it arrive later.
    fn post<T>(
        &self,
        account: AccountId,
        attempt: &'static str,
        parcel: Parcel,
        keep: impl FnOnce(&mut Book, Parcel) -> T,
    ) -> Result<T, JournalError> {
        let now = self.clock.instant();
        let late = self.line.lateness(now);
        self.with(account, |book| {
            if book.is_full(now) {
                self.count(Mishap::FullDisk);
                return Err(JournalError::Store { attempt, source: Box::new(DiskFull) });
            }
            let Some(Seconds(late)) = late else { return Ok(keep(book, parcel)) };
            self.count(Mishap::LateWrite);
            book.under_way.push((Seconds(late).after(now), parcel));
            Err(JournalError::Store { attempt, source: Box::new(TimedOut) })
        })
    }

    /// Keeps the newest so many entries of an account as entries, at least one.
    pub fn forget(&self, account: AccountId, entries: usize) {
        self.with(account, |book| book.forget(entries));
    }

    /// The account's next append goes wrong.
    pub fn fail_next(&self, account: AccountId, fault: JournalFault) {
        self.with(account, |book| book.faults.push_back(fault));
    }

    /// Breaks a promise to this account from now on.
    pub fn break_promise(&self, account: AccountId, defect: Defect) {
        self.with(account, |book| book.defect = Some(defect));
    }

    /// A digest of every entry ever appended, in order: two runs with the same seed have the same one.
    pub fn fingerprint(&self, account: AccountId) -> String {
        self.with(account, |book| hex(&book.seal.clone().finalize()))
    }

    /// How often an append was refused because another process had been faster.
    pub fn races(&self, account: AccountId) -> u64 {
        self.with(account, |book| book.races)
    }

    /// A rule that an append broke or that was broken in answering it, in words, once (R28).
    pub fn take_breach(&self, account: AccountId) -> Option<String> {
        self.with(account, Book::take_breach)
    }

    /// The entries that are kept, oldest first.
    pub fn entries(&self, account: AccountId) -> Vec<Entry> {
        self.with(account, |book| book.entries.iter().cloned().collect())
    }

    /// The world at the head.
    pub fn world(&self, account: AccountId) -> World {
        self.with(account, |book| book.world.clone())
    }

    /// Looks at an account's book, after whatever was under way to it has arrived.
    fn with<R>(&self, account: AccountId, look: impl FnOnce(&mut Book) -> R) -> R {
        let now = self.clock.instant();
        self.books.with(|books| {
            let book = books.entry(account).or_insert_with(Book::empty);
            book.land(now, &self.toll);
            look(book)
        })
    }

    /// Waits until the head is past `after`.
    async fn moved(&self, account: AccountId, after: Revision) -> Head {
        poll_fn(|context| {
            self.with(account, |book| {
                if book.head.revision > after {
                    return Poll::Ready(book.head);
                }
                if !book.followers.iter().any(|waker| waker.will_wake(context.waker())) {
                    book.followers.push(context.waker().clone());
                }
                Poll::Pending
            })
        })
        .await
    }
}

impl Journal for SimJournal {
    fn kind(&self) -> &'static str {
        "simulated"
    }

    /// Until it is put at the other end of a network.
    fn fails_for_good(&self) -> bool {
        !self.is_far.with(|far| *far)
    }

    async fn head(&self, account: AccountId) -> Result<Head, JournalError> {
        self.reach(Call::Head, "read its head").await?;
        let head = self.with(account, |book| book.head);
        self.answer(Call::Head, "read its head", Ok(head)).await
    }

    async fn load(&self, account: AccountId) -> Result<World, JournalError> {
        self.reach(Call::Load, "load").await?;
        let past = self.past();
        let world = self.with(account, |book| past.map_or_else(|| book.world.clone(), |moment| book.world_at(moment)));
        self.answer(Call::Load, "load", Ok(world)).await
    }

    async fn append(&self, batch: Batch) -> Result<Head, AppendError> {
        self.reach(Call::Append, "append").await?;
        let at = self.clock.instant();
        let answer = self.post(batch.account, "append", Parcel::Batch(batch), |book, parcel| match parcel {
            Parcel::Batch(batch) => self.toll.with(|toll| book.append(batch, at, toll)),
            Parcel::Beat(_) => Ok(book.head),
        });
        let answer = answer.unwrap_or_else(|error| Err(error.into()));
        let point = match &answer {
            Err(AppendError::Failed(_)) => Point::Failed,
            Err(_) => Point::Refused,
            Ok(_) => Point::Done,
        };
        self.back(Call::Append, "append", point).await?;
        answer
    }

    async fn read(&self, account: AccountId, after: Revision, limit: usize) -> Result<Vec<Entry>, JournalError> {
        self.reach(Call::Read, "read").await?;
        let past = self.past();
        let read = self.with(account, |book| {
            let mut read = book.read(after, limit)?;
            let head = past.map(|moment| book.head_at(moment).revision);
            read.retain(|entry| head.is_none_or(|head| entry.revision <= head));
            Ok(read)
        });
        self.answer(Call::Read, "read", read).await
    }

    async fn follow(&self, account: AccountId, after: Revision) -> Result<Head, JournalError> {
        self.reach(Call::Follow, "be followed").await?;
        let (moved, patience) = (pin!(self.moved(account, after)), pin!(self.clock.sleep(FOLLOW_WAIT)));
        match select(moved, patience).await {
            Either::Left((head, _)) => {
                self.reach(Call::Follow, "be followed").await?;
                if let Some(Seconds(lag)) = self.line.lag(self.clock.instant()) {
                    self.count(Mishap::SlowWatch);
                    self.clock.sleep(Duration::from_secs(lag)).await;
                }
                self.answer(Call::Follow, "be followed", Ok(head)).await
            }
            Either::Right(_) => self.head(account).await,
        }
    }

    /// The world at the head is always at hand, so there is nothing to keep.
    async fn snapshot(&self, account: AccountId, world: &World) -> Result<(), JournalError> {
        self.reach(Call::Snapshot, "keep a snapshot").await?;
        let kept = check_snapshot(self.with(account, |book| book.head), world);
        self.answer(Call::Snapshot, "keep a snapshot", kept).await
    }
}

impl Heartbeats for SimJournal {
    async fn beat(&self, account: AccountId, beat: Beat) -> Result<(), JournalError> {
        self.reach(Call::Beat, "keep a beat").await?;
        let now = self.clock.instant();
        let kept = self.post(account, "keep a beat", Parcel::Beat(beat), |book, parcel| match parcel {
            Parcel::Beat(beat) => book.beat(beat, now),
            Parcel::Batch(_) => {}
        });
        self.answer(Call::Beat, "keep a beat", kept).await
    }

    async fn last(&self, account: AccountId) -> Result<Option<Beat>, JournalError> {
        self.reach(Call::LastBeat, "read a beat").await?;
        let past = self.past();
        let last = self.with(account, |book| {
            let seen = book.beats.iter().rev().find(|(at, _)| past.is_none_or(|past| *at <= past));
            seen.map(|(_, beat)| beat.clone())
        });
        self.answer(Call::LastBeat, "read a beat", Ok(last)).await
    }
}

/// Lower-case hex digits of some bytes.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::executor::Executor;
    use super::*;
    use crate::domain::change::{Cause, Change};
    use crate::domain::fleet::Account;

    fn account() -> AccountId {
        AccountId::named("test")
    }

    fn entry(revision: Revision, change: Change) -> Entry {
        Entry { revision, at: Timestamp::UNIX_EPOCH, by: "op-a".to_owned(), cause: Cause::Tick, change }
    }

    fn switch(revision: Revision) -> Entry {
        let account = Account { auto_deploy: revision % 2 == 1, ..Account::default() };
        entry(revision, Change::AccountChanged { account })
    }

    fn batch(expected: Revision, epoch: Option<u64>, entries: Vec<Entry>) -> Batch {
        Batch { account: account(), expected, epoch, entries }
    }

    fn journal() -> (SimJournal, VirtualClock) {
        let clock = VirtualClock::starting_at(Timestamp::UNIX_EPOCH);
        (SimJournal::new(clock.clone()), clock)
    }

    /// Runs one call to its end on an executor of its own.
    fn block_on<T: Send + 'static>(call: impl Future<Output = T> + Send + 'static) -> T {
        let (mut executor, slot) = (Executor::seeded(1), Shared::new(None));
        let answer = slot.clone();
        executor.spawn("call", async move {
            let value = call.await;
            answer.with(|answer| *answer = Some(value));
        });
        executor.run_until_idle().unwrap();
        slot.with(Option::take).unwrap()
    }

    fn append(journal: &SimJournal, batch: Batch) -> Result<Head, AppendError> {
        let journal = journal.clone();
        block_on(async move { journal.append(batch).await })
    }

    #[test]
    fn an_append_on_another_revision_or_from_an_old_epoch_writes_nothing() {
        let (journal, _) = journal();
        append(&journal, batch(0, None, vec![switch(1), switch(2)])).unwrap();
        assert!(matches!(append(&journal, batch(1, None, vec![switch(2)])), Err(AppendError::Outrun { .. })));
        let seat = Change::SeatTaken { holder: "b".to_owned(), epoch: 2, agents: true };
        append(&journal, batch(2, None, vec![entry(3, seat)])).unwrap();
        assert!(matches!(append(&journal, batch(3, Some(1), vec![switch(4)])), Err(AppendError::Deposed { .. })));
        let head = append(&journal, batch(3, Some(2), vec![switch(4)])).unwrap();
        assert_eq!((head.revision, head.epoch, head.oldest), (4, 2, 1));
        assert_eq!(journal.world(account()).revision, 4);
        assert_eq!(journal.entries(account()).len(), 4);
    }

    #[test]
    fn a_fault_hits_exactly_one_append_and_only_a_lost_answer_leaves_entries() {
        let (journal, _) = journal();
        for (fault, left) in [(JournalFault::Conflict, 0), (JournalFault::Error, 0), (JournalFault::LostAnswer, 1)] {
            journal.fail_next(account(), fault);
            append(&journal, batch(0, None, vec![switch(1)])).unwrap_err();
            assert_eq!(journal.world(account()).revision, left, "{fault:?}");
        }
        append(&journal, batch(1, None, vec![switch(2)])).unwrap();
    }

    #[test]
    fn a_follower_wakes_with_the_next_append_or_after_a_bounded_wait() {
        let (journal, clock) = journal();
        let (mut executor, seen) = (Executor::seeded(1), Shared::new(Vec::new()));
        for after in [0, 1] {
            let (journal, seen) = (journal.clone(), seen.clone());
            executor.spawn("follower", async move {
                let head = journal.follow(account(), after).await.unwrap();
                seen.with(|list| list.push((after, head.revision)));
            });
        }
        executor.run_until_idle().unwrap();
        assert!(seen.with(|list| list.is_empty()));
        append(&journal, batch(0, None, vec![switch(1)])).unwrap();
        executor.run_until_idle().unwrap();
        assert_eq!(seen.with(|list| list.clone()), [(0, 1)]);
        let due = clock.next_due().unwrap();
        assert_eq!(due.as_second(), 30);
        clock.set(due);
        clock.wake_due();
        executor.run_until_idle().unwrap();
        assert_eq!(seen.with(|list| list.clone()), [(0, 1), (1, 1)]);
    }

    #[test]
    fn the_fingerprint_tells_one_history_from_another_and_not_how_it_was_cut_into_batches() {
        let print = |batches: Vec<Batch>| {
            let (journal, _) = journal();
            for batch in batches {
                append(&journal, batch).unwrap();
            }
            journal.fingerprint(account())
        };
        let whole = print(vec![batch(0, None, vec![switch(1), switch(2)])]);
        assert_eq!(whole, print(vec![batch(0, None, vec![switch(1)]), batch(1, None, vec![switch(2)])]));
        let other = Entry { by: "op-b".to_owned(), ..switch(2) };
        assert_ne!(whole, print(vec![batch(0, None, vec![switch(1), other])]));
    }
}
