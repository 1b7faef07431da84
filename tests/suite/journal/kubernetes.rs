//! A journal in a cluster: what becomes pieces and what is swept, what is found to be wrong, and what lies beside it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use kura_console::adapters::journal::compaction::{Keep, compact};
use kura_console::adapters::journal::tended::Tended;
use kura_console::adapters::kube::drawer::{Kept, Shelf};
use kura_console::adapters::presence::kubernetes::KubernetesPresence;
use kura_console::adapters::vault::kubernetes::KubernetesVault;
use kura_console::control::ports::{AppendError, Batch, Journal, JournalError, Presence, Vault};
use kura_console::domain::change::Change;
use kura_console::domain::fleet::Machine;
use kura_console::domain::ids::{AccountId, MachineId, SecretVersion};
use kura_console::domain::release::Digest;
use serde_json::Value;

use super::beds::{Bed, Kubernetes};
use super::changes::{batch_with_links, entry, fold};
use super::conformance;

/// The most an account may hold here, by the architecture.
const MACHINES: u64 = 1_000;

/// Bytes of one object: what etcd takes of a request is 1.5 MiB.
const OBJECT_MAX: usize = 1_000 * 1_024;

fn account() -> AccountId {
    AccountId::named("acme")
}

/// Names and sizes of the objects of a part.
async fn objects(bed: &Kubernetes, part: &str) -> BTreeMap<String, usize> {
    let api = bed.lease.cluster.admin();
    let path = format!("/api/v1/namespaces/{}/configmaps?labelSelector=kura-console/part={part}", bed.lease.namespace);
    let body = api.get(&path).await.done();
    let items = body["items"].as_array().unwrap().iter();
    items.map(|item| (item["metadata"]["name"].as_str().unwrap().to_owned(), item.to_string().len())).collect()
}

#[tokio::test]
async fn entries_that_give_way_are_read_as_if_nothing_had_happened_and_swept_once_they_are_archived() {
    let Some(bed) = Kubernetes::bed().await else { return };
    let (journal, other) = (bed.open().await, bed.open().await);
    let mut entries = Vec::new();
    for n in 0..20 {
        let next = batch_with_links(account(), entries.len() as u64, 200, n);
        journal.append(next.clone()).await.unwrap();
        entries.extend(next.entries);
    }
    let pieces = objects(&bed, "entries").await;
    assert!(pieces.len() > 3, "{pieces:?}");
    assert_eq!(other.read(account(), 0, 10_000).await.unwrap(), entries);
    assert_eq!(other.read(account(), 1_234, 77).await.unwrap(), entries[1_234..1_311]);
    assert_eq!(other.load(account()).await.unwrap(), fold(&entries));
    assert_eq!(other.faults().await.unwrap(), Vec::<String>::new());

    journal.snapshot(account(), &fold(&entries)).await.unwrap();
    let archived = compact(&other, account(), Keep { entries: 300, since: None }, |_| {}).await.unwrap();
    assert!(archived.oldest > 3_600 && archived.links > 800, "{archived:?}");
    assert!(objects(&bed, "entries").await.len() < pieces.len());
    assert_eq!(journal.load(account()).await.unwrap(), fold(&entries));
    let head = journal.head(account()).await.unwrap();
    let base = other.world_before_oldest(account(), head).await.unwrap();
    assert_eq!(base, fold(&entries[..usize::try_from(archived.oldest).unwrap() - 1]));
    let links: Vec<_> = entries.iter().filter(|entry| entry.is_audit() && entry.revision < archived.oldest).collect();
    assert!(other.archived_links(account(), 0, 10_000).await.unwrap().iter().eq(links));
    assert_eq!(other.faults().await.unwrap(), Vec::<String>::new());
    let standings = other.accounts().await.unwrap();
    assert_eq!((standings.len(), standings[0].account, standings[0].head), (1, account(), head));
}

