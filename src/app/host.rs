//! The host of `serve`: an SQLite file, what lies beside it, and the system clock.

use std::path::Path;
use std::sync::Arc;

use imbl::OrdMap;
use uuid::Uuid;

use super::cluster::ServerCluster;
use crate::adapters::clock::SystemClock;
use crate::adapters::journal::sqlite::journal::SqliteJournal;
use crate::adapters::presence::SqlitePresence;
use crate::adapters::results::sqlite::SqliteResults;
use crate::adapters::sqlite::telemetry::TelemetryFile;
use crate::adapters::vault::file::FileVault;
use crate::control::host::Host;
use crate::control::ports::Presence;
use crate::control::trouble::sentence;
use crate::domain::ids::AccountId;
use crate::domain::observed::Node;
use crate::wire::problem::Problem;

/// Where everything of a control plane is kept.
pub struct ServerHost {
    journal: SqliteJournal,
    presence: SqlitePresence,
    results: SqliteResults,
    telemetry: Arc<TelemetryFile>,
    vault: FileVault,
    cluster: ServerCluster,
    kura_account: AccountId,
    clock: SystemClock,
    process: String,
}

/// The cluster of one account.
pub struct KuraOf {
    /// What is connected.
    pub cluster: ServerCluster,
    /// Whose Kura servers are in it.
    pub account: AccountId,
}

impl KuraOf {
    /// No cluster is connected.
    pub fn nobody() -> Self {
        Self { cluster: ServerCluster::Absent, account: AccountId::named("default") }
    }
}

impl ServerHost {
    /// Opens the journal and what lies beside it, or makes them. Telemetry that cannot be opened is no reason not to
    /// start: an outage has rules of its own (R142-R147).
    pub async fn open(journal: &Path, clock: SystemClock, process: String, kura: KuraOf) -> Result<Self, Problem> {
        let opened = SqliteJournal::open(journal).await.map_err(|fault| fault.problem())?;
        let vault = FileVault::open(FileVault::beside(opened.path()))?;
        let telemetry = Arc::new(TelemetryFile::beside(opened.path()));
        let presence = SqlitePresence::new(Arc::clone(&telemetry));
        let results = SqliteResults::new(Arc::clone(&telemetry));
        if let Err(error) = results.probe().await {
            tracing::warn!(why = %sentence(&error), "apply results cannot be kept: nothing is granted or promoted");
        }
        if let Err(error) = presence.flush().await {
            tracing::warn!(why = %sentence(&error), "presence cannot be read");
        }
        let KuraOf { cluster, account: kura_account } = kura;
        Ok(Self { journal: opened, presence, results, telemetry, vault, cluster, kura_account, clock, process })
    }

    /// Closes the files, so that a copy of the journal is whole.
    pub async fn close(&self) {
        if let Err(fault) = self.telemetry.close().await {
            tracing::warn!(why = %sentence(&fault), "telemetry could not be closed");
        }
        if let Err(fault) = self.journal.close().await {
            tracing::warn!(why = %sentence(&fault), "the journal could not be closed");
        }
    }
}

impl Host for ServerHost {
    type Journal = SqliteJournal;
    type Heartbeats = SqliteJournal;
    type Presence = SqlitePresence;
    type Results = SqliteResults;
    type Vault = FileVault;
    type Cluster = ServerCluster;
    type Clock = SystemClock;

    fn journal(&self) -> &SqliteJournal {
        &self.journal
    }

    fn heartbeats(&self) -> &SqliteJournal {
        &self.journal
    }

    fn presence(&self) -> &SqlitePresence {
        &self.presence
    }

    fn results(&self) -> &SqliteResults {
        &self.results
    }

    fn vault(&self) -> &FileVault {
        &self.vault
    }

    fn cluster(&self) -> &ServerCluster {
        &self.cluster
    }

    fn looks_after(&self, account: AccountId) -> bool {
        account == self.kura_account
    }

    fn nodes(&self) -> OrdMap<String, Node> {
        self.cluster.nodes()
    }

    fn clock(&self) -> &SystemClock {
        &self.clock
    }

    fn fresh(&self) -> Uuid {
        Uuid::new_v4()
    }

    fn process(&self) -> &str {
        &self.process
    }
}

/// The name of this process in journals and on screens: `serve@bastion-1:4711`.
pub fn process_name(way: &str) -> String {
    let hostname = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let hostname = hostname.or_else(|| std::env::var("HOSTNAME").ok()).unwrap_or_default();
    let hostname = match hostname.trim() {
        "" => "localhost",
        known => known,
    };
    format!("{way}@{hostname}:{}", std::process::id())
}
