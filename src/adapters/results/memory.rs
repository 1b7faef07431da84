//! Results in memory, with a switch that makes them unreadable: the demo, the simulator and tests.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::trim::{FIND_MAX, trim};
use crate::control::ports::{ApplyResult, JournalError, ResultQuery, Results};
use crate::domain::ids::AccountId;
use crate::domain::observed::Telemetry;

/// Results an account keeps in memory.
pub const RESULTS_KEPT: usize = 10_000;

/// Clones share the memory and the switch.
#[derive(Debug, Clone, Default)]
pub struct MemoryResults {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    unreadable: AtomicBool,
    accounts: Mutex<BTreeMap<AccountId, VecDeque<ApplyResult>>>,
}

/// The switch is on.
#[derive(Debug, thiserror::Error)]
#[error("the results are switched off")]
struct SwitchedOff;

impl MemoryResults {
    /// From now on nothing can be filed or found, or everything again (R142-R147).
    pub fn set_unreadable(&self, unreadable: bool) {
        self.shared.unreadable.store(unreadable, Ordering::SeqCst);
    }

    fn is_unreadable(&self) -> bool {
        self.shared.unreadable.load(Ordering::SeqCst)
    }

    fn accounts(
        &self,
        attempt: &'static str,
    ) -> Result<MutexGuard<'_, BTreeMap<AccountId, VecDeque<ApplyResult>>>, JournalError> {
        if self.is_unreadable() {
            return Err(JournalError::Store { attempt, source: Box::new(SwitchedOff) });
        }
        Ok(self.shared.accounts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Results for MemoryResults {
    async fn file(&self, account: AccountId, mut result: ApplyResult) -> Result<(), JournalError> {
        trim(&mut result);
        let mut accounts = self.accounts("file a result")?;
        let filed = accounts.entry(account).or_default();
        if filed.iter().any(|known| is_same_run(known, &result)) {
            return Ok(());
        }
        if filed.len() == RESULTS_KEPT {
            filed.pop_front();
        }
        filed.push_back(result);
        Ok(())
    }

    async fn find(&self, account: AccountId, query: ResultQuery) -> Result<Vec<ApplyResult>, JournalError> {
        let accounts = self.accounts("find results")?;
        let filed = accounts.get(&account).into_iter().flatten().rev();
        let asked = |result: &&ApplyResult| {
            query.machine.is_none_or(|machine| result.machine == machine)
                && query.release.is_none_or(|release| result.release == release)
        };
        Ok(filed.filter(asked).take(query.limit.min(FIND_MAX)).cloned().collect())
    }

    fn telemetry(&self) -> Telemetry {
        if self.is_unreadable() { Telemetry::Unreadable } else { Telemetry::Readable }
    }
}

fn is_same_run(one: &ApplyResult, other: &ApplyResult) -> bool {
    one.started_at == other.started_at
        && one.machine == other.machine
        && one.release == other.release
        && one.generation == other.generation
}
