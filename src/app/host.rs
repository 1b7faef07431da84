//! The host of `serve`: a journal, what lies beside it, and the system clock.

use std::sync::Arc;

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
use crate::control::ports::Clock;
use crate::domain::ids::AccountId;
use crate::domain::observed::Node;
use crate::wire::problem::Problem;

/// Where everything of a control plane is kept.
pub struct ServerHost<C: Clock = SystemClock> {
    footing: Footing<C>,
    clock: SystemClock,
}

/// What a host stands on.
pub struct Footing<C: Clock = SystemClock> {
    /// The journal, and what lies beside it.
    pub store: Store,
    /// The cluster of one account.
    pub cluster: Arc<ServerCluster<C>>,
    /// Whose Kura servers are in it.
    pub account: AccountId,
    /// The name of this process in the journal and on screens.
    pub process: String,
    /// Whether agents reach it.
    pub serves_agents: bool,
}

impl ServerHost {
    /// A host on a journal that is opened or made, with no cluster.
    pub async fn without_cluster(
        journal: impl Into<JournalUrl>,
        clock: SystemClock,
        process: String,
    ) -> Result<Self, Problem> {
        let footing = Footing {
            store: Store::open(&journal.into()).await?,
            cluster: Arc::new(ServerCluster::Absent),
            account: AccountId::named("default"),
            process,
            serves_agents: true,
        };
        Ok(Self::on(footing, clock))
    }
}

impl<C: Clock> ServerHost<C> {
    /// A host that decides by `clock`.
    pub fn on(footing: Footing<C>, clock: SystemClock) -> Self {
        Self { footing, clock }
    }

    /// Closes everything, so that a copy of the journal is whole.
    pub async fn close(&self) {
        self.footing.store.close().await;
    }
}

impl<C: Clock> Host for ServerHost<C> {
    type Journal = ServerJournal;
    type Heartbeats = ServerJournal;
    type Presence = ServerPresence;
    type Results = ServerResults;
    type Vault = ServerVault;
    type Cluster = ServerCluster<C>;
    type Clock = SystemClock;

    fn journal(&self) -> &ServerJournal {
        &self.footing.store.journal
    }

    fn heartbeats(&self) -> &ServerJournal {
        &self.footing.store.journal
    }

    fn presence(&self) -> &ServerPresence {
        &self.footing.store.presence
    }

    fn results(&self) -> &ServerResults {
        &self.footing.store.results
    }

    fn vault(&self) -> &ServerVault {
        &self.footing.store.vault
    }

    fn cluster(&self) -> &ServerCluster<C> {
        &self.footing.cluster
    }

    fn looks_after(&self, account: AccountId) -> bool {
        account == self.footing.account
    }

    fn nodes(&self) -> OrdMap<String, Node> {
        self.footing.cluster.nodes()
    }

    fn clock(&self) -> &SystemClock {
        &self.clock
    }

    fn serves_agents(&self) -> bool {
        self.footing.serves_agents
    }

    fn fresh(&self) -> Uuid {
        Uuid::new_v4()
    }

    fn process(&self) -> &str {
        &self.footing.process
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
