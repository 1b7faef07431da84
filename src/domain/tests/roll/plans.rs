//! What a person is told before.

use super::rig::{Rig, id, spec};
use crate::domain::input::Verb;
use crate::domain::plan::plan;
use crate::domain::roll::node::StepName;
use crate::domain::roll::rolls::Cordon;
use crate::domain::roll::spec::CONTROL_PLANE;
use crate::domain::roll::verb::RollVerb;

fn lines(rig: &Rig, verb: RollVerb) -> Vec<String> {
    let plan = plan(&Verb::Roll(verb), &rig.world, &rig.observed(), "jane", rig.now);
    assert_eq!(plan.refused, None);
    plan.lines.into_iter().map(|line| line.text).collect()
}

fn start(nodes: usize, displace: bool) -> RollVerb {
    let (project, target, image) = ("kernel".to_owned(), "fleet".to_owned(), "k:y".to_owned());
    let (id, revision, spec) = (id("s"), "y".to_owned(), Box::new(spec(nodes)));
    RollVerb::Start { id, project, target, image, revision, spec, displace }
}

#[test]
fn a_start_says_the_order_the_rule_about_budgets_and_the_margin() {
    // F26, F28, F56
    let mut rig = Rig::of(4);
    rig.put_registry("wk-2");
    let told = lines(&rig, start(4, false)).join("\n");
    for part in ["wk-1, wk-3, wk-4, wk-2", "wk-2 hosts the registry", "budgets", "4 nodes tolerate 1 down", "canary"] {
        assert!(told.contains(part), "{part} in {told}");
    }
    let told = lines(&Rig::of(6), start(6, false)).join("\n");
    assert!(!told.contains("tolerate"), "five and more have a margin: {told}");
}

#[test]
fn a_start_that_displaces_names_whom() {
    // F53
    let rig = Rig::at_gate(3);
    let told = lines(&rig, start(3, true)).join("\n");
    assert!(told.contains("the roll of revision x is displaced"), "{told}");
}

#[test]
fn an_approval_says_who_goes_next_and_a_denial_that_nothing_else_changes() {
    // F20, F54
    let rig = Rig::at_gate(3);
    let (gate, revision) = (|| "canary".to_owned(), || "x".to_owned());
    let approve = RollVerb::Approve { roll: id("r"), gate: gate(), revision: revision(), awaiting_since: None };
    assert!(lines(&rig, approve).join("\n").contains("wk-2 goes next"));
    let deny = RollVerb::Deny { roll: id("r"), gate: gate(), revision: revision(), awaiting_since: None };
    assert!(lines(&rig, deny).join("\n").contains("staged images stay"));
}

#[test]
fn an_abort_says_what_stays_cordoned() {
    // F60
    let mut rig = Rig::at_gate(3);
    rig.approve("r", "x", None);
    rig.held.insert(("wk-2".to_owned(), StepName::Boot));
    rig.until(|rig| rig.state_of("wk-2", StepName::Boot).is_some());
    let told = lines(&rig, RollVerb::Abort { roll: id("r") }).join("\n");
    assert!(told.contains("wk-2 stays as it is") && told.contains("probed for"), "{told}");
    assert!(told.contains("let to its end"), "{told}");
    assert!(told.contains("wk-2 stays as it is, cordoned by the roll: uncordon wk-2 gives it back"), "{told}");
    rig.held.clear();
    rig.stuck.insert("wk-2".to_owned(), "");
    rig.end_boot("wk-2");
    rig.until(|rig| rig.state_of("wk-2", StepName::Green).is_some());
    let told = lines(&rig, RollVerb::Abort { roll: id("r") }).join("\n");
    assert!(told.contains("wk-2 stays as it is; the roll holds no cordon of it"), "it was given back: {told}");
}

#[test]
fn a_plan_has_every_object_that_would_be_written_node_by_node() {
    // F15, F26, F58
    let mut rig = Rig::of(3);
    rig.node("wk-3").unschedulable = true;
    let plan = plan(&Verb::Roll(start(3, false)), &rig.world, &rig.observed(), "jane", rig.now);
    let told: Vec<(&str, &str)> = plan
        .writes
        .iter()
        .map(|object| (object["kind"].as_str().unwrap(), object["spec"]["nodeName"].as_str().unwrap_or_default()))
        .collect();
    let of = |node| [("Pod", node), ("Node", ""), ("Eviction", ""), ("Job", ""), ("Node", ""), ("Pod", node)];
    let theirs = [("Pod", "wk-3"), ("Eviction", ""), ("Job", ""), ("Pod", "wk-3")];
    assert_eq!(told, [&of("wk-1")[..], &of("wk-2"), &theirs].concat(), "a cordon that is not ours is not touched");
    let job = &plan.writes[3];
    assert_eq!(job["spec"]["template"]["spec"]["nodeName"], "wk-1");
    assert_eq!(
        (&plan.writes[1]["spec"]["unschedulable"], &plan.writes[4]["spec"]["unschedulable"]),
        (&true.into(), &false.into())
    );
}

#[test]
fn a_node_that_a_roll_of_ours_left_cordoned_is_given_back_and_not_cordoned_again() {
    // A11
    let mut rig = Rig::of(3);
    rig.node("wk-3").unschedulable = true;
    let cordon = Cordon { roll: id("gone"), at: rig.now, asked_by: None };
    rig.world.rolls.ledger.insert("wk-3".to_owned(), cordon);
    let plan = plan(&Verb::Roll(start(3, false)), &rig.world, &rig.observed(), "jane", rig.now);
    let of_it = plan.writes.iter().filter(|object| object["metadata"]["name"] == "wk-3");
    let bits: Vec<_> = of_it.map(|object| object["spec"]["unschedulable"].as_bool()).collect();
    assert_eq!(bits, [Some(false)]);
}

#[test]
fn a_start_warns_where_a_control_plane_would_be_drained() {
    let mut rig = Rig::of(3);
    rig.put_pod("kura-console-0", "wk-2", &CONTROL_PLANE);
    let told = lines(&rig, start(3, false)).join("\n");
    assert!(told.contains("wk-2 runs a control plane"), "{told}");
    assert!(!told.contains("wk-1 runs a control plane"), "{told}");
}
