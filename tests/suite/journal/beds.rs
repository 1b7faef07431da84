//! Test beds: a journal of each backend, and how another process would open the same one.

use kura_console::adapters::journal::memory::MemoryJournal;
use kura_console::adapters::journal::postgres::journal::PostgresJournal;
use kura_console::adapters::journal::sqlite::journal::SqliteJournal;
use kura_console::control::ports::{Heartbeats, Journal};
use kura_console::sim::clock::VirtualClock;
use kura_console::sim::journal::SimJournal;
use sqlx::{Connection, PgConnection};
use tempfile::TempDir;

/// One journal that any number of processes may open.
pub(crate) trait Bed {
    /// The backend.
    type Journal: Journal + Heartbeats;

    /// One more process that opens it.
    async fn open(&self) -> Self::Journal;
}

/// In memory; all handles are in this process.
#[derive(Default)]
pub(crate) struct Memory(MemoryJournal);

impl Bed for Memory {
    type Journal = MemoryJournal;

    async fn open(&self) -> MemoryJournal {
        self.0.clone()
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
}

/// Names the PostgreSQL server that tests may make schemas in: `postgres://USER@HOST:PORT/NAME`.
const SERVER: &str = "KURA_CONSOLE_TEST_POSTGRES";

/// In a schema of its own on a real server; every handle has connections of its own and knows nothing of the others.
pub(crate) struct Postgres {
    url: String,
}

impl Postgres {
    /// A new schema; none where no server is named, which is said.
    pub(crate) async fn bed() -> Option<Self> {
        let Ok(server) = std::env::var(SERVER) else {
            eprintln!("skipped: {SERVER} names no PostgreSQL server");
            return None;
        };
        let schema = format!("bed_{}", uuid::Uuid::new_v4().simple());
        let mut connection = PgConnection::connect(&server).await.expect(SERVER);
        let made = sqlx::query(sqlx::AssertSqlSafe(format!("CREATE SCHEMA {schema}"))).execute(&mut connection).await;
        made.unwrap();
        let mark = if server.contains('?') { '&' } else { '?' };
        Some(Self { url: format!("{server}{mark}options=-csearch_path%3D{schema}") })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Bed for Postgres {
    type Journal = PostgresJournal;

    async fn open(&self) -> PostgresJournal {
        PostgresJournal::open(&self.url).await.unwrap()
    }
}
