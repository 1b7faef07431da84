//! B10: the cursor, what lets it pass, and what completes a rollout.

use super::rig::{Rig, capped, environment, ladder, machine, ring};
use crate::domain::explain::Subject;
use crate::domain::hold::HoldKind;
use crate::domain::ids::{EnvironmentId, MachineId, RingId};
use crate::domain::input::{RingPatch, Verb};
use crate::domain::observed::Telemetry;
use crate::domain::refusal::Refusal;

fn cluster() -> Rig {
    let mut rig = Rig::cluster(&capped(1, 0, 0, 10));
    rig.start("v1");
    rig
}

/// The control-plane tier is done.
fn cp_done() -> Rig {
    let mut rig = cluster();
    rig.converge("cp1").converge("cp2");
    rig
}

fn reorder(slug: &str, order: Option<i64>) -> Verb {
    let environment = EnvironmentId::named(slug);
    Verb::PatchEnvironment { environment, name: None, promotion_order: Some(order), config_values: None }
}

#[test]
fn the_cursor_walks_the_path_and_ties_go_by_slug() {
    // R77, R81
    let mut rig = Rig::new();
    rig.environment("b", 5).environment("a", 5).environment("z", 1).ring("r", RingPatch::default()).release("v1");
    for (name, tier) in [("m1", "z"), ("m2", "a"), ("m3", "b")] {
        rig.machine(name, tier, "r", 1);
    }
    rig.start("v1");
    let mut walked = vec![rig.cursor().to_owned()];
    for (name, at) in [("m1", 60), ("m2", 120), ("m3", 180)] {
        rig.converge(name).at(at).tick();
        walked.push(rig.cursor().to_owned());
    }
    assert_eq!(walked, ["z", "a", "b", "b"]);
    assert_eq!(rig.rollout().status(), "completed");
}

#[test]
fn a_fully_done_tier_is_passed_at_the_next_tick_and_no_sooner() {
    // R78, R88
    let mut rig = cp_done();
    assert_eq!(rig.at(59).cursor(), "cp");
    rig.at(60).tick();
    assert_eq!(rig.cursor(), "workers");
}

/// A hold and what brings it about in a tier that is done.
type Condition = (HoldKind, fn(&mut Rig));

#[test]
fn each_condition_of_a_promotion_holds_the_cursor() {
    // R78
    let conditions: &[Condition] = &[
        (HoldKind::PausedEnvironment, |r| {
            r.pause(environment("cp"));
        }),
        (HoldKind::Telemetry, |r| r.observed.telemetry = Telemetry::Unreadable),
        (HoldKind::NothingGateable, |r| {
            r.pause(machine("cp1")).pause(machine("cp2"));
        }),
        (HoldKind::PausedBeforeApply, |r| {
            r.machine("cp3", "cp", "cp", 9).pause(machine("cp3"));
        }),
        (HoldKind::Failing, |r| {
            r.fail("cp1");
        }),
        (HoldKind::Halted, |r| {
            r.patch("cp", RingPatch { failure_count_threshold: Some(1), ..RingPatch::default() });
            r.fail("cp1");
        }),
        (HoldKind::Settle, |r| {
            r.patch("cp", capped(1, 6_000, 0, 10));
        }),
        (HoldKind::PausedRing, |r| {
            r.machine("cp3", "cp", "cp", 9).pause(ring("cp"));
        }),
    ];
    for (kind, hold) in conditions {
        let mut rig = cp_done();
        hold(&mut rig);
        rig.at(60).tick();
        assert_eq!(rig.cursor(), "cp", "{kind:?}");
        assert_eq!(rig.hold().map(|h| h.kind), Some(*kind));
    }
}

#[test]
fn an_unfinished_member_holds_the_cursor_without_a_hold() {
    // R78
    let mut rig = cluster();
    rig.converge("cp1").at(60).tick();
    assert_eq!((rig.cursor(), rig.hold()), ("cp", None));
}

#[test]
fn a_pause_before_the_first_success_holds_and_one_after_does_not() {
    // R79
    let mut rig = cp_done();
    rig.fail("cp1").pause(machine("cp1")).at(60).tick();
    assert_eq!(rig.cursor(), "workers", "it has applied once, though it flapped since");
    let mut rig = cluster();
    rig.pause(machine("cp1")).converge("cp2").at(60).tick();
    assert_eq!(rig.cursor(), "cp");
    assert!(rig.hold().unwrap().sentence.contains("cp1"));
}

#[test]
fn an_empty_tier_holds_for_ever_until_it_leaves_the_path() {
    // R80
    let mut rig = Rig::cluster(&capped(1, 0, 0, 10));
    rig.environment("empty", 1).start("v1");
    rig.tick_until(6_000);
    assert_eq!(rig.hold().map(|h| h.kind), Some(HoldKind::NothingGateable));
    rig.verb(reorder("empty", None));
    rig.at(6_060).tick();
    assert_eq!(rig.cursor(), "cp");
}

