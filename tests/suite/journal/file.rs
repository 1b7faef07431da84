//! A journal in a file: what is refused at the door, what damage it notices, and what it gets over.

use std::fs;
use std::path::Path;

use kura_console::adapters::journal::sqlite::journal::SqliteJournal;
use kura_console::adapters::sqlite::fault::{Flaw, StoreFault};
use kura_console::control::ports::{AppendError, Batch, Journal, JournalError};
use kura_console::domain::change::Change;
use kura_console::domain::fleet::Machine;
use kura_console::domain::ids::{AccountId, MachineId};
use kura_console::domain::world::World;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

use super::beds::{Bed, File};
use super::changes::{batch, entry, fold};
use crate::e2e::command::kura;

fn account() -> AccountId {
    AccountId::named("acme")
}

async fn refused(path: &Path) -> StoreFault {
    SqliteJournal::open(path).await.unwrap_err()
}

async fn shell(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new().filename(path).create_if_missing(true).connect().await.unwrap()
}

/// What an operator, or a bad disk, does behind the journal's back.
async fn meddle(path: &Path, sql: &str) {
    let mut shell = shell(path).await;
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut shell).await.unwrap();
    shell.close().await.unwrap();
}

/// A journal of `entries` entries with two snapshots, opened again, and its batch.
async fn filled(bed: &File, entries: u64) -> (SqliteJournal, Batch) {
    let journal = bed.open().await;
    let whole = batch(account(), 0, entries, 1);
    journal.append(whole.clone()).await.unwrap();
    let at = |count: u64| fold(&whole.entries[..usize::try_from(count).unwrap()]);
    journal.snapshot(account(), &at(entries / 2)).await.unwrap();
    journal.snapshot(account(), &at(entries - 1)).await.unwrap();
    (journal, whole)
}

#[tokio::test]
async fn a_place_where_no_journal_can_be_says_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let (file, nowhere) = (directory.path().join("kura.db"), directory.path().join("no/where/kura.db"));
    let fault = refused(&nowhere).await;
    assert!(matches!(fault.flaw, Flaw::NoDirectory(_)));
    assert_eq!(fault.problem().hints, [format!("create it: mkdir -p {}", nowhere.parent().unwrap().display())]);
    assert!(matches!(refused(directory.path()).await.flaw, Flaw::IsDirectory));

    fs::write(&file, "a diary, not a database, and long enough to be read as a header of a page").unwrap();
    let fault = refused(&file).await;
    assert!(matches!(fault.flaw, Flaw::NotADatabase), "{fault}");
    assert!(fs::read_to_string(&file).unwrap().starts_with("a diary"), "what is not ours stays as it is");
    fs::write(&file, "").unwrap();
    SqliteJournal::open(&file).await.unwrap().close().await.unwrap();
}

/// Places that no user may write to, not even the one that runs tests in a container.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_this_user_may_not_touch_is_named() {
    for place in ["/proc/version", "/proc/kura.db"] {
        let fault = refused(Path::new(place)).await;
        assert!(matches!(&fault.flaw, Flaw::Forbidden(named) if named == Path::new(place)), "{fault}");
        assert!(fault.hints()[0].contains("rights on the file and on its directory"));
    }
}

#[tokio::test]
async fn files_of_others_and_from_the_future_are_left_alone() {
    let bed = File::default();
    meddle(&bed.path(), "CREATE TABLE songs (title TEXT)").await;
    assert!(matches!(refused(&bed.path()).await.flaw, Flaw::Foreign));
    let mut shell = shell(&bed.path()).await;
    let mode: String = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(&mut shell).await.unwrap();
    assert_eq!(mode, "delete", "not even its journal mode was changed");

    let bed = File::default();
    bed.open().await.close().await.unwrap();
    meddle(&bed.path(), "PRAGMA user_version = 99").await;
    let fault = refused(&bed.path()).await;
    assert!(fault.to_string().ends_with("it has format 99, and this program knows formats up to 2"), "{fault}");
}

#[tokio::test]
async fn processes_that_make_the_same_file_at_once_all_get_it() {
    for _ in 0..10 {
        let bed = File::default();
        let (one, two, three) = tokio::join!(bed.open(), bed.open(), bed.open());
        one.append(batch(account(), 0, 1, 1)).await.unwrap();
        two.append(batch(account(), 1, 1, 2)).await.unwrap();
        assert_eq!(three.head(account()).await.unwrap().revision, 2);
    }
}

#[tokio::test]
async fn a_damaged_snapshot_costs_time_and_no_facts() {
    let bed = File::default();
    let (journal, whole) = filled(&bed, 40).await;
    let expected = fold(&whole.entries);
    for (damage, which) in [("'{}'", 39), ("'not json'", 20)] {
        meddle(&bed.path(), &format!("UPDATE snapshots SET world = CAST({damage} AS BLOB) WHERE revision = {which}"))
            .await;
        assert_eq!(journal.load(account()).await.unwrap(), expected);
    }
    meddle(&bed.path(), "DELETE FROM snapshots").await;
    assert_eq!(journal.load(account()).await.unwrap(), expected);
}

