//! Presence: when each machine last polled. In memory, and shared between servers through the file beside the journal.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use imbl::OrdMap;
use jiff::Timestamp;
use sqlx::sqlite::SqliteConnection;
use uuid::Uuid;

use super::sqlite::file::SqliteFile;
use super::sqlite::telemetry::TelemetryFile;
use crate::control::ports::{JournalError, Presence};
use crate::domain::ids::{AccountId, MachineId};
use crate::domain::world::MACHINES_MAX;

/// Rows one statement writes.
const ROWS_WRITTEN_AT_ONCE: usize = 1_000;

/// Machines the file remembers per account, the longest silent ones go first: those that are gone for good.
const ROWS_KEPT: usize = 2 * MACHINES_MAX;

const ATTEMPT: &str = "flush presence";

type Polls = OrdMap<MachineId, Timestamp>;

/// Last polls, by account. Time only moves forward: an older poll that arrives late changes nothing.
#[derive(Debug, Default)]
struct Table(Mutex<BTreeMap<AccountId, Polls>>);

impl Table {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<AccountId, Polls>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, account: AccountId, machine: MachineId, at: Timestamp) {
        let mut accounts = self.lock();
        let last = accounts.entry(account).or_default().entry(machine).or_insert(at);
        *last = at.max(*last);
    }

    fn of(&self, account: AccountId) -> Polls {
        self.lock().get(&account).cloned().unwrap_or_default()
    }
}

/// For tests and the simulator.
#[derive(Debug, Clone, Default)]
pub struct MemoryPresence {
    seen: Arc<Table>,
}

impl Presence for MemoryPresence {
    fn saw(&self, account: AccountId, machine: MachineId, at: Timestamp) {
        self.seen.note(account, machine, at);
    }

    fn seen(&self, account: AccountId) -> Polls {
        self.seen.of(account)
    }

    async fn flush(&self) -> Result<(), JournalError> {
        Ok(())
    }
}

/// In memory, and in the file after every flush. Clones share both.
#[derive(Debug, Clone)]
pub struct SqlitePresence {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    file: Arc<TelemetryFile>,
    seen: Table,
    /// Seen by this process since its last flush.
    fresh: Table,
    /// The last round of flushes this process has read.
    round: AtomicI64,
}

impl SqlitePresence {
    /// Knows nothing before its first flush, which reads what is in the file.
    pub fn new(file: Arc<TelemetryFile>) -> Self {
        let shared = Shared { file, seen: Table::default(), fresh: Table::default(), round: AtomicI64::new(0) };
        Self { shared: Arc::new(shared) }
    }

    async fn exchange(&self, fresh: &BTreeMap<AccountId, Polls>) -> Result<(), JournalError> {
        let file = self.shared.file.get().await.map_err(|fault| fault.during(ATTEMPT))?;
        let failed = |error: sqlx::Error| file.fault(&error).during(ATTEMPT);
        let (round, others) = self.write_and_read(&file, fresh).await?.map_err(failed)?;
        for (account, machine, at) in others {
            let known = (account.parse::<Uuid>(), machine.parse::<Uuid>(), Timestamp::from_microsecond(at));
            if let (Ok(account), Ok(machine), Ok(at)) = known {
                self.shared.seen.note(AccountId(account), MachineId(machine), at);
            }
        }
        self.shared.round.store(round, Ordering::Relaxed);
        Ok(())
    }

    /// One transaction: rounds are numbered in the order in which they are committed.
    async fn write_and_read(
        &self,
        file: &SqliteFile,
        fresh: &BTreeMap<AccountId, Polls>,
    ) -> Result<Result<(i64, Vec<PollRow>), sqlx::Error>, JournalError> {
        let mut writer = file.writer().await.map_err(|fault| fault.during(ATTEMPT))?;
        let read = self.shared.round.load(Ordering::Relaxed);
        let work = async {
            let mut transaction = writer.begin().await?;
            let round = next_round(&mut transaction).await?;
            let read = if read < round { read } else { 0 }; // the file was made anew and counts from 1 again
            let mut written = 0;
            for (account, polls) in fresh {
                written += write(&mut transaction, *account, polls, round).await?;
                prune(&mut transaction, *account).await?;
            }
            let others = read_since(&mut transaction, read, round).await?;
            transaction.commit().await?;
            // A round without a row leaves no trace: the next flush, whoever makes it, gets the same number.
            Ok((if written > 0 { round } else { round - 1 }, others))
        };
        let done = work.await;
        if done.is_ok() {
            writer.keep();
        }
        Ok(done)
    }
}

impl Presence for SqlitePresence {
    fn saw(&self, account: AccountId, machine: MachineId, at: Timestamp) {
        self.shared.seen.note(account, machine, at);
        self.shared.fresh.note(account, machine, at);
    }

    fn seen(&self, account: AccountId) -> Polls {
        self.shared.seen.of(account)
    }

    /// What could not be written stays for the next flush.
    async fn flush(&self) -> Result<(), JournalError> {
        let fresh = self.shared.fresh.lock().clone();
        self.exchange(&fresh).await?;
        for (account, polls) in self.shared.fresh.lock().iter_mut() {
            let Some(written) = fresh.get(account) else { continue };
            let newer = polls.iter().filter(|(machine, at)| written.get(*machine) != Some(*at));
            *polls = newer.map(|(machine, at)| (*machine, *at)).collect();
        }
        Ok(())
    }
}