#[test]
fn one_environment_per_tick_also_when_everything_is_done() {
    // R81, R94
    let mut rig = cp_done();
    rig.at(60).tick();
    rig.converge("w1").converge("w2").at(120).tick();
    assert_eq!(rig.rollout().status(), "completed");
    rig.start("v1");
    assert_eq!(rig.cursor(), "cp");
    rig.at(180).tick();
    assert_eq!((rig.cursor(), rig.rollout().status()), ("workers", "running"));
    rig.at(240).tick();
    assert_eq!(rig.rollout().status(), "completed");
}

#[test]
fn the_cursor_never_moves_back() {
    // R82
    let mut rig = cp_done();
    rig.at(60).tick();
    rig.fail("cp1").machine("cp9", "cp", "cp", 9).at(120).tick();
    assert_eq!(rig.cursor(), "workers");
    assert!(rig.poll("cp1").is_some(), "stragglers converge");
}

#[test]
fn passing_the_last_tier_completes_and_frees_the_account() {
    // R85
    let mut rig = cp_done();
    rig.at(60).tick();
    rig.converge("w1").converge("w2").at(120).tick();
    assert_eq!(rig.rollout().status(), "completed");
    assert_eq!(rig.poll("w1"), None);
    rig.start("v2");
    assert_eq!(rig.rollout().status(), "running");
}

#[test]
fn a_live_lease_blocks_completion_and_a_straggler_without_one_does_not() {
    // R86
    let mut rig = cp_done();
    rig.at(60).tick();
    rig.fail("cp1");
    rig.poll("cp1");
    rig.converge("w1").converge("w2").at(120).tick();
    assert_eq!(rig.rollout().status(), "running");
    assert_eq!(rig.hold().map(|h| h.kind), Some(HoldKind::HolderInPromotedEnv));
    rig.fail("cp1").pause(machine("cp1")).at(180).tick();
    assert_eq!(rig.rollout().status(), "completed");
    rig.unpause(machine("cp1"));
    let summary = rig.explain(Subject::Rollout).sentence;
    assert_eq!(summary, "v1 is completed: cp1 is not done, and nothing is served any more");
}

#[test]
fn an_order_that_closes_a_holder_is_refused_and_one_that_opens_is_not() {
    // R77
    let mut rig = cluster();
    rig.poll("cp1");
    for order in [Some(12), None] {
        assert!(matches!(rig.refused(reorder("cp", order)), Refusal::ClosesHolder { .. }));
    }
    rig.verb(reorder("workers", Some(9)));
    assert!(rig.poll("w1").is_some(), "open now");
    rig.ok("cp1");
    rig.verb(reorder("cp", Some(12)));
    assert_eq!(rig.poll("cp2"), None, "closed now");
}

#[test]
fn a_skipped_control_plane_machine_keeps_the_workers_shut() {
    // R110, R151
    let mut rig = cluster();
    rig.poll("cp1");
    rig.pause(machine("cp1")).converge("cp2").tick_until(600);
    assert_eq!((rig.cursor(), rig.state("w1")), ("cp", "waiting"));
    rig.assign("cp1", None, Some("cp")).at(660).tick();
    assert_eq!(rig.cursor(), "workers", "R150: unassigned, it holds nobody");
}

#[test]
fn stalls_are_judged_before_the_promotion() {
    // R89
    let mut rig = Rig::cluster(&capped(1, 0, 600, 10));
    rig.start("v1");
    rig.converge("cp1").converge("cp2").at(60).tick();
    rig.fail("cp1");
    rig.poll("cp1");
    rig.converge("w1").at(660);
    rig.converge("w2").tick();
    assert!(rig.halted("cp").is_some(), "the holder in the promoted tier stalled");
    assert_eq!(rig.rollout().status(), "running");
    let mut rig = Rig::new();
    rig.environment("a", 1).environment("b", 2).environment("c", 3).ring("r", capped(1, 0, 600, 10)).release("v1");
    rig.machine("m1", "a", "r", 1).machine("m2", "b", "r", 2).machine("m3", "c", "r", 3).start("v1");
    rig.converge("m1").at(60).tick();
    rig.fail("m1").poll("m1");
    rig.converge("m2");
    rig.at(660).tick();
    assert!(rig.halted("r").is_some());
    assert_eq!(rig.cursor(), "b", "the ring that stalls in this tick has a member in it");
}

#[test]
fn a_rollout_without_a_path_waits_for_one() {
    // R77
    let mut rig = Rig::new();
    rig.ring("r", RingPatch::default()).release("v1").start("v1");
    rig.at(60).tick();
    assert_eq!(rig.cursor(), "");
    rig.environment("late", 1).at(120).tick();
    assert_eq!(rig.cursor(), "late");
}

