//! Last polls, by account.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use imbl::OrdMap;
use jiff::Timestamp;

use crate::domain::ids::{AccountId, MachineId};

/// When each machine of an account last polled.
pub type Polls = OrdMap<MachineId, Timestamp>;

/// Last polls, by account. Time only moves forward: an older poll that arrives late changes nothing.
#[derive(Debug, Default)]
pub(super) struct Table(Mutex<BTreeMap<AccountId, Polls>>);

impl Table {
    pub(super) fn lock(&self) -> MutexGuard<'_, BTreeMap<AccountId, Polls>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn note(&self, account: AccountId, machine: MachineId, at: Timestamp) {
        let mut accounts = self.lock();
        let last = accounts.entry(account).or_default().entry(machine).or_insert(at);
        *last = at.max(*last);
    }

    pub(super) fn of(&self, account: AccountId) -> Polls {
        self.lock().get(&account).cloned().unwrap_or_default()
    }
}
