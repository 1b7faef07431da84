//! The journal in a file, every commit waiting for the disk: appends of one entry and of a full turn, reading, loading.

use criterion::{Criterion, criterion_group, criterion_main};
use jiff::Timestamp;
use kura_console::adapters::journal::sqlite::journal::SqliteJournal;
use kura_console::control::ports::{Batch, Journal, Stretch};
use kura_console::domain::change::{Cause, Change, Entry};
use kura_console::domain::ids::{AccountId, MachineId, Revision, RolloutId};
use kura_console::domain::release::Digest;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// Entries of one transaction when many inputs wait.
const TURN: u64 = 256;

/// Entries of the journal that is read and loaded.
const HISTORY: u64 = 100_000;

struct Bench {
    runtime: Runtime,
    journal: SqliteJournal,
    revision: Revision,
    _directory: TempDir,
}

impl Bench {
    #[allow(clippy::unwrap_used)]
    fn new() -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let journal = runtime.block_on(SqliteJournal::open(directory.path().join("kura.db"))).unwrap();
        Self { runtime, journal, revision: 0, _directory: directory }
    }

    #[allow(clippy::unwrap_used)]
    fn append(&mut self, entries: u64) {
        let batch = Batch {
            account: account(),
            expected: self.revision,
            epoch: None,
            entries: (1..=entries).map(|n| grant(self.revision + n)).collect(),
        };
        self.revision = self.runtime.block_on(self.journal.append(batch)).unwrap().revision;
    }
}

fn account() -> AccountId {
    AccountId::named("acme")
}

fn grant(revision: Revision) -> Entry {
    let machine = MachineId::named(&format!("m{}", revision % 1_000));
    let content = Digest("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855".to_owned());
    let change = Change::LeaseGranted { machine, rollout: RolloutId::named("r1"), content };
    Entry { revision, at: Timestamp::UNIX_EPOCH, by: "m1".to_owned(), cause: Cause::Poll, change }
}

#[allow(clippy::unwrap_used)]
fn journal(criterion: &mut Criterion) {
    let mut bench = Bench::new();
    criterion.bench_function("append one entry", |b| b.iter(|| bench.append(1)));
    criterion.bench_function("append a turn of 256", |b| b.iter(|| bench.append(TURN)));

    let mut bench = Bench::new();
    (0..HISTORY / TURN).for_each(|_| bench.append(TURN));
    criterion.bench_function("read a page of 1,000", |b| {
        b.iter(|| bench.runtime.block_on(bench.journal.read(account(), 50_000, 1_000)).unwrap());
    });
    criterion.bench_function("look for links of the audit among 100,000 entries", |b| {
        b.iter(|| bench.runtime.block_on(bench.journal.links(account(), Stretch::After(0), 100)).unwrap());
    });
    let mut slow = criterion.benchmark_group("slow");
    slow.sample_size(10);
    slow.bench_function("load 100,000 entries without a snapshot", |b| {
        b.iter(|| bench.runtime.block_on(bench.journal.load(account())).unwrap());
    });
    slow.finish();
}

criterion_group!(benches, journal);
criterion_main!(benches);
