//! The ports: what the loop needs from the technology behind it. Traits are generic, never boxed.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use imbl::OrdMap;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::links;
use crate::domain::change::{Change, Entry};
use crate::domain::ids::{AccountId, Epoch, Generation, MachineId, ReleaseId, Revision, SecretVersion};
use crate::domain::kura::estate::Estate;
use crate::domain::kura::sight::Sight;
use crate::domain::kura::step::{Outcome as StepOutcome, Step};
use crate::domain::observed::Telemetry;
use crate::domain::release::{Digest, Outcome};
use crate::domain::world::World;

/// How far wall and monotonic time may drift apart before nothing stalls or promotes any more (R168).
pub const DRIFT_MAX: Duration = Duration::from_secs(30);

/// How far a process may be ahead of whoever ticks before it appends nothing any more (R168).
pub const LEAD_MAX: Duration = Duration::from_secs(60);

/// The one source of time. Sleeping is virtual in the simulator.
pub trait Clock: Clone + Send + Sync + 'static {
    /// Wall clock at process start plus own monotonic time: never goes back while the process lives (R168).
    fn now(&self) -> Timestamp;

    /// The same without what a person accepted since: for spans only. No clock that is set moves it (R168).
    fn steady(&self) -> Timestamp {
        self.now()
    }

    /// True while the wall clock has drifted away from the monotonic one by more than `DRIFT_MAX` (R168).
    /// A clock without a wall never is.
    fn is_suspect(&self) -> bool {
        false
    }

    /// A person says that the wall clock is right: from now on it is what monotonic time is added to (R168).
    fn accept(&self) {}

    /// Waits for `span` of this clock.
    fn sleep(&self, span: Duration) -> impl Future<Output = ()> + Send;
}

/// Where the journal of an account stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Head {
    /// Revision of the last entry; 0 = empty.
    pub revision: Revision,
    /// Epoch of the last seat that was taken.
    pub epoch: Epoch,
    /// Revision of the oldest entry that is still kept as an entry; 1 = nothing was compacted.
    pub oldest: Revision,
}

/// Entries to append, all or none.
#[derive(Debug, Clone)]
pub struct Batch {
    /// Whose journal.
    pub account: AccountId,
    /// The revision the entries were decided on; their own revisions follow it without a gap.
    pub expected: Revision,
    /// Set if any entry was decided for a tick: the epoch it was decided under. Append refuses an older one.
    pub epoch: Option<Epoch>,
    /// In order, never empty.
    pub entries: Vec<Entry>,
}

impl Batch {
    /// The epoch the head has after this batch, given the one it has now: `SeatTaken` raises it.
    pub fn raises(&self, epoch: Epoch) -> Epoch {
        let seats = self.entries.iter().filter_map(|entry| match &entry.change {
            Change::SeatTaken { epoch, .. } => Some(*epoch),
            _ => None,
        });
        seats.fold(epoch, Epoch::max)
    }
}

/// Why a journal could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The store did not do what was asked.
    #[error("the journal could not {attempt}")]
    Store {
        /// `open`, `load`, `append`, ...
        attempt: &'static str,
        /// What the store said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A row cannot be understood; nothing was changed.
    #[error("entry {revision} of the journal cannot be read: {problem}")]
    Corrupt {
        /// Which.
        revision: Revision,
        /// What is wrong with it.
        problem: String,
    },
    /// Entries up to `oldest` are archived; load the world instead.
    #[error("entries before {oldest} are archived")]
    Compacted {
        /// The oldest that is kept.
        oldest: Revision,
    },
}

/// Why an append did not happen. In every case nothing was written, except where the answer is unknown.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// Somebody else appended first: fold their entries, decide again.
    #[error("another process appended first, the journal is at revision {}", .head.revision)]
    Outrun {
        /// Where it stands now.
        head: Head,
    },
    /// The batch carries an older epoch than the head: the seat is lost.
    #[error("the seat was taken by another process in epoch {}", .head.epoch)]
    Deposed {
        /// Where it stands now.
        head: Head,
    },
    /// The store failed; the batch may or may not be there, so read the head before deciding again.
    #[error(transparent)]
    Failed(#[from] JournalError),
}

/// Which part of the audit's chain to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stretch {
    /// The first links behind a revision.
    After(Revision),
    /// The last links in front of a revision.
    Before(Revision),
}

