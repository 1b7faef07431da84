//! A journal in memory: the demo, the simulator and tests. Handles are clones and share one memory.
//!
//! It needs no runtime: nothing here waits for time, so the simulator's own executor can drive it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::control::batch::{EMPTY, advance, check_shape, check_snapshot};
use crate::control::ports::{AppendError, Batch, Beat, Head, Heartbeats, Journal, JournalError};
use crate::domain::change::Entry;
use crate::domain::ids::{AccountId, Revision};
use crate::domain::world::World;

/// Entries of an account that are kept as entries; older ones live on in the world only.
pub const ENTRIES_KEPT: usize = 200_000;

/// One memory, any number of handles.
#[derive(Debug, Clone)]
pub struct MemoryJournal {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    accounts: Mutex<BTreeMap<AccountId, Account>>,
    appended: watch::Sender<u64>,
    entries_kept: usize,
}

/// The world is folded along while appending, so loading and snapshots cost nothing.
#[derive(Debug)]
struct Account {
    head: Head,
    entries: VecDeque<Entry>,
    world: World,
    beat: Option<Beat>,
}

impl Default for Account {
    fn default() -> Self {
        Self { head: EMPTY, entries: VecDeque::new(), world: World::default(), beat: None }
    }
}

impl Default for MemoryJournal {
    fn default() -> Self {
        Self::keeping(ENTRIES_KEPT)
    }
}

impl MemoryJournal {
    /// An empty journal that keeps this many entries per account, at least one.
    pub fn keeping(entries: usize) -> Self {
        let appended = watch::Sender::new(0);
        Self { shared: Arc::new(Shared { accounts: Mutex::default(), appended, entries_kept: entries.max(1) }) }
    }

    /// Keeps the newest so many entries of an account as entries, at least one.
    pub fn forget(&self, account: AccountId, entries: usize) {
        if let Some(found) = self.accounts().get_mut(&account) {
            found.forget(entries);
        }
    }

    fn accounts(&self) -> MutexGuard<'_, BTreeMap<AccountId, Account>> {
        self.shared.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn head_now(&self, account: AccountId) -> Head {
        self.accounts().get(&account).map_or(EMPTY, |found| found.head)
    }
}

impl Account {
    fn append(&mut self, batch: Batch, kept: usize) -> Result<Head, AppendError> {
        let head = advance(self.head, &batch)?;
        batch.entries.iter().for_each(|entry| self.world.apply(entry));
        self.entries.extend(batch.entries);
        self.head = head;
        self.forget(kept);
        Ok(self.head)
    }

    fn forget(&mut self, kept: usize) {
        let surplus = self.entries.len().saturating_sub(kept.max(1));
        self.entries.drain(..surplus);
        self.head.oldest = self.entries.front().map_or(self.head.oldest, |entry| entry.revision);
    }

    fn read(&self, after: Revision, limit: usize) -> Result<Vec<Entry>, JournalError> {
        let oldest = self.head.oldest;
        let skip = after.saturating_add(1).checked_sub(oldest).ok_or(JournalError::Compacted { oldest })?;
        let skip = usize::try_from(skip).unwrap_or(usize::MAX);
        Ok(self.entries.iter().skip(skip).take(limit).cloned().collect())
    }
}

impl Journal for MemoryJournal {
    fn kind(&self) -> &'static str {
        "memory"
    }

    async fn head(&self, account: AccountId) -> Result<Head, JournalError> {
        Ok(self.head_now(account))
    }

    async fn load(&self, account: AccountId) -> Result<World, JournalError> {
        Ok(self.accounts().get(&account).map_or_else(World::default, |found| found.world.clone()))
    }

    async fn append(&self, batch: Batch) -> Result<Head, AppendError> {
        check_shape(&batch)?;
        let head = self.accounts().entry(batch.account).or_default().append(batch, self.shared.entries_kept)?;
        self.shared.appended.send_modify(|count| *count += 1);
        Ok(head)
    }

    async fn read(&self, account: AccountId, after: Revision, limit: usize) -> Result<Vec<Entry>, JournalError> {
        self.accounts().get(&account).map_or_else(|| Ok(Vec::new()), |found| found.read(after, limit))
    }

    /// Every append wakes every follower at once, so there is nothing to look again for and no bound to the wait.
    async fn follow(&self, account: AccountId, after: Revision) -> Result<Head, JournalError> {
        let mut appended = self.shared.appended.subscribe();
        loop {
            let head = self.head_now(account);
            if head.revision > after || appended.changed().await.is_err() {
                return Ok(head);
            }
        }
    }

    /// The world is at hand already. Refuses one that is ahead of the journal, as every journal does.
    async fn snapshot(&self, account: AccountId, world: &World) -> Result<(), JournalError> {
        check_snapshot(self.head_now(account), world)
    }
}

impl Heartbeats for MemoryJournal {
    /// A beat of an older epoch than the last one is dropped: its seat is lost.
    async fn beat(&self, account: AccountId, beat: Beat) -> Result<(), JournalError> {
        let mut accounts = self.accounts();
        let last = &mut accounts.entry(account).or_default().beat;
        if last.as_ref().is_none_or(|last| last.epoch <= beat.epoch) {
            *last = Some(beat);
        }
        Ok(())
    }

    async fn last(&self, account: AccountId) -> Result<Option<Beat>, JournalError> {
        Ok(self.accounts().get(&account).and_then(|found| found.beat.clone()))
    }
}
