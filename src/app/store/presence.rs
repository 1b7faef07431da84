//! Presence of a process: shared through what its journal is kept in.

use imbl::OrdMap;
use jiff::Timestamp;

use crate::adapters::clock::SystemClock;
use crate::adapters::presence::kubernetes::KubernetesPresence;
use crate::adapters::presence::postgres::PostgresPresence;
use crate::adapters::presence::sqlite::SqlitePresence;
use crate::control::ports::{JournalError, Presence};
use crate::domain::ids::{AccountId, MachineId};

/// When each machine last polled. Clones share it.
#[derive(Debug, Clone)]
pub enum ServerPresence {
    /// Shared through the file beside the journal.
    File(SqlitePresence),
    /// Shared through the journal's database.
    Database(PostgresPresence),
    /// Shared through the journal's cluster.
    Cluster(KubernetesPresence<SystemClock>),
}

impl Presence for ServerPresence {
    fn saw(&self, account: AccountId, machine: MachineId, at: Timestamp) {
        match self {
            Self::File(presence) => presence.saw(account, machine, at),
            Self::Database(presence) => presence.saw(account, machine, at),
            Self::Cluster(presence) => presence.saw(account, machine, at),
        }
    }

    fn seen(&self, account: AccountId) -> OrdMap<MachineId, Timestamp> {
        match self {
            Self::File(presence) => presence.seen(account),
            Self::Database(presence) => presence.seen(account),
            Self::Cluster(presence) => presence.seen(account),
        }
    }

    async fn flush(&self) -> Result<(), JournalError> {
        match self {
            Self::File(presence) => presence.flush().await,
            Self::Database(presence) => presence.flush().await,
            Self::Cluster(presence) => presence.flush().await,
        }
    }
}