type PollRow = (String, String, i64);

async fn next_round(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar("SELECT coalesce(max(round), 0) + 1 FROM polls").fetch_one(connection).await
}

async fn write(
    connection: &mut SqliteConnection,
    account: AccountId,
    polls: &Polls,
    round: i64,
) -> Result<u64, sqlx::Error> {
    const WRITE: &str = "INSERT INTO polls (account, machine, at, round) \
         SELECT ?1, poll.key, poll.value, ?2 FROM json_each(?3) AS poll WHERE true \
         ON CONFLICT (account, machine) DO UPDATE SET at = excluded.at, round = excluded.round \
         WHERE polls.at < excluded.at";
    let rows: Vec<(String, i64)> = polls.iter().map(|(id, at)| (id.to_string(), at.as_microsecond())).collect();
    let mut written = 0;
    for rows in rows.chunks(ROWS_WRITTEN_AT_ONCE) {
        let polls: serde_json::Map<_, _> = rows.iter().map(|(id, at)| (id.clone(), (*at).into())).collect();
        let polls = serde_json::Value::Object(polls).to_string();
        let query = sqlx::query(WRITE).bind(account.to_string()).bind(round).bind(polls);
        written += query.execute(&mut *connection).await?.rows_affected();
    }
    Ok(written)
}

async fn prune(connection: &mut SqliteConnection, account: AccountId) -> Result<(), sqlx::Error> {
    const COUNT: &str = "SELECT count(*) FROM polls WHERE account = ?1";
    const PRUNE: &str = "DELETE FROM polls WHERE account = ?1 AND machine IN \
         (SELECT machine FROM polls WHERE account = ?1 ORDER BY at DESC LIMIT -1 OFFSET ?2)";
    let kept = i64::try_from(ROWS_KEPT).unwrap_or(i64::MAX);
    let count: i64 = sqlx::query_scalar(COUNT).bind(account.to_string()).fetch_one(&mut *connection).await?;
    if count > kept {
        sqlx::query(PRUNE).bind(account.to_string()).bind(kept).execute(connection).await?;
    }
    Ok(())
}

async fn read_since(connection: &mut SqliteConnection, read: i64, round: i64) -> Result<Vec<PollRow>, sqlx::Error> {
    const SINCE: &str = "SELECT account, machine, at FROM polls WHERE round > ?1 AND round < ?2";
    sqlx::query_as(SINCE).bind(read).bind(round).fetch_all(connection).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account() -> AccountId {
        AccountId::named("acme")
    }

    fn moment(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).unwrap()
    }

    fn server(directory: &std::path::Path) -> SqlitePresence {
        SqlitePresence::new(Arc::new(TelemetryFile::beside(&directory.join("kura.db"))))
    }

    #[tokio::test]
    async fn servers_learn_what_others_saw_and_keep_the_later_time() {
        // R138
        let directory = tempfile::tempdir().unwrap();
        let (one, two) = (server(directory.path()), server(directory.path()));
        let (ash, birch) = (MachineId::named("ash"), MachineId::named("birch"));
        one.saw(account(), ash, moment(10));
        two.saw(account(), ash, moment(5));
        two.saw(account(), birch, moment(7));
        one.flush().await.unwrap();
        two.flush().await.unwrap();
        one.flush().await.unwrap();
        let both: Polls = [(ash, moment(10)), (birch, moment(7))].into_iter().collect();
        assert_eq!(one.seen(account()), both);
        assert_eq!(two.seen(account()), both);
        assert!(one.seen(AccountId::named("other")).is_empty());

        two.saw(account(), ash, moment(20));
        two.flush().await.unwrap();
        one.flush().await.unwrap();
        assert_eq!(one.seen(account()).get(&ash), Some(&moment(20)));

        let third = server(directory.path());
        assert!(third.seen(account()).is_empty());
        third.flush().await.unwrap();
        assert_eq!(third.seen(account()), one.seen(account()));
    }

    #[tokio::test]
    async fn a_flush_that_fails_keeps_what_it_could_not_write() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("not-yet");
        let one = server(&missing);
        one.saw(account(), MachineId::named("ash"), moment(1));
        assert!(one.flush().await.is_err());
        std::fs::create_dir(&missing).unwrap();
        one.flush().await.unwrap();
        let two = server(&missing);
        two.flush().await.unwrap();
        assert_eq!(two.seen(account()).get(&MachineId::named("ash")), Some(&moment(1)));
    }

    #[tokio::test]
    async fn a_late_report_of_an_old_poll_changes_nothing() {
        let presence = MemoryPresence::default();
        let ash = MachineId::named("ash");
        presence.saw(account(), ash, moment(10));
        presence.saw(account(), ash, moment(3));
        presence.flush().await.unwrap();
        assert_eq!(presence.seen(account()).get(&ash), Some(&moment(10)));
    }

    #[tokio::test]
    async fn a_whole_fleet_is_flushed_in_few_statements() {
        let directory = tempfile::tempdir().unwrap();
        let one = server(directory.path());
        for n in 0..ROWS_WRITTEN_AT_ONCE + 1 {
            one.saw(account(), MachineId::named(&format!("m{n}")), moment(1));
        }
        one.flush().await.unwrap();
        assert!(one.shared.fresh.of(account()).is_empty());
        let two = server(directory.path());
        two.flush().await.unwrap();
        assert_eq!(two.seen(account()), one.seen(account()));
    }
}
