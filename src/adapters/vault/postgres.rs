//! Contents and secrets in the journal's database: whoever renders for an agent may be another process than the one
//! that was given a secret, and whoever hands a content out another than the one that rendered it.

use super::digest::{CONTENT_MAX, TooLarge, digest_of, is_digest};
use crate::adapters::postgres::database::{ANSWER_MAX, Database};
use crate::control::ports::{JournalError, Vault};
use crate::domain::ids::{AccountId, SecretVersion};
use crate::domain::release::Digest;

const KEEP: &str = "keep a content";
const FETCH: &str = "fetch a content";
const KEEP_SECRET: &str = "keep a secret";
const READ_SECRET: &str = "read a secret";
const DROP_SECRET: &str = "drop a secret";

/// A vault in a database. Whoever may read its tables may read the secrets. Clones share the connections.
#[derive(Debug, Clone)]
pub struct PostgresVault {
    database: Database,
}

impl PostgresVault {
    /// In this database.
    pub fn on(database: Database) -> Self {
        Self { database }
    }

    fn failed(&self, attempt: &'static str) -> impl Fn(sqlx::Error) -> JournalError + '_ {
        move |error| self.database.fault(&error).during(attempt)
    }

    /// Sent only where it is not there yet: machines of a release mostly share one content.
    async fn keep_now(&self, digest: &Digest, content: Vec<u8>) -> Result<(), JournalError> {
        const KNOWN: &str = "SELECT EXISTS (SELECT FROM contents WHERE digest = $1)";
        const INSERT: &str = "INSERT INTO contents (digest, body) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        let failed = self.failed(KEEP);
        let mut lease = self.database.lease().await.map_err(&failed)?;
        let known: bool = sqlx::query_scalar(KNOWN).bind(&digest.0).fetch_one(&mut *lease).await.map_err(&failed)?;
        if !known {
            sqlx::query(INSERT).bind(&digest.0).bind(content).execute(&mut *lease).await.map_err(&failed)?;
        }
        lease.keep();
        Ok(())
    }

    async fn fetch_now(&self, digest: &Digest) -> Result<Option<Vec<u8>>, JournalError> {
        const SELECT: &str = "SELECT body FROM contents WHERE digest = $1";
        let failed = self.failed(FETCH);
        let mut lease = self.database.lease().await.map_err(&failed)?;
        let query = sqlx::query_scalar(SELECT).bind(&digest.0);
        let body: Option<Vec<u8>> = query.fetch_optional(&mut *lease).await.map_err(&failed)?;
        lease.keep();
        match body {
            Some(body) if digest_of(&body) != *digest => {
                let source = format!("{digest} is damaged: its content has another digest than its name").into();
                Err(JournalError::Store { attempt: FETCH, source })
            }
            found => Ok(found),
        }
    }

    async fn secret_now(&self, account: AccountId, version: SecretVersion) -> Result<Option<String>, JournalError> {
        const SELECT: &str = "SELECT value FROM secrets WHERE account = $1 AND version = $2";
        let failed = self.failed(READ_SECRET);
        let mut lease = self.database.lease().await.map_err(&failed)?;
        let query = sqlx::query_scalar(SELECT).bind(account.to_string()).bind(version.to_string());
        let value = query.fetch_optional(&mut *lease).await.map_err(&failed)?;
        lease.keep();
        Ok(value)
    }

    async fn keep_secret_now(
        &self,
        account: AccountId,
        version: SecretVersion,
        value: String,
    ) -> Result<(), JournalError> {
        const INSERT: &str = "INSERT INTO secrets (account, version, value) VALUES ($1, $2, $3) \
             ON CONFLICT (account, version) DO UPDATE SET value = excluded.value";
        let failed = self.failed(KEEP_SECRET);
        let mut lease = self.database.lease().await.map_err(&failed)?;
        let query = sqlx::query(INSERT).bind(account.to_string()).bind(version.to_string()).bind(value);
        query.execute(&mut *lease).await.map_err(&failed)?;
        lease.keep();
        Ok(())
    }

    async fn drop_secret_now(&self, account: AccountId, version: SecretVersion) -> Result<(), JournalError> {
        const DELETE: &str = "DELETE FROM secrets WHERE account = $1 AND version = $2";
        let failed = self.failed(DROP_SECRET);
        let mut lease = self.database.lease().await.map_err(&failed)?;
        let query = sqlx::query(DELETE).bind(account.to_string()).bind(version.to_string());
        query.execute(&mut *lease).await.map_err(&failed)?;
        lease.keep();
        Ok(())
    }
}

impl Vault for PostgresVault {
    async fn keep(&self, content: Vec<u8>) -> Result<Digest, JournalError> {
        if content.len() > CONTENT_MAX {
            let source = Box::new(TooLarge(content.len()));
            return Err(JournalError::Store { attempt: KEEP, source });
        }
        let digest = digest_of(&content);
        self.database.within(ANSWER_MAX, KEEP, self.keep_now(&digest, content)).await?;
        Ok(digest)
    }

    async fn fetch(&self, digest: &Digest) -> Result<Option<Vec<u8>>, JournalError> {
        if !is_digest(digest) {
            return Ok(None);
        }
        self.database.within(ANSWER_MAX, FETCH, self.fetch_now(digest)).await
    }

    async fn secret(&self, account: AccountId, version: SecretVersion) -> Result<Option<String>, JournalError> {
        self.database.within(ANSWER_MAX, READ_SECRET, self.secret_now(account, version)).await
    }

    async fn keep_secret(&self, account: AccountId, version: SecretVersion, value: String) -> Result<(), JournalError> {
        self.database.within(ANSWER_MAX, KEEP_SECRET, self.keep_secret_now(account, version, value)).await
    }

    async fn drop_secret(&self, account: AccountId, version: SecretVersion) -> Result<(), JournalError> {
        self.database.within(ANSWER_MAX, DROP_SECRET, self.drop_secret_now(account, version)).await
    }
}