#[tokio::test]
async fn two_snapshots_are_kept_and_those_of_another_fold_are_not_used() {
    let bed = File::default();
    let (journal, whole) = filled(&bed, 40).await;
    journal.snapshot(account(), &fold(&whole.entries)).await.unwrap();
    let mut shell = shell(&bed.path()).await;
    let kept: Vec<i64> =
        sqlx::query_scalar("SELECT revision FROM snapshots ORDER BY revision").fetch_all(&mut shell).await.unwrap();
    assert_eq!(kept, [39, 40]);

    let mut lie = World::default();
    lie.revision = 40;
    let lie = serde_json::to_string(&lie).unwrap();
    meddle(&bed.path(), &format!("UPDATE snapshots SET fold = fold + 1, world = CAST('{lie}' AS BLOB)")).await;
    assert_eq!(journal.load(account()).await.unwrap(), fold(&whole.entries));
    journal.snapshot(account(), &fold(&whole.entries)).await.unwrap();
    let count: i64 = sqlx::query_scalar("SELECT count(*) FROM snapshots").fetch_one(&mut shell).await.unwrap();
    assert_eq!(count, 3, "those of a newer program beside this one stay");
}

#[tokio::test]
async fn an_entry_that_cannot_be_read_is_named_and_never_skipped() {
    const UNLOCK: &str = "DROP TRIGGER entries_are_never_edited; DROP TRIGGER entries_are_kept; DELETE FROM snapshots;";
    for (damage, says) in [
        (
            "UPDATE entries SET change = '{\"kind\":\"no_such_thing\"}' WHERE revision = 7",
            "its change: unknown variant",
        ),
        ("UPDATE entries SET cause = '[' WHERE revision = 7", "its cause"),
        ("UPDATE entries SET at = 'noon' WHERE revision = 7", "its time `noon`"),
        ("DELETE FROM entries WHERE revision = 7", "it is missing, entry 8 follows instead"),
    ] {
        let bed = File::default();
        let (journal, _) = filled(&bed, 10).await;
        meddle(&bed.path(), &format!("{UNLOCK}{damage}")).await;
        for answer in [journal.load(account()).await.err(), journal.read(account(), 0, 99).await.err()] {
            let Some(JournalError::Corrupt { revision, problem }) = answer else { panic!("{damage}: {answer:?}") };
            assert_eq!(revision, 7);
            assert!(problem.starts_with(says), "{problem}");
        }
        assert_eq!(journal.read(account(), 0, 6).await.unwrap().len(), 6, "what is before it can be read");
    }
    let bed = File::default();
    let (journal, _) = filled(&bed, 10).await;
    meddle(&bed.path(), &format!("{UNLOCK} DELETE FROM entries WHERE revision > 8")).await;
    assert!(matches!(journal.load(account()).await, Err(JournalError::Corrupt { revision: 9, .. })));
}

#[tokio::test]
async fn facts_cannot_be_edited_by_hand() {
    let bed = File::default();
    let (_journal, _) = filled(&bed, 5).await;
    let mut shell = shell(&bed.path()).await;
    for sql in ["UPDATE entries SET \"by\" = 'nobody'", "DELETE FROM entries WHERE revision = 5"] {
        let error = sqlx::raw_sql(sql).execute(&mut shell).await.unwrap_err();
        assert!(error.to_string().contains("entries are facts"), "{error}");
    }
}

#[tokio::test]
async fn archived_entries_are_said_to_be_archived() {
    let bed = File::default();
    let (journal, whole) = filled(&bed, 40).await;
    meddle(&bed.path(), "UPDATE heads SET oldest = 21; DELETE FROM entries WHERE revision < 21").await;
    for after in [0, 19] {
        let answer = journal.read(account(), after, 5).await;
        assert!(matches!(answer, Err(JournalError::Compacted { oldest: 21 })), "{answer:?}");
    }
    assert_eq!(journal.read(account(), 20, 99).await.unwrap(), whole.entries[20..]);
    assert_eq!(journal.load(account()).await.unwrap(), fold(&whole.entries));
    let head = journal.append(batch(account(), 40, 1, 9)).await.unwrap();
    assert_eq!((head.revision, head.oldest), (41, 21));

    meddle(&bed.path(), "DELETE FROM snapshots").await;
    assert!(matches!(journal.load(account()).await, Err(JournalError::Corrupt { revision: 20, .. })));
}

