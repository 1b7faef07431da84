//! Opens everything a control plane keeps, or makes it.

use std::path::Path;
use std::sync::Arc;

use super::journal::{ServerJournal, in_cluster, in_memory};
use super::presence::ServerPresence;
use super::results::ServerResults;
use super::vault::ServerVault;
use crate::adapters::clock::SystemClock;
use crate::adapters::journal::kubernetes::address::ClusterUrl;
use crate::adapters::journal::open::JournalUrl;
use crate::adapters::journal::postgres::journal::PostgresJournal;
use crate::adapters::journal::sqlite::journal::SqliteJournal;
use crate::adapters::postgres::database::Database;
use crate::adapters::presence::kubernetes::KubernetesPresence;
use crate::adapters::presence::postgres::PostgresPresence;
use crate::adapters::presence::sqlite::SqlitePresence;
use crate::adapters::results::memory::MemoryResults;
use crate::adapters::results::postgres::PostgresResults;
use crate::adapters::results::sqlite::SqliteResults;
use crate::adapters::sqlite::telemetry::TelemetryFile;
use crate::adapters::vault::file::FileVault;
use crate::adapters::vault::kubernetes::KubernetesVault;
use crate::adapters::vault::postgres::PostgresVault;
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
    /// Opens the journal and what lies beside it, or makes them. Telemetry that cannot be opened is no reason not to
    /// start: an outage has rules of its own (R142-R147).
    pub async fn open(url: &JournalUrl, clock: SystemClock) -> Result<Self, Problem> {
        let store = match url {
            JournalUrl::Sqlite(path) => Self::in_file(path).await?,
            JournalUrl::Postgres(url) => Self::in_database(url.secret()).await?,
            JournalUrl::Kubernetes(url) => Self::in_cluster(url, clock).await?,
            JournalUrl::Memory => return Err(in_memory()),
        };
        if let Err(error) = store.results.probe().await {
            tracing::warn!(why = %sentence(&error), "apply results cannot be kept: nothing is granted or promoted");
        }
        if let Err(error) = store.presence.flush().await {
            tracing::warn!(why = %sentence(&error), "presence cannot be read");
        }
        Ok(store)
    }

    async fn in_file(path: &Path) -> Result<Self, Problem> {
        let journal = SqliteJournal::open(path).await.map_err(|fault| fault.problem())?;
        let vault = FileVault::open(FileVault::beside(journal.path()))?;
        let telemetry = Arc::new(TelemetryFile::beside(journal.path()));
        Ok(Self {
            journal: ServerJournal::Sqlite(journal),
            presence: ServerPresence::File(SqlitePresence::new(Arc::clone(&telemetry))),
            results: ServerResults::File(SqliteResults::new(Arc::clone(&telemetry))),
            vault: ServerVault::Files(vault),
            telemetry: Some(telemetry),
        })
    }

    async fn in_database(url: &str) -> Result<Self, Problem> {
        let database = Database::open(url).await.map_err(|fault| fault.problem())?;
        Ok(Self {
            presence: ServerPresence::Database(PostgresPresence::on(database.clone())),
            results: ServerResults::Database(PostgresResults::on(database.clone())),
            vault: ServerVault::Database(PostgresVault::on(database.clone())),
            journal: ServerJournal::Postgres(PostgresJournal::on(database)),
            telemetry: None,
        })
    }

    async fn in_cluster(url: &ClusterUrl, clock: SystemClock) -> Result<Self, Problem> {
        let journal = in_cluster(url, clock).await?;
        let (drawer, name) = (journal.drawer(), journal.name());
        Ok(Self {
            presence: ServerPresence::Cluster(KubernetesPresence::of(drawer.clone(), name)),
            results: ServerResults::Memory(MemoryResults::default()),
            vault: ServerVault::Cluster(KubernetesVault::of(drawer.clone(), name)),
            journal: ServerJournal::Kubernetes(journal),
            telemetry: None,
        })
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
