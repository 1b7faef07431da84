//! The vault of a process: beside its journal, so that whoever can decide can also serve.

use crate::adapters::clock::SystemClock;
use crate::adapters::vault::file::FileVault;
use crate::adapters::vault::kubernetes::KubernetesVault;
use crate::adapters::vault::postgres::PostgresVault;
use crate::control::ports::{JournalError, Vault};
use crate::domain::ids::{AccountId, SecretVersion};
use crate::domain::release::Digest;

/// Contents by digest, secrets by version. Clones share it.
#[derive(Debug, Clone)]
pub enum ServerVault {
    /// In a folder beside the journal.
    Files(FileVault),
    /// In the journal's database.
    Database(PostgresVault),
    /// In the journal's cluster.
    Cluster(KubernetesVault<SystemClock>),
}

/// The same for whichever it is.
macro_rules! each {
    ($vault:expr, $one:ident => $answer:expr) => {
        match $vault {
            Self::Files($one) => $answer,
            Self::Database($one) => $answer,
            Self::Cluster($one) => $answer,
        }
    };
}

impl Vault for ServerVault {
    async fn keep(&self, content: Vec<u8>) -> Result<Digest, JournalError> {
        each!(self, vault => vault.keep(content).await)
    }

    async fn fetch(&self, digest: &Digest) -> Result<Option<Vec<u8>>, JournalError> {
        each!(self, vault => vault.fetch(digest).await)
    }

    async fn secret(&self, account: AccountId, version: SecretVersion) -> Result<Option<String>, JournalError> {
        each!(self, vault => vault.secret(account, version).await)
    }

    async fn keep_secret(&self, account: AccountId, version: SecretVersion, value: String) -> Result<(), JournalError> {
        each!(self, vault => vault.keep_secret(account, version, value).await)
    }

    async fn drop_secret(&self, account: AccountId, version: SecretVersion) -> Result<(), JournalError> {
        each!(self, vault => vault.drop_secret(account, version).await)
    }
}
