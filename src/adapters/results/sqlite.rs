//! Results in the file beside the journal.

use std::sync::Arc;
use std::time::Duration;

use sqlx::QueryBuilder;
use sqlx::sqlite::SqliteConnection;

use super::stored::{RESULTS_KEPT, RETRY_EVERY, ResultStore, StoredResults};
use super::trim::FIND_MAX;
use crate::adapters::sqlite::telemetry::TelemetryFile;
use crate::control::ports::{ApplyResult, JournalError, ResultQuery};
use crate::domain::ids::AccountId;

/// Results in a file.
#[derive(Debug)]
pub struct ResultFile(Arc<TelemetryFile>);

/// Results in the file beside the journal.
pub type SqliteResults = StoredResults<ResultFile>;

impl SqliteResults {
    /// Opens nothing yet; the first use does.
    pub fn new(file: Arc<TelemetryFile>) -> Self {
        Self::tuned(file, RESULTS_KEPT, RETRY_EVERY)
    }

    /// The same with another number of results per account, and another patience after a failure.
    pub fn tuned(file: Arc<TelemetryFile>, kept: u64, retry_every: Duration) -> Self {
        Self::in_store(ResultFile(file), kept, retry_every)
    }
}

impl ResultStore for ResultFile {
    async fn pulse(&self) -> Result<(), JournalError> {
        const ATTEMPT: &str = "reach the results";
        let file = self.0.get().await.map_err(|fault| fault.during(ATTEMPT))?;
        let failed = |error: sqlx::Error| file.fault(&error).during(ATTEMPT);
        let mut writer = file.writer().await.map_err(|fault| fault.during(ATTEMPT))?;
        let mut transaction = writer.begin().await.map_err(failed)?;
        sqlx::query("UPDATE pulse SET count = count + 1").execute(&mut *transaction).await.map_err(failed)?;
        sqlx::query("SELECT 1 FROM results LIMIT 1").fetch_optional(&mut *transaction).await.map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        writer.keep();
        Ok(())
    }

    async fn insert(
        &self,
        account: AccountId,
        result: &ApplyResult,
        body: String,
        keep: Option<u64>,
    ) -> Result<(), JournalError> {
        const ATTEMPT: &str = "file a result";
        let file = self.0.get().await.map_err(|fault| fault.during(ATTEMPT))?;
        let failed = |error: sqlx::Error| file.fault(&error).during(ATTEMPT);
        let mut writer = file.writer().await.map_err(|fault| fault.during(ATTEMPT))?;
        let mut transaction = writer.begin().await.map_err(failed)?;
        insert(&mut transaction, account, result, body).await.map_err(failed)?;
        if let Some(kept) = keep {
            clear_old(&mut transaction, account, kept).await.map_err(failed)?;
        }
        transaction.commit().await.map_err(failed)?;
        writer.keep();
        Ok(())
    }

    async fn select(&self, account: AccountId, query: ResultQuery) -> Result<Vec<String>, JournalError> {
        const ATTEMPT: &str = "find results";
        let file = self.0.get().await.map_err(|fault| fault.during(ATTEMPT))?;
        let mut reader = file.reader().await.map_err(|fault| fault.during(ATTEMPT))?;
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
        let found = sql.build_query_scalar().fetch_all(&mut *reader).await;
        found.map_err(|error| file.fault(&error).during(ATTEMPT))
    }
}

async fn insert(
    connection: &mut SqliteConnection,
    account: AccountId,
    result: &ApplyResult,
    body: String,
) -> Result<(), sqlx::Error> {
    const INSERT: &str = "INSERT INTO results (account, machine, release, generation, started_at, body) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING";
    sqlx::query(INSERT)
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

async fn clear_old(connection: &mut SqliteConnection, account: AccountId, kept: u64) -> Result<(), sqlx::Error> {
    const CLEAR: &str = "DELETE FROM results WHERE account = ?1 AND seq <= \
         (SELECT seq FROM results WHERE account = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)";
    let kept = i64::try_from(kept).unwrap_or(i64::MAX);
    sqlx::query(CLEAR).bind(account.to_string()).bind(kept).execute(connection).await?;
    Ok(())
}
