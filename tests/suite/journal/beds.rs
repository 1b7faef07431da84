//! Test beds: a journal of each backend, and how another process would open the same one.

use kura_console::adapters::clock::SystemClock;
use kura_console::adapters::journal::compaction::{Keep, compact};
use kura_console::adapters::journal::kubernetes::journal::KubernetesJournal;
use kura_console::adapters::journal::memory::MemoryJournal;
use kura_console::adapters::journal::postgres::journal::PostgresJournal;
use kura_console::adapters::journal::sqlite::journal::SqliteJournal;
use kura_console::adapters::journal::tended::Tended;
use kura_console::adapters::kube::connection::Connection as ClusterConnection;
use kura_console::adapters::kube::drawer::Drawer;
use kura_console::adapters::kube::target::{Choice, Target};
use kura_console::control::ports::{Heartbeats, Journal};
use kura_console::domain::ids::AccountId;
use kura_console::sim::clock::VirtualClock;
use kura_console::sim::journal::SimJournal;
use sqlx::{Connection, PgConnection};
use tempfile::TempDir;

use super::super::envtest::cluster::Lease;

/// One journal that any number of processes may open.
pub(crate) trait Bed {
    /// The backend.
    type Journal: Journal + Heartbeats;

    /// One more process that opens it.
    async fn open(&self) -> Self::Journal;

    /// Archives all but about the newest `kept` entries of an account.
    async fn archive(&self, account: AccountId, kept: u64);
}

async fn compacted(journal: &impl Tended, account: AccountId, kept: u64) {
    let keep = Keep { entries: kept, since: None };
    assert!(compact(journal, account, keep, |_| {}).await.unwrap().entries > 0);
}

/// In memory; all handles are in this process.
#[derive(Default)]
pub(crate) struct Memory(MemoryJournal);

impl Bed for Memory {
    type Journal = MemoryJournal;

    async fn open(&self) -> MemoryJournal {
        self.0.clone()
    }

    async fn archive(&self, account: AccountId, kept: u64) {
        self.0.forget(account, usize::try_from(kept).unwrap());
    }
}

/// In a file; every handle has connections of its own and knows nothing of the others.
pub(crate) struct File(pub(crate) TempDir);

impl Default for File {
    fn default() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
}

impl File {
    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.0.path().join("kura.db")
    }
}

impl Bed for File {
    type Journal = SqliteJournal;

    async fn open(&self) -> SqliteJournal {
        SqliteJournal::open(self.path()).await.unwrap()
    }

    async fn archive(&self, account: AccountId, kept: u64) {
        compacted(&self.open().await, account, kept).await;
    }
}

/// In memory, in virtual time; each call is pending once.
pub(crate) struct Simulated(SimJournal);

impl Default for Simulated {
    fn default() -> Self {
        Self(SimJournal::new(VirtualClock::starting_at(jiff::Timestamp::UNIX_EPOCH)))
    }
}

impl Bed for Simulated {
    type Journal = SimJournal;

    async fn open(&self) -> SimJournal {
        self.0.clone()
    }

    async fn archive(&self, account: AccountId, kept: u64) {
        self.0.forget(account, usize::try_from(kept).unwrap());
    }
}

/// Names the PostgreSQL server that tests may make schemas in: `postgres://USER@HOST:PORT/NAME`.
const SERVER: &str = "KURA_CONSOLE_TEST_POSTGRES";

/// In a schema of its own on a real server; every handle has connections of its own and knows nothing of the others.
pub(crate) struct Postgres {
    url: String,
    schema: String,
}

impl Postgres {
    /// A new schema; none where no server is named, which is said.
    pub(crate) async fn bed() -> Option<Self> {
        let server = Self::server()?;
        let schema = format!("bed_{}", uuid::Uuid::new_v4().simple());
        let mut connection = PgConnection::connect(&server).await.expect(SERVER);
        let made = sqlx::query(sqlx::AssertSqlSafe(format!("CREATE SCHEMA {schema}"))).execute(&mut connection).await;
        made.unwrap();
        let mark = if server.contains('?') { '&' } else { '?' };
        let url = format!("{server}{mark}options=-csearch_path%3D{schema}");
        Some(Self { url, schema })
    }

    /// The server that may be used; none where none is named, which is said, and is a failure where everything has to be
    /// checked.
    #[allow(clippy::print_stderr)]
    pub(crate) fn server() -> Option<String> {
        let server = std::env::var(SERVER).ok();
        let must = std::env::var("CI").is_ok_and(|set| set == "true");
        assert!(server.is_some() || !must, "{SERVER} names no PostgreSQL server: eval \"$(tests/postgres/provision)\"");
        if server.is_none() {
            eprintln!("skipped: {SERVER} names no PostgreSQL server");
        }
        server
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn schema(&self) -> &str {
        &self.schema
    }
}

impl Bed for Postgres {
    type Journal = PostgresJournal;

    async fn open(&self) -> PostgresJournal {
        PostgresJournal::open(&self.url).await.unwrap()
    }

    async fn archive(&self, account: AccountId, kept: u64) {
        compacted(&self.open().await, account, kept).await;
    }
}

/// In a namespace of its own on a real API server; every handle has connections of its own and knows nothing of the
/// others.
pub(crate) struct Kubernetes {
    pub(crate) lease: Lease,
}

impl Kubernetes {
    /// A new namespace; none where there is no API server, which is said.
    pub(crate) async fn bed() -> Option<Self> {
        Some(Self { lease: Lease::take().await? })
    }

    pub(crate) async fn drawer(&self) -> Drawer<SystemClock> {
        drawer(&self.lease).await
    }
}

/// The objects of a namespace, by an administrator.
pub(crate) async fn drawer(lease: &Lease) -> Drawer<SystemClock> {
    let choice = Choice { kubeconfig: Some(lease.cluster.admin_config()), context: None };
    let target = Target::pin(&choice).await.unwrap();
    Drawer::of(ClusterConnection::new(target, SystemClock::start()), &lease.namespace)
}

impl Bed for Kubernetes {
    type Journal = KubernetesJournal<SystemClock>;

    async fn open(&self) -> KubernetesJournal<SystemClock> {
        KubernetesJournal::of(self.drawer().await, "kura", "kubernetes://test/kura")
    }

    async fn archive(&self, account: AccountId, kept: u64) {
        compacted(&self.open().await, account, kept).await;
    }
}
