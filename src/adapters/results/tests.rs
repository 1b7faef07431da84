//! What both stores of results must do, and what only the file can go through.

use std::path::Path;
use std::sync::Arc;

use super::memory::MemoryResults;
use super::sqlite::SqliteResults;
use super::stored::{CLEARED_EVERY, RETRY_EVERY};
use super::trim::tests::result;
use super::trim::{FIND_MAX, LOG_TAIL_MAX};
use crate::adapters::sqlite::telemetry::TelemetryFile;
use crate::control::ports::{ApplyResult, ResultQuery, Results};
use crate::domain::ids::{AccountId, MachineId, ReleaseId};
use crate::domain::observed::Telemetry;

fn account() -> AccountId {
    AccountId::named("acme")
}

fn file(directory: &Path) -> Arc<TelemetryFile> {
    Arc::new(TelemetryFile::beside(&directory.join("kura.db")))
}

fn newest(limit: usize) -> ResultQuery {
    ResultQuery { limit, ..ResultQuery::default() }
}

async fn files_once_and_finds_newest_first(results: impl Results) {
    let runs = [result("ash", "v1", 1), result("birch", "v1", 2), result("ash", "v2", 3), result("ash", "v1", 4)];
    for run in &runs {
        results.file(account(), run.clone()).await.unwrap();
    }
    results.file(account(), ApplyResult { changed_count: 99, ..runs[0].clone() }).await.unwrap();
    let again = ApplyResult { generation: 2, ..runs[0].clone() };
    results.file(account(), again.clone()).await.unwrap();
    results.file(AccountId::named("other"), runs[0].clone()).await.unwrap();

    let find = async |query| results.find(account(), query).await.unwrap();
    let [first, second, third, fourth] = runs;
    let ash = ResultQuery { machine: Some(MachineId::named("ash")), ..newest(10) };
    let v1 = ResultQuery { release: Some(ReleaseId::named("v1")), ..newest(10) };
    let both = ResultQuery { release: v1.release, ..ash };
    assert_eq!(find(newest(2)).await, [again.clone(), fourth.clone()]);
    assert_eq!(find(ash).await, [again.clone(), fourth.clone(), third, first.clone()]);
    assert_eq!(find(v1).await, [again.clone(), fourth.clone(), second, first.clone()]);
    assert_eq!(find(both).await, [again, fourth, first]);
    assert!(find(newest(0)).await.is_empty());
    assert_eq!(results.telemetry(), Telemetry::Readable);
}

async fn keeps_the_end_of_a_log(results: impl Results) {
    let log_tail = "x".repeat(LOG_TAIL_MAX + 5);
    results.file(account(), ApplyResult { log_tail, ..result("ash", "v1", 1) }).await.unwrap();
    let found = results.find(account(), newest(FIND_MAX + 1)).await.unwrap();
    assert_eq!(found[0].log_tail.len(), LOG_TAIL_MAX);
}

#[tokio::test]
async fn in_memory() {
    files_once_and_finds_newest_first(MemoryResults::default()).await;
    keeps_the_end_of_a_log(MemoryResults::default()).await;
}

#[tokio::test]
async fn in_a_file() {
    let directory = tempfile::tempdir().unwrap();
    files_once_and_finds_newest_first(SqliteResults::new(file(directory.path()))).await;
    let directory = tempfile::tempdir().unwrap();
    keeps_the_end_of_a_log(SqliteResults::new(file(directory.path()))).await;
}

#[tokio::test]
async fn the_switch_makes_memory_unreadable_and_readable_again() {
    // R142, R146
    let results = MemoryResults::default();
    results.file(account(), result("ash", "v1", 1)).await.unwrap();
    results.set_unreadable(true);
    assert_eq!(results.telemetry(), Telemetry::Unreadable);
    assert!(results.find(account(), newest(1)).await.is_err());
    assert!(results.file(account(), result("ash", "v1", 2)).await.is_err());
    results.set_unreadable(false);
    assert_eq!(results.telemetry(), Telemetry::Readable);
    assert_eq!(results.find(account(), newest(9)).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_file_that_fails_is_unreadable_until_something_succeeds() {
    // R142, R146
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("not-yet");
    let results = SqliteResults::new(file(&missing));
    assert!(results.probe().await.is_err());
    assert_eq!(results.telemetry(), Telemetry::Unreadable);
    std::fs::create_dir(&missing).unwrap();
    results.file(account(), result("ash", "v1", 1)).await.unwrap();
    assert_eq!(results.telemetry(), Telemetry::Readable);

    for file in ["kura.db.telemetry", "kura.db.telemetry-wal", "kura.db.telemetry-shm"] {
        std::fs::remove_file(missing.join(file)).unwrap();
    }
    std::fs::write(missing.join("kura.db.telemetry"), "not a database").unwrap();
    let error = results.find(account(), newest(1)).await.unwrap_err();
    assert!(std::error::Error::source(&error).unwrap().to_string().ends_with("it is not an SQLite database"));
    assert_eq!(results.telemetry(), Telemetry::Unreadable);

    std::fs::remove_file(missing.join("kura.db.telemetry")).unwrap();
    results.probe().await.unwrap();
    assert_eq!(results.telemetry(), Telemetry::Readable);
}

#[tokio::test]
async fn an_outage_ends_without_anybody_asking() {
    // R146
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("not-yet");
    let soon = std::time::Duration::from_millis(5);
    let results = SqliteResults::tuned(file(&missing), 10, soon);
    assert!(results.file(account(), result("ash", "v1", 1)).await.is_err());
    tokio::time::sleep(soon * 4).await;
    assert_eq!(results.telemetry(), Telemetry::Unreadable, "it lasts");
    std::fs::create_dir(&missing).unwrap();
    let over = async {
        while results.telemetry() == Telemetry::Unreadable {
            tokio::time::sleep(soon).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(10), over).await.unwrap();
}

#[tokio::test]
async fn only_the_newest_results_of_an_account_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    let results = SqliteResults::tuned(file(directory.path()), 10, RETRY_EVERY);
    for run in 0..i64::try_from(CLEARED_EVERY).unwrap() {
        results.file(account(), result("ash", "v1", run)).await.unwrap();
    }
    let found = results.find(account(), newest(FIND_MAX)).await.unwrap();
    assert_eq!(found.len(), 10);
    assert_eq!(found[0], result("ash", "v1", i64::try_from(CLEARED_EVERY).unwrap() - 1));
}
