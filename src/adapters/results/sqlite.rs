//! Results in the file beside the journal.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use sqlx::QueryBuilder;
use sqlx::sqlite::SqliteConnection;

use super::trim::{FIND_MAX, trim};
use crate::adapters::sqlite::telemetry::TelemetryFile;
use crate::control::ports::{ApplyResult, JournalError, ResultQuery, Results};
use crate::domain::ids::AccountId;
use crate::domain::observed::Telemetry;

/// Results an account keeps: the newest.
pub const RESULTS_KEPT: u64 = 100_000;

/// After so many results the old ones are cleared away, so an account may hold this many more for a while.
pub const CLEARED_EVERY: u64 = 256;

/// Between two looks at a store that has failed: recovery needs no hand (R146).
pub const RETRY_EVERY: Duration = Duration::from_secs(5);

/// Clones share the file.
#[derive(Debug, Clone)]
pub struct SqliteResults {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    file: Arc<TelemetryFile>,
    kept: u64,
    retry_every: Duration,
    filed: AtomicU64,
    /// The last read or write failed.
    unreadable: AtomicBool,
    /// Somebody is looking already.
    retrying: AtomicBool,
}

impl SqliteResults {
    /// Opens nothing yet; the first use does.
    pub fn new(file: Arc<TelemetryFile>) -> Self {
        Self::tuned(file, RESULTS_KEPT, RETRY_EVERY)
    }

    /// The same with another number of results per account, and another patience after a failure.
    pub fn tuned(file: Arc<TelemetryFile>, kept: u64, retry_every: Duration) -> Self {
        let (unreadable, retrying) = (AtomicBool::new(false), AtomicBool::new(false));
        let filed = AtomicU64::new(0);
        Self { shared: Arc::new(Shared { file, kept, retry_every, filed, unreadable, retrying }) }
    }

    /// Finds out whether the store can be written and read; called once at the start, so that an outage is known before
    /// the first grant (R143).
    pub async fn probe(&self) -> Result<(), JournalError> {
        let pulse = self.shared.pulse().await;
        self.noting(pulse)
    }

    /// Every answer of the store passes here: it decides what `telemetry` says.
    fn noting<T>(&self, answer: Result<T, JournalError>) -> Result<T, JournalError> {
        self.shared.unreadable.store(answer.is_err(), Ordering::SeqCst);
        if answer.is_err() && !self.shared.retrying.swap(true, Ordering::SeqCst) {
            tokio::spawn(retry(Arc::downgrade(&self.shared), self.shared.retry_every));
        }
        answer
    }
}

impl Shared {
    async fn pulse(&self) -> Result<(), JournalError> {
        const ATTEMPT: &str = "reach the results";
        let file = self.file.get().await.map_err(|fault| fault.during(ATTEMPT))?;
        let failed = |error: sqlx::Error| file.fault(&error).during(ATTEMPT);
        let mut writer = file.writer().await.map_err(|fault| fault.during(ATTEMPT))?;
        let mut transaction = writer.begin().await.map_err(failed)?;
        sqlx::query("UPDATE pulse SET count = count + 1").execute(&mut *transaction).await.map_err(failed)?;
        sqlx::query("SELECT 1 FROM results LIMIT 1").fetch_optional(&mut *transaction).await.map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        writer.keep();
        Ok(())
    }

    async fn insert(&self, account: AccountId, result: &ApplyResult) -> Result<(), JournalError> {
        const ATTEMPT: &str = "file a result";
        let body = serde_json::to_string(result)
            .map_err(|error| JournalError::Store { attempt: ATTEMPT, source: Box::new(error) })?;
        let clear = self.filed.fetch_add(1, Ordering::Relaxed) % CLEARED_EVERY == CLEARED_EVERY - 1;
        let file = self.file.get().await.map_err(|fault| fault.during(ATTEMPT))?;
        let failed = |error: sqlx::Error| file.fault(&error).during(ATTEMPT);
        let mut writer = file.writer().await.map_err(|fault| fault.during(ATTEMPT))?;
        let mut transaction = writer.begin().await.map_err(failed)?;
        insert(&mut transaction, account, result, body).await.map_err(failed)?;
        if clear {
            clear_old(&mut transaction, account, self.kept).await.map_err(failed)?;
        }
        transaction.commit().await.map_err(failed)?;
        writer.keep();
        Ok(())
    }

    async fn select(&self, account: AccountId, query: ResultQuery) -> Result<Vec<ApplyResult>, JournalError> {
        const ATTEMPT: &str = "find results";
        let file = self.file.get().await.map_err(|fault| fault.during(ATTEMPT))?;
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
        let bodies: Vec<String> = sql
            .build_query_scalar()
            .fetch_all(&mut *reader)
            .await
            .map_err(|error| file.fault(&error).during(ATTEMPT))?;
        Ok(bodies.iter().filter_map(|body| understood(body)).collect())
    }
}

impl Results for SqliteResults {
    async fn file(&self, account: AccountId, mut result: ApplyResult) -> Result<(), JournalError> {
        trim(&mut result);
        let answer = self.shared.insert(account, &result).await;
        self.noting(answer)
    }

    async fn find(&self, account: AccountId, query: ResultQuery) -> Result<Vec<ApplyResult>, JournalError> {
        let answer = self.shared.select(account, query).await;
        self.noting(answer)
    }

    fn telemetry(&self) -> Telemetry {
        if self.shared.unreadable.load(Ordering::SeqCst) { Telemetry::Unreadable } else { Telemetry::Readable }
    }
}

/// Looks again and again until the store answers or nobody needs it any more.
async fn retry(shared: Weak<Shared>, every: Duration) {
    loop {
        tokio::time::sleep(every).await;
        let Some(shared) = shared.upgrade() else { return };
        if !shared.unreadable.load(Ordering::SeqCst) || shared.pulse().await.is_ok() {
            shared.unreadable.store(false, Ordering::SeqCst);
            shared.retrying.store(false, Ordering::SeqCst);
            return;
        }
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

/// One result that cannot be read must not hide the others.
fn understood(body: &str) -> Option<ApplyResult> {
    let parsed = serde_json::from_str(body);
    if let Err(error) = &parsed {
        tracing::warn!(%error, "an apply result cannot be read");
    }
    parsed.ok()
}
