//! The journal behind the port: a handle on the objects, and which part answers which question.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::book::Book;
use super::load::Shelves;
use super::names::{Part, labels, single};
use crate::adapters::kube::drawer::{Drawer, Kept, Shelf};
use crate::adapters::kube::fault::ClusterFault;
use crate::adapters::kube::rights::{Question, may};
use crate::control::ports::{AppendError, Batch, Beat, Clock, Head, Heartbeats, Journal, JournalError, Stretch};
use crate::domain::change::Entry;
use crate::domain::ids::{AccountId, Revision};
use crate::domain::world::World;

/// The longest wait for an answer, of a cluster that says nothing as well: whoever holds the seat has to notice.
pub const ANSWER_MAX: Duration = Duration::from_secs(10);

/// The longest wait for a load, or for a world to be kept.
pub const WORLD_MAX: Duration = Duration::from_secs(120);

/// The longest a follower waits before it is told the head as it is.
pub const FOLLOW_WAIT: Duration = Duration::from_secs(15);

/// Where nobody tells what changes, followers look again after so long.
pub const LOOK_EVERY: Duration = Duration::from_secs(2);

/// How often something is tried that others came in between of. Whoever comes in between got on with it, so that many
/// losses in a row mean a journal that is written to all the time.
pub(super) const TRIES_MAX: usize = 64;

/// A handle; clones share what they remember.
#[derive(Debug, Clone)]
pub struct KubernetesJournal<C> {
    pub(super) drawer: Drawer<C>,
    pub(super) name: Arc<str>,
    at: Arc<str>,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Heads as this process wrote them last.
    written: Mutex<BTreeMap<AccountId, Book>>,
    shelves: Mutex<Shelves>,
    moved: watch::Sender<u64>,
}

impl<C: Clock> KubernetesJournal<C> {
    /// The journal of this name in a namespace; `at` is what people call it. Nothing is sent yet.
    pub fn of(drawer: Drawer<C>, name: &str, at: &str) -> Self {
        Self { drawer, name: name.into(), at: at.into(), shared: Arc::default() }
    }

    /// Whether these credentials may write its objects, as the cluster says. Nothing is written.
    ///
    /// # Errors
    /// What they may not do, or why the cluster does not say, in a few words.
    pub async fn takes_writes(&self) -> Result<(), String> {
        let namespace = self.drawer.namespace();
        for verb in ["create", "update"] {
            let question = Question { verb, group: "", kind: "configmaps", namespace: Some(namespace), name: None };
            match may(self.drawer.connection(), question).await {
                Ok(true) => {}
                Ok(false) => {
                    return Err(format!("these credentials may not {verb} configmaps in namespace {namespace}"));
                }
                Err(fault) => return Err(format!("the cluster does not say what may be done: {fault}")),
            }
        }
        Ok(())
    }

    /// What people call it.
    pub fn at(&self) -> &str {
        &self.at
    }

    /// The namespace it is in.
    pub fn drawer(&self) -> &Drawer<C> {
        &self.drawer
    }

    /// Its name in that.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the namespace is there and its objects may be read.
    pub async fn probe(&self) -> Result<(), ClusterFault> {
        self.drawer.get(Shelf::ConfigMap, &format!("{}.probe", self.name)).await.map(drop)
    }

    /// What an error of the cluster means while something was attempted.
    pub(super) fn failed(&self, attempt: &'static str) -> impl Fn(ClusterFault) -> JournalError + use<C> {
        move |fault| JournalError::Store { attempt, source: Box::new(fault) }
    }

    /// The account as it is now.
    pub(super) async fn book(&self, account: AccountId, attempt: &'static str) -> Result<Book, JournalError> {
        let name = single(&self.name, account, Part::Head);
        match self.drawer.get(Shelf::ConfigMap, &name).await.map_err(self.failed(attempt))? {
            Some(kept) => Book::of(&kept).map_err(|problem| damaged(attempt, problem)),
            None => Ok(Book::empty()),
        }
    }

    /// Makes the head what a book says; none where it is not any more what the book was read from.
    pub(super) async fn put(
        &self,
        account: AccountId,
        attempt: &'static str,
        book: Book,
    ) -> Result<Option<Book>, JournalError> {
        let bytes = book.bytes().map_err(|problem| damaged(attempt, problem))?;
        let kept = Kept {
            name: single(&self.name, account, Part::Head),
            version: book.version.clone(),
            labels: labels(&self.name, account, Part::Head),
            bytes: bytes.into(),
            ..Kept::default()
        };
        let done = match kept.version {
            Some(_) => self.drawer.replace(Shelf::ConfigMap, &kept).await,
            None => self.drawer.create(Shelf::ConfigMap, &kept).await,
        };
        match done {
            Ok(kept) => Ok(Some(Book { version: kept.version, ..book })),
            Err(ClusterFault::Outrun { .. } | ClusterFault::Exists { .. }) => Ok(None),
            Err(ClusterFault::Missing { .. }) if kept.version.is_some() => Ok(None),
            Err(fault) => Err(self.failed(attempt)(fault)),
        }
    }

