//! Presence in the file beside the journal.

use std::sync::Arc;

use sqlx::sqlite::SqliteConnection;

use super::shared::{ATTEMPT, Fresh, PollRow, PollStore, ROWS_KEPT, SharedPresence};
use super::table::Polls;
use crate::adapters::sqlite::telemetry::TelemetryFile;
use crate::control::ports::JournalError;
use crate::domain::ids::AccountId;

/// Rows one statement writes.
const ROWS_WRITTEN_AT_ONCE: usize = 1_000;

/// Polls in a file.
#[derive(Debug)]
pub struct PollFile(Arc<TelemetryFile>);

/// In memory, and in the file after every flush.
pub type SqlitePresence = SharedPresence<PollFile>;

impl SqlitePresence {
    /// In this file; it is opened when it is first used.
    pub fn new(file: Arc<TelemetryFile>) -> Self {
        Self::in_store(PollFile(file))
    }
}

impl PollStore for PollFile {
    async fn exchange(&self, read: i64, fresh: &Fresh) -> Result<(i64, Vec<PollRow>), JournalError> {
        let file = self.0.get().await.map_err(|fault| fault.during(ATTEMPT))?;
        let failed = |error: sqlx::Error| file.fault(&error).during(ATTEMPT);
        let mut writer = file.writer().await.map_err(|fault| fault.during(ATTEMPT))?;
        let mut transaction = writer.begin().await.map_err(failed)?;
        let done = write_and_read(&mut transaction, read, fresh).await.map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        writer.keep();
        Ok(done)
    }
}

async fn write_and_read(
    transaction: &mut SqliteConnection,
    read: i64,
    fresh: &Fresh,
) -> Result<(i64, Vec<PollRow>), sqlx::Error> {
    let round = next_round(transaction).await?;
    let read = if read < round { read } else { 0 }; // the file was made anew and counts from 1 again
    let mut written = 0;
    for (account, polls) in fresh {
        written += write(transaction, *account, polls, round).await?;
        prune(transaction, *account).await?;
    }
    let others = read_since(transaction, read, round).await?;
    // A round without a row leaves no trace: the next flush, whoever makes it, gets the same number.
    Ok((if written > 0 { round } else { round - 1 }, others))
}

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
    use jiff::Timestamp;

    use super::*;
    use crate::control::ports::Presence;
    use crate::domain::ids::MachineId;

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
    async fn a_whole_fleet_is_flushed_in_few_statements() {
        let directory = tempfile::tempdir().unwrap();
        let one = server(directory.path());
        for n in 0..ROWS_WRITTEN_AT_ONCE + 1 {
            one.saw(account(), MachineId::named(&format!("m{n}")), moment(1));
        }
        one.flush().await.unwrap();
        assert!(one.unflushed(account()).is_empty());
        let two = server(directory.path());
        two.flush().await.unwrap();
        assert_eq!(two.seen(account()), one.seen(account()));
    }
}
