//! The safety envelope: what must hold at every moment of every roll.

use super::rig::{Rig, id, refused, spec};
use crate::domain::kura::source::Contact;
use crate::domain::refusal::Refusal;
use crate::domain::roll::fleet_roll::RollState;
use crate::domain::roll::node::StepName;
use crate::domain::roll::quorum::margin;
use crate::domain::roll::refusal::RollRefusal;
use crate::domain::roll::spec::RollSpec;
use crate::domain::roll::wanted::is_wanted;
use crate::domain::verdict::Reply;

#[test]
fn two_rolls_have_one_node_in_turn_between_them() {
    // F23, F50
    let mut rig = Rig::of(4);
    rig.start_at(
        "a",
        "r",
        "x",
        RollSpec { canary: None, nodes: vec!["wk-1".to_owned(), "wk-2".to_owned()], ..spec(2) },
        false,
    );
    rig.start_at(
        "b",
        "s",
        "y",
        RollSpec { canary: None, nodes: vec!["wk-3".to_owned(), "wk-4".to_owned()], ..spec(2) },
        false,
    );
    rig.held.insert(("wk-1".to_owned(), StepName::Boot));
    rig.until(|rig| rig.state_of("wk-1", StepName::Boot).is_some());
    (0..5).for_each(|_| rig.tick());
    let cordoned = rig.fleet.nodes.rows.values().filter(|node| node.unschedulable).count();
    assert_eq!(cordoned, 1);
    assert!(rig.world.rolls.roll(id("s")).unwrap().turns.is_empty());
    rig.held.clear();
    rig.fleet.jobs.rows.clear();
    let over = |rig: &Rig, name: &str| rig.world.rolls.roll(id(name)).unwrap().soaking_since.is_some();
    rig.until(|rig| over(rig, "r") && over(rig, "s"));
}

#[test]
fn the_arithmetic_of_quorums() {
    // F24
    let of = |n| (margin(n).tolerated, margin(n).concurrent);
    assert_eq!(
        [of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7), of(9)],
        [(0, 0), (0, 0), (0, 0), (1, 0), (1, 0), (2, 1), (2, 1), (3, 2), (4, 3)]
    );
    for n in 0..50 {
        let margin = margin(n);
        assert!(margin.is_bare() || margin.concurrent < margin.tolerated, "one to spare: {margin:?}");
        assert_eq!(margin.is_bare(), n < 5, "F56");
        assert_eq!(margin.warning().is_some(), n < 5);
    }
}

#[test]
fn two_at_once_are_refused_however_large_the_fleet() {
    // F24, F25, F56
    let mut rig = Rig::of(9);
    let refusal = refused(rig.start("r", "x", RollSpec { concurrency: 2, ..spec(9) }));
    assert_eq!(refusal, Refusal::Roll(RollRefusal::TwoAtOnce { concurrency: 2, nodes: 9, tolerated: 4 }));
    assert_eq!(rig.start("r", "x", spec(3)), Reply::Roll(id("r")), "three nodes are warned about, not refused");
}

#[test]
fn a_node_that_is_down_elsewhere_holds_everybody_up() {
    // F24
    let mut rig = Rig::at_gate(3);
    rig.approve("r", "x", None);
    rig.node("wk-3").ready = false;
    rig.tick();
    rig.tick();
    assert_eq!((rig.state(), rig.turns()), (RollState::Blocked, vec!["wk-1"]));
    assert!(rig.reason().contains("wk-3 is not Ready"), "{}", rig.reason());
    rig.node("wk-3").ready = true;
    rig.until(|rig| rig.state() == RollState::Soaking);
}

#[test]
fn drains_pass_over_budgets() {
    // F26, F27
    let mut rig = Rig::at_gate(2);
    rig.approve("r", "x", None);
    rig.until(|rig| rig.state() == RollState::Soaking);
    let insists = rig.steps.iter().filter_map(|step| match &step.deed {
        crate::domain::kura::step::Deed::Evict { insist, .. } => Some(*insist),
        _ => None,
    });
    let insists: Vec<bool> = insists.collect();
    assert_eq!(insists, [true, true]);
}

#[test]
fn daemons_mirror_pods_and_what_has_ended_are_not_drained() {
    let mut rig = Rig::of(2);
    rig.put_pod("daemon", "wk-1", &[]).owner = Some("DaemonSet".to_owned());
    rig.put_pod("mirror", "wk-1", &[]).owner = Some("Node".to_owned());
    rig.put_pod("over", "wk-1", &[]).phase = "Succeeded".to_owned();
    rig.start("r", "x", spec(2));
    rig.until(|rig| rig.roll().gate.is_some());
    let evicted: Vec<String> = rig.touched("wk-1").into_iter().filter(|text| text.starts_with("evict")).collect();
    assert_eq!(evicted, ["evict Pod app-wk-1"]);
}

#[test]
fn nothing_is_decided_on_a_reading_that_is_not_fresh() {
    let mut rig = Rig::rolling(2);
    rig.look();
    rig.fleet.pods.contact = Contact::Lost { as_of: Some(rig.now), why: "401".to_owned() };
    let verdict = rig.decide(&crate::domain::input::Input::Tick { fresh: crate::domain::ids::RolloutId::named("u") });
    assert!(verdict.steps.is_empty() && super::rig::facts(&verdict).is_empty());
}

#[test]
fn a_step_that_waits_its_turn_is_not_carried_out_once_its_roll_has_ended() {
    // F60
    let mut rig = Rig::rolling(2);
    rig.tick();
    let touching = rig.steps.iter().find(|step| step.deed.verb() == "evict").cloned().unwrap();
    assert!(is_wanted(&touching, &rig.world.rolls));
    rig.verb(crate::domain::roll::verb::RollVerb::Abort { roll: id("r") });
    assert!(!is_wanted(&touching, &rig.world.rolls));
}

#[test]
fn a_start_that_makes_no_sense_is_refused_with_its_field() {
    // F58
    let none = || RollSpec { boot: None, ..spec(3) };
    let cases: [(RollSpec, &str); 8] = [
        (RollSpec { canary: None, nodes: Vec::new(), ..spec(3) }, "nodes"),
        (RollSpec { nodes: vec!["wk-2".to_owned(), "wk-2".to_owned()], ..spec(3) }, "nodes"),
        (RollSpec { nodes: vec!["wk 2".to_owned()], ..spec(3) }, "nodes"),
        (RollSpec { gates: vec!["a".to_owned(), "A".to_owned()], ..spec(3) }, "gates"),
        (RollSpec { stage_parallelism: 51, ..spec(3) }, "stage_parallelism"),
        (RollSpec { concurrency: 0, ..spec(3) }, "concurrency"),
        (none(), "boot"),
        (RollSpec { verify: Some(serde_json::json!("reboot")), ..spec(3) }, "verify"),
    ];
    for (spec, field) in cases {
        let mut rig = Rig::of(3);
        assert_eq!(refused(rig.start("r", "x", spec.clone())).field(), Some(field), "{spec:?}");
    }
    let mut rig = Rig::of(2);
    assert_eq!(refused(rig.start("r", "x", spec(3))).code(), "no_node");
    assert_eq!(refused(rig.start("r", "", spec(2))).field(), Some("revision"));
}