#[tokio::test]
async fn a_piece_that_is_gone_or_damaged_is_said_and_never_passed_over() {
    let Some(bed) = Kubernetes::bed().await else { return };
    let journal = bed.open().await;
    journal.append(batch_with_links(account(), 0, 2_000, 1)).await.unwrap();
    journal.append(batch_with_links(account(), 2_000, 10, 2)).await.unwrap();
    let (name, _) = objects(&bed, "entries").await.pop_first().unwrap();
    let drawer = bed.drawer().await;
    let whole = drawer.get(Shelf::ConfigMap, &name).await.unwrap().unwrap();
    drawer.delete(Shelf::ConfigMap, &name).await.unwrap();
    let fresh = bed.open().await;
    assert_eq!(fresh.faults().await.unwrap(), [format!("{name} is missing")]);
    assert!(matches!(fresh.read(account(), 0, 10).await, Err(JournalError::Corrupt { .. })));
    assert!(fresh.load(account()).await.is_err());

    let mut damaged = whole.clone();
    damaged.version = None;
    damaged.bytes.values_mut().for_each(|bytes| bytes[40] ^= 1);
    drawer.create(Shelf::ConfigMap, &damaged).await.unwrap();
    let wrong = fresh.faults().await.unwrap();
    assert!(wrong.len() == 1 && wrong[0].contains(&name), "{wrong:?}");
    assert!(fresh.load(account()).await.is_err());
    drawer.delete(Shelf::ConfigMap, &name).await.unwrap();
    drawer.create(Shelf::ConfigMap, &Kept { version: None, ..whole }).await.unwrap();
    assert_eq!(fresh.faults().await.unwrap(), Vec::<String>::new());
    fresh.load(account()).await.unwrap();
}

/// Somebody edits the head by hand, or deletes it: nothing is appended on a guess.
#[tokio::test]
async fn a_head_that_is_not_what_it_was_is_never_written_over() {
    let Some(bed) = Kubernetes::bed().await else { return };
    let journal = bed.open().await;
    journal.append(batch_with_links(account(), 0, 3, 1)).await.unwrap();
    let (name, drawer) = (objects(&bed, "head").await.pop_first().unwrap().0, bed.drawer().await);
    let whole = drawer.get(Shelf::ConfigMap, &name).await.unwrap().unwrap();
    let mut touched = whole.clone();
    touched.labels.insert("touched".to_owned(), "yes".to_owned());
    drawer.replace(Shelf::ConfigMap, &touched).await.unwrap();
    assert_eq!(journal.append(batch_with_links(account(), 3, 1, 2)).await.unwrap().revision, 4, "only a label");

    let mut newer = drawer.get(Shelf::ConfigMap, &name).await.unwrap().unwrap();
    let record: Value = serde_json::from_slice(&newer.bytes["head"]).unwrap();
    let mut record = record.as_object().unwrap().clone();
    record.insert("format".to_owned(), 99.into());
    newer.bytes.insert("head".to_owned(), serde_json::to_vec(&record).unwrap());
    drawer.replace(Shelf::ConfigMap, &newer).await.unwrap();
    let refused = journal.append(batch_with_links(account(), 4, 1, 3)).await.unwrap_err();
    let why = std::error::Error::source(&refused).map(ToString::to_string).unwrap_or_default();
    assert!(why.contains("newer version"), "{refused:?}");

    drawer.delete(Shelf::ConfigMap, &name).await.unwrap();
    let gone = journal.append(batch_with_links(account(), 4, 1, 3)).await;
    assert!(matches!(gone, Err(AppendError::Outrun { head }) if head.revision == 0), "{gone:?}");
}

