//! The audit's chain: every verb leaves a link, and no link can be touched without it being seen.

use super::rig::{Rig, epoch};
use crate::domain::audit::{AuditHead, Auditor, Broken, Fate, Link, link};
use crate::domain::change::{Change, Entry, Level};
use crate::domain::decide::decide;
use crate::domain::ids::{MachineId, RolloutId};
use crate::domain::input::{Input, Order, RingPatch, Verb};
use crate::domain::release::Digest;
use crate::domain::span::Seconds;

fn order(verb: Verb, reason: &str) -> Order {
    Order { verb, by: "op-a".to_owned(), reason: Some(reason.to_owned()), key: Some("k1".to_owned()) }
}

/// What the loop appends for these verbs, one after the other.
fn appended(orders: Vec<Order>) -> Vec<Entry> {
    let rig = Rig::line("oak", RingPatch { max_in_flight: Some(1), ..RingPatch::default() }, &["ash", "birch"]);
    let mut world = rig.world.clone();
    let mut all = Vec::new();
    for order in orders {
        let input = Input::Verb(order.clone());
        let mut verdict = decide(&world, &rig.observed, &input, rig.now);
        let link = Box::new(link(&order, &verdict, &world, &rig.observed, rig.now));
        verdict.changes.push(Change::Audited { link });
        let entries = input.author(&world, "").entries(&world, &verdict.changes, rig.now);
        entries.iter().for_each(|entry| world.apply(entry));
        all.extend(entries);
    }
    all
}

fn some() -> Vec<Entry> {
    let ash = Level::Machine(MachineId::named("ash"));
    appended(vec![
        order(Verb::Pause(ash), "disk"),
        order(Verb::Halt { rollout: RolloutId::named("nobody") }, "wrong one"),
        order(Verb::Unpause(ash), "disk replaced"),
    ])
}

fn links(entries: &[Entry]) -> Vec<&Link> {
    let link = |entry| match entry {
        &Entry { change: Change::Audited { ref link }, .. } => Some(&**link),
        _ => None,
    };
    entries.iter().filter_map(link).collect()
}

fn walk(entries: &[Entry]) -> Result<AuditHead, Broken> {
    let mut auditor = Auditor::default();
    entries.iter().try_for_each(|entry| auditor.take(entry)).map(|()| auditor.head().clone())
}

fn forge(entries: &mut [Entry], place: usize, forge: impl FnOnce(&mut Link)) {
    let mut found = entries.iter_mut().filter_map(|entry| match &mut entry.change {
        Change::Audited { link } => Some(link),
        _ => None,
    });
    forge(found.nth(place).unwrap());
}

#[test]
fn done_and_refused_leave_a_link_each() {
    let entries = some();
    let links = links(&entries);
    assert_eq!(links.iter().map(|link| link.number).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(links[0].target, ["machine ash"]);
    assert_eq!((&links[0].fate, links[0].changes), (&Fate::Done, 1));
    assert!(!links[0].plan.is_empty(), "what would follow was rehearsed");
    assert!(matches!(&links[1].fate, Fate::Refused { code, .. } if code == "no_rollout"));
    assert_eq!((links[1].changes, &links[1].before), (0, &Some(links[0].seal.clone())));
    assert_eq!(walk(&entries), Ok(AuditHead { count: 3, seal: Some(links[2].seal.clone()) }));
}

#[test]
fn nothing_can_be_rewritten() {
    let sound = some();
    let broken = |change: &dyn Fn(&mut Vec<Entry>)| {
        let mut entries = sound.clone();
        change(&mut entries);
        walk(&entries).unwrap_err()
    };
    let revision = |number: usize| {
        let at = |entry: &&Entry| matches!(&entry.change, Change::Audited { link } if link.number == number as u64);
        sound.iter().find(at).unwrap().revision
    };
    let seal = |number| Broken::Seal { revision: revision(number), number: number as u64 };
    assert_eq!(broken(&|all| all[1].by = "op-b".to_owned()), seal(1), "who");
    assert_eq!(broken(&|all| all[1].at = Seconds(1).after(epoch())), seal(1), "when");
    assert_eq!(broken(&|all| forge(all, 1, |link| link.fate = Fate::Done)), seal(2), "what came of it");
    assert_eq!(broken(&|all| forge(all, 0, |link| link.plan.clear())), seal(1), "the plan");
    let effect = Broken::Effect { revision: revision(1), number: 1 };
    assert_eq!(broken(&|all| all[0].change = Change::ClockAccepted), effect, "what it did");
    let missing = Broken::Number { revision: revision(3), expected: 2, found: 3 };
    assert_eq!(broken(&|all| all.retain(|entry| entry.revision != revision(2))), missing, "a link taken out");
}

#[test]
fn a_link_that_is_sealed_anew_no_longer_fits_the_next() {
    let mut entries = some();
    let other = appended(vec![order(Verb::AcceptClock, "tampered")]);
    let [.., Entry { change: Change::Audited { link }, .. }] = other.as_slice() else { panic!("a link") };
    let forged = Link { number: 1, before: None, ..(**link).clone() };
    entries.splice(0..2, other.clone());
    forge(&mut entries, 0, |link| *link = forged);
    assert!(matches!(walk(&entries), Err(Broken::Before { number: 2, .. })), "{:?}", walk(&entries));
}

#[test]
fn a_chain_without_its_beginning_says_so_unless_the_link_it_hangs_on_is_known() {
    let entries = some();
    let revision = entries.iter().filter(|entry| entry.is_audit()).nth(1).unwrap().revision;
    assert_eq!(walk(&entries[2..]), Err(Broken::Number { revision, expected: 1, found: 2 }));
    let mut auditor = Auditor::behind(AuditHead { count: 1, seal: Some(links(&entries)[0].seal.clone()) });
    assert!(entries[2..].iter().try_for_each(|entry| auditor.take(entry)).is_ok());
    let mut auditor = Auditor::behind(AuditHead { count: 1, seal: Some(Digest("0".repeat(64))) });
    assert!(entries[2..].iter().try_for_each(|entry| auditor.take(entry)).is_err());
}
