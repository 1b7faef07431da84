//! Contents and secrets in the cluster the journal is in, as Secrets: for those who may read secrets there, and nobody
//! else.

use std::collections::BTreeMap;

use super::digest::{CONTENT_MAX, TooLarge, digest_of, is_digest};
use crate::adapters::kube::drawer::{Drawer, JOURNAL, Kept, PART, Shelf};
use crate::adapters::kube::fault::ClusterFault;
use crate::adapters::kube::piece::{PIECE_MAX, packed, unpacked};
use crate::control::ports::{Clock, JournalError, Vault};
use crate::domain::ids::{AccountId, SecretVersion};
use crate::domain::release::Digest;

const KEEP: &str = "keep a content";
const FETCH: &str = "fetch a content";
const KEEP_SECRET: &str = "keep a secret";
const READ_SECRET: &str = "read a secret";
const DROP_SECRET: &str = "drop a secret";

/// What an object holds, and how many there are of a content that is larger than one.
const PIECE: &str = "piece";
const PIECES: &str = "pieces";
const VALUE: &str = "value";

/// A vault in a namespace. Clones share the connection.
#[derive(Debug, Clone)]
pub struct KubernetesVault<C> {
    drawer: Drawer<C>,
    journal: String,
}

impl<C: Clock> KubernetesVault<C> {
    /// Beside the journal of this name.
    pub fn of(drawer: Drawer<C>, journal: &str) -> Self {
        Self { drawer, journal: journal.to_owned() }
    }

    fn piece_of(&self, digest: &Digest, nth: usize) -> String {
        format!("{}.content.{digest}.{nth}", self.journal)
    }

    fn secret_of(&self, account: AccountId, version: SecretVersion) -> String {
        format!("{}.secret.{account}.{version}", self.journal)
    }

    fn kept(&self, part: &str, name: String, bytes: BTreeMap<String, Vec<u8>>) -> Kept {
        let labels = [(JOURNAL, self.journal.as_str()), (PART, part)];
        let labels = labels.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        Kept { name, labels, bytes, is_final: true, ..Kept::default() }
    }

    /// Made where nothing is: a name tells what is in it.
    async fn make(&self, attempt: &'static str, kept: &Kept) -> Result<(), JournalError> {
        match self.drawer.create(Shelf::Secret, kept).await {
            Ok(_) | Err(ClusterFault::Exists { .. }) => Ok(()),
            Err(fault) => Err(failed(attempt)(fault)),
        }
    }

    async fn bytes(&self, attempt: &'static str, name: &str, key: &str) -> Result<Option<Vec<u8>>, JournalError> {
        let kept = self.drawer.get(Shelf::Secret, name).await.map_err(failed(attempt))?;
        Ok(kept.and_then(|mut kept| kept.bytes.remove(key)))
    }
}

fn failed(attempt: &'static str) -> impl Fn(ClusterFault) -> JournalError {
    move |fault| JournalError::Store { attempt, source: Box::new(fault) }
}

fn damaged(digest: &Digest) -> JournalError {
    let source = format!("{digest} is damaged: its content has another digest than its name").into();
    JournalError::Store { attempt: FETCH, source }
}

impl<C: Clock> Vault for KubernetesVault<C> {
    /// The first piece comes last: once it is there, all of it is.
    async fn keep(&self, content: Vec<u8>) -> Result<Digest, JournalError> {
        if content.len() > CONTENT_MAX {
            return Err(JournalError::Store { attempt: KEEP, source: Box::new(TooLarge(content.len())) });
        }
        let digest = digest_of(&content);
        if self.drawer.get(Shelf::Secret, &self.piece_of(&digest, 0)).await.map_err(failed(KEEP))?.is_some() {
            return Ok(digest);
        }
        let whole = packed(&content);
        let pieces: Vec<&[u8]> = whole.chunks(PIECE_MAX).collect();
        for (nth, piece) in pieces.iter().enumerate().rev() {
            let mut bytes = BTreeMap::from([(PIECE.to_owned(), piece.to_vec())]);
            if nth == 0 {
                bytes.insert(PIECES.to_owned(), pieces.len().to_string().into_bytes());
            }
            self.make(KEEP, &self.kept("content", self.piece_of(&digest, nth), bytes)).await?;
        }
        Ok(digest)
    }

    async fn fetch(&self, digest: &Digest) -> Result<Option<Vec<u8>>, JournalError> {
        if !is_digest(digest) {
            return Ok(None);
        }
        let first = self.drawer.get(Shelf::Secret, &self.piece_of(digest, 0)).await.map_err(failed(FETCH))?;
        let Some(mut first) = first else { return Ok(None) };
        let count = first.bytes.get(PIECES).and_then(|count| std::str::from_utf8(count).ok()?.parse().ok());
        let mut whole = first.bytes.remove(PIECE).unwrap_or_default();
        for nth in 1..count.unwrap_or(1) {
            let piece = self.bytes(FETCH, &self.piece_of(digest, nth), PIECE).await?;
            whole.extend(piece.ok_or_else(|| damaged(digest))?);
        }
        match unpacked(&whole) {
            Ok(content) if digest_of(&content) == *digest => Ok(Some(content)),
            _ => Err(damaged(digest)),
        }
    }

    async fn secret(&self, account: AccountId, version: SecretVersion) -> Result<Option<String>, JournalError> {
        let value = self.bytes(READ_SECRET, &self.secret_of(account, version), VALUE).await?;
        let text = value.map(String::from_utf8).transpose();
        text.map_err(|error| JournalError::Store { attempt: READ_SECRET, source: Box::new(error.utf8_error()) })
    }

    async fn keep_secret(&self, account: AccountId, version: SecretVersion, value: String) -> Result<(), JournalError> {
        let bytes = BTreeMap::from([(VALUE.to_owned(), value.into_bytes())]);
        self.make(KEEP_SECRET, &self.kept("secret", self.secret_of(account, version), bytes)).await
    }

    async fn drop_secret(&self, account: AccountId, version: SecretVersion) -> Result<(), JournalError> {
        let name = self.secret_of(account, version);
        self.drawer.delete(Shelf::Secret, &name).await.map_err(failed(DROP_SECRET))
    }
}
