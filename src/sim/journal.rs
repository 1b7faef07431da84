//! The journal of a simulated world: in memory, shared by all its processes, with faults on demand.

use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Poll, Waker};
use std::time::Duration;

use futures_util::future::{Either, select};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::clock::VirtualClock;
use super::pending::pend_once;
use super::shared::Shared;
use super::toll::{Mishap, Toll};
use crate::control::ports::{AppendError, Batch, Beat, Clock, Head, Heartbeats, Journal, JournalError};
use crate::domain::change::{Cause, Entry};
use crate::domain::ids::{AccountId, Revision};
use crate::domain::world::World;

/// Entries an account's journal keeps; older ones are archived, which here means forgotten.
pub const ENTRIES_KEPT: usize = 500_000;

/// Longest wait of `follow`.
pub const FOLLOW_WAIT: Duration = Duration::from_secs(30);

/// What goes wrong with exactly one append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JournalFault {
    /// It is refused as outrun, though nobody was faster.
    Conflict,
    /// The store fails and nothing was written.
    Error,
    /// It is written, and the answer gets lost.
    LostAnswer,
}

/// A promise of the port that a store breaks all the time: proves that the checks of a simulation find it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    /// It appends without comparing: a batch that was outrun lands behind whatever is there.
    Blind,
    /// Of the batches with an order in them it acknowledges every fourth without keeping it.
    Forgetful,
}

/// What the store says when it was told to fail.
#[derive(Debug, thiserror::Error)]
#[error("the simulated store was told to fail")]
struct ToldToFail;

/// What a process hears that is cut off.
#[derive(Debug, thiserror::Error)]
#[error("the simulated network is parted")]
struct Parted;

/// What leads from a process to something outside: cut until it is mended. Clones are the same line.
#[derive(Debug, Clone, Default)]
pub struct Line(Shared<Option<Timestamp>>);

impl Line {
    /// Cuts it until `mended`.
    pub fn cut(&self, mended: Timestamp) {
        self.0.with(|until| *until = (*until).max(Some(mended)));
    }

    /// True where nothing gets through at `now`.
    pub fn is_cut(&self, now: Timestamp) -> bool {
        self.0.with(|until| until.is_some_and(|mended| now < mended))
    }
}

#[derive(Debug, Default)]
struct Book {
    head: Head,
    beat: Option<Beat>,
    entries: VecDeque<Entry>,
    /// When each of them was appended, whatever the clock of its process said.
    moments: VecDeque<Timestamp>,
    world: World,
    seal: Sha256,
    followers: Vec<Waker>,
    faults: VecDeque<JournalFault>,
    defect: Option<Defect>,
    ordered: u64,
    races: u64,
}

/// One store for all accounts. Clones are the same store.
#[derive(Debug, Clone)]
pub struct SimJournal {
    books: Shared<BTreeMap<AccountId, Book>>,
    clock: VirtualClock,
    line: Line,
    toll: Shared<Toll>,
}

