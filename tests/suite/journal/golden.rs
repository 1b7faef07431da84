//! What is stored is locked: a journal in the first format, with a change of every kind, must load for ever.
//!
//! What is written today must hold everything that is in that file; fields may be added, so long as the old rows still
//! mean the same. `KURA_REGENERATE=1 cargo test golden` adds rows for new kinds of changes and leaves the others alone.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

use kura_console::adapters::journal::compaction::{Keep, compact};
use kura_console::adapters::journal::kept::FOLD_VERSION;
use kura_console::adapters::journal::sqlite::journal::SqliteJournal;
use kura_console::control::ports::{Batch, Beat, Head, Heartbeats, Journal};
use kura_console::domain::change::Entry;
use kura_console::domain::ids::AccountId;
use kura_console::domain::world::World;
use serde_json::Value;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row};

use super::beds::{Bed, File};
use super::changes::{KINDS, change, entry, fold, kind_of};

/// So many changes of each kind: enough for every cause, every way a lease ends, and each optional field both ways.
const OF_EACH_KIND: u64 = 9;

/// Where the snapshot was taken.
const HALF: usize = 117;

fn golden() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/journal-v2.sql")
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
        "-- A journal in format 2 with a change of every kind. Made by tests/suite/journal/golden.rs.\n".to_owned();
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
    restore(bed, &sql).await
}

async fn restore(bed: &File, sql: &str) -> SqliteConnection {
    let mut shell = SqliteConnectOptions::new().filename(bed.path()).create_if_missing(true).connect().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(format!("BEGIN;\n{sql}COMMIT;"))).execute(&mut shell).await.unwrap();
    shell
}

/// The rows of a table, or with an empty name everything else.
fn lines<'a>(sql: &'a str, table: &str) -> Vec<&'a str> {
    let insert = if table.is_empty() { String::new() } else { format!("INSERT INTO {table} VALUES") };
    sql.lines().filter(|line| line.starts_with(&insert) && (!table.is_empty() || !line.starts_with("INSERT"))).collect()
}

/// Today's file, but with the entries and snapshots that were kept as they are, and new ones only where none was.
fn renewed(today: &str, kept: &str) -> String {
    let place = |line: &str| line.split(", ").take(3).collect::<Vec<_>>().join(", ");
    let mut sql = lines(today, "");
    for (table, stays) in [("heads", false), ("entries", true), ("snapshots", true), ("beats", false)] {
        let old = if stays { lines(kept, table) } else { Vec::new() };
        let known: BTreeSet<String> = old.iter().map(|line| place(line)).collect();
        let new = lines(today, table).into_iter().filter(|line| !known.contains(&place(line)));
        sql.extend(old.into_iter().chain(new));
    }
    sql.join("\n") + "\n"
}

/// `old` with nothing taken away or changed.
fn holds(new: &Value, old: &Value) -> bool {
    match (new, old) {
        (Value::Object(new), Value::Object(old)) => {
            old.iter().all(|(key, old)| new.get(key).is_some_and(|new| holds(new, old)))
        }
        (Value::Array(new), Value::Array(old)) => {
            new.len() == old.len() && new.iter().zip(old).all(|(new, old)| holds(new, old))
        }
        (new, old) => new == old,
    }
}

/// The JSON of `cause` and `change` of every entry.
async fn stored(shell: &mut SqliteConnection) -> Vec<(String, Value, Value)> {
    let query = "SELECT at, cause, change FROM entries ORDER BY revision";
    let rows: Vec<(String, String, String)> = sqlx::query_as(query).fetch_all(shell).await.unwrap();
    let json = |text: String| serde_json::from_str(&text).unwrap();
    rows.into_iter().map(|(at, cause, change)| (at, json(cause), json(change))).collect()
}

#[tokio::test]
async fn what_is_written_today_holds_what_was_written_then() {
    let today = written().await;
    if std::env::var_os("KURA_REGENERATE").is_some() {
        let kept = std::fs::read_to_string(golden()).unwrap_or_default();
        std::fs::create_dir_all(golden().parent().unwrap()).unwrap();
        std::fs::write(golden(), renewed(&today, &kept)).unwrap();
    }
    let kept = std::fs::read_to_string(golden()).unwrap();
    for table in ["", "heads", "beats"] {
        assert_eq!(lines(&today, table), lines(&kept, table), "the format is locked: add a step to the schema instead");
    }
    let (then, now) = (File::default(), File::default());
    let old = stored(&mut restored(&then).await).await;
    let new = stored(&mut restore(&now, &today).await).await;
    assert_eq!(new.len(), old.len(), "see the caption of golden.rs");
    for (n, (new, old)) in (1..).zip(new.iter().zip(&old)) {
        let same = new.0 == old.0 && holds(&new.1, &old.1) && holds(&new.2, &old.2);
        assert!(same, "entry {n} was {old:?} and would be written as {new:?}");
    }
}

#[test]
fn something_that_was_taken_away_or_changed_is_noticed() {
    let old = serde_json::json!({"kind": "paused", "what": {"ring": "a"}, "list": [1, {"x": null}]});
    let more = serde_json::json!({"kind": "paused", "what": {"ring": "a"}, "list": [1, {"x": null, "y": 2}], "new": 0});
    assert!(holds(&old, &old) && holds(&more, &old));
    assert!(!holds(&old, &more), "a field is gone");
    for (key, value) in [("kind", serde_json::json!("Paused")), ("list", serde_json::json!([1])), ("what", Value::Null)]
    {
        let mut changed = old.clone();
        changed[key] = value;
        assert!(!holds(&changed, &old), "{key}");
    }
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

/// Where this fails, the same entries have come to mean another world: raise `FOLD_VERSION`.
#[tokio::test]
async fn an_old_snapshot_is_still_the_world_it_was() {
    let bed = File::default();
    let mut shell = restored(&bed).await;
    let query = "SELECT world FROM snapshots WHERE fold = ?1";
    let bodies: Vec<Vec<u8>> = sqlx::query_scalar(query).bind(FOLD_VERSION).fetch_all(&mut shell).await.unwrap();
    assert!(!bodies.is_empty(), "see the caption of golden.rs");
    for body in bodies {
        assert_eq!(serde_json::from_slice::<World>(&body).unwrap(), fold(&entries()[..HALF]));
    }
}

/// Format 1 had no compaction: the file as it was then, frozen.
#[tokio::test]
async fn a_file_of_format_1_says_the_same_in_format_2() {
    let bed = File::default();
    let sql = std::fs::read_to_string(golden().with_file_name("journal-v1.sql")).unwrap();
    restore(&bed, &sql).await.close().await.unwrap();
    let journal = bed.open().await;
    let kept = journal.read(account(), 0, usize::MAX).await.unwrap();
    assert_eq!(kept, entries()[..kept.len()]);
    assert_eq!(journal.load(account()).await.unwrap(), fold(&kept));
    compact(&journal, account(), Keep { entries: 10, since: None }, |_| {}).await.unwrap();
    assert_eq!(journal.load(account()).await.unwrap(), fold(&kept));
}
