//! The reading side of the loop: loads the world, folds what other processes appended, publishes, nudges.

use std::cmp::Ordering;
use std::sync::Arc;

use jiff::Timestamp;

use super::host::Host;
use super::nudges::Nudges;
use super::picture::TAIL_KEPT;
use super::ports::{Clock, Cluster, Head, Journal, JournalError};
use super::publish::Publisher;
use super::trouble::sentence;
use crate::domain::change::{Change, Entry};
use crate::domain::ids::{AccountId, Revision};
use crate::domain::nudge;
use crate::domain::world::World;

/// Entries read from the journal at a time.
pub(super) const ENTRIES_PER_READ: usize = 1_000;

/// Keeps the published world at the head of the journal.
pub(super) struct Reader<H> {
    host: Arc<H>,
    account: AccountId,
    publisher: Publisher,
    nudges: Nudges,
}

impl<H: Host> Reader<H> {
    pub(super) fn new(host: Arc<H>, account: AccountId, publisher: Publisher, nudges: Nudges) -> Self {
        Self { host, account, publisher, nudges }
    }

    pub(super) fn publisher(&self) -> &Publisher {
        &self.publisher
    }

    /// Loads the world with the last of its changes, and publishes it. Whoever polls may get another answer now.
    pub(super) async fn load(&self) -> Result<(), JournalError> {
        let world = self.host.journal().load(self.account).await?;
        let tail = self.tail(world.revision).await?;
        let everybody = world.machines.keys().copied().collect();
        self.attend(&world);
        self.publisher.load(world, tail, self.now());
        self.nudges.wake(everybody);
        Ok(())
    }

    /// Brings the published world to `head`, by folding what is new or, where the journal went back, by loading it.
    pub(super) async fn meet(&self, head: Head) -> Result<(), JournalError> {
        match head.revision.cmp(&self.publisher.world().revision) {
            Ordering::Less => self.go_back().await?,
            Ordering::Equal => {}
            Ordering::Greater => self.catch_up().await?,
        }
        self.found();
        Ok(())
    }

    /// Says that the journal answers.
    pub(super) fn found(&self) {
        self.publisher.found(self.now());
    }

    /// A head that is older than the published world: a look that began before the last turns, unless the journal still
    /// says so when it is asked now.
    async fn go_back(&self) -> Result<(), JournalError> {
        let head = self.host.journal().head(self.account).await?.revision;
        if head >= self.publisher.world().revision {
            return Ok(());
        }
        tracing::warn!(account = %self.account, head, "the journal went back: loading it again");
        self.load().await
    }

    /// Publishes what `entries` led to and nudges those it concerns; a tick also nudges the heads of queues whose
    /// windows closed meanwhile (R38, R89).
    pub(super) fn advance(&self, world: World, entries: Vec<Entry>, ticked: bool) {
        let now = self.now().max(world.at);
        let changes: Vec<Change> = entries.iter().map(|entry| entry.change.clone()).collect();
        let mut wave = nudge::after_changes(&world, &changes, now);
        if ticked {
            wave.extend(nudge::heads(&world, now));
            wave.extend(nudge::wave(&world, now));
        }
        if changes.iter().any(|change| matches!(change, Change::ClockAccepted)) {
            self.host.clock().accept();
        }
        if changes.iter().any(|change| matches!(change, Change::Kura(_))) {
            self.attend(&world);
        }
        self.publisher.advance(world, entries, ticked, now);
        self.nudges.wake(wave);
    }

    /// The cluster is told of the servers of the one account whose it is.
    fn attend(&self, world: &World) {
        if self.host.looks_after(self.account) {
            self.host.cluster().attend(&world.kura);
        }
    }

    /// Says that the journal does not answer.
    pub(super) fn lose(&self, error: &JournalError, retry_at: Option<Timestamp>) {
        let why = sentence(error);
        tracing::warn!(account = %self.account, %why, "the journal does not answer");
        self.publisher.lost(&why, self.now(), retry_at);
    }

    async fn catch_up(&self) -> Result<(), JournalError> {
        loop {
            let mut world = World::clone(&self.publisher.world());
            let read = self.host.journal().read(self.account, world.revision, ENTRIES_PER_READ).await;
            let entries = match read {
                Err(JournalError::Compacted { .. }) => return self.load().await,
                read => read?,
            };
            let last = entries.len() < ENTRIES_PER_READ;
            for entry in &entries {
                expect_next(world.revision, entry)?;
                world.apply(entry);
            }
            if !entries.is_empty() {
                self.advance(world, entries, false);
            }
            if last {
                return Ok(());
            }
        }
    }

    /// The last entries up to `revision`, as far as they are kept as entries.
    async fn tail(&self, revision: Revision) -> Result<Vec<Entry>, JournalError> {
        let kept = u64::try_from(TAIL_KEPT).unwrap_or(u64::MAX);
        let oldest = self.host.journal().head(self.account).await?.oldest;
        let after = revision.saturating_sub(kept).max(oldest.saturating_sub(1));
        let mut tail = match self.host.journal().read(self.account, after, TAIL_KEPT).await {
            Err(JournalError::Compacted { .. }) => Vec::new(),
            read => read?,
        };
        // Somebody may have appended since the world was loaded; those entries are folded when the loop catches up.
        tail.retain(|entry| entry.revision <= revision);
        Ok(tail)
    }

    fn now(&self) -> Timestamp {
        self.host.clock().now()
    }
}

/// A gap in what was read would make a world that never was.
fn expect_next(revision: Revision, entry: &Entry) -> Result<(), JournalError> {
    if entry.revision == revision + 1 {
        return Ok(());
    }
    let problem = format!("it was read after entry {revision}");
    Err(JournalError::Corrupt { revision: entry.revision, problem })
}