impl SimJournal {
    /// An empty store; `clock` bounds how long a follower waits.
    pub fn new(clock: VirtualClock) -> Self {
        Self { books: Shared::default(), clock, line: Line::default(), toll: Shared::default() }
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

    /// Pending once, then an error where the line is cut.
    async fn reach(&self, attempt: &'static str) -> Result<(), JournalError> {
        pend_once().await;
        if !self.line.is_cut(self.clock.now()) {
            return Ok(());
        }
        self.toll.with(|toll| toll.count(Mishap::CutCall));
        Err(JournalError::Store { attempt, source: Box::new(Parted) })
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

    /// The entries that are kept, oldest first.
    pub fn entries(&self, account: AccountId) -> Vec<Entry> {
        self.with(account, |book| book.entries.iter().cloned().collect())
    }

    /// The world at the head.
    pub fn world(&self, account: AccountId) -> World {
        self.with(account, |book| book.world.clone())
    }

    fn with<R>(&self, account: AccountId, look: impl FnOnce(&mut Book) -> R) -> R {
        self.books.with(|books| look(books.entry(account).or_insert_with(Book::empty)))
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

impl Book {
    fn empty() -> Self {
        Self { head: Head { oldest: 1, ..Head::default() }, ..Self::default() }
    }

    fn append(&mut self, mut batch: Batch, at: Timestamp, toll: &mut Toll) -> Result<Head, AppendError> {
        if self.defect == Some(Defect::Blind) {
            self.put_behind_the_head(&mut batch);
        } else if self.defect == Some(Defect::Forgetful) && self.forgets(&batch) {
            return Ok(self.head);
        }
        let fault = self.faults.pop_front();
        match fault {
            Some(JournalFault::Conflict) => {
                toll.count(Mishap::Conflict);
                return Err(AppendError::Outrun { head: self.head });
            }
            Some(JournalFault::Error) => {
                toll.count(Mishap::FailedAppend);
                return Err(told_to_fail().into());
            }
            Some(JournalFault::LostAnswer) | None => {}
        }
        check_sequence(&batch)?;
        if batch.epoch.is_some_and(|epoch| epoch < self.head.epoch) {
            return Err(AppendError::Deposed { head: self.head });
        }
        if batch.expected != self.head.revision {
            self.races += 1;
            return Err(AppendError::Outrun { head: self.head });
        }
        self.head.epoch = batch.raises(self.head.epoch);
        for entry in batch.entries {
            self.keep(entry, at)?;
        }
        self.followers.drain(..).for_each(Waker::wake);
        if fault.is_none() {
            return Ok(self.head);
        }
        toll.count(Mishap::LostAnswer);
        Err(told_to_fail().into())
    }

    fn put_behind_the_head(&self, batch: &mut Batch) {
        batch.expected = self.head.revision;
        for (entry, revision) in batch.entries.iter_mut().zip(self.head.revision + 1..) {
            entry.revision = revision;
        }
    }

    fn forgets(&mut self, batch: &Batch) -> bool {
        let ordered = batch.entries.iter().any(|entry| matches!(entry.cause, Cause::Verb { .. }));
        self.ordered += u64::from(ordered);
        ordered && self.ordered.is_multiple_of(4)
    }

    fn keep(&mut self, entry: Entry, at: Timestamp) -> Result<(), JournalError> {
        let line = serde_json::to_vec(&entry)
            .map_err(|source| JournalError::Store { attempt: "append", source: Box::new(source) })?;
        self.seal.update(&line);
        self.world.apply(&entry);
        self.head.revision = entry.revision;
        self.entries.push_back(entry);
        self.moments.push_back(at);
        self.forget(ENTRIES_KEPT);
        Ok(())
    }

    fn forget(&mut self, kept: usize) {
        let surplus = self.entries.len().saturating_sub(kept.max(1));
        self.entries.drain(..surplus);
        self.moments.drain(..surplus.min(self.moments.len()));
        self.head.oldest = self.entries.front().map_or(1, |first| first.revision);
    }

    fn read(&self, after: Revision, limit: usize) -> Result<Vec<Entry>, JournalError> {
        let Some(first) = self.entries.front() else { return Ok(Vec::new()) };
        let next = after.saturating_add(1);
        let Some(skipped) = next.checked_sub(first.revision) else {
            return Err(JournalError::Compacted { oldest: first.revision });
        };
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        Ok(self.entries.iter().skip(skipped).take(limit).cloned().collect())
    }
}

impl Journal for SimJournal {
    fn kind(&self) -> &'static str {
        "simulated"
    }

    async fn head(&self, account: AccountId) -> Result<Head, JournalError> {
        self.reach("read its head").await?;
        Ok(self.with(account, |book| book.head))
    }

    async fn load(&self, account: AccountId) -> Result<World, JournalError> {
        self.reach("load").await?;
        Ok(self.world(account))
    }

    async fn append(&self, batch: Batch) -> Result<Head, AppendError> {
        self.reach("append").await?;
        let at = self.clock.steady();
        self.with(batch.account, |book| self.toll.with(|toll| book.append(batch, at, toll)))
    }

    async fn read(&self, account: AccountId, after: Revision, limit: usize) -> Result<Vec<Entry>, JournalError> {
        self.reach("read").await?;
        self.with(account, |book| book.read(after, limit))
    }

    async fn follow(&self, account: AccountId, after: Revision) -> Result<Head, JournalError> {
        self.reach("be followed").await?;
        let (moved, patience) = (pin!(self.moved(account, after)), pin!(self.clock.sleep(FOLLOW_WAIT)));
        match select(moved, patience).await {
            Either::Left((head, _)) => self.reach("be followed").await.map(|()| head),
            Either::Right(_) => self.head(account).await,
        }
    }

    /// The world at the head is always at hand, so there is nothing to keep.
    async fn snapshot(&self, account: AccountId, world: &World) -> Result<(), JournalError> {
        self.reach("keep a snapshot").await?;
        if world.revision > self.with(account, |book| book.head.revision) {
            return Err(corrupt(world.revision, "a snapshot of entries that were never appended"));
        }
        Ok(())
    }
}

impl Heartbeats for SimJournal {
    /// A beat of an older epoch than the last one is that of a holder who does not know yet.
    async fn beat(&self, account: AccountId, beat: Beat) -> Result<(), JournalError> {
        self.reach("keep a beat").await?;
        self.with(account, |book| {
            if book.beat.as_ref().is_none_or(|last| last.epoch <= beat.epoch) {
                book.beat = Some(beat);
            }
        });
        Ok(())
    }

    async fn last(&self, account: AccountId) -> Result<Option<Beat>, JournalError> {
        self.reach("read a beat").await?;
        Ok(self.with(account, |book| book.beat.clone()))
    }
}

/// The entries of a batch follow the expected revision without a gap.
fn check_sequence(batch: &Batch) -> Result<(), JournalError> {
    if batch.entries.is_empty() {
        return Err(corrupt(batch.expected, "a batch without entries"));
    }
    let places = batch.entries.iter().map(|entry| entry.revision);
    match places.zip(batch.expected + 1..).find(|(found, wanted)| found != wanted) {
        Some((found, wanted)) => Err(corrupt(found, &format!("it should have been entry {wanted}"))),
        None => Ok(()),
    }
}

fn corrupt(revision: Revision, problem: &str) -> JournalError {
    JournalError::Corrupt { revision, problem: problem.to_owned() }
}

fn told_to_fail() -> JournalError {
    JournalError::Store { attempt: "append", source: Box::new(ToldToFail) }
}

/// Lower-case hex digits of some bytes.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::executor::Executor;
    use super::*;
    use crate::domain::change::Change;
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
