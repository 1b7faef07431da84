//! Verbs on rolls and nodes: what is asked, what is refused and why, and what leaves.

use super::super::super::layer::Layer;
use super::super::super::msg::{Answer, Msg};
use super::super::super::snapshot::Access;
use super::bed::{Bed, sent, verb};
use crate::domain::ids::RollId;
use crate::domain::roll::node::StepName;
use crate::domain::roll::verb::RollVerb;
use crate::domain::tests::roll::rig::{Rig, spec};
use crate::domain::verdict::Reply;

fn armed(width: u16, height: u16) -> Bed {
    let mut bed = Bed::at_gate(width, height);
    bed.stage.arm();
    bed
}

#[test]
fn a_gate_is_opened_from_the_first_screen_for_what_was_shown() {
    // F45, F54
    let mut bed = Bed::at_gate(80, 24);
    bed.stage.press("u g");
    bed.says("verbs are not armed");
    bed.stage.arm();
    bed.stage.press("u g");
    bed.says("Approve the gate of kernel/fleet?");
    bed.says("the canary gate opens: wk-2 goes next, at the next tick");
    bed.says("its drains pass over budgets");
    assert!(!bed.words().contains("tolerate"), "six have a margin: {}", bed.stage.screen());
    let order = sent(&bed.stage.press("enter"));
    let since = bed.rig.roll().gate.as_ref().map(|gate| gate.since);
    let gate = "canary".to_owned();
    let wanted = RollVerb::Approve { roll: Bed::roll(), gate, revision: "x".to_owned(), awaiting_since: since };
    assert_eq!(verb(order), wanted);
    assert_eq!(bed.rig.verb(wanted), Reply::Done);
}

#[test]
fn a_fleet_without_a_margin_is_warned_about_and_its_name_is_typed() {
    // F56
    let mut bed = Bed::of(Rig::at_gate(4), 80, 24);
    bed.stage.arm();
    bed.stage.press("4 u g");
    bed.says("4 nodes tolerate 1 down: while one rolls, another that fails is a");
    bed.says("type kernel/fleet:");
    assert_eq!(sent(&bed.stage.press("enter enter")), None);
    bed.stage.type_text("kernel/fleet");
    bed.stage.press("enter right");
    assert!(matches!(verb(sent(&bed.stage.press("enter"))), RollVerb::Approve { .. }));
}

#[test]
fn a_gate_that_changes_while_it_is_asked_about_cannot_be_approved_and_is_asked_again() {
    // F54
    let mut bed = armed(80, 24);
    bed.stage.press("u g");
    bed.approve();
    bed.show();
    bed.says("does not wait at its canary gate");
    bed.says("it cannot be confirmed");
    assert_eq!(sent(&bed.stage.press("enter enter")), None);
    bed.stage.press("esc");

    let mut bed = armed(80, 24);
    bed.stage.press("u g");
    let effects = bed.stage.press("enter");
    let key = sent(&effects).unwrap().key.unwrap();
    let moved = Answer::Moved { sentence: "the gate waits anew".to_owned() };
    bed.stage.send(Msg::Answer { key, answer: moved });
    bed.says("it moved meanwhile, so nothing was done: the gate waits anew");
    bed.says("Approve the gate of kernel/fleet?");
}

#[test]
fn another_roll_in_its_place_is_never_approved_by_a_question_about_the_one_before() {
    // F53, F54
    let mut bed = armed(80, 24);
    bed.stage.press("u g");
    bed.rig.start_over("s", "y", spec(6), true);
    bed.show();
    bed.says("kernel/fleet is no longer listed");
    assert_eq!(sent(&bed.stage.press("enter enter")), None);
}

#[test]
fn a_denial_takes_the_name_and_says_that_nothing_else_changes() {
    // F20
    let mut bed = armed(80, 24);
    bed.stage.press("4 x k");
    bed.says("Deny the gate of kernel/fleet?");
    bed.says("staged images stay where they are");
    assert_eq!(sent(&bed.stage.press("enter")), None);
    bed.stage.type_text("kernel/fleet");
    bed.stage.press("enter right");
    assert!(matches!(verb(sent(&bed.stage.press("enter"))), RollVerb::Deny { .. }));
}

