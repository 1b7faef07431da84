//! Presence in the journal's database.

use sqlx::PgConnection;

use super::shared::{ATTEMPT, Fresh, PollRow, PollStore, ROWS_KEPT, SharedPresence};
use super::table::Polls;
use crate::adapters::postgres::database::{ANSWER_MAX, Database};
use crate::control::ports::JournalError;
use crate::domain::ids::AccountId;

/// Polls in a database.
#[derive(Debug)]
pub struct PollTable(Database);

/// In memory, and in the database after every flush.
pub type PostgresPresence = SharedPresence<PollTable>;

impl PostgresPresence {
    /// In this database.
    pub fn on(database: Database) -> Self {
        Self::in_store(PollTable(database))
    }
}

impl PollTable {
    /// One flush at a time: rounds are numbered in the order in which they are committed. Reading goes on meanwhile.
    async fn flush(&self, read: i64, fresh: &Fresh) -> Result<(i64, Vec<PollRow>), JournalError> {
        const ALONE: &str = "LOCK TABLE polls IN SHARE ROW EXCLUSIVE MODE";
        let failed = |error: sqlx::Error| self.0.fault(&error).during(ATTEMPT);
        let mut lease = self.0.lease().await.map_err(failed)?;
        let mut transaction = lease.writing().await.map_err(failed)?;
        sqlx::query(ALONE).execute(&mut *transaction).await.map_err(failed)?;
        let done = write_and_read(&mut transaction, read, fresh).await.map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        lease.keep();
        Ok(done)
    }
}

impl PollStore for PollTable {
    async fn exchange(&self, read: i64, fresh: &Fresh) -> Result<(i64, Vec<PollRow>), JournalError> {
        self.0.within(ANSWER_MAX, ATTEMPT, self.flush(read, fresh)).await
    }
}

async fn write_and_read(
    transaction: &mut PgConnection,
    read: i64,
    fresh: &Fresh,
) -> Result<(i64, Vec<PollRow>), sqlx::Error> {
    let round = next_round(transaction).await?;
    let read = if read < round { read } else { 0 }; // the table was emptied and counts from 1 again
    let mut written = 0;
    for (account, polls) in fresh {
        written += write(transaction, *account, polls, round).await?;
        prune(transaction, *account).await?;
    }
    let others = read_since(transaction, read, round).await?;
    // A round without a row leaves no trace: the next flush, whoever makes it, gets the same number.
    Ok((if written > 0 { round } else { round - 1 }, others))
}

async fn next_round(connection: &mut PgConnection) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar("SELECT coalesce(max(round), 0) + 1 FROM polls").fetch_one(connection).await
}

async fn write(
    connection: &mut PgConnection,
    account: AccountId,
    polls: &Polls,
    round: i64,
) -> Result<u64, sqlx::Error> {
    const WRITE: &str = "INSERT INTO polls (account, machine, at, round) \
         SELECT $1, machine, at, $2 FROM unnest($3::text[], $4::bigint[]) AS poll (machine, at) \
         ON CONFLICT (account, machine) DO UPDATE SET at = excluded.at, round = excluded.round \
         WHERE polls.at < excluded.at";
    let machines: Vec<String> = polls.keys().map(ToString::to_string).collect();
    let times: Vec<i64> = polls.values().map(|at| at.as_microsecond()).collect();
    let query = sqlx::query(WRITE).bind(account.to_string()).bind(round).bind(machines).bind(times);
    Ok(query.execute(connection).await?.rows_affected())
}

async fn prune(connection: &mut PgConnection, account: AccountId) -> Result<(), sqlx::Error> {
    const PRUNE: &str = "DELETE FROM polls WHERE account = $1 AND machine IN \
         (SELECT machine FROM polls WHERE account = $1 ORDER BY at DESC OFFSET $2)";
    let kept = i64::try_from(ROWS_KEPT).unwrap_or(i64::MAX);
    sqlx::query(PRUNE).bind(account.to_string()).bind(kept).execute(connection).await?;
    Ok(())
}

async fn read_since(connection: &mut PgConnection, read: i64, round: i64) -> Result<Vec<PollRow>, sqlx::Error> {
    const SINCE: &str = "SELECT account, machine, at FROM polls WHERE round > $1 AND round < $2";
    sqlx::query_as(SINCE).bind(read).bind(round).fetch_all(connection).await
}
