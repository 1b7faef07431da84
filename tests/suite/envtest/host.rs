//! What a control plane of these tests runs on: stores in memory, a real cluster, a clock that tests set.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kura_console::adapters::clock::SystemClock;
use kura_console::adapters::journal::memory::MemoryJournal;
use kura_console::adapters::presence::memory::MemoryPresence;
use kura_console::adapters::results::memory::MemoryResults;
use kura_console::adapters::vault::memory::MemoryVault;
use kura_console::control::host::Host;
use kura_console::control::ports::{Clock, Cluster};
use uuid::Uuid;

/// A clock that goes as fast as any other, and can be set.
#[derive(Debug, Clone)]
pub struct Steered {
    clock: SystemClock,
    /// How far it is ahead, in milliseconds.
    ahead: Arc<AtomicI64>,
}

impl Steered {
    /// That far ahead.
    pub fn ahead(by: SignedDuration) -> Self {
        let ahead = i64::try_from(by.as_millis()).expect("not as far as that");
        Self { clock: SystemClock::start(), ahead: Arc::new(AtomicI64::new(ahead)) }
    }

    /// So much time has passed, for whoever asks this clock.
    pub fn pass(&self, span: Duration) {
        self.ahead.fetch_add(i64::try_from(span.as_millis()).expect("not as long as that"), Ordering::SeqCst);
    }
}

impl Clock for Steered {
    fn now(&self) -> Timestamp {
        self.clock.now() + SignedDuration::from_millis(self.ahead.load(Ordering::SeqCst))
    }

    fn steady(&self) -> Timestamp {
        self.clock.steady()
    }

    async fn sleep(&self, span: Duration) {
        self.clock.sleep(span).await;
    }
}

/// The host.
pub struct PlaneHost<K> {
    pub journal: MemoryJournal,
    pub cluster: K,
    pub clock: Steered,
    presence: MemoryPresence,
    results: MemoryResults,
    vault: MemoryVault,
}

impl<K> PlaneHost<K> {
    /// On a journal that may be older than it.
    pub fn on(journal: MemoryJournal, cluster: K, clock: Steered) -> Self {
        let (presence, results, vault) = (MemoryPresence::default(), MemoryResults::default(), MemoryVault::default());
        Self { journal, cluster, clock, presence, results, vault }
    }
}

impl<K: Cluster> Host for PlaneHost<K> {
    type Journal = MemoryJournal;
    type Heartbeats = MemoryJournal;
    type Presence = MemoryPresence;
    type Results = MemoryResults;
    type Vault = MemoryVault;
    type Cluster = K;
    type Clock = Steered;

    fn journal(&self) -> &MemoryJournal {
        &self.journal
    }
    fn heartbeats(&self) -> &MemoryJournal {
        &self.journal
    }
    fn presence(&self) -> &MemoryPresence {
        &self.presence
    }
    fn results(&self) -> &MemoryResults {
        &self.results
    }
    fn vault(&self) -> &MemoryVault {
        &self.vault
    }
    fn cluster(&self) -> &K {
        &self.cluster
    }
    fn clock(&self) -> &Steered {
        &self.clock
    }
    fn fresh(&self) -> Uuid {
        Uuid::new_v4()
    }
    fn process(&self) -> &'static str {
        "serve@envtest:1"
    }
}
