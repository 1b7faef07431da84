//! A process that appends is killed at 200 moments. Nothing it acknowledged is lost, no batch is torn.
//!
//! What this proves ends at the kernel: the machine goes on, so pages that were written but not yet on the disk
//! survive. That every commit waits for the disk is the setting of the file, which `file.rs` of the adapter fixes.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use kura_console::adapters::journal::sqlite::journal::SqliteJournal;
use kura_console::control::ports::{Journal, JournalError};
use kura_console::domain::change::Entry;
use kura_console::domain::ids::{AccountId, Revision};
use kura_console::domain::world::World;

use super::beds::File;
use super::changes::batch;

const KILLS: u64 = 200;

const SEED: u64 = 0x6b75_7261;

/// Set in the environment of the process that is going to be killed: the path of the journal.
const WRITER: &str = "KURA_TEST_JOURNAL_WRITER";

fn account() -> AccountId {
    AccountId::named("acme")
}

/// The test is both processes: without `WRITER` it kills, with it it writes until it dies.
#[tokio::test]
async fn nothing_that_was_acknowledged_is_lost() {
    match std::env::var_os(WRITER) {
        Some(path) => write_for_ever(Path::new(&path)).await,
        None => kill_again_and_again().await,
    }
}

/// Batches of 1 to 24 entries; each says which batch it is of and how large that is. A revision on stderr is an
/// acknowledgement. Now and then a snapshot, so that some kills hit one.
async fn write_for_ever(path: &Path) {
    let journal = SqliteJournal::open(path).await.unwrap();
    let mut world = journal.load(account()).await.unwrap();
    for n in world.revision.. {
        let mut next = batch(account(), world.revision, 1 + n * 7 % 24, n);
        let (first, size) = (world.revision + 1, next.entries.len());
        next.entries.iter_mut().for_each(|entry| entry.by = format!("{first}+{size}"));
        next.entries.iter().for_each(|entry| world.apply(entry));
        let head = journal.append(next).await.unwrap();
        std::io::stderr().write_all(format!("{}\n", head.revision).as_bytes()).unwrap();
        if n % 16 == 0 {
            journal.snapshot(account(), &world).await.unwrap();
        }
    }
}

async fn kill_again_and_again() {
    let bed = File::default();
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut proven = World::default();
    let mut acknowledged = 0;
    for kill in 0..KILLS {
        let acknowledgements = random.u64(0..8);
        let delay = if acknowledgements == 0 { random.u64(0..30_000) } else { random.u64(0..3_000) };
        acknowledged = acknowledged.max(run_and_kill(&bed.path(), acknowledgements, Duration::from_micros(delay)));
        let judged = judge(&bed.path(), &mut proven, acknowledged).await;
        assert!(judged.is_ok(), "kill {kill} of seed {SEED:#x}, revision {}: {judged:?}", proven.revision);
    }
    let journal = SqliteJournal::open(bed.path()).await.unwrap();
    assert_eq!(journal.load(account()).await.unwrap(), proven);
    assert!(acknowledged > KILLS, "the writer got somewhere between the kills: {acknowledged}");
}

/// Starts a writer, waits for some acknowledgements and a little longer, kills it, and returns the last revision it
/// acknowledged: what is in the pipe counts, it was said before the kill.
fn run_and_kill(path: &Path, acknowledgements: u64, delay: Duration) -> Revision {
    let mut writer = spawn_writer(path);
    let mut said = BufReader::new(writer.stderr.take().unwrap()).lines();
    let mut last = 0;
    for _ in 0..acknowledgements {
        last = understood(said.next().unwrap().unwrap());
    }
    std::thread::sleep(delay);
    writer.kill().unwrap();
    writer.wait().unwrap();
    said.map_while(Result::ok).map(understood).last().unwrap_or(last)
}

fn spawn_writer(path: &Path) -> Child {
    let (_, module) = module_path!().split_once("::").unwrap();
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", "--test-threads=1"])
        .arg(format!("{module}::nothing_that_was_acknowledged_is_lost"))
        .env(WRITER, path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn understood(line: String) -> Revision {
    line.parse().unwrap_or_else(|_| panic!("the writer said: {line}"))
}

/// Folds what is new into `proven` and compares it with what a load gives.
async fn judge(path: &Path, proven: &mut World, acknowledged: Revision) -> Result<(), String> {
    let said = |error: JournalError| format!("{error}: {:?}", std::error::Error::source(&error));
    let journal = SqliteJournal::open(path).await.map_err(|fault| fault.to_string())?;
    let head = journal.head(account()).await.map_err(said)?;
    let fresh = journal.read(account(), proven.revision, usize::MAX).await.map_err(said)?;
    fresh.iter().for_each(|entry| proven.apply(entry));
    if head.revision < acknowledged {
        return Err(format!("acknowledged {acknowledged}, the head stands at {}", head.revision));
    }
    if proven.revision != head.revision {
        return Err(format!("the head stands at {}, the rows end at {}", head.revision, proven.revision));
    }
    whole_batches(&fresh)?;
    let loaded = journal.load(account()).await.map_err(said)?;
    if loaded != *proven {
        return Err("the loaded world is not the fold of the entries".to_owned());
    }
    journal.close().await.map_err(|fault| fault.to_string())
}

fn whole_batches(entries: &[Entry]) -> Result<(), String> {
    let mut rest = entries;
    while let Some(first) = rest.first() {
        let (start, size) = first.by.split_once('+').ok_or("an entry of nobody")?;
        let size: usize = size.parse().map_err(|_| "an entry of no batch")?;
        if start != first.revision.to_string() || rest.len() < size || rest[..size].iter().any(|e| e.by != first.by) {
            return Err(format!("half a batch at entry {}", first.revision));
        }
        rest = &rest[size..];
    }
    Ok(())
}
