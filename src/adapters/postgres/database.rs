//! A database: its connections, its tables, and how long anybody waits for it.

use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgListener, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions, Connection, PgTransaction, Postgres};

use super::address::{options_of, without_password};
use super::fault::{DatabaseFault, Flaw};
use super::schema;
use crate::control::ports::JournalError;

/// Connections of one process; one of them listens.
pub const CONNECTIONS_MAX: u32 = 9;

/// The longest wait for a connection.
pub const CONNECTION_WAIT: Duration = Duration::from_secs(5);

/// The longest wait for an answer, of a database that says nothing as well: a network that drops everything is an outage
/// like any other, and whoever holds the seat has to notice.
pub const ANSWER_MAX: Duration = Duration::from_secs(10);

/// The longest wait for a load: everything behind the last snapshot is read.
pub const LOAD_MAX: Duration = Duration::from_secs(120);

/// How long a statement, a lock, and a transaction in which nothing happens may last. The last one ends what a frozen
/// process holds: when it thaws, its transaction is gone, and nothing of it was written. A commit is on the disk of the
/// database before it is said to be done, whatever its configuration says.
const LIMITS: [(&str, &str); 4] = [
    ("statement_timeout", "8s"),
    ("lock_timeout", "4s"),
    ("idle_in_transaction_session_timeout", "5s"),
    ("synchronous_commit", "on"),
];

/// For a load alone, in milliseconds: that of `LOAD_MAX`.
const LONG_READ: &str = "SET LOCAL statement_timeout = 120000";

/// A database that any number of processes share. Clones share the connections.
#[derive(Debug, Clone)]
pub struct Database {
    at: String,
    pool: PgPool,
}

/// A connection for one piece of work. Unless `keep` is called at the end it is thrown away: nobody has to know in which
/// state a failed or abandoned transaction left it.
#[derive(Debug)]
pub struct Lease {
    connection: PoolConnection<Postgres>,
    kept: bool,
}

impl Lease {
    /// A transaction that writes.
    pub async fn writing(&mut self) -> Result<PgTransaction<'_>, sqlx::Error> {
        self.connection.begin().await
    }

    /// A transaction that sees one moment, however many statements it reads with.
    pub async fn viewing(&mut self) -> Result<PgTransaction<'_>, sqlx::Error> {
        self.connection.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await
    }

    /// The same for a load, which may take its time.
    pub async fn loading(&mut self) -> Result<PgTransaction<'_>, sqlx::Error> {
        let mut view = self.connection.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
        sqlx::query(LONG_READ).execute(&mut *view).await?;
        Ok(view)
    }

    /// Keeps the connection for whoever comes next.
    pub fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if !self.kept {
            self.connection.close_on_drop();
        }
    }
}

impl Deref for Lease {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.connection
    }
}

impl DerefMut for Lease {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.connection
    }
}

impl Database {
    /// Connects and brings the tables to the newest version.
    ///
    /// `url` is `postgres://USER@HOST:PORT/NAME?sslmode=...`; what it leaves out comes from the variables `PG...` and
    /// from `~/.pgpass`, as with PostgreSQL's own programs.
    pub async fn open(url: &str) -> Result<Self, DatabaseFault> {
        Self::connect(url, true).await
    }

    /// Connects to one that has its tables already, and changes nothing.
    pub async fn open_existing(url: &str) -> Result<Self, DatabaseFault> {
        Self::connect(url, false).await
    }

    async fn connect(url: &str, make: bool) -> Result<Self, DatabaseFault> {
        let at = without_password(url);
        let fault = |flaw| DatabaseFault { at: at.clone(), flaw };
        let options = options_of(url).map_err(fault)?.application_name("kura-console").options(LIMITS);
        let options = options.disable_statement_logging();
        let mut first = first_connection(&options).await.map_err(fault)?;
        schema::prepare(&mut first, make).await.map_err(fault)?;
        // What it says at its end changes nothing any more.
        drop(first.close().await);
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS_MAX)
            .acquire_timeout(CONNECTION_WAIT)
            .connect_lazy_with(options);
        Ok(Self { at, pool })
    }

    /// Where it is, without a password.
    pub fn at(&self) -> &str {
        &self.at
    }

    /// What an error of the driver means for this database.
    pub fn fault(&self, error: &sqlx::Error) -> DatabaseFault {
        self.flawed(Flaw::of(error))
    }

    fn flawed(&self, flaw: Flaw) -> DatabaseFault {
        DatabaseFault { at: self.at.clone(), flaw }
    }

    /// A connection for one piece of work.
    pub async fn lease(&self) -> Result<Lease, sqlx::Error> {
        Ok(Lease { connection: self.pool.acquire().await?, kept: false })
    }

    /// The answer, or that none came in time.
    pub async fn within<T, E: From<JournalError>>(
        &self,
        limit: Duration,
        attempt: &'static str,
        answer: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        match tokio::time::timeout(limit, answer).await {
            Ok(answered) => answered,
            Err(_elapsed) => Err(self.flawed(Flaw::Late).during(attempt).into()),
        }
    }

    /// Hears what others say on a channel. It connects again by itself.
    pub async fn listener(&self, channel: &str) -> Result<PgListener, sqlx::Error> {
        let mut listener = PgListener::connect_with(&self.pool).await?;
        listener.listen(channel).await?;
        Ok(listener)
    }

    /// For a graceful exit: waits for what is under way. Later uses of any clone are refused.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

/// The pool would go on trying, and could not say what is wrong in the end.
async fn first_connection(options: &PgConnectOptions) -> Result<PgConnection, Flaw> {
    match tokio::time::timeout(CONNECTION_WAIT, options.connect()).await {
        Ok(connected) => connected.map_err(|error| Flaw::of(&error)),
        Err(_elapsed) => Err(Flaw::Unreachable(format!("nothing came back within {} s", CONNECTION_WAIT.as_secs()))),
    }
}