#[test]
fn no_verb_advances_the_cursor() {
    // R84, R37, R67
    let mut rig = cluster();
    rig.poll("cp1");
    let verbs = [
        Verb::Pause(ring("workers")),
        Verb::Unpause(ring("workers")),
        Verb::PatchAccount { auto_deploy: Some(true), track_config_tags: None },
        Verb::PatchRing { ring: RingId::named("cp"), patch: capped(2, 0, 0, 1) },
        Verb::AssignMachine { machine: MachineId::named("cp2"), environment: None, ring: None, node: None },
        Verb::RemoveMachine { machine: MachineId::named("w2") },
    ];
    for verb in verbs {
        rig.verb(verb);
        assert_eq!(rig.cursor(), "cp");
    }
    rig.tick_until(6_000);
    assert_eq!(rig.cursor(), "cp", "nor does time");
}

#[test]
fn control_plane_before_workers_one_at_a_time() {
    // R87, R24
    let mut rig = cluster();
    let mut order = Vec::new();
    for minute in 1..12 {
        let tier = if rig.cursor() == "cp" { ["cp1", "cp2"] } else { ["w1", "w2"] };
        rig.poll_all(&tier);
        let holders = rig.holders();
        assert!(holders.len() <= 1);
        order.extend(holders.iter().cloned());
        holders.iter().for_each(|holder| {
            rig.ok(holder);
        });
        rig.at(minute * 60).tick();
    }
    assert_eq!(order, ["cp1", "cp2", "w1", "w2"]);
    assert_eq!(rig.rollout().status(), "completed");
}

#[test]
fn reasons_come_in_the_order_of_precedence() {
    // R141, R168
    let mut rig = Rig::line("oak", capped(1, 600, 0, 1), &["a", "b", "c", "d"]);
    rig.patch("oak", ladder(&[(0, 4)]));
    rig.start("v1");
    rig.converge("a").pause(machine("c"));
    let held = |rig: &Rig| rig.hold().map(|hold| hold.kind);
    assert_eq!(held(&rig), Some(HoldKind::PausedBeforeApply));
    rig.fail("a");
    assert_eq!(held(&rig), Some(HoldKind::Halted), "though a fails and c is skipped");
    rig.pause(ring("oak"));
    assert_eq!(held(&rig), Some(HoldKind::PausedRing), "though it is halted");
    rig.pause(environment("oak"));
    assert_eq!(held(&rig), Some(HoldKind::PausedEnvironment));
    rig.observed.clock_suspect = true;
    assert_eq!(held(&rig), Some(HoldKind::Clock));
    rig.observed.telemetry = Telemetry::Unreadable;
    assert_eq!(held(&rig), Some(HoldKind::Telemetry), "counts behind every other reason are a guess");
}

#[test]
fn the_later_reasons_come_in_the_order_of_precedence_too() {
    // R141
    let mut rig = Rig::line("oak", capped(2, 600, 0, 10), &["a", "b", "c", "d"]);
    rig.patch("oak", ladder(&[(0, 4)]));
    rig.start("v1");
    rig.converge("a").pause(machine("c"));
    let held = |rig: &Rig| rig.hold().map(|hold| hold.kind);
    rig.poll("b");
    rig.fail("b");
    assert_eq!(held(&rig), Some(HoldKind::Failing), "though c is skipped");
    rig.ok("b");
    assert_eq!(held(&rig), Some(HoldKind::PausedBeforeApply), "though the ladder leaves d out");
    rig.unpause(machine("c"));
    rig.at(700).converge("c");
    assert_eq!(held(&rig), Some(HoldKind::Ladder), "though c settles");
    rig.pause(machine("d"));
    rig.assign("d", None, None);
    assert_eq!(held(&rig), Some(HoldKind::Settle));
}

#[test]
fn the_window_that_ends_last_is_the_one_that_is_named() {
    // R46, R139
    let mut rig = Rig::line("oak", capped(2, 600, 0, 10), &["a", "b"]);
    rig.start("v1");
    rig.converge("a").at(100).converge("b");
    let hold = rig.hold().unwrap();
    assert_eq!(
        (hold.kind, hold.on.as_str(), hold.sentence.as_str()),
        (HoldKind::Settle, "b", "b settles for another 10m")
    );
    let mut rig = Rig::new();
    rig.environment("oak", 10).ring("short", capped(1, 60, 0, 10)).ring("long", capped(1, 600, 0, 10)).release("v1");
    rig.machine("a", "oak", "long", 1).machine("b", "oak", "short", 2).start("v1");
    rig.converge("a").at(50).converge("b");
    assert_eq!(rig.hold().map(|hold| hold.on), Some("a".to_owned()), "of several rings too");
}
