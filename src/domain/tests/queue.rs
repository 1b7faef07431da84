//! B4: who is next, and that nobody can be moved up.

use super::rig::{Rig, capped, machine};
use crate::domain::bucket::bucket;
use crate::domain::ids::{MachineId, ReleaseId};
use crate::domain::input::RingPatch;
use crate::domain::nudge;

#[test]
fn order_is_bucket_then_uuid() {
    // R31
    let mut rig = Rig::line("oak", capped(1, 0, 0, 10), &[]);
    for (name, bucket) in [("d", 7), ("a", 7), ("c", 7), ("b", 3), ("e", 99)] {
        rig.machine(name, "oak", "oak", bucket);
    }
    rig.start("v1");
    let mut ties = ["a", "c", "d"];
    ties.sort_by_key(|name| MachineId::named(name));
    assert_eq!(rig.queue(), ["b", ties[0], ties[1], ties[2], "e"]);
}

#[test]
fn buckets_reshuffle_with_the_release_and_stay_across_a_reset() {
    // R32, R92
    let mut rig = Rig::line("oak", capped(1, 0, 0, 10), &[]);
    for n in 0..12 {
        let name = format!("m{n}");
        rig.machine(&name, "oak", "oak", 0);
        rig.world.edit_machine(MachineId::named(&name), |m| m.bucket = None);
    }
    rig.world.reindex();
    rig.start("v1");
    let first = rig.queue();
    let mut expected: Vec<(u8, MachineId)> =
        rig.world.machines.keys().map(|m| (bucket(ReleaseId::named("v1"), *m), *m)).collect();
    expected.sort_unstable();
    let names: Vec<&str> = expected.iter().map(|(_, m)| rig.world.hostname(*m)).collect();
    assert_eq!(first, names);
    rig.start("v1");
    assert_eq!(rig.queue(), first, "reset");
    rig.start("v2");
    assert_ne!(rig.queue(), first, "another release");
}

#[test]
fn members_are_open_elected_not_done_not_paused_without_a_lease() {
    // R34, R35
    let mut rig = Rig::cluster(&capped(1, 0, 0, 10));
    rig.machine("cp3", "cp", "cp", 9).machine("cp4", "cp", "cp", 10).machine("cp5", "cp", "cp", 11);
    rig.pause(machine("cp5"));
    rig.start("v1");
    rig.converge("cp1");
    rig.poll("cp2");
    assert_eq!(rig.queue(), ["cp3", "cp4"]);
    assert_eq!(rig.row("cp3").queue_position, Some(1));
    assert_eq!(rig.row("w1").queue_position, None, "closed environment");
}

#[test]
fn a_failed_or_errored_waiter_keeps_its_place_and_its_position() {
    // R36
    let mut rig = Rig::line("oak", capped(1, 0, 0, 10), &["a", "b", "c"]);
    rig.break_render("a", "K8S_VIP");
    rig.start("v1");
    rig.poll_all(&["a", "b"]);
    assert_eq!((rig.state("a"), rig.row("a").queue_position), ("errored", Some(1)));
    assert_eq!(rig.row("b").queue_position, Some(2), "followers start at 2");
    assert!(rig.holders().is_empty(), "R148: the head blocks");
    rig.mend_render("a");
    rig.converge("a").fail("a");
    rig.poll("b");
    assert_eq!((rig.state("a"), rig.row("a").queue_position), ("failed", Some(1)));
}

#[test]
fn an_errored_head_blocks_one_slot_of_several() {
    // R149
    let mut rig = Rig::line("oak", capped(2, 0, 0, 10), &["a", "b", "c"]);
    rig.break_render("a", "K8S_VIP");
    rig.start("v1");
    rig.poll_all(&["a", "b", "c"]);
    assert_eq!(rig.holders(), ["b"]);
    assert_eq!(rig.poll("c"), None);
}

#[test]
fn success_with_a_free_slot_nudges_the_next() {
    // R38
    let mut rig = Rig::line("oak", capped(1, 0, 0, 10), &["a", "b", "c"]);
    rig.start("v1");
    rig.converge("a");
    let nudged = nudge::after_changes(&rig.world, &rig.changes, rig.now);
    assert!(nudged.contains(&MachineId::named("b")));
    assert!(!nudged.contains(&MachineId::named("c")));
}

#[test]
fn a_window_that_closed_is_found_by_the_tick_or_the_poll() {
    // R38, R89
    let mut rig = Rig::line("oak", capped(1, 300, 0, 10), &["a", "b"]);
    rig.start("v1");
    rig.converge("a");
    assert!(!nudge::after_changes(&rig.world, &rig.changes, rig.now).contains(&MachineId::named("b")));
    rig.at(299);
    assert!(nudge::heads(&rig.world, rig.now).is_empty());
    rig.at(300);
    assert!(nudge::heads(&rig.world, rig.now).contains(&MachineId::named("b")));
    assert!(rig.poll("b").is_some());
}

#[test]
fn a_newcomer_in_front_displaces_nobody_and_still_queues() {
    // R31, R39
    let mut rig = Rig::line("oak", capped(1, 0, 0, 10), &["a", "b"]);
    rig.start("v1");
    rig.poll("a");
    rig.machine("front", "oak", "oak", 0);
    assert_eq!(rig.poll("front"), None);
    assert_eq!(rig.queue(), ["front", "b"]);
    rig.ok("a");
    assert_eq!(rig.poll("b"), None, "it is not b's turn");
    assert!(rig.poll("front").is_some());
}

#[test]
fn whoever_polls_first_the_winners_are_the_first_in_the_queue() {
    // R28, R37
    let mut rig = Rig::line("oak", capped(2, 0, 0, 10), &["a", "b", "c", "d"]);
    rig.start("v1");
    rig.poll_all(&["d", "c", "b", "a"]);
    assert_eq!(rig.holders(), ["a", "b"]);
}

#[test]
fn an_offline_head_that_was_never_served_stops_the_queue_in_silence() {
    // R55
    let mut rig = Rig::line("oak", capped(1, 0, 600, 10), &["a", "b"]);
    rig.start("v1");
    rig.at(9_000).tick();
    assert_eq!(rig.poll("b"), None);
    assert_eq!(rig.row("a").is_online, Some(false));
    assert!(rig.halted("oak").is_none());
    assert_eq!(rig.hold(), None);
    let said = rig.explain(crate::domain::explain::Subject::Rollout);
    assert!(said.sentence.contains('a') && said.sentence.contains("no timer"), "{said:?}");
}

#[test]
fn the_whole_uncapped_wave_is_nudged_at_the_start() {
    // R8
    let mut rig = Rig::line("oak", RingPatch::default(), &["a", "b", "c"]);
    rig.start("v1");
    assert_eq!(nudge::after_changes(&rig.world, &rig.changes, rig.now).len(), 3);
    rig.poll("a");
    assert_eq!(nudge::wave(&rig.world, rig.now).len(), 2, "who was served needs no nudge");
}
