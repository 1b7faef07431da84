//! What every journal must do, whatever keeps it. Each test runs on each backend.

use std::collections::BTreeSet;
use std::time::Duration;

use kura_console::control::ports::{AppendError, Batch, Beat, Head, Heartbeats, Journal, JournalError, Stretch};
use kura_console::domain::change::Change;
use kura_console::domain::ids::{AccountId, Epoch, Revision};
use kura_console::domain::world::World;

use super::beds::{Bed, File, Kubernetes, Memory, Postgres, Simulated};
use super::changes::{batch, batch_with_links, entry, fold};

/// Far longer than a follower may take to notice.
const NOTICED: Duration = Duration::from_secs(5);

/// Far shorter than the bounded wait of a follower.
const SILENT: Duration = Duration::from_millis(250);

macro_rules! on_every_backend {
    ($($name:ident),+ $(,)?) => {
        mod memory {
            $(#[tokio::test] async fn $name() { super::$name(super::Memory::default()).await })+
        }
        mod simulated {
            $(#[tokio::test] async fn $name() { super::$name(super::Simulated::default()).await })+
        }
        mod sqlite {
            $(#[tokio::test] async fn $name() { super::$name(super::File::default()).await })+
        }
        mod kubernetes {
            $(#[tokio::test] async fn $name() {
                if let Some(bed) = super::Kubernetes::bed().await {
                    super::$name(bed).await;
                }
            })+
        }
        mod postgres {
            $(#[tokio::test] async fn $name() {
                if let Some(bed) = super::Postgres::bed().await {
                    super::$name(bed).await;
                }
            })+
        }
    };
}

on_every_backend![
    an_account_nobody_wrote_to_stands_at_zero,
    what_is_appended_is_read_back,
    the_slower_of_two_is_outrun_and_writes_nothing,
    a_seat_raises_the_epoch_and_deposes_the_old_holder,
    a_lost_seat_is_said_before_a_lost_race,
    two_claims_to_the_seat_give_one_holder,
    a_batch_that_would_leave_a_gap_is_refused,
    accounts_do_not_see_each_other,
    reading_goes_page_by_page,
    a_follower_that_is_behind_does_not_wait,
    a_follower_notices_what_another_process_appends,
    a_follower_is_not_fooled_by_another_account,
    a_load_is_the_fold_of_all_entries_wherever_snapshots_were_taken,
    a_snapshot_of_what_was_never_appended_is_refused,
    many_writers_lose_and_repeat_nothing,
    the_last_beat_of_the_newest_epoch_stays,
    links_of_the_audit_are_found_from_both_ends,
    an_append_from_before_a_compaction_is_refused,
    what_happens_beside_a_compaction_is_kept,
];

fn account() -> AccountId {
    AccountId::named("acme")
}

fn seat(expected: Revision, holder: &str, epoch: Epoch) -> Batch {
    let change = Change::SeatTaken { holder: holder.to_owned(), epoch, agents: true };
    Batch { account: account(), expected, epoch: None, entries: vec![entry(expected + 1, 3, change)] }
}

async fn written(journal: &impl Journal) -> Vec<String> {
    let entries = journal.read(account(), 0, 10_000).await.unwrap();
    entries.iter().map(|entry| serde_json::to_string(entry).unwrap()).collect()
}

async fn an_account_nobody_wrote_to_stands_at_zero(bed: impl Bed) {
    let journal = bed.open().await;
    assert_eq!(journal.head(account()).await.unwrap(), Head { revision: 0, epoch: 0, oldest: 1 });
    assert_eq!(journal.load(account()).await.unwrap(), World::default());
    assert!(journal.read(account(), 0, 10).await.unwrap().is_empty());
    assert_eq!(journal.last(account()).await.unwrap(), None);
}

async fn what_is_appended_is_read_back(bed: impl Bed) {
    let (journal, other) = (bed.open().await, bed.open().await);
    let (first, second) = (batch(account(), 0, 30, 1), batch(account(), 30, 1, 2));
    let all: Vec<_> = first.entries.iter().chain(&second.entries).cloned().collect();
    assert_eq!(journal.append(first).await.unwrap().revision, 30);
    assert_eq!(journal.append(second).await.unwrap(), Head { revision: 31, epoch: 0, oldest: 1 });
    assert_eq!(other.head(account()).await.unwrap(), Head { revision: 31, epoch: 0, oldest: 1 });
    assert_eq!(other.read(account(), 0, 100).await.unwrap(), all);
    assert_eq!(other.load(account()).await.unwrap(), fold(&all));
}

async fn the_slower_of_two_is_outrun_and_writes_nothing(bed: impl Bed) {
    let (fast, slow) = (bed.open().await, bed.open().await);
    fast.append(batch(account(), 0, 2, 1)).await.unwrap();
    let before = written(&slow).await;
    for expected in [0, 1, 3] {
        let answer = slow.append(batch(account(), expected, 3, 2)).await;
        let head = Head { revision: 2, epoch: 0, oldest: 1 };
        assert!(matches!(&answer, Err(AppendError::Outrun { head: now }) if *now == head), "{answer:?}");
    }
    assert_eq!(written(&slow).await, before);
    assert_eq!(slow.append(batch(account(), 2, 3, 2)).await.unwrap().revision, 5);
}

pub(super) async fn a_seat_raises_the_epoch_and_deposes_the_old_holder(bed: impl Bed) {
    let (old, new) = (bed.open().await, bed.open().await);
    assert_eq!(old.append(seat(0, "old", 1)).await.unwrap().epoch, 1);
    old.append(Batch { epoch: Some(1), ..batch(account(), 1, 1, 1) }).await.unwrap();
    assert_eq!(new.append(seat(2, "new", 2)).await.unwrap().epoch, 2);
    let before = written(&new).await;

    let tick = old.append(Batch { epoch: Some(1), ..batch(account(), 3, 2, 2) }).await;
    assert!(matches!(tick, Err(AppendError::Deposed { head }) if head.epoch == 2 && head.revision == 3));
    assert_eq!(written(&new).await, before);

    let verb = old.append(batch(account(), 3, 1, 3)).await.unwrap();
    assert_eq!((verb.revision, verb.epoch), (4, 2), "verbs need no seat");
    new.append(Batch { epoch: Some(2), ..batch(account(), 4, 1, 4) }).await.unwrap();
}

async fn a_lost_seat_is_said_before_a_lost_race(bed: impl Bed) {
    let journal = bed.open().await;
    journal.append(seat(0, "old", 1)).await.unwrap();
    journal.append(seat(1, "new", 2)).await.unwrap();
    let answer = journal.append(Batch { epoch: Some(1), ..batch(account(), 1, 1, 1) }).await;
    assert!(matches!(answer, Err(AppendError::Deposed { .. })));
}

async fn two_claims_to_the_seat_give_one_holder(bed: impl Bed) {
    let (one, two) = (bed.open().await, bed.open().await);
    let (first, second) = tokio::join!(one.append(seat(0, "one", 1)), two.append(seat(0, "two", 1)));
    assert!(first.is_ok() ^ second.is_ok(), "{first:?} {second:?}");
    let holder = one.load(account()).await.unwrap().seat.holder.unwrap();
    assert_eq!(holder, if first.is_ok() { "one" } else { "two" });
}

async fn a_batch_that_would_leave_a_gap_is_refused(bed: impl Bed) {
    let journal = bed.open().await;
    let mut gap = batch(account(), 0, 3, 1);
    gap.entries.remove(1);
    let late = Batch { expected: 0, ..batch(account(), 1, 1, 1) };
    let empty = Batch { entries: Vec::new(), ..batch(account(), 0, 1, 1) };
    for bad in [gap, late, empty] {
        let answer = journal.append(bad).await;
        assert!(matches!(answer, Err(AppendError::Failed(JournalError::Corrupt { .. }))), "{answer:?}");
    }
    assert_eq!(journal.head(account()).await.unwrap().revision, 0);
}

async fn accounts_do_not_see_each_other(bed: impl Bed) {
    let (journal, other) = (bed.open().await, AccountId::named("other"));
    journal.append(batch(account(), 0, 5, 1)).await.unwrap();
    journal.append(seat(5, "holder", 1)).await.unwrap();
    journal.append(batch(other, 0, 2, 2)).await.unwrap();
    assert_eq!(journal.head(other).await.unwrap(), Head { revision: 2, epoch: 0, oldest: 1 });
    assert_eq!(journal.load(other).await.unwrap(), fold(&batch(other, 0, 2, 2).entries));
    assert_eq!(journal.read(other, 0, 10).await.unwrap(), batch(other, 0, 2, 2).entries);
}

async fn reading_goes_page_by_page(bed: impl Bed) {
    let journal = bed.open().await;
    let whole = batch(account(), 0, 25, 1);
    journal.append(whole.clone()).await.unwrap();
    let (mut after, mut read) = (0, Vec::new());
    loop {
        let page = journal.read(account(), after, 10).await.unwrap();
        let Some(last) = page.last() else { break };
        assert!(page.len() <= 10);
        after = last.revision;
        read.extend(page);
    }
    assert_eq!(read, whole.entries);
    assert!(journal.read(account(), 0, 0).await.unwrap().is_empty());
    assert!(journal.read(account(), 26, 10).await.unwrap().is_empty());
    assert!(journal.read(account(), Revision::MAX, usize::MAX).await.unwrap().is_empty());
}

async fn a_follower_that_is_behind_does_not_wait(bed: impl Bed) {
    let journal = bed.open().await;
    journal.append(batch(account(), 0, 2, 1)).await.unwrap();
    let head = tokio::time::timeout(NOTICED, journal.follow(account(), 1)).await.unwrap().unwrap();
    assert_eq!(head.revision, 2);
}

async fn a_follower_notices_what_another_process_appends(bed: impl Bed) {
    let (reader, writer) = (bed.open().await, bed.open().await);
    for revision in 0..3 {
        let follow = tokio::time::timeout(NOTICED, reader.follow(account(), revision));
        let append = async {
            tokio::task::yield_now().await;
            writer.append(batch(account(), revision, 1, revision)).await.unwrap()
        };
        let (noticed, appended) = tokio::join!(follow, append);
        assert_eq!(noticed.unwrap().unwrap(), appended);
    }
}

async fn a_follower_is_not_fooled_by_another_account(bed: impl Bed) {
    let (reader, writer) = (bed.open().await, bed.open().await);
    let follow = tokio::time::timeout(SILENT, reader.follow(account(), 0));
    let append = writer.append(batch(AccountId::named("other"), 0, 1, 1));
    let (noticed, appended) = tokio::join!(follow, append);
    appended.unwrap();
    assert!(noticed.is_err(), "nothing happened in this account: {noticed:?}");
}

async fn a_load_is_the_fold_of_all_entries_wherever_snapshots_were_taken(bed: impl Bed) {
    let writer = bed.open().await;
    let mut world = World::default();
    for n in 0..60 {
        let next = batch(account(), world.revision, 1 + n % 9, n);
        next.entries.iter().for_each(|entry| world.apply(entry));
        writer.append(next).await.unwrap();
        if n % 7 == 3 {
            writer.snapshot(account(), &world).await.unwrap();
        }
        if n % 10 == 9 {
            let entries = writer.read(account(), 0, 10_000).await.unwrap();
            assert_eq!(bed.open().await.load(account()).await.unwrap(), fold(&entries));
        }
    }
}

async fn a_snapshot_of_what_was_never_appended_is_refused(bed: impl Bed) {
    let journal = bed.open().await;
    journal.append(batch(account(), 0, 2, 1)).await.unwrap();
    let ahead = fold(&batch(account(), 0, 3, 1).entries);
    let answer = journal.snapshot(account(), &ahead).await;
    assert!(matches!(answer, Err(JournalError::Corrupt { revision: 3, .. })));
    assert_eq!(journal.load(account()).await.unwrap(), fold(&batch(account(), 0, 2, 1).entries));
}

pub(super) async fn many_writers_lose_and_repeat_nothing(bed: impl Bed) {
    const WRITERS: u64 = 4;
    const EACH: u64 = 20;
    let write = async |writer: u64| {
        let journal = bed.open().await;
        for n in 0..EACH {
            let mut head = journal.head(account()).await.unwrap();
            loop {
                let mut next = batch(account(), head.revision, 3, n);
                next.entries.iter_mut().for_each(|entry| entry.by = format!("{writer}/{n}"));
                match journal.append(next).await {
                    Ok(_) => break,
                    Err(AppendError::Outrun { head: now }) => head = now,
                    Err(other) => panic!("{other:?}"),
                }
            }
        }
    };
    tokio::join!(write(0), write(1), write(2), write(3));

    let entries = bed.open().await.read(account(), 0, 10_000).await.unwrap();
    assert!(entries.iter().map(|entry| entry.revision).eq(1..=WRITERS * EACH * 3));
    let batches: Vec<&str> = entries.chunks(3).map(|chunk| chunk[0].by.as_str()).collect();
    assert!(entries.chunks(3).all(|chunk| chunk.iter().all(|entry| entry.by == chunk[0].by)), "a batch was torn");
    assert_eq!(batches.iter().collect::<BTreeSet<_>>().len(), batches.len(), "a batch was written twice");
}

pub(super) async fn the_last_beat_of_the_newest_epoch_stays(bed: impl Bed) {
    let (journal, other) = (bed.open().await, bed.open().await);
    let beat = |holder: &str, epoch, count| Beat { holder: holder.to_owned(), epoch, count };
    journal.beat(account(), beat("old", 1, 1)).await.unwrap();
    journal.beat(account(), beat("old", 1, 2)).await.unwrap();
    assert_eq!(other.last(account()).await.unwrap(), Some(beat("old", 1, 2)));
    other.beat(account(), beat("new", 2, 1)).await.unwrap();
    journal.beat(account(), beat("old", 1, 3)).await.unwrap();
    assert_eq!(journal.last(account()).await.unwrap(), Some(beat("new", 2, 1)));
    assert_eq!(journal.last(AccountId::named("other")).await.unwrap(), None);
}

async fn links_of_the_audit_are_found_from_both_ends(bed: impl Bed) {
    const COUNT: u64 = 2_500;
    let journal = bed.open().await;
    journal.append(batch(AccountId::named("other"), 0, 9, 1)).await.unwrap();
    journal.append(batch_with_links(account(), 0, COUNT, 1)).await.unwrap();
    let entries = journal.read(account(), 0, 10_000).await.unwrap();
    let links: Vec<_> = entries.into_iter().filter(|entry| entry.is_audit()).collect();
    assert_eq!(links.len(), 625);
    let read = async |stretch, limit| journal.links(account(), stretch, limit).await.unwrap();
    assert_eq!(read(Stretch::After(0), 1_000).await, links);
    assert_eq!(read(Stretch::Before(Revision::MAX), 1_000).await, links);
    assert_eq!(read(Stretch::After(8), 3).await, links[2..5], "behind the second link");
    assert_eq!(read(Stretch::Before(2_400), 3).await, links[596..599], "in front of the 600th");
    assert_eq!(read(Stretch::Before(4), 3).await, []);
    assert_eq!(read(Stretch::After(COUNT), 3).await, []);
    let nobody = journal.links(AccountId::named("nobody"), Stretch::Before(7), 3).await.unwrap();
    assert_eq!(nobody, []);
}

pub(super) async fn an_append_from_before_a_compaction_is_refused(bed: impl Bed) {
    let (journal, late) = (bed.open().await, bed.open().await);
    journal.append(seat(0, "holder", 1)).await.unwrap();
    journal.append(batch(account(), 1, 59, 1)).await.unwrap();
    let world = late.load(account()).await.unwrap();
    bed.archive(account(), 10).await;

    let head = late.head(account()).await.unwrap();
    assert!(head.revision == 60 && head.epoch == 1 && (2..=51).contains(&head.oldest), "{head:?}");
    for expected in [0, 1, head.oldest - 2, head.oldest - 1, 59] {
        for epoch in [None, Some(1)] {
            let answer = late.append(Batch { epoch, ..batch(account(), expected, 3, 2) }).await;
            assert!(
                matches!(&answer, Err(AppendError::Outrun { head: now }) if *now == head),
                "{expected}: {answer:?}"
            );
        }
    }
    let deposed = late.append(Batch { epoch: Some(0), ..batch(account(), 1, 1, 2) }).await;
    assert!(matches!(deposed, Err(AppendError::Deposed { head: now }) if now == head));
    let behind = late.read(account(), head.oldest - 2, 10).await;
    assert!(matches!(behind, Err(JournalError::Compacted { oldest }) if oldest == head.oldest), "{behind:?}");
    assert_eq!(bed.open().await.load(account()).await.unwrap(), world);

    let next = batch(account(), 60, 2, 3);
    let after = late.append(Batch { epoch: Some(1), ..next.clone() }).await.unwrap();
    assert_eq!(after, Head { revision: 62, ..head });
    assert_eq!(journal.read(account(), 60, 10).await.unwrap(), next.entries);
}

async fn what_happens_beside_a_compaction_is_kept(bed: impl Bed) {
    let (writer, reader) = (bed.open().await, bed.open().await);
    writer.append(batch(account(), 0, 200, 1)).await.unwrap();
    let write = async {
        for n in 0..20 {
            writer.append(batch(account(), 200 + n, 1, n)).await.unwrap();
        }
    };
    tokio::join!(write, bed.archive(account(), 50));
    let head = reader.head(account()).await.unwrap();
    assert_eq!((head.revision, head.oldest > 1), (220, true));
    let entries = reader.read(account(), head.oldest - 1, 1_000).await.unwrap();
    assert!(entries.iter().map(|entry| entry.revision).eq(head.oldest..=220));
    let later = (0..20).flat_map(|n| batch(account(), 200 + n, 1, n).entries);
    let all: Vec<_> = batch(account(), 0, 200, 1).entries.into_iter().chain(later).collect();
    assert_eq!(reader.load(account()).await.unwrap(), fold(&all));
}