#[tokio::test]
async fn a_transaction_the_store_gave_up_leaves_no_trace_and_no_stuck_writer() {
    let bed = File::default();
    let (journal, _) = filled(&bed, 5).await;
    meddle(
        &bed.path(),
        "CREATE TRIGGER bad_disk BEFORE INSERT ON entries WHEN NEW.revision = 7 BEGIN SELECT RAISE(ROLLBACK, 'bad disk'); END",
    )
    .await;
    for _ in 0..3 {
        let answer = journal.append(batch(account(), 5, 4, 1)).await;
        assert!(
            matches!(answer, Err(AppendError::Failed(JournalError::Store { attempt: "append", .. }))),
            "{answer:?}"
        );
        assert_eq!(journal.read(account(), 0, 99).await.unwrap().len(), 5);
    }
    meddle(&bed.path(), "DROP TRIGGER bad_disk").await;
    assert_eq!(journal.append(batch(account(), 5, 4, 1)).await.unwrap().revision, 9);
}

#[tokio::test]
async fn an_append_that_is_abandoned_is_whole_or_not_there() {
    let bed = File::default();
    let journal = bed.open().await;
    let mut head = 0;
    for n in 0..200 {
        let append = journal.append(batch(account(), head, 5, n));
        let patience = std::time::Duration::from_micros(n * 7);
        drop(tokio::time::timeout(patience, append).await);
        let now = journal.append(batch(account(), head, 5, n));
        head = match now.await {
            Ok(head) => head.revision,
            Err(AppendError::Outrun { head }) => head.revision,
            Err(other) => panic!("{other:?}"),
        };
        assert_eq!(head, (n + 1) * 5);
    }
    assert_eq!(journal.load(account()).await.unwrap().revision, head);
}

#[tokio::test]
async fn a_lock_of_another_process_is_waited_for() {
    let bed = File::default();
    let (journal, _) = filled(&bed, 5).await;
    let mut shell = shell(&bed.path()).await;
    let lock = shell.begin_with("BEGIN IMMEDIATE").await.unwrap();
    let release = async {
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        lock.rollback().await.unwrap();
    };
    let (appended, ()) = tokio::join!(journal.append(batch(account(), 5, 1, 1)), release);
    assert_eq!(appended.unwrap().revision, 6);
}

#[tokio::test]
async fn a_file_that_was_replaced_gets_no_more_facts() {
    let bed = File::default();
    let (journal, _) = filled(&bed, 5).await;
    fs::rename(bed.path(), bed.path().with_extension("old")).unwrap();
    let gone = |answer: Result<_, AppendError>| {
        let error = std::error::Error::source(&answer.unwrap_err()).unwrap().to_string();
        assert!(error.ends_with("it was moved, deleted or replaced while it was open"), "{error}");
    };
    gone(journal.append(batch(account(), 5, 1, 1)).await);
    fs::write(bed.path(), "").unwrap();
    gone(journal.append(batch(account(), 5, 1, 1)).await);
    assert!(journal.load(account()).await.is_err());
    fs::rename(bed.path().with_extension("old"), bed.path()).unwrap();
    assert_eq!(journal.append(batch(account(), 5, 1, 1)).await.unwrap().revision, 6);
}

#[tokio::test]
async fn after_closing_the_file_alone_is_the_journal() {
    let bed = File::default();
    let (journal, whole) = filled(&bed, 30).await;
    let clone = journal.clone();
    journal.checkpoint().await.unwrap();
    journal.close().await.unwrap();
    clone.close().await.unwrap();
    assert!(clone.append(batch(account(), 30, 1, 1)).await.is_err());
    assert!(clone.head(account()).await.is_err());
    let names: Vec<_> = fs::read_dir(bed.0.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["kura.db"]);

    let copy = bed.0.path().join("copy.db");
    fs::copy(bed.path(), &copy).unwrap();
    let copied = SqliteJournal::open(&copy).await.unwrap();
    assert_eq!(copied.load(account()).await.unwrap(), fold(&whole.entries));
}

/// Two machines of one name, one of which is removed: nobody decides that, but somebody can write it.
#[tokio::test]
async fn a_world_that_no_decision_makes_is_found_to_be_wrong() {
    let bed = File::default();
    let journal = bed.open().await;
    let machine = |id: &str| Change::MachineAdded { machine: Box::new(Machine::new(MachineId::named(id), "ash")) };
    let removed = Change::MachineRemoved { machine: MachineId::named("one") };
    let entries = [machine("one"), machine("two"), removed];
    let entries = (1..).zip(entries).map(|(revision, change)| entry(revision, 3, change)).collect();
    journal.append(Batch { account: account(), expected: 0, epoch: None, entries }).await.unwrap();
    journal.close().await.unwrap();
    let folder = bed.path().parent().unwrap().to_owned();
    let verified = kura(&folder, &[], &["journal", "verify", "--journal", "sqlite:kura.db"]);
    let said = "the host names are not those of the machines";
    assert!(verified.code == Some(1) && verified.stderr.contains(said), "{verified:?}");
}
