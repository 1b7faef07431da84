//! Results in a store that can fail: what an outage is, and how it ends.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::trim::trim;
use crate::control::ports::{ApplyResult, JournalError, ResultQuery, Results};
use crate::domain::ids::AccountId;
use crate::domain::observed::Telemetry;

/// Results an account keeps: the newest.
pub const RESULTS_KEPT: u64 = 100_000;

/// After so many results the old ones are cleared away, so an account may hold this many more for a while.
pub const CLEARED_EVERY: u64 = 256;

/// Between two looks at a store that has failed: recovery needs no hand (R146).
pub const RETRY_EVERY: Duration = Duration::from_secs(5);

/// What a store does.
pub trait ResultStore: Send + Sync + 'static {
    /// Finds out whether it can be written and read.
    fn pulse(&self) -> impl Future<Output = Result<(), JournalError>> + Send;

    /// Keeps one, in its words as JSON; where `keep` says so, all but the newest so many of the account go.
    fn insert(
        &self,
        account: AccountId,
        result: &ApplyResult,
        body: String,
        keep: Option<u64>,
    ) -> impl Future<Output = Result<(), JournalError>> + Send;

    /// Some, as JSON, newest first.
    fn select(
        &self,
        account: AccountId,
        query: ResultQuery,
    ) -> impl Future<Output = Result<Vec<String>, JournalError>> + Send;
}

/// Clones share the store.
#[derive(Debug)]
pub struct StoredResults<S> {
    shared: Arc<Shared<S>>,
}

#[derive(Debug)]
struct Shared<S> {
    store: S,
    kept: u64,
    retry_every: Duration,
    filed: AtomicU64,
    /// The last read or write failed.
    unreadable: AtomicBool,
    /// Somebody is looking already.
    retrying: AtomicBool,
}

impl<S> Clone for StoredResults<S> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<S: ResultStore> StoredResults<S> {
    /// Keeps `kept` results per account, and looks again `retry_every` after a failure.
    pub fn in_store(store: S, kept: u64, retry_every: Duration) -> Self {
        let (unreadable, retrying) = (AtomicBool::new(false), AtomicBool::new(false));
        let filed = AtomicU64::new(0);
        Self { shared: Arc::new(Shared { store, kept, retry_every, filed, unreadable, retrying }) }
    }

    /// Finds out whether the store can be written and read; called once at the start, so that an outage is known before
    /// the first grant (R143).
    pub async fn probe(&self) -> Result<(), JournalError> {
        let pulse = self.shared.store.pulse().await;
        self.noting(pulse)
    }

    /// Every answer of the store passes here: it decides what `telemetry` says.
    fn noting<T>(&self, answer: Result<T, JournalError>) -> Result<T, JournalError> {
        self.shared.unreadable.store(answer.is_err(), Ordering::SeqCst);
        if answer.is_err() && !self.shared.retrying.swap(true, Ordering::SeqCst) {
            tokio::spawn(retry(Arc::downgrade(&self.shared), self.shared.retry_every));
        }
        answer
    }

    async fn insert(&self, account: AccountId, result: &ApplyResult) -> Result<(), JournalError> {
        let body = serde_json::to_string(result)
            .map_err(|error| JournalError::Store { attempt: "file a result", source: Box::new(error) })?;
        let clear = self.shared.filed.fetch_add(1, Ordering::Relaxed) % CLEARED_EVERY == CLEARED_EVERY - 1;
        self.shared.store.insert(account, result, body, clear.then_some(self.shared.kept)).await
    }
}

impl<S: ResultStore> Results for StoredResults<S> {
    async fn file(&self, account: AccountId, mut result: ApplyResult) -> Result<(), JournalError> {
        trim(&mut result);
        let answer = self.insert(account, &result).await;
        self.noting(answer)
    }

    async fn find(&self, account: AccountId, query: ResultQuery) -> Result<Vec<ApplyResult>, JournalError> {
        let answer = self.shared.store.select(account, query).await;
        Ok(self.noting(answer)?.iter().filter_map(|body| understood(body)).collect())
    }

    fn telemetry(&self) -> Telemetry {
        if self.shared.unreadable.load(Ordering::SeqCst) { Telemetry::Unreadable } else { Telemetry::Readable }
    }
}

/// Looks again and again until the store answers or nobody needs it any more.
async fn retry<S: ResultStore>(shared: Weak<Shared<S>>, every: Duration) {
    loop {
        tokio::time::sleep(every).await;
        let Some(shared) = shared.upgrade() else { return };
        if !shared.unreadable.load(Ordering::SeqCst) || shared.store.pulse().await.is_ok() {
            shared.unreadable.store(false, Ordering::SeqCst);
            shared.retrying.store(false, Ordering::SeqCst);
            return;
        }
    }
}

/// One result that cannot be read must not hide the others.
fn understood(body: &str) -> Option<ApplyResult> {
    let parsed = serde_json::from_str(body);
    if let Err(error) = &parsed {
        tracing::warn!(%error, "an apply result cannot be read");
    }
    parsed.ok()
}
