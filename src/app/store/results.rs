//! Apply results of a process: filed in what its journal is kept in.

use crate::adapters::results::memory::MemoryResults;
use crate::adapters::results::postgres::PostgresResults;
use crate::adapters::results::sqlite::SqliteResults;
use crate::control::ports::{ApplyResult, JournalError, ResultQuery, Results};
use crate::domain::ids::AccountId;
use crate::domain::observed::Telemetry;

/// What agents reported of their runs. Clones share it.
#[derive(Debug, Clone)]
pub enum ServerResults {
    /// In the file beside the journal.
    File(SqliteResults),
    /// In the journal's database.
    Database(PostgresResults),
    /// In the memory of this process: a cluster is no place for so many.
    Memory(MemoryResults),
}

impl ServerResults {
    /// Finds out whether they can be written and read, so that an outage is known before the first grant (R143).
    pub async fn probe(&self) -> Result<(), JournalError> {
        match self {
            Self::File(results) => results.probe().await,
            Self::Database(results) => results.probe().await,
            Self::Memory(_) => Ok(()),
        }
    }
}

impl Results for ServerResults {
    async fn file(&self, account: AccountId, result: ApplyResult) -> Result<(), JournalError> {
        match self {
            Self::File(results) => results.file(account, result).await,
            Self::Database(results) => results.file(account, result).await,
            Self::Memory(results) => results.file(account, result).await,
        }
    }

    async fn find(&self, account: AccountId, query: ResultQuery) -> Result<Vec<ApplyResult>, JournalError> {
        match self {
            Self::File(results) => results.find(account, query).await,
            Self::Database(results) => results.find(account, query).await,
            Self::Memory(results) => results.find(account, query).await,
        }
    }

    fn telemetry(&self) -> Telemetry {
        match self {
            Self::File(results) => results.telemetry(),
            Self::Database(results) => results.telemetry(),
            Self::Memory(results) => results.telemetry(),
        }
    }
}
