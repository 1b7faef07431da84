//! The journal of a process: one of those there are, chosen by its address.

use std::path::PathBuf;

use super::vault::ServerVault;
use crate::adapters::clock::SystemClock;
use crate::adapters::journal::compaction::Round;
use crate::adapters::journal::kubernetes::address::ClusterUrl;
use crate::adapters::journal::kubernetes::journal::KubernetesJournal;
use crate::adapters::journal::open::JournalUrl;
use crate::adapters::journal::postgres::journal::PostgresJournal;
use crate::adapters::journal::sqlite::journal::SqliteJournal;
use crate::adapters::journal::tended::{Snapshot, Standing, Tended};
use crate::adapters::kube::connection::Connection;
use crate::adapters::kube::drawer::Drawer;
use crate::adapters::kube::fault::ClusterFault;
use crate::adapters::kube::rights::who;
use crate::adapters::kube::target::Target;
use crate::adapters::postgres::database::Database;
use crate::adapters::vault::file::FileVault;
use crate::adapters::vault::kubernetes::KubernetesVault;
use crate::adapters::vault::postgres::PostgresVault;
use crate::control::ports::{AppendError, Batch, Beat, Head, Heartbeats, Journal, JournalError, Stretch};
use crate::control::trouble::sentence;
use crate::domain::change::Entry;
use crate::domain::ids::{AccountId, Revision};
use crate::domain::world::World;
use crate::wire::problem::{Problem, ProblemKind};

/// A journal that lasts. Clones share its connections.
#[derive(Debug, Clone)]
pub enum ServerJournal {
    /// In a file.
    Sqlite(SqliteJournal),
    /// In a database.
    Postgres(PostgresJournal),
    /// In a cluster.
    Kubernetes(KubernetesJournal<SystemClock>),
}

/// The same for whichever it is.
macro_rules! each {
    ($journal:expr, $one:ident => $answer:expr) => {
        match $journal {
            Self::Sqlite($one) => $answer,
            Self::Postgres($one) => $answer,
            Self::Kubernetes($one) => $answer,
        }
    };
}

impl ServerJournal {
    /// One that is there; one that is not does not come into being, and a file that can only be read is read.
    pub async fn existing(url: &JournalUrl) -> Result<Self, Problem> {
        match url {
            JournalUrl::Sqlite(path) if !path.exists() => {
                let message = format!("there is no file {}", path.display());
                Err(Problem::new(ProblemKind::NotFound, "journal", message)
                    .hint("serve names its journal when it starts: listening journal=PATH"))
            }
            JournalUrl::Sqlite(path) => {
                SqliteJournal::open_existing(path).await.map(Self::Sqlite).map_err(|fault| fault.problem())
            }
            JournalUrl::Postgres(url) => {
                let database = Database::open_existing(url.secret()).await.map_err(|fault| fault.problem())?;
                Ok(Self::Postgres(PostgresJournal::on(database)))
            }
            JournalUrl::Kubernetes(url) => begun(url, in_cluster(url, SystemClock::start()).await?).await,
            JournalUrl::Memory => Err(in_memory()),
        }
    }

    /// One that comes into being where it is not there.
    pub async fn made(url: &JournalUrl) -> Result<Self, Problem> {
        match url {
            JournalUrl::Sqlite(path) => {
                SqliteJournal::open(path).await.map(Self::Sqlite).map_err(|fault| fault.problem())
            }
            JournalUrl::Postgres(url) => {
                PostgresJournal::open(url.secret()).await.map(Self::Postgres).map_err(|fault| fault.problem())
            }
            JournalUrl::Kubernetes(url) => in_cluster(url, SystemClock::start()).await.map(Self::Kubernetes),
            JournalUrl::Memory => Err(in_memory()),
        }
    }

    /// What people call it.
    pub fn place(&self) -> String {
        match self {
            Self::Sqlite(journal) => journal.path().display().to_string(),
            Self::Postgres(journal) => journal.at().to_owned(),
            Self::Kubernetes(journal) => journal.at().to_owned(),
        }
    }

    /// Who writes to it from here, as whoever keeps it says; none where nobody does, so that the system has to.
    pub async fn writer(&self) -> Option<String> {
        match self {
            Self::Sqlite(_) | Self::Postgres(_) => None,
            Self::Kubernetes(journal) => match who(journal.drawer().connection()).await {
                Ok(name) => Some(name),
                Err(why) => {
                    tracing::warn!(%why, "the cluster does not say who this is");
                    None
                }
            },
        }
    }

    /// Whether entries can be appended from here, as far as that can be told without doing it.
    ///
    /// # Errors
    /// Why not, in a few words.
    pub async fn takes_writes(&self) -> Result<(), String> {
        each!(self, journal => journal.takes_writes().await)
    }

    /// Its vault to read, and what people call that; none where there is none.
    pub fn vault(&self) -> Result<(Option<ServerVault>, String), Problem> {
        match self {
            Self::Sqlite(journal) => {
                let folder: PathBuf = FileVault::beside(journal.path());
                let vault = folder.is_dir().then(|| ServerVault::Files(FileVault::to_read(&folder)));
                Ok((vault, folder.display().to_string()))
            }
            Self::Postgres(journal) => {
                let vault = PostgresVault::on(journal.database().clone());
                Ok((Some(ServerVault::Database(vault)), journal.at().to_owned()))
            }
            Self::Kubernetes(_) => Ok((Some(self.made_vault()?), self.place())),
        }
    }

    /// Its vault, which comes into being where it is not there.
    pub fn made_vault(&self) -> Result<ServerVault, Problem> {
        match self {
            Self::Sqlite(journal) => FileVault::open(FileVault::beside(journal.path())).map(ServerVault::Files),
            Self::Postgres(journal) => Ok(ServerVault::Database(PostgresVault::on(journal.database().clone()))),
            Self::Kubernetes(journal) => {
                Ok(ServerVault::Cluster(KubernetesVault::of(journal.drawer().clone(), journal.name())))
            }
        }
    }

