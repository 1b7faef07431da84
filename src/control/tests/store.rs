//! Ports in memory, shared by the processes of a test, with faults on demand. Every call is pending once.

use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Poll;

use imbl::OrdMap;
use jiff::Timestamp;
use tokio::sync::watch;

use super::cluster::TestCluster;
use super::driver::TestClock;
use uuid::Uuid;

use crate::control::host::Host;
use crate::control::ports::{
    AppendError, ApplyResult, Batch, Beat, Head, Heartbeats, Journal, JournalError, Presence, ResultQuery, Results,
    Vault,
};
use crate::domain::change::{Cause, Change, Entry};
use crate::domain::ids::{AccountId, MachineId, Revision};
use crate::domain::observed::Telemetry;
use crate::domain::release::Digest;
use crate::domain::world::World;

/// What happens to one append.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// It is kept, and the answer gets lost.
    LoseAnswer,
    /// It is kept, the answer gets lost, and nothing can be read from then on.
    LoseAnswerAndSight,
    /// It fails and nothing is kept.
    Fail,
    /// Another process appends these first.
    Rival(Vec<Change>),
}

#[derive(Debug, Default)]
pub(crate) struct Inner {
    pub(crate) entries: Vec<Entry>,
    pub(crate) epoch: u64,
    /// Entries before it cannot be read any more.
    pub(crate) oldest: Revision,
    /// Batches that were appended, by their number of entries.
    pub(crate) batches: Vec<usize>,
    pub(crate) faults: VecDeque<Fault>,
    /// It is at the other end of a network.
    pub(crate) is_far: bool,
    /// Reads of entries show nothing that is new.
    pub(crate) is_stale: bool,
    /// No call of the journal works.
    pub(crate) is_down: bool,
    /// No call of the heartbeats works.
    pub(crate) is_cut_off: bool,
    pub(crate) beat: Option<Beat>,
    pub(crate) telemetry: Telemetry,
    pub(crate) results: Vec<ApplyResult>,
    pub(crate) snapshots: Vec<Revision>,
    pub(crate) contents: BTreeMap<Digest, Vec<u8>>,
    pub(crate) fetched: usize,
    seen: OrdMap<MachineId, Timestamp>,
}

/// The store all processes share.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    inner: Arc<Mutex<Inner>>,
    moved: watch::Sender<()>,
    pub(crate) cluster: TestCluster,
}

/// One process on it.
#[derive(Debug)]
pub(crate) struct TestHost {
    pub(crate) store: Store,
    pub(crate) clock: TestClock,
    pub(crate) name: String,
}