/// The log of changes. A head per account, append-only entries, snapshots that make loading fast.
pub trait Journal: Send + Sync + 'static {
    /// `memory`, `sqlite`, ...
    fn kind(&self) -> &'static str;

    /// Whether an append that failed and is not there once the head was read will never be there. At the other end of a
    /// network it may still be under way, and arrive after its caller has given up.
    fn fails_for_good(&self) -> bool {
        true
    }

    /// Where the account's journal stands, and never where it stood; an unknown account stands at 0.
    fn head(&self, account: AccountId) -> impl Future<Output = Result<Head, JournalError>> + Send;

    /// The world at the head: the newest snapshot with the entries after it folded in.
    fn load(&self, account: AccountId) -> impl Future<Output = Result<World, JournalError>> + Send;

    /// Compare-and-set of the head and insert of the entries, atomically and durably. `Ok` means acknowledged.
    fn append(&self, batch: Batch) -> impl Future<Output = Result<Head, AppendError>> + Send;

    /// Entries after `after`, oldest first, at most `limit`.
    fn read(
        &self,
        account: AccountId,
        after: Revision,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Entry>, JournalError>> + Send;

    /// Links of the audit, oldest first, at most `limit`; those that were archived with their entries as well, where the
    /// journal archives. The cost must not depend on how many entries lie between them where journals grow large.
    fn links(
        &self,
        account: AccountId,
        stretch: Stretch,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Entry>, JournalError>> + Send {
        links::looked_up(self, account, stretch, limit)
    }

    /// Returns once the head is past `after`, whoever moved it, or after a bounded wait with the head as it is.
    fn follow(&self, account: AccountId, after: Revision) -> impl Future<Output = Result<Head, JournalError>> + Send;

    /// Keeps `world` as a snapshot, so that the next load starts there. Losing one costs time, never facts.
    fn snapshot(&self, account: AccountId, world: &World) -> impl Future<Output = Result<(), JournalError>> + Send;
}

/// A sign of life of the seat's holder. Others judge it by their own time since it last changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beat {
    /// Who.
    pub holder: String,
    /// In which epoch.
    pub epoch: Epoch,
    /// Another one with every beat: the milliseconds of the holder's clock. Whether the seat is empty is never judged
    /// by it, only whether one's own clock is ahead of whoever ticks (R168).
    pub count: u64,
}

/// The heartbeat that lives beside the journal.
pub trait Heartbeats: Send + Sync + 'static {
    /// Replaces the account's beat.
    fn beat(&self, account: AccountId, beat: Beat) -> impl Future<Output = Result<(), JournalError>> + Send;

    /// The last beat, if there ever was one.
    fn last(&self, account: AccountId) -> impl Future<Output = Result<Option<Beat>, JournalError>> + Send;
}

/// When each machine last polled. Kept in memory, flushed now and then, shared between servers.
pub trait Presence: Send + Sync + 'static {
    /// A poll came in.
    fn saw(&self, account: AccountId, machine: MachineId, at: Timestamp);

    /// Everybody's last poll; a snapshot that costs next to nothing.
    fn seen(&self, account: AccountId) -> OrdMap<MachineId, Timestamp>;

    /// Writes what is new to the store and reads what other servers saw; called every 30 s and before exit.
    fn flush(&self) -> impl Future<Output = Result<(), JournalError>> + Send;
}

/// One failing state of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedState {
    /// Its id in the release.
    pub id: String,
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// What it said.
    #[serde(default)]
    pub comment: String,
}

/// What an agent reported of a run: telemetry, not a fact of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApplyResult {
    /// Whose run.
    pub machine: MachineId,
    /// What ran.
    pub release: ReleaseId,
    /// In which generation.
    pub generation: Generation,
    /// How it ended.
    pub outcome: Outcome,
    /// By the agent's clock.
    pub started_at: Timestamp,
    /// By the agent's clock.
    pub finished_at: Timestamp,
    /// By the control plane's clock.
    pub received_at: Timestamp,
    /// States that changed something.
    pub changed_count: u64,
    /// States that failed.
    pub failed_states: Vec<FailedState>,
    /// The end of its log, at most 64 KiB.
    pub log_tail: String,
    /// How often the machine had been reimaged when it was served; none = the agent does not say (R153).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuilds: Option<u32>,
}

/// Which results to read; the newest come first.
#[derive(Debug, Clone, Copy, Default)]
pub struct ResultQuery {
    /// Of one machine only.
    pub machine: Option<MachineId>,
    /// Of one release only.
    pub release: Option<ReleaseId>,
    /// At most; 0 = none.
    pub limit: usize,
}

/// The store of apply results, with outages of its own (R142-R147).
pub trait Results: Send + Sync + 'static {
    /// Keeps one; the same run of the same machine is kept once.
    fn file(&self, account: AccountId, result: ApplyResult) -> impl Future<Output = Result<(), JournalError>> + Send;

    /// Reads some, newest first.
    fn find(
        &self,
        account: AccountId,
        query: ResultQuery,
    ) -> impl Future<Output = Result<Vec<ApplyResult>, JournalError>> + Send;

    /// Whether it could be read lately; never blocks.
    fn telemetry(&self) -> Telemetry;
}