    /// The head as this process wrote it last; whoever takes it puts a newer one back.
    pub(super) fn take_written(&self, account: AccountId) -> Option<Book> {
        self.written().remove(&account)
    }

    pub(super) fn remember(&self, account: AccountId, book: Book) {
        self.written().insert(account, book);
        self.shared.moved.send_modify(|count| *count += 1);
    }

    fn written(&self) -> MutexGuard<'_, BTreeMap<AccountId, Book>> {
        self.shared.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn shelves(&self) -> MutexGuard<'_, Shelves> {
        self.shared.shelves.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn within<T, E: From<JournalError>>(
        limit: Duration,
        attempt: &'static str,
        answer: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        match tokio::time::timeout(limit, answer).await {
            Ok(answered) => answered,
            Err(_elapsed) => {
                let source = Box::new(ClusterFault::Silent { after: limit });
                Err(JournalError::Store { attempt, source }.into())
            }
        }
    }

    async fn head_past(&self, account: AccountId, after: Revision) -> Result<Head, JournalError> {
        let name = single(&self.name, account, Part::Head);
        let mut moved = self.shared.moved.subscribe();
        loop {
            let book = Self::within(ANSWER_MAX, "read the head", self.book(account, "read the head")).await?;
            if book.record.revision > after {
                return Ok(book.head());
            }
            let told = async {
                let told = self.drawer.changed(Shelf::ConfigMap, &name, book.version.as_deref(), FOLLOW_WAIT).await;
                if told.is_err() {
                    tokio::time::sleep(LOOK_EVERY).await;
                }
            };
            tokio::select! {
                _ = moved.changed() => {}
                () = told => {}
            }
        }
    }
}

/// What is there and cannot be used.
pub(super) fn damaged(attempt: &'static str, problem: String) -> JournalError {
    JournalError::Store { attempt, source: problem.into() }
}

/// Others came in between each time.
pub(super) fn crowded(attempt: &'static str) -> JournalError {
    damaged(attempt, format!("others wrote in between, {TRIES_MAX} times in a row"))
}

impl<C: Clock> Journal for KubernetesJournal<C> {
    fn kind(&self) -> &'static str {
        "kubernetes"
    }

    /// What was sent may be committed after its connection broke.
    fn fails_for_good(&self) -> bool {
        false
    }

    async fn head(&self, account: AccountId) -> Result<Head, JournalError> {
        let book = Self::within(ANSWER_MAX, "read the head", self.book(account, "read the head")).await?;
        Ok(book.head())
    }

    async fn load(&self, account: AccountId) -> Result<World, JournalError> {
        Self::within(WORLD_MAX, "load", self.load_world(account)).await
    }

    async fn append(&self, batch: Batch) -> Result<Head, AppendError> {
        Self::within(ANSWER_MAX, "append", self.append_batch(&batch)).await
    }

    async fn read(&self, account: AccountId, after: Revision, limit: usize) -> Result<Vec<Entry>, JournalError> {
        Self::within(ANSWER_MAX, "read entries", self.read_entries(account, after, limit)).await
    }

    async fn links(&self, account: AccountId, stretch: Stretch, limit: usize) -> Result<Vec<Entry>, JournalError> {
        Self::within(WORLD_MAX, "read links of the audit", self.read_links(account, stretch, limit)).await
    }

    async fn follow(&self, account: AccountId, after: Revision) -> Result<Head, JournalError> {
        match tokio::time::timeout(FOLLOW_WAIT, self.head_past(account, after)).await {
            Ok(head) => head,
            Err(_elapsed) => self.head(account).await,
        }
    }

    async fn snapshot(&self, account: AccountId, world: &World) -> Result<(), JournalError> {
        Self::within(WORLD_MAX, "keep a snapshot", self.keep_snapshot(account, world.clone())).await
    }
}

impl<C: Clock> Heartbeats for KubernetesJournal<C> {
    async fn beat(&self, account: AccountId, beat: Beat) -> Result<(), JournalError> {
        Self::within(ANSWER_MAX, "keep a heartbeat", self.keep_beat(account, &beat)).await
    }

    async fn last(&self, account: AccountId) -> Result<Option<Beat>, JournalError> {
        Self::within(ANSWER_MAX, "read the heartbeat", self.last_beat(account)).await
    }
}
