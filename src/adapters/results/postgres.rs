//! Results in the journal's database.

use std::time::Duration;

use sqlx::{PgConnection, QueryBuilder};

use super::stored::{RESULTS_KEPT, RETRY_EVERY, ResultStore, StoredResults};
use super::trim::FIND_MAX;
use crate::adapters::postgres::database::{ANSWER_MAX, Database};
use crate::control::ports::{ApplyResult, JournalError, ResultQuery};
use crate::domain::ids::AccountId;

const PULSE: &str = "reach the results";
const INSERT: &str = "file a result";
const SELECT: &str = "find results";

/// Results in a database.
#[derive(Debug)]
pub struct ResultTable(Database);

/// Results in the journal's database.
pub type PostgresResults = StoredResults<ResultTable>;

impl PostgresResults {
    /// In this database.
    pub fn on(database: Database) -> Self {
        Self::tuned(database, RESULTS_KEPT, RETRY_EVERY)
    }

    /// The same with another number of results per account, and another patience after a failure.
    pub fn tuned(database: Database, kept: u64, retry_every: Duration) -> Self {
        Self::in_store(ResultTable(database), kept, retry_every)
    }
}

impl ResultTable {
    async fn beat(&self) -> Result<(), JournalError> {
        let failed = |error: sqlx::Error| self.0.fault(&error).during(PULSE);
        let mut lease = self.0.lease().await.map_err(failed)?;
        sqlx::query("UPDATE pulse SET count = count + 1").execute(&mut *lease).await.map_err(failed)?;
        sqlx::query("SELECT 1 FROM results LIMIT 1").fetch_optional(&mut *lease).await.map_err(failed)?;
        lease.keep();
        Ok(())
    }

    async fn put(
        &self,
        account: AccountId,
        result: &ApplyResult,
        body: String,
        keep: Option<u64>,
    ) -> Result<(), JournalError> {
        let failed = |error: sqlx::Error| self.0.fault(&error).during(INSERT);
        let mut lease = self.0.lease().await.map_err(failed)?;
        insert(&mut lease, account, result, body).await.map_err(failed)?;
        if let Some(kept) = keep {
            clear_old(&mut lease, account, kept).await.map_err(failed)?;
        }
        lease.keep();
        Ok(())
    }

    async fn found(&self, account: AccountId, query: ResultQuery) -> Result<Vec<String>, JournalError> {
        let failed = |error: sqlx::Error| self.0.fault(&error).during(SELECT);
        let mut lease = self.0.lease().await.map_err(failed)?;
        let mut sql = QueryBuilder::new("SELECT body FROM results WHERE account = ");
        sql.push_bind(account.to_string());
        if let Some(machine) = query.machine {
            sql.push(" AND machine = ").push_bind(machine.to_string());
        }
        if let Some(release) = query.release {
            sql.push(" AND release = ").push_bind(release.to_string());
        }
        let limit = i64::try_from(query.limit.min(FIND_MAX)).unwrap_or(i64::MAX);
        sql.push(" ORDER BY seq DESC LIMIT ").push_bind(limit);
        let bodies = sql.build_query_scalar().fetch_all(&mut *lease).await.map_err(failed)?;
        lease.keep();
        Ok(bodies)
    }
}

impl ResultStore for ResultTable {
    async fn pulse(&self) -> Result<(), JournalError> {
        self.0.within(ANSWER_MAX, PULSE, self.beat()).await
    }

    async fn insert(
        &self,
        account: AccountId,
        result: &ApplyResult,
        body: String,
        keep: Option<u64>,
    ) -> Result<(), JournalError> {
        self.0.within(ANSWER_MAX, INSERT, self.put(account, result, body, keep)).await
    }

    async fn select(&self, account: AccountId, query: ResultQuery) -> Result<Vec<String>, JournalError> {
        self.0.within(ANSWER_MAX, SELECT, self.found(account, query)).await
    }
}

async fn insert(
    connection: &mut PgConnection,
    account: AccountId,
    result: &ApplyResult,
    body: String,
) -> Result<(), sqlx::Error> {
    const ROW: &str = "INSERT INTO results (account, machine, release, generation, started_at, body) \
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
    sqlx::query(ROW)
        .bind(account.to_string())
        .bind(result.machine.to_string())
        .bind(result.release.to_string())
        .bind(i64::try_from(result.generation).unwrap_or(i64::MAX))
        .bind(result.started_at.to_string())
        .bind(body)
        .execute(connection)
        .await?;
    Ok(())
}

async fn clear_old(connection: &mut PgConnection, account: AccountId, kept: u64) -> Result<(), sqlx::Error> {
    const CLEAR: &str = "DELETE FROM results WHERE account = $1 AND seq <= \
         (SELECT seq FROM results WHERE account = $1 ORDER BY seq DESC LIMIT 1 OFFSET $2)";
    let kept = i64::try_from(kept).unwrap_or(i64::MAX);
    sqlx::query(CLEAR).bind(account.to_string()).bind(kept).execute(connection).await?;
    Ok(())
}
