//! The first screen: gates by how long they wait, what stands still, what failed, what was left behind.

use insta::assert_snapshot;

use super::super::super::need::NeedKind;
use super::bed::Bed;
use crate::domain::roll::fleet_roll::RollState;
use crate::domain::roll::node::StepName;
use crate::domain::roll::spec::RollSpec;
use crate::domain::roll::verb::RollVerb;
use crate::domain::tests::roll::rig::{ROLL, Rig, spec};

#[test]
fn gates_are_listed_by_how_long_they_wait_for_a_person_the_longest_first() {
    // F41, F43
    let mut rig = Rig::of(6);
    let of = |canary: &str, node: &str| RollSpec {
        canary: Some(canary.to_owned()),
        nodes: vec![node.to_owned()],
        ..spec(2)
    };
    rig.start_at("alpha", "a", "a1", of("wk-1", "wk-2"), false);
    rig.until(|rig| rig.world.rolls.rolls.iter().any(|roll| roll.gate.is_some()));
    rig.start_at("beta", ROLL, "b1", of("wk-3", "wk-4"), false);
    rig.until(|rig| rig.roll().gate.is_some());
    (0..4).for_each(|_| rig.tick());
    let bed = Bed::of(rig, 120, 36);
    let gates: Vec<_> = bed.needs().into_iter().filter(|(kind, ..)| *kind == NeedKind::Gate).collect();
    assert_eq!(gates.iter().map(|(_, name, _)| name.as_str()).collect::<Vec<_>>(), ["kernel/alpha", "kernel/beta"]);
    let screen = bed.stage.screen();
    let minutes: Vec<&str> = screen.split("waiting on canary gate ").skip(1).collect();
    assert!(minutes.len() >= 2, "{screen}");
}

#[test]
fn the_first_screen_says_the_gate_in_whole_minutes_and_what_opens_it() {
    // F41, F43
    for (width, height) in [(80, 24), (120, 36)] {
        let bed = Bed::at_gate(width, height);
        assert_snapshot!(format!("rolls_now_{width}x{height}"), bed.stage.screen());
        bed.says("GATE kernel/fleet waiting on canary gate 14m: x");
        bed.says("u g approve the canary gate: wk-2 goes next");
        for keys in ["", "4", "4 enter", "7"] {
            let mut bed = Bed::at_gate(width, height);
            bed.stage.press(keys);
            assert!(!bed.words().contains("14m 40s"), "whole minutes, everywhere: {}", bed.stage.screen());
        }
    }
}

#[test]
fn a_wedged_runtime_stops_the_roll_with_its_sentence() {
    // F13
    let mut bed = Bed::at_gate(80, 24);
    bed.rig.stuck.insert("wk-1".to_owned(), "CreateContainerError");
    bed.rig.until(|rig| rig.roll().blocked.is_some());
    let bed = bed.reopened();
    assert_eq!(bed.kinds(), [NeedKind::RollBlocked, NeedKind::Gate]);
    bed.says("BLOCKED kernel/fleet wk-1 is Ready and cannot");
    bed.says("but wk-1 is Ready and cannot start containers: its probe says CreateContainerError");
    bed.says("u p probe wk-1 once it is mended");
    bed.says("◆ blocked kernel/fleet 0/5");
}

#[test]
fn a_lost_registry_stops_the_roll_with_its_sentence() {
    // F28
    let mut bed = Bed::at_gate(80, 24);
    bed.rig.fleet.pods.rows.remove("apps/zot");
    bed.approve();
    bed.rig.tick();
    bed.rig.tick();
    let bed = bed.reopened();
    assert_eq!(bed.kinds(), [NeedKind::RollBlocked]);
    bed.says("kernel/fleet stands still: the registry is nowhere to be seen: nobody could pull after a drain");
    bed.says("bring the registry back");
}

#[test]
fn a_foreign_uncordon_fails_the_roll_with_its_sentence_until_another_one_is_started() {
    // F55 (A11)
    let mut bed = Bed::at_gate(80, 24);
    bed.approve();
    bed.rig.held.insert(("wk-2".to_owned(), StepName::Drain));
    bed.rig.until(|rig| rig.state_of("wk-2", StepName::Drain).is_some());
    bed.rig.node("wk-2").unschedulable = false;
    bed.rig.tick();
    assert_eq!(bed.rig.state(), RollState::Failed);
    let mut bed = bed.reopened();
    assert_eq!(bed.kinds(), [NeedKind::RollFailed]);
    bed.says("ROLL FAILED kernel/fleet wk-2 is schedulable again");
    bed.says("wk-2 is schedulable again: somebody lifted its cordon before the boot");
    bed.rig.start("s", "y", spec(6));
    bed.show();
    assert_eq!(bed.kinds(), [], "somebody started another one");
}

#[test]
fn a_soak_that_fails_and_a_node_that_breaks_after_an_abort_are_told() {
    // F55, F60
    let mut bed = Bed::at_gate(80, 24);
    bed.approve();
    bed.rig.until(|rig| rig.roll().soaking_since.is_some());
    bed.rig.fingerprints("wk-4", 2, "CreateContainerError");
    bed.rig.tick();
    let bed = bed.reopened();
    assert_eq!(bed.kinds(), [NeedKind::RollFailed], "the node is named by its roll: {:?}", bed.needs());
    bed.says("wk-4 cannot start containers: 2 pods say so");

    let mut bed = Bed::at_gate(80, 24);
    bed.approve();
    bed.rig.held.insert(("wk-4".to_owned(), StepName::Boot));
    bed.rig.until(|rig| rig.state_of("wk-4", StepName::Boot).is_some());
    bed.rig.verb(RollVerb::Abort { roll: Bed::roll() });
    bed.rig.fingerprints("wk-2", 2, "CreateContainerError");
    bed.rig.tick();
    let mut bed = bed.reopened();
    assert_eq!(bed.kinds(), [NeedKind::RuntimeBroken, NeedKind::LeftCordoned]);
    bed.says("BROKEN wk-2 wk-2 cannot start");
    bed.says("CORDONED wk-4 left cordoned by the roll of");
    bed.stage.press("j enter");
    bed.says("give wk-4 back, if you vouch for it");
}

#[test]
fn nobody_who_ticks_and_a_fleet_that_is_not_seen_are_told_while_a_roll_goes_on() {
    let mut bed = Bed::at_gate(120, 36);
    bed.stage.pass(200);
    bed.stage.picture.seat.last_tick = Some(bed.rig.now);
    bed.stage.show();
    assert_eq!(bed.kinds(), [NeedKind::NoTick, NeedKind::Unseen, NeedKind::Gate]);
    let texts: Vec<String> = bed.needs().into_iter().map(|(.., text)| text).collect();
    assert_eq!(texts[0], "holds the seat and does not tick: no roll goes on");
    assert_eq!(texts[1], "nodes, pods, jobs stale; no roll goes on");
    bed.stage.press("enter");
    bed.says("the fleet cannot be judged now");
}
