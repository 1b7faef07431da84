//! Contents at hand: what was fetched from the Vault lately, so that a fleet on one release reads it once.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::desk::DeskError;
use super::ports::Vault;
use super::trouble::sentence;
use crate::domain::release::Digest;

/// Contents kept at hand; the one fetched longest ago goes first.
pub(super) const CONTENTS_AT_HAND: usize = 64;

type Kept = (Digest, Arc<[u8]>);

/// The cache. Contents never change under their digest, so nothing in it grows old. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Contents {
    kept: Arc<Mutex<VecDeque<Kept>>>,
}

impl Contents {
    /// The content of a digest, from here or from the Vault.
    pub(super) async fn fetch(&self, vault: &impl Vault, digest: &Digest) -> Result<Arc<[u8]>, DeskError> {
        if let Some(content) = self.at_hand(digest) {
            return Ok(content);
        }
        let fetched = vault.fetch(digest).await.map_err(|error| DeskError::Vault(sentence(&error)))?;
        let content: Arc<[u8]> = fetched.ok_or_else(|| DeskError::Gone(digest.clone()))?.into();
        self.keep(digest, &content);
        Ok(content)
    }

    fn at_hand(&self, digest: &Digest) -> Option<Arc<[u8]>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(known, _)| known == digest).map(|(_, content)| Arc::clone(content))
    }

    fn keep(&self, digest: &Digest, content: &Arc<[u8]>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.iter().any(|(known, _)| known == digest) {
            return;
        }
        if kept.len() >= CONTENTS_AT_HAND {
            kept.pop_front();
        }
        kept.push_back((digest.clone(), Arc::clone(content)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_that_was_fetched_longest_ago_goes_first() {
        let contents = Contents::default();
        let digest = |n: usize| Digest(format!("d{n}"));
        (0..=CONTENTS_AT_HAND).for_each(|n| contents.keep(&digest(n), &Arc::from([1])));
        assert!(contents.at_hand(&digest(0)).is_none());
        assert!((1..=CONTENTS_AT_HAND).all(|n| contents.at_hand(&digest(n)).is_some()));
    }
}
