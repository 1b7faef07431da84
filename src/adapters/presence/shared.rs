//! Presence that servers share through a store: in memory, and in the store after every flush.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;
use uuid::Uuid;

use super::table::{Polls, Table};
use crate::control::ports::{JournalError, Presence};
use crate::domain::ids::{AccountId, MachineId};
use crate::domain::world::MACHINES_MAX;

/// Machines a store remembers per account, the longest silent ones go first: those that are gone for good.
pub const ROWS_KEPT: usize = 2 * MACHINES_MAX;

/// What a store is asked to do.
pub(super) const ATTEMPT: &str = "flush presence";

/// What this process saw since its last flush, by account.
pub type Fresh = BTreeMap<AccountId, Polls>;

/// A poll as stores keep it: account, machine, microseconds since 1970.
pub type PollRow = (String, String, i64);

/// Where servers tell each other whom they saw.
pub trait PollStore: Send + Sync + 'static {
    /// Writes what is fresh, and reads what others wrote behind the round `read`: the round this one was, and what they
    /// wrote. Rounds are numbered in the order in which they are committed.
    fn exchange(
        &self,
        read: i64,
        fresh: &Fresh,
    ) -> impl Future<Output = Result<(i64, Vec<PollRow>), JournalError>> + Send;
}

/// Clones share memory and store.
#[derive(Debug)]
pub struct SharedPresence<S> {
    inner: Arc<Inner<S>>,
}

#[derive(Debug)]
struct Inner<S> {
    store: S,
    seen: Table,
    /// Seen by this process since its last flush.
    fresh: Table,
    /// The last round of flushes this process has read.
    round: AtomicI64,
}

impl<S> Clone for SharedPresence<S> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<S: PollStore> SharedPresence<S> {
    /// Knows nothing before its first flush, which reads what is in the store.
    pub fn in_store(store: S) -> Self {
        let (seen, fresh, round) = (Table::default(), Table::default(), AtomicI64::new(0));
        Self { inner: Arc::new(Inner { store, seen, fresh, round }) }
    }

    async fn exchange(&self, fresh: &Fresh) -> Result<(), JournalError> {
        let read = self.inner.round.load(Ordering::Relaxed);
        let (round, others) = self.inner.store.exchange(read, fresh).await?;
        for (account, machine, at) in others {
            let known = (account.parse::<Uuid>(), machine.parse::<Uuid>(), Timestamp::from_microsecond(at));
            if let (Ok(account), Ok(machine), Ok(at)) = known {
                self.inner.seen.note(AccountId(account), MachineId(machine), at);
            }
        }
        self.inner.round.store(round, Ordering::Relaxed);
        Ok(())
    }
}

impl<S: PollStore> Presence for SharedPresence<S> {
    fn saw(&self, account: AccountId, machine: MachineId, at: Timestamp) {
        self.inner.seen.note(account, machine, at);
        self.inner.fresh.note(account, machine, at);
    }

    fn seen(&self, account: AccountId) -> Polls {
        self.inner.seen.of(account)
    }

    /// What could not be written stays for the next flush.
    async fn flush(&self) -> Result<(), JournalError> {
        let fresh = self.inner.fresh.lock().clone();
        self.exchange(&fresh).await?;
        for (account, polls) in self.inner.fresh.lock().iter_mut() {
            let Some(written) = fresh.get(account) else { continue };
            let newer = polls.iter().filter(|(machine, at)| written.get(*machine) != Some(*at));
            *polls = newer.map(|(machine, at)| (*machine, *at)).collect();
        }
        Ok(())
    }
}

#[cfg(test)]
impl<S> SharedPresence<S> {
    /// What the next flush would write.
    pub(super) fn unflushed(&self, account: AccountId) -> Polls {
        self.inner.fresh.of(account)
    }
}