#[test]
fn an_abort_needs_no_arming_and_no_fresh_data_but_its_own_key() {
    let mut bed = Bed::at_gate(80, 24);
    bed.stage.pass(0);
    bed.stage.picture.api = super::super::super::snapshot::Freshness::Lost {
        since: bed.rig.now,
        why: "connection refused".to_owned(),
        retry_at: None,
    };
    bed.stage.show();
    bed.stage.press("4 x a");
    bed.says("Abort the roll of kernel/fleet?");
    bed.says("no node is touched any more");
    assert_eq!(sent(&bed.stage.press("enter")), None, "enter is no stop key");
    bed.stage.press("x a");
    let order = sent(&bed.stage.press("y"));
    assert_eq!(verb(order), RollVerb::Abort { roll: Bed::roll() });
}

#[test]
fn an_abort_in_a_boot_says_what_stays_behind() {
    // F60
    let mut bed = armed(80, 24);
    bed.approve();
    bed.rig.held.insert(("wk-2".to_owned(), StepName::Boot));
    bed.rig.until(|rig| rig.state_of("wk-2", StepName::Boot).is_some());
    let mut bed = bed.shown();
    bed.stage.press("4 x a");
    bed.says("wk-2 stays as it is, cordoned by the roll: uncordon wk-2");
    bed.says("its boot is under way and is let to its end on wk-2");
}

#[test]
fn a_node_is_probed_and_given_back_by_key_and_only_where_that_is_ours_to_do() {
    let mut bed = armed(80, 24);
    bed.approve();
    bed.rig.held.insert(("wk-2".to_owned(), StepName::Boot));
    bed.rig.until(|rig| rig.state_of("wk-2", StepName::Boot).is_some());
    let mut bed = bed.shown();
    bed.stage.arm();
    bed.stage.press("5 u p");
    bed.says("a throwaway pod is made on wk-1 at the next tick, and judged");
    assert_eq!(verb(sent(&bed.stage.press("enter"))), RollVerb::Probe { node: "wk-1".to_owned() });
    bed.stage.model.orders.clear();
    bed.stage.press("j u n");
    bed.says("wk-2 is cordoned for the roll of kernel/fleet, which goes on");
    bed.stage.press("esc j u n");
    bed.says("no roll left wk-3 cordoned");
    bed.rig.verb(RollVerb::Abort { roll: Bed::roll() });
    bed.show();
    bed.stage.press("esc k u n");
    bed.says("whether it is healthy is for you to say");
    bed.stage.type_text("wk-2");
    bed.stage.press("enter right");
    assert_eq!(verb(sent(&bed.stage.press("enter"))), RollVerb::Uncordon { node: "wk-2".to_owned() });
    bed.rig.verb(RollVerb::Uncordon { node: "wk-2".to_owned() });
    bed.rig.verb(RollVerb::Probe { node: "wk-3".to_owned() });
    bed.stage.model.orders.clear();
    bed.show();
    bed.stage.press("u n");
    bed.says("jane asked to give it back already, and the next tick does");
    bed.stage.press("j u p");
    bed.says("jane asked for one already");
}

#[test]
fn nothing_is_ordered_on_a_fleet_that_is_not_seen_but_an_abort() {
    let mut bed = armed(80, 24);
    bed.rig.pass_time(120);
    bed.show();
    bed.stage.press("4 u g");
    bed.says("nodes stale for 2m: nothing is ordered on what is not seen");
    bed.stage.press("esc 5 u p");
    bed.says("nothing is ordered on what is not seen");
    bed.stage.press("esc 4 x a");
    bed.says("Abort the roll of kernel/fleet?");
}

