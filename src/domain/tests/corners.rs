//! Corners of rules whose plain case is proven elsewhere.

use super::rig::{Rig, capped, environment, ladder, machine, ring};
use crate::domain::failure_mode::{FailureMode, findings};
use crate::domain::hold::HoldKind;
use crate::domain::ids::{MachineId, ReleaseId, RingId};
use crate::domain::input::{Input, RingPatch, Verb};
use crate::domain::observed::{Node, Telemetry};
use crate::domain::preflight::window;
use crate::domain::refusal::Refusal;
use crate::domain::span::Seconds;

#[test]
fn rings_are_serial_each_on_its_own_and_never_together() {
    // R8, R24
    let mut rig = Rig::line("oak", capped(1, 0, 0, 10), &["a", "b"]);
    rig.ring("elm", capped(1, 0, 0, 10)).ring("free", RingPatch::default());
    rig.machine("c", "oak", "elm", 1).machine("d", "oak", "elm", 2).machine("e", "oak", "free", 3).start("v1");
    rig.poll_all(&["a", "b", "c", "d", "e"]);
    assert_eq!(rig.holders(), ["c", "a"], "one in each ring");
    assert_eq!(rig.state("e"), "pending", "and an uncapped ring waits for neither");
}

#[test]
fn a_window_is_estimated_by_its_nodes_and_environments() {
    // R10: 8 nodes, 15 min, 300 s, 2 tiers
    let mut rig = Rig::cluster(&capped(1, 300, 5_400, 1));
    for n in 0..4 {
        rig.machine(&format!("x{n}"), "workers", "workers", 10 + n);
    }
    let said = |rig: &Rig| window(&rig.world, Seconds(900)).map(|span| span.to_string());
    assert_eq!(said(&rig), ["2h 41m", "2h 51m"]);
    assert_eq!(window(&rig.world, Seconds(900)), [Seconds(161 * 60 + 20), Seconds(171 * 60 + 20)]);
    rig.patch("workers", RingPatch { max_in_flight: Some(2), ..RingPatch::default() });
    assert_eq!(window(&rig.world, Seconds(900))[0], Seconds(5 * 1_210), "two at a time take half as long");
    rig.patch("workers", RingPatch { max_in_flight: Some(0), ..RingPatch::default() });
    assert_eq!(window(&rig.world, Seconds(900))[0], Seconds(3 * 1_210), "an uncapped ring takes one arc");
}

#[test]
fn an_uncapped_ring_is_asked_about_before_telemetry() {
    // R17
    let mut rig = Rig::line("oak", RingPatch::default(), &["a", "b"]);
    rig.start("v1");
    rig.observed.telemetry = Telemetry::Unreadable;
    assert!(rig.poll("a").is_some(), "there is no slot to grant");
    rig.ok("a").at(60).tick();
    assert_eq!(rig.hold().map(|hold| hold.kind), Some(HoldKind::Telemetry), "and nothing is promoted");
}

#[test]
fn a_ladder_that_is_lowered_takes_no_slot() {
    // R23, R75
    let mut rig = Rig::line("oak", capped(1, 0, 0, 10), &["a", "b"]);
    rig.start("v1");
    rig.poll("a");
    rig.patch("oak", ladder(&[(0, 1)]));
    assert_eq!(rig.holders(), ["a"]);
    assert!(rig.poll("a").is_some());
}

#[test]
fn a_cap_adopts_who_is_served_failing_or_not_and_nobody_who_is_paused() {
    // R29
    let mut rig = Rig::line("oak", RingPatch::default(), &["a", "b", "c", "d"]);
    rig.start("v1");
    rig.poll_all(&["a", "b", "c"]);
    rig.fail("b").pause(machine("c")).patch("oak", capped(1, 0, 0, 10));
    assert_eq!(rig.holders(), ["a", "b"]);
    rig.unpause(machine("c"));
    assert_eq!(rig.queue(), ["c", "d"], "its run was withdrawn, so it queues");
}

#[test]
fn a_stall_names_how_long_it_held_and_how_long_it_is_gone() {
    // R49
    let mut rig = Rig::line("oak", capped(2, 0, 3_600, 10), &["a", "b"]);
    rig.start("v1");
    rig.poll("a");
    rig.at(600).poll_all(&["a", "b"]);
    rig.at(3_600).poll("b");
    rig.tick();
    assert_eq!(rig.halted("oak"), Some("a has held its slot for 1h and is offline for 50m"), "the longest holder");
}

#[test]
fn failures_count_against_their_own_ring_and_a_halted_rollout_halts_no_ring() {
    // R59, R65
    let mut rig = Rig::line("oak", capped(1, 0, 0, 2), &["a"]);
    rig.ring("elm", capped(1, 0, 0, 2)).machine("b", "oak", "elm", 1).start("v1");
    rig.poll_all(&["a", "b"]);
    rig.fail("a").fail("b");
    assert!(rig.rollout().halted_rings.is_empty(), "one failure in each");
    rig.fail("b");
    assert_eq!(rig.rollout().halted_rings.keys().collect::<Vec<_>>(), [&RingId::named("elm")]);
    rig.start("v1");
    let rollout = rig.rollout().id;
    rig.verb(Verb::Halt { rollout });
    assert!(rig.rollout().halted_rings.is_empty(), "that is another level");
}

