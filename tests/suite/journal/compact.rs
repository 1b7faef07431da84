//! Compaction: the world stays, the links of the audit stay, a reader behind is told, and no kill tears anything.

use std::process::{Command, Stdio};
use std::time::Duration;

use kura_console::adapters::journal::compaction::{Keep, compact};
use kura_console::adapters::journal::sqlite::journal::SqliteJournal;
use kura_console::adapters::journal::tended::Tended;
use kura_console::control::ports::{AppendError, Batch, Journal, JournalError, Stretch};
use kura_console::domain::change::{Cause, Entry};
use kura_console::domain::ids::{AccountId, Revision};
use kura_console::domain::world::World;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions};

use super::beds::{Bed, File};
use super::changes::{batch, batch_with_links, fold};

const SEED: u64 = 0x6b75_7261;

/// Entries of the journal that is compacted under fire.
const ENTRIES: u64 = 24_000;

/// Kills at least.
const KILLS: u64 = 12;

/// Kills at most: on a busy machine the first ones come before the program has begun, so each waits a little longer.
const KILLS_MAX: u64 = 60;

fn account() -> AccountId {
    AccountId::named("acme")
}

/// A journal of `count` entries in batches, and those entries.
async fn filled(journal: &SqliteJournal, count: u64) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    while let Some(left) = count.checked_sub(entries.len() as u64).filter(|left| *left > 0) {
        let next = batch_with_links(account(), entries.len() as u64, left.min(2_000), entries.len() as u64);
        journal.append(next.clone()).await.unwrap();
        entries.extend(next.entries);
    }
    entries
}

fn newest(entries: u64) -> Keep {
    Keep { entries, since: None }
}

async fn count(bed: &File, query: &str) -> i64 {
    let mut shell = SqliteConnectOptions::new().filename(bed.path()).connect().await.unwrap();
    sqlx::query_scalar(AssertSqlSafe(query.to_owned())).fetch_one(&mut shell).await.unwrap()
}

#[tokio::test]
async fn the_world_and_what_is_kept_stay_as_they_were() {
    let bed = File::default();
    let journal = bed.open().await;
    let entries = filled(&journal, 500).await;
    journal.snapshot(account(), &fold(&entries[..100])).await.unwrap();

    let archived = compact(&journal, account(), newest(60), |_| {}).await.unwrap();
    let oldest = archived.oldest;
    assert!((400..=441).contains(&oldest), "{archived:?}");
    assert_eq!(archived.entries, oldest - 1);
    let before = &entries[usize::try_from(oldest).unwrap() - 2];
    assert!(before.is_audit() || !matches!(before.cause, Cause::Verb { .. }), "a verb stays whole: {before:?}");

    let other = bed.open().await;
    assert_eq!(other.load(account()).await.unwrap(), fold(&entries), "from the base alone: older snapshots went");
    assert_eq!(
        other.read(account(), oldest - 1, 1_000).await.unwrap(),
        entries[usize::try_from(oldest).unwrap() - 1..]
    );
    let behind = other.read(account(), oldest - 2, 1).await.unwrap_err();
    assert!(matches!(behind, JournalError::Compacted { oldest: told } if told == oldest), "{behind:?}");

    let next = batch(account(), 500, 3, 7);
    assert_eq!(other.append(next.clone()).await.unwrap().oldest, oldest, "appending goes on");
    let world = journal.load(account()).await.unwrap();
    assert_eq!(world, fold(entries.iter().chain(&next.entries)));

    let again = compact(&journal, account(), newest(60), |_| {}).await.unwrap();
    assert!(again.entries <= 3 + 60, "{again:?}");
    assert_eq!(bed.open().await.load(account()).await.unwrap(), world);
}

#[tokio::test]
async fn every_link_of_the_audit_is_kept_and_guarded() {
    let bed = File::default();
    let journal = bed.open().await;
    let entries = filled(&journal, 400).await;
    let links: Vec<Entry> = entries.into_iter().filter(Entry::is_audit).collect();
    let archived = compact(&journal, account(), newest(100), |_| {}).await.unwrap();
    let kept = journal.archived_links(account(), 0, 1_000).await.unwrap();
    assert!(kept.iter().eq(links.iter().filter(|link| link.revision < archived.oldest)));
    assert_eq!((archived.links, archived.links > 50), (kept.len() as u64, true));

    let mut shell = SqliteConnectOptions::new().filename(bed.path()).connect().await.unwrap();
    for touch in ["DELETE FROM archived_links", "UPDATE archived_links SET \"by\" = 'x'"] {
        let refused = sqlx::query(touch).execute(&mut shell).await;
        assert!(refused.is_err(), "{touch}");
    }
    // What a compaction that was killed left behind: entries in front of the oldest that are links as well.
    let left = "INSERT INTO entries SELECT * FROM archived_links WHERE revision > 200";
    sqlx::query(left).execute(&mut shell).await.unwrap();
    for (stretch, expected) in [
        (Stretch::After(0), &links[..]),
        (Stretch::Before(Revision::MAX), &links[..]),
        (Stretch::After(100), &links[25..]),
        (Stretch::Before(100), &links[..24]),
    ] {
        assert_eq!(journal.links(account(), stretch, 1_000).await.unwrap(), expected, "{stretch:?}");
    }
    assert_eq!(journal.links(account(), Stretch::Before(350), 40).await.unwrap(), links[47..87]);
}