#[tokio::test]
async fn an_account_of_a_thousand_machines_fits() {
    let Some(bed) = Kubernetes::bed().await else { return };
    let journal = bed.open().await;
    let machine = |n: u64| {
        let hostname = format!("machine-{n}.rack-{}.example.com", n % 40);
        let machine = Box::new(Machine::new(MachineId::named(&hostname), &hostname));
        entry(n + 1, 3, Change::MachineAdded { machine })
    };
    let entries: Vec<_> = (0..MACHINES).map(machine).collect();
    let all = Batch { account: account(), expected: 0, epoch: None, entries: entries.clone() };
    journal.append(all).await.unwrap();
    let mut all = entries;
    for n in 0..15 {
        let next = batch_with_links(account(), all.len() as u64, 1_000, n);
        journal.append(next.clone()).await.unwrap();
        all.extend(next.entries);
    }
    let world = fold(&all);
    assert!(world.machines.len() >= 1_000);
    journal.snapshot(account(), &world).await.unwrap();
    let started = tokio::time::Instant::now();
    let next = batch_with_links(account(), world.revision, 2, 7);
    journal.append(next).await.unwrap();
    let took = started.elapsed();
    let mut sizes = String::new();
    for part in ["head", "entries", "world", "snapshots"] {
        let objects = objects(&bed, part).await;
        let largest = objects.values().copied().max().unwrap_or_default();
        assert!(largest < OBJECT_MAX, "{part}: {objects:?}");
        let _ = write!(sizes, "{part}: {} objects, the largest {largest} bytes; ", objects.len());
    }
    assert!(took.as_secs() < 5, "{took:?} with {sizes}");
    bed.open().await.load(account()).await.unwrap();
}

/// What one process was told, another one tells: presence, contents, secrets.
#[tokio::test]
async fn what_lies_beside_the_journal_is_shared_by_its_servers() {
    let Some(bed) = Kubernetes::bed().await else { return };
    let (one, two) = (bed.drawer().await, bed.drawer().await);
    let (here, there) = (KubernetesPresence::of(one.clone(), "kura"), KubernetesPresence::of(two.clone(), "kura"));
    let (ash, birch) = (MachineId::named("ash"), MachineId::named("birch"));
    let at = |second: i64| jiff::Timestamp::from_second(1_700_000_000 + second).unwrap();
    here.saw(account(), ash, at(10));
    there.saw(account(), ash, at(5));
    there.saw(account(), birch, at(7));
    for presence in [&here, &there, &here] {
        presence.flush().await.unwrap();
    }
    assert_eq!(here.seen(account()).get(&ash), Some(&at(10)));
    assert_eq!(here.seen(account()), there.seen(account()));
    let third = KubernetesPresence::of(bed.drawer().await, "kura");
    third.flush().await.unwrap();
    assert_eq!(third.seen(account()), here.seen(account()));

    let (here, there) = (KubernetesVault::of(one.clone(), "kura"), KubernetesVault::of(two, "kura"));
    let mut random = fastrand::Rng::with_seed(7);
    let large: Vec<u8> = (0..3 * 1_024 * 1_024).map(|_| random.u8(..)).collect();
    for content in [b"states".to_vec(), large] {
        let digest = here.keep(content.clone()).await.unwrap();
        assert_eq!(here.keep(content.clone()).await.unwrap(), digest);
        assert!(there.fetch(&digest).await.unwrap() == Some(content));
    }
    assert_eq!(there.fetch(&Digest("../x".to_owned())).await.unwrap(), None);
    let (version, stranger) = (SecretVersion::named("1"), AccountId::named("other"));
    here.keep_secret(account(), version, "hunter1".to_owned()).await.unwrap();
    assert_eq!(there.secret(account(), version).await.unwrap().as_deref(), Some("hunter1"));
    assert_eq!(there.secret(stranger, version).await.unwrap(), None);
    there.drop_secret(account(), version).await.unwrap();
    there.drop_secret(account(), version).await.unwrap();
    assert_eq!(here.secret(account(), version).await.unwrap(), None);
    assert!(one.list(Shelf::ConfigMap, "kura-console/part=secret").await.unwrap().is_empty(), "secrets are Secrets");
}

/// What fences is tried by its own name here as well: mutants of the cluster are found by it.
#[tokio::test]
async fn two_writers_never_replace_the_same_head() {
    let Some(bed) = Kubernetes::bed().await else { return };
    conformance::many_writers_lose_and_repeat_nothing(bed).await;
}

#[tokio::test]
async fn whoever_lost_the_seat_appends_nothing() {
    let Some(bed) = Kubernetes::bed().await else { return };
    conformance::a_seat_raises_the_epoch_and_deposes_the_old_holder(bed).await;
}

#[tokio::test]
async fn whoever_slept_through_a_compaction_appends_nothing() {
    let Some(bed) = Kubernetes::bed().await else { return };
    conformance::an_append_from_before_a_compaction_is_refused(bed).await;
}
