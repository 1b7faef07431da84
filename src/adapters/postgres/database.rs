//! A database: its connections, its tables, and how long anybody waits for it.

use std::str::FromStr;
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPool, PgPoolOptions};
use sqlx::{PgTransaction, Postgres};

use super::fault::{DatabaseFault, Flaw};
use super::schema::migrator;

/// Connections of one process; one more listens.
const CONNECTIONS_MAX: u32 = 8;

/// The longest wait for a connection.
const CONNECTION_WAIT: Duration = Duration::from_secs(5);

/// How long a statement, a lock, and a transaction in which nothing happens may last. The last one ends what a frozen
/// process holds: when it thaws, its transaction is gone, and nothing of it was written.
const LIMITS: [(&str, &str); 3] =
    [("statement_timeout", "15s"), ("lock_timeout", "5s"), ("idle_in_transaction_session_timeout", "5s")];

/// A database that any number of processes share. Clones share the connections.
#[derive(Debug, Clone)]
pub struct Database {
    at: String,
    pool: PgPool,
}

impl Database {
    /// Connects and brings the tables to the newest version.
    ///
    /// `url` is `postgres://USER@HOST:PORT/NAME?sslmode=...`; what it leaves out comes from the variables `PG...` and
    /// from `~/.pgpass`, as with PostgreSQL's own programs.
    pub async fn open(url: &str) -> Result<Self, DatabaseFault> {
        let at = without_password(url);
        let fault = |flaw| DatabaseFault { at: at.clone(), flaw };
        let options = PgConnectOptions::from_str(url).map_err(|error| fault(Flaw::Other(error.to_string())))?;
        let options = options.application_name("kura-console").options(LIMITS);
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS_MAX)
            .acquire_timeout(CONNECTION_WAIT)
            .connect_with(options)
            .await
            .map_err(|error| fault(Flaw::of(&error)))?;
        migrator().run(&pool).await.map_err(|error| fault(Flaw::of_steps(&error)))?;
        Ok(Self { at, pool })
    }

    /// Where it is, without a password.
    pub fn at(&self) -> &str {
        &self.at
    }

    /// What an error of the driver means for this database.
    pub fn fault(&self, error: &sqlx::Error) -> DatabaseFault {
        DatabaseFault { at: self.at.clone(), flaw: Flaw::of(error) }
    }

    /// A connection for one statement.
    pub async fn connection(&self) -> Result<PoolConnection<Postgres>, sqlx::Error> {
        self.pool.acquire().await
    }

    /// A transaction whose commit is on the disk of the database before it is said to be done.
    pub async fn writing(&self) -> Result<PgTransaction<'static>, sqlx::Error> {
        let mut transaction = self.pool.begin().await?;
        sqlx::query("SET LOCAL synchronous_commit = on").execute(&mut *transaction).await?;
        Ok(transaction)
    }

    /// A transaction that sees one moment, however many statements it reads with.
    pub async fn viewing(&self) -> Result<PgTransaction<'static>, sqlx::Error> {
        self.pool.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await
    }

    /// Hears what others say on a channel. It connects again by itself.
    pub async fn listener(&self, channel: &str) -> Result<PgListener, sqlx::Error> {
        let mut listener = PgListener::connect_with(&self.pool).await?;
        listener.ignore_pool_close_event(false);
        listener.listen(channel).await?;
        Ok(listener)
    }

    /// For a graceful exit: waits for what is under way. Later uses of any clone are refused.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

/// An address that may be shown: what stands between `USER:` and `@` is left out, and so is a password among the
/// parameters.
pub fn without_password(url: &str) -> String {
    let (address, parameters) = url.split_once('?').map_or((url, None), |(address, rest)| (address, Some(rest)));
    let address = match address.split_once("://").zip(address.rsplit_once('@')) {
        Some(((scheme, _), (_, place))) => {
            let who = address.trim_start_matches(scheme).trim_start_matches("://");
            let user = who.split([':', '@']).next().unwrap_or_default();
            format!("{scheme}://{user}@{place}")
        }
        None => address.to_owned(),
    };
    let shown = parameters.into_iter().flat_map(|all| all.split('&')).filter(|one| !one.starts_with("password="));
    let shown: Vec<&str> = shown.collect();
    if shown.is_empty() { address } else { format!("{address}?{}", shown.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_shown() {
        for (url, shown) in [
            ("postgres://kura:secret@db:5432/kura", "postgres://kura@db:5432/kura"),
            ("postgres://kura:se@cret@db/kura?sslmode=require", "postgres://kura@db/kura?sslmode=require"),
            ("postgres://kura@db/kura?password=secret&sslmode=require", "postgres://kura@db/kura?sslmode=require"),
            ("postgres:///kura?host=/run/postgresql", "postgres:///kura?host=/run/postgresql"),
            ("postgres://db/kura", "postgres://db/kura"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }
}