#[tokio::test]
async fn what_either_rule_keeps_is_kept() {
    let bed = File::default();
    let journal = bed.open().await;
    let entries = filled(&journal, 300).await;
    let keep = |count, place: usize| Keep { entries: count, since: Some(entries[place].at) };
    let archived = compact(&journal, account(), keep(250, 200), |_| {}).await.unwrap();
    assert!(archived.oldest <= 51 && archived.entries > 0, "the number keeps more: {archived:?}");
    let archived = compact(&journal, account(), keep(10, 100), |_| {}).await.unwrap();
    assert!((52..=101).contains(&archived.oldest), "the age keeps more: {archived:?}");
    let none = compact(&journal, account(), keep(1_000, 250), |_| {}).await.unwrap();
    assert_eq!((none.entries, none.oldest), (0, archived.oldest));
}

#[tokio::test]
async fn a_base_outlives_the_fold_that_made_it() {
    let bed = File::default();
    let journal = bed.open().await;
    let entries = filled(&journal, 200).await;
    compact(&journal, account(), newest(20), |_| {}).await.unwrap();
    journal.snapshot(account(), &fold(&entries)).await.unwrap();
    let mut shell = SqliteConnectOptions::new().filename(bed.path()).connect().await.unwrap();
    sqlx::raw_sql("UPDATE snapshots SET fold = fold - 1; UPDATE bases SET fold = fold - 1")
        .execute(&mut shell)
        .await
        .unwrap();
    assert_eq!(bed.open().await.load(account()).await.unwrap(), fold(&entries));
}

/// The program itself compacts, and is killed at random moments, while somebody appends.
#[tokio::test]
async fn a_compaction_that_is_killed_tears_nothing() {
    let bed = File::default();
    let journal = bed.open().await;
    let mut world = fold(&filled(&journal, ENTRIES).await);
    let mut random = fastrand::Rng::with_seed(SEED);
    let (mut oldest, mut stray) = (1, 0);
    for kill in 1..=KILLS_MAX {
        if kill > KILLS && oldest > 1 {
            break;
        }
        let keep = ENTRIES - kill.min(KILLS) * ENTRIES / (KILLS + 2);
        let mut compaction = Command::new(env!("CARGO_BIN_EXE_kura-console"))
            .args(["journal", "compact", "--journal", &format!("sqlite:{}", bed.path().display())])
            .args(["--keep-entries", &keep.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let deadline = tokio::time::Instant::now() + Duration::from_millis(random.u64(5..150 * kill));
        while tokio::time::Instant::now() < deadline {
            append_one(&journal, &mut world).await;
        }
        compaction.kill().unwrap();
        compaction.wait().unwrap();
        oldest = whole(&bed, &world).await;
        stray += count(&bed, &format!("SELECT count(*) FROM entries WHERE revision < {oldest}")).await.min(1);
    }
    assert!(oldest > 1, "not one of {KILLS_MAX} compactions got anywhere, and the last had {} ms", 150 * KILLS_MAX);
    let (end, mut gone) = (compact(&journal, account(), newest(100), |_| {}).await.unwrap(), 0);
    gone += count(&bed, &format!("SELECT count(*) FROM entries WHERE revision < {}", end.oldest)).await;
    assert_eq!(gone, 0, "what {stray} kills left behind is swept");
    whole(&bed, &world).await;
}

async fn append_one(journal: &SqliteJournal, world: &mut World) {
    let next: Batch = batch(account(), world.revision, 2, world.revision);
    match journal.append(next.clone()).await {
        Ok(_) => next.entries.iter().for_each(|entry| world.apply(entry)),
        Err(AppendError::Failed(error)) => panic!("a writer never waits so long: {error}"),
        Err(other) => panic!("nobody else appends: {other}"),
    }
}

/// Loads and reads the same as before; returns the oldest entry.
async fn whole(bed: &File, world: &World) -> Revision {
    let fresh = bed.open().await;
    let head = fresh.head(account()).await.unwrap();
    assert_eq!(head.revision, world.revision);
    assert_eq!(fresh.load(account()).await.unwrap(), *world);
    let mut folded = fresh.world_before_oldest(account(), head).await.unwrap();
    loop {
        let entries = fresh.read(account(), folded.revision, 5_000).await.unwrap();
        if entries.is_empty() {
            break;
        }
        entries.iter().for_each(|entry| folded.apply(entry));
    }
    assert_eq!(folded, *world, "the base and every entry behind it come to the same world");
    head.oldest
}