    /// For a graceful exit: waits for the append in flight. Later uses of any clone are refused.
    pub async fn close(&self) {
        match self {
            Self::Sqlite(journal) => {
                if let Err(fault) = journal.close().await {
                    tracing::warn!(why = %sentence(&fault), "the journal could not be closed");
                }
            }
            Self::Postgres(journal) => journal.close().await,
            Self::Kubernetes(_) => {}
        }
    }
}

/// Whoever looks after a journal wants to hear of a name that was never served: an empty one has nothing wrong with it.
async fn begun(url: &ClusterUrl, journal: KubernetesJournal<SystemClock>) -> Result<ServerJournal, Problem> {
    let unreadable = |error| Problem::new(ProblemKind::Unavailable, "journal", sentence(&error));
    match journal.accounts().await.map_err(unreadable)?.is_empty() {
        false => Ok(ServerJournal::Kubernetes(journal)),
        true => {
            let message = format!("there is no journal {} in namespace {}", url.name, url.namespace);
            Err(Problem::new(ProblemKind::NotFound, "journal", message)
                .hint("serve names its journal when it starts: listening journal=kubernetes://NAMESPACE/NAME"))
        }
    }
}

/// The journal in a cluster that answers, and lets its objects be read.
pub(super) async fn in_cluster(
    url: &ClusterUrl,
    clock: SystemClock,
) -> Result<KubernetesJournal<SystemClock>, Problem> {
    let unusable = |fault: ClusterFault| {
        let kind = if fault.is_refusal() { ProblemKind::Usage } else { ProblemKind::Unavailable };
        Problem::new(kind, "store_unusable", format!("the journal {url} cannot be used: {fault}"))
            .hint("name a cluster: kubernetes://NAMESPACE/NAME?context=NAME&kubeconfig=FILE")
            .hint("kura-console manifests --journal kubernetes prints the namespace and the rights it needs")
    };
    let target = Target::pin(&url.cluster).await.map_err(&unusable)?;
    let drawer = Drawer::of(Connection::new(target, clock), &url.namespace);
    let journal = KubernetesJournal::of(drawer, &url.name, &url.to_string());
    journal.probe().await.map_err(&unusable)?;
    Ok(journal)
}

/// What is said where something is to last.
pub fn in_memory() -> Problem {
    Problem::new(ProblemKind::Usage, "journal", "a journal in memory is gone with the program that made it").hint(
        "--journal sqlite:kura.db, or --journal postgres://USER@HOST/NAME, or --journal kubernetes://NAMESPACE/NAME",
    )
}

impl Journal for ServerJournal {
    fn kind(&self) -> &'static str {
        each!(self, journal => journal.kind())
    }

    async fn head(&self, account: AccountId) -> Result<Head, JournalError> {
        each!(self, journal => journal.head(account).await)
    }

    async fn load(&self, account: AccountId) -> Result<World, JournalError> {
        each!(self, journal => journal.load(account).await)
    }

    async fn append(&self, batch: Batch) -> Result<Head, AppendError> {
        each!(self, journal => journal.append(batch).await)
    }

    async fn read(&self, account: AccountId, after: Revision, limit: usize) -> Result<Vec<Entry>, JournalError> {
        each!(self, journal => journal.read(account, after, limit).await)
    }

    async fn links(&self, account: AccountId, stretch: Stretch, limit: usize) -> Result<Vec<Entry>, JournalError> {
        each!(self, journal => journal.links(account, stretch, limit).await)
    }

    async fn follow(&self, account: AccountId, after: Revision) -> Result<Head, JournalError> {
        each!(self, journal => journal.follow(account, after).await)
    }

    async fn snapshot(&self, account: AccountId, world: &World) -> Result<(), JournalError> {
        each!(self, journal => journal.snapshot(account, world).await)
    }
}

impl Heartbeats for ServerJournal {
    async fn beat(&self, account: AccountId, beat: Beat) -> Result<(), JournalError> {
        each!(self, journal => journal.beat(account, beat).await)
    }

    async fn last(&self, account: AccountId) -> Result<Option<Beat>, JournalError> {
        each!(self, journal => journal.last(account).await)
    }
}

impl Tended for ServerJournal {
    async fn accounts(&self) -> Result<Vec<Standing>, JournalError> {
        each!(self, journal => journal.accounts().await)
    }

    async fn faults(&self) -> Result<Vec<String>, JournalError> {
        each!(self, journal => journal.faults().await)
    }

    async fn snapshots(&self, account: AccountId) -> Result<Vec<Snapshot>, JournalError> {
        each!(self, journal => journal.snapshots(account).await)
    }

    async fn archived_links(
        &self,
        account: AccountId,
        after: Revision,
        limit: usize,
    ) -> Result<Vec<Entry>, JournalError> {
        each!(self, journal => journal.archived_links(account, after, limit).await)
    }

    async fn world_before_oldest(&self, account: AccountId, head: Head) -> Result<World, JournalError> {
        each!(self, journal => journal.world_before_oldest(account, head).await)
    }

    async fn archive(&self, account: AccountId, oldest: Revision, round: &Round) -> Result<(), JournalError> {
        each!(self, journal => journal.archive(account, oldest, round).await)
    }

    async fn sweep(&self, account: AccountId) -> Result<Option<Revision>, JournalError> {
        each!(self, journal => journal.sweep(account).await)
    }

    async fn begin(&self, account: AccountId, base: &World, links: &[Entry]) -> Result<(), JournalError> {
        each!(self, journal => journal.begin(account, base, links).await)
    }
}
