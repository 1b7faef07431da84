//! Gates, and who may take whose place.

use super::rig::{Rig, id, refused, spec};
use crate::domain::refusal::RefusalKind;
use crate::domain::roll::fleet_roll::RollState;
use crate::domain::roll::node::StepName;
use crate::domain::roll::spec::RollSpec;
use crate::domain::roll::verb::RollVerb;
use crate::domain::roll::words::waited;
use crate::domain::span::Seconds;
use crate::domain::verdict::Reply;

#[test]
fn an_approval_is_good_for_the_revision_and_the_wait_it_was_shown_with() {
    // F45, F54
    let mut rig = Rig::at_gate(3);
    let since = rig.roll().gate.as_ref().unwrap().since;
    let refusal = refused(rig.approve("r", "y", Some(since)));
    assert_eq!((refusal.kind(), refusal.code()), (RefusalKind::Conflict, "outdated_approval"));
    assert!(refusal.to_string().contains("revision x"), "{refusal}");
    assert_eq!(refused(rig.approve("r", "x", Some(Seconds(1).after(since)))).code(), "outdated_approval");
    assert_eq!(rig.state(), RollState::Awaiting);
    assert_eq!(rig.approve("r", "x", Some(since)), Reply::Done);
    assert!(rig.roll().gate.is_none() && rig.roll().approvals[0].by == "jane");
    assert_eq!(refused(rig.approve("r", "x", Some(since))).code(), "not_awaiting");
}

#[test]
fn a_gate_is_opened_by_its_name_as_it_is_shown_in_capitals_too() {
    // F42, F43
    let mut rig = Rig::at_gate(2);
    let (gate, revision) = ("CANARY".to_owned(), "x".to_owned());
    rig.verb(RollVerb::Approve { roll: id("r"), gate, revision, awaiting_since: None });
    assert!(rig.roll().gate.is_none() && rig.roll().approvals[0].gate == "canary");
    rig.until(|rig| rig.state() == RollState::Soaking);
}

#[test]
fn nobody_goes_while_a_gate_waits() {
    // F20, F33
    let mut rig = Rig::at_gate(3);
    let since = rig.roll().gate.as_ref().unwrap().since;
    (0..50).for_each(|_| rig.tick());
    let gate = rig.roll().gate.clone().unwrap();
    assert_eq!((gate.gate.as_str(), gate.since), ("canary", since), "it waits since then, whoever looks when");
    assert_eq!(rig.turns(), ["wk-1"]);
    assert_eq!(waited(gate.since, rig.now), "50m");
}

#[test]
fn gates_follow_each_other_each_with_a_wait_of_its_own() {
    // F37
    let mut rig = Rig::of(3);
    rig.start("r", "x", RollSpec { gates: vec!["canary".to_owned(), "fleet".to_owned()], ..spec(3) });
    rig.until(|rig| rig.roll().gate.is_some());
    rig.pass_time(300);
    assert_eq!(rig.approve("r", "x", None), Reply::Done);
    let gate = rig.roll().gate.clone().unwrap();
    assert_eq!((gate.gate.as_str(), gate.since), ("fleet", rig.now));
    let refusal = refused(rig.approve("r", "x", None));
    assert!(refusal.to_string().contains("fleet"), "{refusal}");
    let totals = &rig.world.rolls.totals.gates;
    let keys: Vec<&str> = totals.keys().map(|(_, _, gate)| gate.as_str()).collect();
    assert_eq!(keys, ["canary"], "the first is observed, the second waits yet");
    rig.pass_time(60);
    let (gate, revision) = ("fleet".to_owned(), "x".to_owned());
    rig.verb(RollVerb::Approve { roll: id("r"), gate, revision, awaiting_since: None });
    rig.until(|rig| rig.state() == RollState::Soaking);
}

#[test]
fn a_second_roll_of_a_target_is_refused_unless_it_displaces_one_that_waits_or_stages() {
    // F53
    let mut rig = Rig::at_gate(3);
    let refusal = refused(rig.start("s", "y", spec(3)));
    assert_eq!((refusal.code(), refusal.field()), ("roll_is_live", Some("displace")));
    assert!(refusal.to_string().contains('x') && refusal.hints()[0].contains("displace"), "{refusal}");
    assert_eq!(rig.start_over("s", "y", spec(3), true), Reply::Roll(id("s")));
    assert_eq!(rig.state(), RollState::Displaced);
    assert!(rig.roll().gate.is_none(), "it left its gate");
    assert_eq!(refused(rig.approve("r", "x", None)).code(), "roll_is_over");
    assert_eq!(rig.world.rolls.live("kernel", "fleet").unwrap().revision, "y");
}

#[test]
fn a_roll_with_a_node_in_turn_is_not_displaced() {
    // F53
    let mut rig = Rig::rolling(3);
    assert_eq!(rig.start_over("s", "y", spec(3), true), Reply::Roll(id("s")), "nothing was touched yet");
    let mut rig = Rig::rolling(3);
    rig.held.insert(("wk-1".to_owned(), StepName::Boot));
    rig.until(|rig| rig.state_of("wk-1", StepName::Boot).is_some());
    let refusal = refused(rig.start_over("s", "y", spec(3), true));
    assert_eq!(refusal.code(), "roll_is_live");
    assert!(refusal.hints()[0].contains("abort"), "{:?}", refusal.hints());
}

#[test]
fn an_abort_repeats_and_a_roll_that_is_over_says_so() {
    let mut rig = Rig::at_gate(2);
    let abort = || RollVerb::Abort { roll: id("r") };
    assert_eq!((rig.verb(abort()), rig.verb(abort())), (Reply::Done, Reply::Done));
    assert_eq!(refused(rig.verb(RollVerb::Abort { roll: id("nobody") })).code(), "no_roll");
    assert_eq!(rig.reason(), "aborted by jane: tested");
}