async fn pend_once() {
    let mut pended = false;
    poll_fn(move |context| {
        if std::mem::replace(&mut pended, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn broken(attempt: &'static str) -> JournalError {
    JournalError::Store { attempt, source: Box::new(std::io::Error::other("disk full")) }
}

impl Store {
    pub(crate) fn new() -> Self {
        let inner = Inner { oldest: 1, ..Inner::default() };
        Self { inner: Arc::new(Mutex::new(inner)), moved: watch::Sender::new(()), cluster: TestCluster::default() }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap()
    }

    pub(crate) fn fault(&self, fault: Fault) {
        self.lock().faults.push_back(fault);
    }

    /// The world all entries lead to.
    pub(crate) fn world(&self) -> World {
        self.lock().world()
    }

    fn up(&self, attempt: &'static str) -> Result<MutexGuard<'_, Inner>, JournalError> {
        let inner = self.lock();
        if inner.is_down { Err(broken(attempt)) } else { Ok(inner) }
    }
}

impl Inner {
    fn head(&self) -> Head {
        let revision = self.entries.last().map_or(0, |entry| entry.revision);
        Head { revision, epoch: self.epoch, oldest: self.oldest }
    }

    fn world(&self) -> World {
        let mut world = World::default();
        self.entries.iter().for_each(|entry| world.apply(entry));
        world
    }

    fn rival(&mut self, changes: &[Change]) {
        for change in changes {
            let revision = self.head().revision + 1;
            let at = self.entries.last().map_or(Timestamp::UNIX_EPOCH, |entry| entry.at);
            self.keep(Entry { revision, at, by: "rival".to_owned(), cause: Cause::Seat, change: change.clone() });
        }
    }

    fn keep(&mut self, entry: Entry) {
        if let Change::SeatTaken { epoch, .. } = &entry.change {
            self.epoch = *epoch;
        }
        self.entries.push(entry);
    }

    fn append(&mut self, batch: Batch) -> Result<Head, AppendError> {
        let fault = self.faults.pop_front();
        match &fault {
            Some(Fault::Rival(changes)) => self.rival(changes),
            Some(Fault::Fail) => return Err(broken("append").into()),
            _ => {}
        }
        let head = self.head();
        if batch.epoch.is_some_and(|epoch| epoch < head.epoch) {
            return Err(AppendError::Deposed { head });
        }
        if batch.expected != head.revision {
            return Err(AppendError::Outrun { head });
        }
        self.batches.push(batch.entries.len());
        batch.entries.into_iter().for_each(|entry| self.keep(entry));
        match fault {
            Some(Fault::LoseAnswer) => Err(broken("append").into()),
            Some(Fault::LoseAnswerAndSight) => {
                self.is_down = true;
                Err(broken("append").into())
            }
            _ => Ok(self.head()),
        }
    }
}

impl Journal for Store {
    fn kind(&self) -> &'static str {
        "test"
    }

    fn fails_for_good(&self) -> bool {
        !self.lock().is_far
    }

    async fn head(&self, _account: AccountId) -> Result<Head, JournalError> {
        pend_once().await;
        Ok(self.up("read its head")?.head())
    }

    async fn load(&self, _account: AccountId) -> Result<World, JournalError> {
        pend_once().await;
        Ok(self.up("load")?.world())
    }

    async fn append(&self, batch: Batch) -> Result<Head, AppendError> {
        pend_once().await;
        let answer = self.up("append")?.append(batch);
        self.moved.send_replace(());
        answer
    }

    async fn read(&self, _: AccountId, after: Revision, limit: usize) -> Result<Vec<Entry>, JournalError> {
        pend_once().await;
        let inner = self.up("read")?;
        if after + 1 < inner.oldest {
            return Err(JournalError::Compacted { oldest: inner.oldest });
        }
        if inner.is_stale {
            return Ok(Vec::new());
        }
        Ok(inner.entries.iter().filter(|entry| entry.revision > after).take(limit).cloned().collect())
    }

    async fn follow(&self, _account: AccountId, after: Revision) -> Result<Head, JournalError> {
        // Slower than a request comes in: whoever gives it up for every request never hears of anything.
        for _ in 0..4 {
            pend_once().await;
        }
        let mut moved = self.moved.subscribe();
        loop {
            let head = self.up("follow")?.head();
            if head.revision != after || moved.changed().await.is_err() {
                return Ok(head);
            }
        }
    }

    async fn snapshot(&self, _account: AccountId, world: &World) -> Result<(), JournalError> {
        pend_once().await;
        self.up("keep a snapshot")?.snapshots.push(world.revision);
        Ok(())
    }
}

impl Heartbeats for Store {
    async fn beat(&self, _account: AccountId, beat: Beat) -> Result<(), JournalError> {
        pend_once().await;
        let mut inner = self.lock();
        if inner.is_cut_off {
            return Err(broken("keep a beat"));
        }
        inner.beat = Some(beat);
        Ok(())
    }

    async fn last(&self, _account: AccountId) -> Result<Option<Beat>, JournalError> {
        pend_once().await;
        let inner = self.lock();
        if inner.is_cut_off { Err(broken("read the beat")) } else { Ok(inner.beat.clone()) }
    }
}

impl Presence for Store {
    fn saw(&self, _account: AccountId, machine: MachineId, at: Timestamp) {
        self.lock().seen.insert(machine, at);
    }

    fn seen(&self, _account: AccountId) -> OrdMap<MachineId, Timestamp> {
        self.lock().seen.clone()
    }

    async fn flush(&self) -> Result<(), JournalError> {
        pend_once().await;
        Ok(())
    }
}

impl Results for Store {
    async fn file(&self, _account: AccountId, result: ApplyResult) -> Result<(), JournalError> {
        pend_once().await;
        let mut inner = self.lock();
        if inner.telemetry == Telemetry::Unreadable {
            return Err(broken("file a result"));
        }
        inner.results.push(result);
        Ok(())
    }

    async fn find(&self, _account: AccountId, query: ResultQuery) -> Result<Vec<ApplyResult>, JournalError> {
        pend_once().await;
        let asked = |result: &&ApplyResult| {
            query.machine.is_none_or(|m| m == result.machine) && query.release.is_none_or(|r| r == result.release)
        };
        Ok(self.lock().results.iter().rev().filter(asked).take(query.limit).cloned().collect())
    }

    fn telemetry(&self) -> Telemetry {
        self.lock().telemetry
    }
}

impl Vault for Store {
    async fn keep(&self, content: Vec<u8>) -> Result<Digest, JournalError> {
        pend_once().await;
        let digest = Digest(format!("digest-of-{}-bytes", content.len()));
        self.lock().contents.insert(digest.clone(), content);
        Ok(digest)
    }

    async fn fetch(&self, digest: &Digest) -> Result<Option<Vec<u8>>, JournalError> {
        pend_once().await;
        let mut inner = self.lock();
        inner.fetched += 1;
        Ok(inner.contents.get(digest).cloned())
    }
}

impl Host for TestHost {
    type Journal = Store;
    type Heartbeats = Store;
    type Presence = Store;
    type Results = Store;
    type Vault = Store;
    type Cluster = TestCluster;
    type Clock = TestClock;

    fn journal(&self) -> &Store {
        &self.store
    }

    fn heartbeats(&self) -> &Store {
        &self.store
    }

    fn presence(&self) -> &Store {
        &self.store
    }

    fn results(&self) -> &Store {
        &self.store
    }

    fn vault(&self) -> &Store {
        &self.store
    }

    fn cluster(&self) -> &TestCluster {
        &self.store.cluster
    }

    fn looks_after(&self, account: AccountId) -> bool {
        account == super::bed::account()
    }

    fn clock(&self) -> &TestClock {
        &self.clock
    }

    fn fresh(&self) -> Uuid {
        Uuid::from_u64_pair(7, self.store.lock().fetched as u64)
    }

    fn process(&self) -> &str {
        &self.name
    }
}
