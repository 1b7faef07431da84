//! The host of `serve`: a journal, what lies beside it, and the system clock.

use imbl::OrdMap;
use uuid::Uuid;

use super::cluster::ServerCluster;
use super::store::journal::ServerJournal;
use super::store::open::Store;
use super::store::presence::ServerPresence;
use super::store::results::ServerResults;
use super::store::vault::ServerVault;
use crate::adapters::clock::SystemClock;
use crate::adapters::journal::open::JournalUrl;
use crate::control::host::Host;
use crate::domain::ids::AccountId;
use crate::domain::observed::Node;
use crate::wire::problem::Problem;

/// Where everything of a control plane is kept.
pub struct ServerHost {
    store: Store,
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
    /// Opens the journal and what lies beside it, or makes them.
    pub async fn open(
        journal: impl Into<JournalUrl>,
        clock: SystemClock,
        process: String,
        kura: KuraOf,
    ) -> Result<Self, Problem> {
        let store = Store::open(&journal.into(), clock).await?;
        let KuraOf { cluster, account: kura_account } = kura;
        Ok(Self { store, cluster, kura_account, clock, process })
    }

    /// Closes everything, so that a copy of the journal is whole.
    pub async fn close(&self) {
        self.store.close().await;
    }
}

impl Host for ServerHost {
    type Journal = ServerJournal;
    type Heartbeats = ServerJournal;
    type Presence = ServerPresence;
    type Results = ServerResults;
    type Vault = ServerVault;
    type Cluster = ServerCluster;
    type Clock = SystemClock;

    fn journal(&self) -> &ServerJournal {
        &self.store.journal
    }

    fn heartbeats(&self) -> &ServerJournal {
        &self.store.journal
    }

    fn presence(&self) -> &ServerPresence {
        &self.store.presence
    }

    fn results(&self) -> &ServerResults {
        &self.store.results
    }

    fn vault(&self) -> &ServerVault {
        &self.store.vault
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
