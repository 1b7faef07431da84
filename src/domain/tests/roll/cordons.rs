//! Whose cordon it is.

use super::rig::{Rig, id, refused, spec};
use crate::domain::roll::fleet_roll::RollState;
use crate::domain::roll::node::{StepName, StepState, Verdict};
use crate::domain::roll::verb::RollVerb;
use crate::domain::verdict::Reply;

#[test]
fn a_cordon_somebody_set_before_stays_and_its_node_is_proven_all_the_same() {
    // F10, A11
    let mut rig = Rig::of(3);
    rig.node("wk-2").unschedulable = true;
    rig.start("r", "x", spec(3));
    rig.until(|rig| rig.roll().gate.is_some());
    rig.approve("r", "x", None);
    rig.until(|rig| rig.state() == RollState::Soaking);
    assert!(rig.fleet.nodes.rows["wk-2"].unschedulable);
    let row = rig.of_node("wk-2").step(StepName::Uncordon).unwrap().clone();
    assert_eq!((row.state, row.detail.as_deref()), (StepState::Skipped, Some("cordoned before the roll")));
    assert!(rig.touched("wk-2").iter().all(|text| !text.contains("Node")), "never touched: {:?}", rig.touched("wk-2"));
    assert_eq!(rig.of_node("wk-2").last_finding().unwrap().verdict, Verdict::Proven, "a probe runs on a cordoned node");
    assert!(!rig.fleet.nodes.rows["wk-1"].unschedulable && !rig.fleet.nodes.rows["wk-3"].unschedulable);
}

#[test]
fn a_cordon_somebody_lifts_between_drain_and_boot_stops_the_roll() {
    // A11
    let mut rig = Rig::at_gate(3);
    rig.approve("r", "x", None);
    rig.held.insert(("wk-2".to_owned(), StepName::Drain));
    rig.until(|rig| rig.state_of("wk-2", StepName::Drain).is_some());
    rig.node("wk-2").unschedulable = false;
    rig.held.clear();
    rig.until(|rig| !rig.roll().is_live());
    assert_eq!(rig.state(), RollState::Failed);
    assert!(rig.reason().contains("wk-2 is schedulable again"), "{}", rig.reason());
    assert!(rig.of_node("wk-2").step(StepName::Boot).is_none());
    assert!(rig.touched("wk-2").iter().all(|text| !text.contains("-boot-")));
    assert!(rig.world.rolls.ledger.is_empty(), "it is not ours any more");
}

#[test]
fn a_boot_that_could_not_be_begun_yet_looks_at_the_cordon_each_time() {
    // A11
    let mut rig = Rig::at_gate(3);
    rig.approve("r", "x", None);
    rig.until(|rig| {
        rig.state_of("wk-2", StepName::Drain) == Some(StepState::Done)
            || rig.state_of("wk-2", StepName::Stage).is_some()
    });
    rig.failing.insert("apply");
    rig.until(|rig| rig.state_of("wk-2", StepName::Boot).is_some());
    let tried = |rig: &Rig| rig.touched("wk-2").iter().filter(|text| text.starts_with("apply Job")).count();
    let before = tried(&rig);
    rig.node("wk-2").unschedulable = false;
    rig.failing.clear();
    (0..2).for_each(|_| rig.tick());
    assert_eq!(rig.state(), RollState::Failed);
    assert!(rig.reason().contains("wk-2 is schedulable again"), "{}", rig.reason());
    assert_eq!(tried(&rig), before, "whoever can be scheduled to is not booted");
}

#[test]
fn a_node_that_boots_by_itself_before_its_job_is_made_is_booted_all_the_same() {
    // F58
    let mut rig = Rig::at_gate(2);
    rig.approve("r", "x", None);
    rig.failing.insert("apply");
    rig.until(|rig| rig.state_of("wk-2", StepName::Boot).is_some());
    rig.node("wk-2").boot_id = Some("by-itself".to_owned());
    rig.tick();
    assert_eq!(rig.state_of("wk-2", StepName::Boot), Some(StepState::Running), "that was not what is rolled");
    rig.failing.clear();
    rig.until(|rig| rig.state() == RollState::Soaking);
    assert!(rig.touched("wk-2").iter().any(|text| text.contains("apply Job")));
}

#[test]
fn a_person_gives_back_what_an_ended_roll_left_and_nothing_else() {
    // A11
    let mut rig = Rig::at_gate(3);
    rig.approve("r", "x", None);
    rig.held.insert(("wk-2".to_owned(), StepName::Boot));
    rig.until(|rig| rig.state_of("wk-2", StepName::Boot).is_some());
    let uncordon = |node: &str| RollVerb::Uncordon { node: node.to_owned() };
    assert_eq!(refused(rig.verb(uncordon("wk-2"))).code(), "in_turn");
    assert_eq!(refused(rig.verb(uncordon("wk-3"))).code(), "not_ours");
    rig.verb(RollVerb::Abort { roll: id("r") });
    rig.end_jobs();
    assert_eq!(rig.verb(uncordon("wk-2")), Reply::Done);
    rig.tick();
    assert!(!rig.fleet.nodes.rows["wk-2"].unschedulable && rig.world.rolls.ledger.is_empty());
}

#[test]
fn a_ledger_forgets_what_is_no_cordon_any_more() {
    let mut rig = Rig::at_gate(2);
    rig.approve("r", "x", None);
    rig.held.insert(("wk-2".to_owned(), StepName::Boot));
    rig.until(|rig| rig.state_of("wk-2", StepName::Boot).is_some());
    rig.verb(RollVerb::Abort { roll: id("r") });
    rig.node("wk-2").unschedulable = false;
    rig.tick();
    assert!(rig.world.rolls.ledger.is_empty());
}

#[test]
fn a_person_probes_any_node() {
    let mut rig = Rig::rolling(2);
    assert_eq!(refused(rig.verb(RollVerb::Probe { node: "wk-9".to_owned() })).code(), "no_node");
    assert_eq!(rig.verb(RollVerb::Probe { node: "wk-2".to_owned() }), Reply::Done);
    rig.tick();
    rig.tick();
    assert_eq!(rig.world.rolls.findings["wk-2"].verdict, Verdict::Proven);
    assert!(rig.world.rolls.asked.is_empty());
    rig.tick();
    assert!(rig.ours().iter().all(|name| !name.contains("asked")), "and its pod is gone: {:?}", rig.ours());
}