#[test]
fn another_image_is_rolled_in_the_same_way_and_says_whom_it_displaces() {
    // F53, F56
    let mut bed = armed(80, 30);
    bed.stage.press("4 u i");
    bed.says("IMAGE REVISION:");
    bed.says("type the image and then its revision");
    bed.stage.type_text("registry/kernel:y y");
    bed.says("the roll of revision x is displaced and leaves its gate");
    bed.says("one node after the other: wk-1, wk-2, wk-4, wk-5, wk-6, wk-3");
    bed.says("wk-3 hosts the registry and goes last");
    bed.stage.press("enter");
    bed.stage.type_text("kernel/fleet");
    bed.stage.press("enter right");
    let RollVerb::Start { id, image, revision, displace, spec: sent, .. } = verb(sent(&bed.stage.press("enter")))
    else {
        panic!("no start");
    };
    assert_eq!((image.as_str(), revision.as_str(), displace), ("registry/kernel:y", "y", true));
    assert_eq!(*sent, spec(6));
    assert_ne!(id, RollId(uuid::Uuid::nil()), "its identity was given when it was confirmed");
    bed.approve();
    bed.rig.until(|rig| rig.state_of("wk-2", StepName::Cordon).is_some());
    bed.stage.model.orders.clear();
    bed.show();
    bed.stage.press("u i");
    bed.stage.type_text("registry/kernel:z z");
    bed.says("is rolling already, and a node");
}

#[test]
fn a_viewer_looks_and_a_row_that_is_no_roll_takes_no_verb_of_one() {
    let mut bed = armed(80, 24);
    bed.stage.press("5 u g");
    bed.says("select a fleet roll first");
    bed.stage.press("4 u p");
    bed.says("select a node first, on the screen of nodes");
    bed.stage.picture.access = Access::Viewer;
    bed.stage.show();
    bed.stage.press("u g");
    bed.says("your token is a viewer's");
    assert!(!bed.stage.model.layers.iter().any(|layer| matches!(layer, Layer::Dialog(_))));
}

#[test]
fn what_is_advised_about_a_roll_is_done_from_its_row_and_names_its_node() {
    let mut bed = Bed::at_gate(80, 24);
    bed.rig.stuck.insert("wk-1".to_owned(), "CreateContainerError");
    bed.rig.until(|rig| rig.roll().blocked.is_some());
    let mut bed = bed.reopened();
    bed.stage.arm();
    bed.stage.press("u p");
    bed.says("Probe node wk-1?");
    assert_eq!(verb(sent(&bed.stage.press("enter"))), RollVerb::Probe { node: "wk-1".to_owned() });
    let mut bed = armed(80, 24);
    bed.approve();
    bed.rig.held.insert(("wk-2".to_owned(), StepName::Boot));
    bed.rig.until(|rig| rig.state_of("wk-2", StepName::Boot).is_some());
    bed.rig.verb(RollVerb::Abort { roll: Bed::roll() });
    bed.show();
    bed.stage.press("4");
    bed.says("u n give wk-2 back, if you vouch for it");
    bed.stage.press("u n");
    bed.says("Give back node wk-2?");
}

#[test]
fn the_exact_command_is_copied_for_a_terminal_elsewhere() {
    // F45
    use super::super::super::effect::Effect;
    let mut bed = Bed::at_gate(80, 24);
    let since = bed.rig.roll().gate.as_ref().unwrap().since;
    let copied = |effects: Vec<Effect>| match effects.into_iter().next() {
        Some(Effect::Copy(text)) => text,
        other => panic!("{other:?}"),
    };
    let command = format!("kura-console approve kernel/fleet canary --revision x --since {since}");
    assert_eq!(copied(bed.stage.press("C")), command);
    assert!(copied(bed.stage.press("C")).starts_with("kura-console deny kernel/fleet canary --revision x"));
    bed.stage.press("4");
    assert_eq!(copied(bed.stage.press("c")), Bed::roll().to_string());
    bed.stage.press("5");
    assert_eq!(copied(bed.stage.press("c")), "wk-1");
}
