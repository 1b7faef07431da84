//! Contents in memory: the demo, the simulator and tests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::digest::{CONTENT_MAX, TooLarge, digest_of};
use crate::control::ports::{JournalError, Vault};
use crate::domain::release::Digest;

/// Clones share the memory.
#[derive(Debug, Clone, Default)]
pub struct MemoryVault {
    contents: Arc<Mutex<BTreeMap<Digest, Vec<u8>>>>,
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
}
