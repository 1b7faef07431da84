//! Opens everything a control plane keeps, or makes it.

use std::sync::Arc;

use super::journal::ServerJournal;
use super::presence::ServerPresence;
use super::results::ServerResults;
use super::vault::ServerVault;
use crate::adapters::journal::open::JournalUrl;
use crate::adapters::presence::kubernetes::KubernetesPresence;
use crate::adapters::presence::postgres::PostgresPresence;
use crate::adapters::presence::sqlite::SqlitePresence;
use crate::adapters::results::memory::MemoryResults;
use crate::adapters::results::postgres::PostgresResults;
use crate::adapters::results::sqlite::SqliteResults;
use crate::adapters::sqlite::telemetry::TelemetryFile;
use crate::control::ports::Presence;
use crate::control::trouble::sentence;
use crate::wire::problem::Problem;

/// The journal, and what lies beside it.
#[derive(Debug)]
pub struct Store {
    /// The log of changes.
    pub journal: ServerJournal,
    /// Last polls.
    pub presence: ServerPresence,
    /// Apply results.
    pub results: ServerResults,
    /// Contents and secrets.
    pub vault: ServerVault,
    /// The file of the two in the middle, where there is one.
    telemetry: Option<Arc<TelemetryFile>>,
}

impl Store {
    /// Opens the journal and what lies beside it, or makes them.
    pub async fn open(url: &JournalUrl) -> Result<Self, Problem> {
        Self::around(ServerJournal::made(url).await?).await
    }

    /// What lies beside a journal, which is made where it is not there. Telemetry that cannot be opened is no reason not
    /// to start: an outage has rules of its own (R142-R147).
    pub async fn around(journal: ServerJournal) -> Result<Self, Problem> {
        let vault = journal.made_vault()?;
        let store = match &journal {
            ServerJournal::Sqlite(file) => {
                let telemetry = Arc::new(TelemetryFile::beside(file.path()));
                Self {
                    presence: ServerPresence::File(SqlitePresence::new(Arc::clone(&telemetry))),
                    results: ServerResults::File(SqliteResults::new(Arc::clone(&telemetry))),
                    telemetry: Some(telemetry),
                    journal,
                    vault,
                }
            }
            ServerJournal::Postgres(tables) => {
                let database = tables.database().clone();
                Self {
                    presence: ServerPresence::Database(PostgresPresence::on(database.clone())),
                    results: ServerResults::Database(PostgresResults::on(database)),
                    telemetry: None,
                    journal,
                    vault,
                }
            }
            ServerJournal::Kubernetes(objects) => Self {
                presence: ServerPresence::Cluster(KubernetesPresence::of(objects.drawer().clone(), objects.name())),
                results: ServerResults::Memory(MemoryResults::default()),
                telemetry: None,
                journal,
                vault,
            },
        };
        if let Err(error) = store.results.probe().await {
            tracing::warn!(why = %sentence(&error), "apply results cannot be kept: nothing is granted or promoted");
        }
        if let Err(error) = store.presence.flush().await {
            tracing::warn!(why = %sentence(&error), "presence cannot be read");
        }
        Ok(store)
    }

    /// Closes everything, so that a copy of the journal is whole.
    pub async fn close(&self) {
        if let Some(telemetry) = &self.telemetry
            && let Err(fault) = telemetry.close().await
        {
            tracing::warn!(why = %sentence(&fault), "telemetry could not be closed");
        }
        self.journal.close().await;
    }
}