/// Contents by digest, secrets by name. The journal and every replica hold digests and names only.
pub trait Vault: Send + Sync + 'static {
    /// Keeps a content and returns its digest; keeping it twice is the same as once.
    fn keep(&self, content: Vec<u8>) -> impl Future<Output = Result<Digest, JournalError>> + Send;

    /// A content by its digest; none where it was never kept.
    fn fetch(&self, digest: &Digest) -> impl Future<Output = Result<Option<Vec<u8>>, JournalError>> + Send;

    /// A version of a secret; none where it was never kept, or was dropped. A vault that keeps none has none.
    fn secret(
        &self,
        _account: AccountId,
        _version: SecretVersion,
    ) -> impl Future<Output = Result<Option<String>, JournalError>> + Send {
        async { Ok(None) }
    }

    /// Keeps a new version of a secret. Which one counts is what the journal says.
    fn keep_secret(
        &self,
        _account: AccountId,
        _version: SecretVersion,
        _value: String,
    ) -> impl Future<Output = Result<(), JournalError>> + Send {
        async { Err(JournalError::Store { attempt: "keep a secret", source: "this vault keeps none".into() }) }
    }

    /// Forgets a version that nothing refers to any more.
    fn drop_secret(
        &self,
        _account: AccountId,
        _version: SecretVersion,
    ) -> impl Future<Output = Result<(), JournalError>> + Send {
        async { Ok(()) }
    }
}

/// The cluster of the Kura servers.
pub trait Cluster: Send + Sync + 'static {
    /// What is seen of it now; none where none is connected. Never blocks.
    fn sight(&self) -> Option<Sight>;

    /// What the servers are from now on, told whenever that changed: which of their endpoints are worth a probe. Never
    /// blocks.
    fn attend(&self, _estate: &Estate) {}

    /// Carries one step out, at most once, and says what came of it. Bounded in time; never an error of its own.
    fn run(&self, step: &Step) -> impl Future<Output = StepOutcome> + Send;

    /// Tells from now on when something is seen that was not before; that what is known gets older is no news. One that
    /// never tells is looked at by the tick alone.
    fn sightings(&self) -> Sightings {
        Sightings::default()
    }
}

/// One cluster that several look at.
impl<C: Cluster> Cluster for Arc<C> {
    fn sight(&self) -> Option<Sight> {
        C::sight(self)
    }

    fn attend(&self, estate: &Estate) {
        C::attend(self, estate);
    }

    fn run(&self, step: &Step) -> impl Future<Output = StepOutcome> + Send {
        C::run(self, step)
    }

    fn sightings(&self) -> Sightings {
        C::sightings(self)
    }
}

/// Waits for news of a cluster. Each one misses nothing that comes after it was made; what comes in between two looks
/// counts once.
#[derive(Debug, Clone, Default)]
pub struct Sightings {
    counts: [Option<watch::Receiver<u64>>; 2],
}

impl Sightings {
    /// Of whoever counts them up. What is there by now is news as well.
    pub fn of(mut count: watch::Receiver<u64>) -> Self {
        count.mark_changed();
        Self { counts: [Some(count), None] }
    }

    /// And of one more, in the place of any that was added before.
    pub fn and(self, count: watch::Receiver<u64>) -> Self {
        let [first, _] = self.counts;
        Self { counts: [first, Some(count)] }
    }

    /// Returns once there is news; never where nobody tells any.
    pub async fn next(&mut self) {
        let [first, second] = &mut self.counts;
        tokio::select! {
            () = told(first) => {}
            () = told(second) => {}
        }
    }
}

/// Tells news of a cluster to whoever waits for it. Clones tell the same.
#[derive(Debug, Clone)]
pub struct Herald(Arc<watch::Sender<u64>>);

impl Default for Herald {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }
}

impl Herald {
    /// There is news.
    pub fn tell(&self) {
        self.0.send_modify(|count| *count += 1);
    }

    /// For somebody who waits for it from now on.
    pub fn sightings(&self) -> Sightings {
        Sightings { counts: [Some(self.0.subscribe()), None] }
    }
}

async fn told(count: &mut Option<watch::Receiver<u64>>) {
    let told = match count {
        Some(count) => count.changed().await.is_ok(),
        None => false,
    };
    if !told {
        std::future::pending().await
    }
}

/// No cluster is connected.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCluster;

impl Cluster for NoCluster {
    fn sight(&self) -> Option<Sight> {
        None
    }

    async fn run(&self, _step: &Step) -> StepOutcome {
        StepOutcome::Failed { why: "no cluster is connected".to_owned() }
    }
}
