//! Contents in memory: the demo, the simulator and tests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::digest::{CONTENT_MAX, TooLarge, digest_of};
use crate::control::ports::{JournalError, Vault};
use crate::domain::ids::{AccountId, SecretVersion};
use crate::domain::release::Digest;

/// Clones share the memory.
#[derive(Clone, Default)]
pub struct MemoryVault {
    contents: Arc<Mutex<BTreeMap<Digest, Vec<u8>>>>,
    secrets: Arc<Mutex<BTreeMap<(AccountId, SecretVersion), String>>>,
}

impl Vault for MemoryVault {
    async fn keep(&self, content: Vec<u8>) -> Result<Digest, JournalError> {
        if content.len() > CONTENT_MAX {
            let source = Box::new(TooLarge(content.len()));
            return Err(JournalError::Store { attempt: "keep a content", source });
        }
        let digest = digest_of(&content);
        self.contents.lock().unwrap_or_else(PoisonError::into_inner).insert(digest.clone(), content);
        Ok(digest)
    }

    async fn fetch(&self, digest: &Digest) -> Result<Option<Vec<u8>>, JournalError> {
        Ok(self.contents.lock().unwrap_or_else(PoisonError::into_inner).get(digest).cloned())
    }

    async fn secret(&self, account: AccountId, version: SecretVersion) -> Result<Option<String>, JournalError> {
        Ok(self.secrets.lock().unwrap_or_else(PoisonError::into_inner).get(&(account, version)).cloned())
    }

    async fn keep_secret(&self, account: AccountId, version: SecretVersion, value: String) -> Result<(), JournalError> {
        self.secrets.lock().unwrap_or_else(PoisonError::into_inner).insert((account, version), value);
        Ok(())
    }

    async fn drop_secret(&self, account: AccountId, version: SecretVersion) -> Result<(), JournalError> {
        self.secrets.lock().unwrap_or_else(PoisonError::into_inner).remove(&(account, version));
        Ok(())
    }
}