#[test]
fn a_halt_ends_with_a_supersede_and_with_a_new_rollout() {
    // R67
    let halted = || {
        let mut rig = Rig::line("oak", capped(1, 0, 0, 1), &["a", "b"]);
        rig.start("v1");
        rig.poll("a");
        rig.fail("a");
        assert!(rig.halted("oak").is_some());
        rig
    };
    let mut rig = halted();
    rig.start("v2");
    assert!(rig.halted("oak").is_none());
    let mut rig = halted();
    let rollout = rig.rollout().id;
    rig.verb(Verb::Halt { rollout });
    rig.start("v1");
    assert!(rig.halted("oak").is_none() && rig.poll("a").is_some());
}

#[test]
fn a_ring_that_halts_behind_the_cursor_holds_nobody() {
    // R69, R86
    let mut rig = Rig::cluster(&capped(1, 0, 0, 1));
    rig.start("v1");
    rig.converge("cp1").converge("cp2").at(60).tick();
    rig.fail("cp1");
    assert!(rig.halted("cp").is_some());
    rig.converge("w1").converge("w2").at(120).tick();
    assert_eq!(rig.rollout().status(), "completed", "it has no members where the cursor stands");
}

#[test]
fn the_clock_of_a_ladder_is_restarted_by_a_reset_and_stopped_by_no_pause() {
    // R70
    let mut rig = Rig::line("oak", ladder(&[(0, 2), (600, 100)]), &["a", "b"]);
    rig.start("v1");
    rig.at(100).pause(environment("oak")).pause(ring("oak"));
    rig.at(600).unpause(environment("oak")).unpause(ring("oak"));
    assert_eq!(rig.state("b"), "pending");
    rig.start("v1");
    assert_eq!(rig.state("b"), "waiting");
    assert_eq!(rig.at(1_199).state("b"), "waiting");
    assert_eq!(rig.at(1_200).state("b"), "pending");
}

#[test]
fn a_machine_that_is_rebuilt_and_paused_holds_the_cursor_again() {
    // R79, R153
    let mut rig = Rig::cluster(&capped(1, 0, 0, 10));
    rig.start("v1");
    rig.converge("cp1").converge("cp2");
    rig.step(&Input::Rebuilt { machine: MachineId::named("cp1"), version: None });
    rig.pause(machine("cp1")).at(60).tick();
    assert_eq!((rig.cursor(), rig.hold().map(|hold| hold.kind)), ("cp", Some(HoldKind::PausedBeforeApply)));
}

#[test]
fn a_timeout_that_is_set_again_is_judged_again() {
    // R123, R126
    let mut rig = Rig::line("oak", capped(1, 0, 5_400, 1), &[]);
    let ring = RingId::named("oak");
    rig.patch("oak", RingPatch { max_in_flight: Some(0), ..RingPatch::default() });
    let again = RingPatch { stall_timeout_seconds: Some(Seconds(5_400)), ..RingPatch::default() };
    assert!(matches!(rig.refused(Verb::PatchRing { ring, patch: again }), Refusal::StallWithoutCap));
    rig.patch("oak", ladder(&[(0, 50), (60, 100)]));
}

#[test]
fn a_cordon_below_the_target_is_left_to_the_next_converge() {
    // R161
    let mut rig = Rig::line("oak", capped(1, 0, 0, 10), &["a"]);
    let Some(known) = rig.world.releases.get(&ReleaseId::named("v1")).cloned() else { unreachable!() };
    rig.verb(Verb::PublishRelease {
        id: ReleaseId::named("v9"),
        git_ref: "v9".to_owned(),
        commit: known.commit,
        engine: known.engine,
        timeout_seconds: known.timeout_seconds,
        notes: String::new(),
        target_version: Some("v1.31.0".to_owned()),
        content: known.content,
        contract: known.contract,
    });
    rig.environment("later", 20).start("v9");
    rig.converge("a");
    let cordoned = |rig: &mut Rig, version: &str| {
        let node = Node { ready: true, unschedulable: true, version: Some(version.to_owned()), holds_vip: false };
        rig.observed.nodes.insert("a".to_owned(), node);
        let found = findings(&rig.world, &rig.observed, rig.now);
        found.iter().any(|finding| finding.mode == FailureMode::AppliedButCordoned)
    };
    assert!(!cordoned(&mut rig, "v1.30.9"), "it still has to be upgraded");
    assert!(cordoned(&mut rig, "v1.31.0"), "no run of this release gives it back");
}
