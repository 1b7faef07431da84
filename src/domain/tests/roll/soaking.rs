//! Rolled nodes are looked at and probed until the end of the soak.

use super::rig::{Rig, id};
use crate::domain::kura::object::MANAGED_BY_LABEL;
use crate::domain::kura::render::MANAGED_BY;
use crate::domain::roll::fleet_roll::RollState;
use crate::domain::roll::manifest::{ASKED, PROBE, ROLL_LABEL, STEP_LABEL, probe_object};
use crate::domain::roll::node::StepName;
use crate::domain::roll::verb::RollVerb;
use crate::domain::span::Seconds;

#[test]
fn a_wedge_forty_minutes_after_green_is_found_within_two_minutes() {
    // F3, F7, F13
    for stuck in ["", "CreateContainerError"] {
        let mut rig = Rig::at_gate(3);
        (0..40).for_each(|_| rig.tick());
        rig.stuck.insert("wk-1".to_owned(), stuck);
        let wedged = rig.now;
        rig.until(|rig| rig.of_node("wk-1").broken().is_some());
        let took = Seconds::between(wedged, rig.now);
        assert!(took <= Seconds(120), "found after {took}");
        assert!(rig.fleet.nodes.rows["wk-1"].ready, "and the kubelet says Ready all the time");
        rig.approve("r", "x", None);
        rig.tick();
        rig.tick();
        assert_eq!((rig.state(), rig.turns()), (RollState::Blocked, vec!["wk-1"]), "nobody follows");
    }
}

#[test]
fn every_rolled_node_is_probed_at_least_every_two_minutes_until_the_soak_is_over() {
    // F13, F55
    let mut rig = Rig::at_gate(4);
    rig.approve("r", "x", None);
    rig.until(|rig| rig.state() == RollState::Soaking);
    let since = rig.now;
    let mut last: Vec<u64> = rig.roll().nodes.values().map(|node| node.probed).collect();
    while rig.roll().is_live() {
        rig.tick();
        rig.tick();
        let now: Vec<u64> = rig.roll().nodes.values().map(|node| node.probed).collect();
        assert!(last.iter().zip(&now).all(|(then, now)| now > then) || !rig.roll().is_live(), "{last:?} {now:?}");
        last = now;
    }
    assert_eq!(rig.state(), RollState::Succeeded);
    let took = Seconds::between(since, rig.roll().ended.as_ref().unwrap().at);
    assert_eq!(took, Seconds(30 * 60));
}

/// What a rolled node is due for comes at its own time, whether or not a tick does.
#[test]
fn it_is_known_when_the_next_probe_is_due_and_when_the_one_that_is_out_had_its_time() {
    // F7, F11, F13
    let mut rig = Rig::at_gate(2);
    let next = |rig: &Rig| rig.world.rolls.next_probe(&rig.fleet, rig.now).map(|at| Seconds::between(rig.now, at));
    rig.until(|rig| next(rig).is_some());
    rig.pass_time(20);
    assert_eq!(next(&rig), Some(Seconds(40)), "a minute after the last one");
    rig.stuck.insert("wk-1".to_owned(), "");
    rig.tick_after(40);
    rig.pass_time(25);
    assert_eq!(next(&rig), Some(Seconds(35)), "it is out, and has a minute to start");
    rig.tick_after(35);
    assert!(rig.of_node("wk-1").broken().is_some());

    rig.verb(RollVerb::Probe { node: "wk-2".to_owned() });
    rig.stuck.insert("wk-2".to_owned(), "");
    rig.verb(RollVerb::Abort { roll: id("r") });
    rig.tick_after(1);
    let ours = |rig: &Rig| rig.world.rolls.asks_for_probes(rig.now);
    assert!(ours(&rig) && next(&rig).is_some_and(|left| left <= Seconds(60)));
    (0..40).for_each(|_| rig.tick());
    assert_eq!((ours(&rig), next(&rig)), (false, None), "it is over and its soak too, and nobody asks for anything");
}

#[test]
fn in_the_soak_nobody_is_touched_and_a_broken_runtime_fails_the_roll() {
    // F13, F55
    let mut rig = Rig::at_gate(3);
    rig.approve("r", "x", None);
    rig.until(|rig| rig.state() == RollState::Soaking);
    let before = rig.steps.len();
    (0..20).for_each(|_| rig.tick());
    let touched = rig.steps[before..].iter().filter(|step| !step.object.name.contains("-probe-"));
    let touched: Vec<String> = touched.map(|step| step.object.to_string()).collect();
    assert!(touched.iter().all(|object| object.contains("roll-")), "{touched:?}");
    assert_eq!(rig.roll().progress().completed, 2);
    rig.stuck.insert("wk-3".to_owned(), "CreateContainerError");
    rig.tick();
    rig.tick();
    assert_eq!(rig.state(), RollState::Failed);
    assert!(rig.reason().contains("wk-3"), "{}", rig.reason());
}

#[test]
fn a_rolled_node_that_breaks_stops_the_next_boot() {
    // F13
    let mut rig = Rig::at_gate(3);
    rig.approve("r", "x", None);
    rig.held.insert(("wk-2".to_owned(), StepName::Drain));
    rig.until(|rig| rig.state_of("wk-2", StepName::Drain).is_some());
    rig.fingerprints("wk-1", 1, "CreateContainerError");
    rig.held.clear();
    rig.tick();
    rig.tick();
    assert!(rig.of_node("wk-2").step(StepName::Boot).is_none(), "drained, and not booted");
    assert!(rig.reason().contains("wk-1"), "{}", rig.reason());
}

/// Another control plane of the same cluster makes objects of the same names in a namespace of its own.
#[test]
fn what_another_control_plane_made_is_neither_judged_nor_taken_away() {
    // F9
    let mut rig = Rig::of(1);
    rig.fleet.home = Some("kura".to_owned());
    rig.stuck.insert("wk-1".to_owned(), "");
    let object = probe_object(None, "wk-1", 1);
    let labels = [(MANAGED_BY_LABEL, MANAGED_BY), (ROLL_LABEL, ASKED), (STEP_LABEL, PROBE)];
    rig.put_pod(&object.name, "wk-1", &labels).owner = None;
    rig.verb(RollVerb::Probe { node: "wk-1".to_owned() });
    (0..3).for_each(|_| rig.tick_after(1));
    assert!(rig.fleet.pods.rows.contains_key(&format!("kura/{}", object.name)), "ours is made");
    assert!(rig.world.rolls.findings.is_empty(), "theirs ran, and says nothing of ours");
    rig.stuck.clear();
    rig.fleet.pods.rows.remove(&format!("kura/{}", object.name));
    rig.until(|rig| !rig.world.rolls.findings.is_empty());
    rig.tick();
    let left: Vec<&str> = rig.fleet.pods.rows.values().filter(|pod| pod.is_ours()).map(|pod| &*pod.namespace).collect();
    assert_eq!(left, ["apps"]);
}
