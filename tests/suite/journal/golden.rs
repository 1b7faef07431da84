//! What is stored is locked: a journal in the first format, with a change of every kind, must load for ever, and what is
//! written today must be that same file.
//!
//! `KURA_REGENERATE=1 cargo test golden` writes the file anew. Rows that are in it may only ever be added to.

use std::fmt::Write;
use std::path::PathBuf;

use kura_console::adapters::journal::sqlite::journal::SqliteJournal;
use kura_console::control::ports::{Batch, Beat, Head, Heartbeats, Journal};
use kura_console::domain::change::Entry;
use kura_console::domain::ids::AccountId;
use kura_console::domain::world::World;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row};

use super::beds::{Bed, File};
use super::changes::{KINDS, change, entry, fold, kind_of};

/// So many changes of each kind: enough for every cause, every way a lease ends, and each optional field both ways.
const OF_EACH_KIND: u64 = 9;

/// Where the snapshot was taken.
const HALF: usize = 117;

fn golden() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/journal-v1.sql")
}

fn account() -> AccountId {
    AccountId::named("acme")
}

/// New kinds come at the end, so that rows keep their places.
fn entries() -> Vec<Entry> {
    let each = (0..KINDS).flat_map(|kind| (0..OF_EACH_KIND).map(move |n| (kind, n)));
    (1..).zip(each).map(|(revision, (kind, n))| entry(revision, n, change(kind, n))).collect()
}

fn beat() -> Beat {
    Beat { holder: "serve@bastion-1:4711".to_owned(), epoch: 8, count: 42 }
}

/// The file as this program writes it.
async fn written() -> String {
    let bed = File::default();
    let journal = bed.open().await;
    let entries = entries();
    journal.append(Batch { account: account(), expected: 0, epoch: None, entries: entries.clone() }).await.unwrap();
    journal.snapshot(account(), &fold(&entries[..HALF])).await.unwrap();
    journal.beat(account(), beat()).await.unwrap();
    journal.close().await.unwrap();
    dump(&mut SqliteConnectOptions::new().filename(bed.path()).connect().await.unwrap()).await
}

/// As SQL that makes the same file.
async fn dump(shell: &mut SqliteConnection) -> String {
    let mut sql =
        "-- A journal in format 1 with a change of every kind. Made by tests/suite/journal/golden.rs.\n".to_owned();
    for pragma in ["application_id", "user_version"] {
        let query = sqlx::query_scalar(AssertSqlSafe(format!("PRAGMA {pragma}")));
        let value: i64 = query.fetch_one(&mut *shell).await.unwrap();
        writeln!(sql, "PRAGMA {pragma} = {value};").unwrap();
    }
    let schema = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid";
    let schema: Vec<String> = sqlx::query_scalar(schema).fetch_all(&mut *shell).await.unwrap();
    schema.iter().for_each(|statement| writeln!(sql, "{statement};").unwrap());
    for (table, columns) in [
        ("heads", "account, revision, epoch, oldest"),
        ("entries", "account, revision, at, \"by\", cause, change"),
        ("snapshots", "account, fold, revision, CAST(world AS TEXT)"),
        ("beats", "account, holder, epoch, count"),
    ] {
        let quoted: Vec<String> = columns.split(", ").map(|column| format!("quote({column})")).collect();
        let order = if columns.contains("revision, at") { "account, revision" } else { "account" };
        let query = format!("SELECT {} FROM {table} ORDER BY {order}", quoted.join(", "));
        for row in sqlx::query(AssertSqlSafe(query)).fetch_all(&mut *shell).await.unwrap() {
            let mut values: Vec<String> = (0..row.len()).map(|n| row.get(n)).collect();
            if table == "snapshots" {
                values[3] = format!("CAST({} AS BLOB)", values[3]);
            }
            writeln!(sql, "INSERT INTO {table} VALUES ({});", values.join(", ")).unwrap();
        }
    }
    sql
}

/// The golden file as a database.
async fn restored(bed: &File) -> SqliteConnection {
    let sql = std::fs::read_to_string(golden()).expect("write it first: KURA_REGENERATE=1 cargo test golden");
    let mut shell = SqliteConnectOptions::new().filename(bed.path()).create_if_missing(true).connect().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut shell).await.unwrap();
    shell
}

#[tokio::test]
async fn what_is_written_today_is_the_golden_file() {
    let today = written().await;
    if std::env::var_os("KURA_REGENERATE").is_some() {
        std::fs::create_dir_all(golden().parent().unwrap()).unwrap();
        std::fs::write(golden(), &today).unwrap();
    }
    let kept = std::fs::read_to_string(golden()).unwrap_or_default();
    for (n, (today, kept)) in (1..).zip(today.lines().zip(kept.lines())) {
        assert_eq!(today, kept, "line {n} of {}", golden().display());
    }
    assert_eq!(today.lines().count(), kept.lines().count(), "see the caption of golden.rs");
}

#[tokio::test]
async fn an_old_journal_loads_for_ever() {
    let bed = File::default();
    restored(&bed).await.close().await.unwrap();
    let journal: SqliteJournal = bed.open().await;
    let expected = entries();
    let read = journal.read(account(), 0, 10_000).await.unwrap();
    for (read, expected) in read.iter().zip(&expected) {
        assert_eq!(read, expected);
    }
    assert_eq!(read.len(), expected.len());
    let mut kinds: Vec<usize> = read.iter().map(|entry| kind_of(&entry.change)).collect();
    kinds.dedup();
    assert_eq!(kinds, (0..KINDS).collect::<Vec<_>>(), "every kind is in it");

    let head = Head { revision: u64::try_from(expected.len()).unwrap(), epoch: OF_EACH_KIND - 1, oldest: 1 };
    assert_eq!(journal.head(account()).await.unwrap(), head);
    assert_eq!(journal.last(account()).await.unwrap(), Some(beat()));
    assert_eq!(journal.load(account()).await.unwrap(), fold(&expected));
}

#[tokio::test]
async fn an_old_snapshot_is_still_the_world_it_was() {
    let bed = File::default();
    let mut shell = restored(&bed).await;
    let body: Vec<u8> = sqlx::query_scalar("SELECT world FROM snapshots").fetch_one(&mut shell).await.unwrap();
    assert_eq!(serde_json::from_slice::<World>(&body).unwrap(), fold(&entries()[..HALF]));
}
