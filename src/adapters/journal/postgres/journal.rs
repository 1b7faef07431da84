//! The journal behind the port: a handle on the database, and which part answers which question.

use std::sync::Arc;

use super::watch::Watch;
use crate::adapters::postgres::database::{ANSWER_MAX, Database, LOAD_MAX};
use crate::adapters::postgres::fault::DatabaseFault;
use crate::control::ports::{AppendError, Batch, Beat, Head, Heartbeats, Journal, JournalError, Stretch};
use crate::control::trouble::sentence;
use crate::domain::change::Entry;
use crate::domain::ids::{AccountId, Revision};
use crate::domain::world::World;

/// A handle; clones share the connections.
#[derive(Debug, Clone)]
pub struct PostgresJournal {
    pub(super) database: Database,
    pub(super) watch: Arc<Watch>,
}

impl PostgresJournal {
    /// The journal in a database. Any number of processes may use the same one.
    pub fn on(database: Database) -> Self {
        let watch = Arc::new(Watch::start(&database));
        Self { database, watch }
    }

    /// Connects, and brings the tables to the newest version.
    pub async fn open(url: &str) -> Result<Self, DatabaseFault> {
        Ok(Self::on(Database::open(url).await?))
    }

    /// The database it is in.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// Where it is, without a password.
    pub fn at(&self) -> &str {
        self.database.at()
    }

    /// Whether this role may write it, and this database takes writes at all. Nothing is written.
    ///
    /// # Errors
    /// Why not, or that it does not answer, in a few words.
    pub async fn takes_writes(&self) -> Result<(), String> {
        const ASKED: &str = "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean, \
             has_table_privilege('entries', 'INSERT') AND has_table_privilege('heads', 'INSERT') \
             AND has_table_privilege('heads', 'UPDATE') AND has_table_privilege('beats', 'INSERT') \
             AND has_table_privilege('beats', 'UPDATE')";
        let asked = async {
            let failed = self.failed("ask what may be written");
            let mut lease = self.database.lease().await.map_err(&failed)?;
            let told: (bool, bool) = sqlx::query_as(ASKED).fetch_one(&mut *lease).await.map_err(&failed)?;
            lease.keep();
            Ok::<_, JournalError>(told)
        };
        match self.database.within(ANSWER_MAX, "ask what may be written", asked).await {
            Ok((false, true)) => Ok(()),
            Ok((true, _)) => Err("the database takes no writes: it is a standby, or read-only".to_owned()),
            Ok((false, false)) => Err("this role may not insert entries and move the head".to_owned()),
            Err(error) => Err(sentence(&error)),
        }
    }

    /// For a graceful exit: waits for the append in flight. Later uses of any clone are refused.
    pub async fn close(&self) {
        self.watch.stop();
        self.database.close().await;
    }

    /// What an error of the driver means while something was attempted.
    pub(super) fn failed(&self, attempt: &'static str) -> impl Fn(sqlx::Error) -> JournalError + '_ {
        move |error| self.database.fault(&error).during(attempt)
    }
}

impl Journal for PostgresJournal {
    fn kind(&self) -> &'static str {
        "postgres"
    }

    /// What was sent may be committed after its connection broke.
    fn fails_for_good(&self) -> bool {
        false
    }

    async fn head(&self, account: AccountId) -> Result<Head, JournalError> {
        self.database.within(ANSWER_MAX, "read the head", self.read_head(account)).await
    }

    async fn load(&self, account: AccountId) -> Result<World, JournalError> {
        self.database.within(LOAD_MAX, "load", self.load_world(account)).await
    }

    async fn append(&self, batch: Batch) -> Result<Head, AppendError> {
        self.database.within(ANSWER_MAX, "append", self.append_batch(&batch)).await
    }

    async fn read(&self, account: AccountId, after: Revision, limit: usize) -> Result<Vec<Entry>, JournalError> {
        self.database.within(ANSWER_MAX, "read entries", self.read_entries(account, after, limit)).await
    }

    async fn links(&self, account: AccountId, stretch: Stretch, limit: usize) -> Result<Vec<Entry>, JournalError> {
        self.database.within(ANSWER_MAX, "read links of the audit", self.read_links(account, stretch, limit)).await
    }

    async fn follow(&self, account: AccountId, after: Revision) -> Result<Head, JournalError> {
        self.follow_head(account, after).await
    }

    async fn snapshot(&self, account: AccountId, world: &World) -> Result<(), JournalError> {
        self.database.within(ANSWER_MAX, "keep a snapshot", self.keep_snapshot(account, world.clone())).await
    }
}

impl Heartbeats for PostgresJournal {
    async fn beat(&self, account: AccountId, beat: Beat) -> Result<(), JournalError> {
        self.database.within(ANSWER_MAX, "keep a heartbeat", self.keep_beat(account, &beat)).await
    }

    async fn last(&self, account: AccountId) -> Result<Option<Beat>, JournalError> {
        self.database.within(ANSWER_MAX, "read the heartbeat", self.last_beat(account)).await
    }
}
