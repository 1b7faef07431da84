//! What is said of a roll and of a node: what it waits for, on whom, and what to do.

use super::rig::{Rig, id, spec};
use crate::domain::explain::{Explanation, Subject, explain};
use crate::domain::observed::Observed;
use crate::domain::roll::node::StepName;
use crate::domain::roll::verb::RollVerb;

fn of_roll(rig: &Rig) -> Explanation {
    explain(&rig.world, &rig.observed(), Subject::Roll(id("r")), rig.now)
}

fn of_node(rig: &Rig, name: &str) -> Explanation {
    explain(&rig.world, &rig.observed(), Subject::Node(name.to_owned()), rig.now)
}

#[test]
fn a_roll_says_whom_it_waits_for_since_when_and_the_command_that_helps() {
    // F42, F45
    let rig = Rig::at_gate(3);
    let said = of_roll(&rig);
    assert!(said.sentence.contains("waits at its canary gate for a person: wk-1 is green on x, 2 nodes follow"));
    let since = rig.roll().gate.as_ref().map(|gate| gate.since);
    assert_eq!((said.on.as_deref(), said.since), (Some("canary"), since));
    assert!(said.next[0].contains("kura-console approve kernel/fleet canary --revision x --since"), "{:?}", said.next);
    let unseen = explain(&rig.world, &Observed::starting_at(rig.now), Subject::Roll(id("r")), rig.now);
    assert!(unseen.sentence.contains("the fleet cannot be judged now: no cluster is connected"), "{}", unseen.sentence);
    assert!(unseen.next[0].contains("kura-console doctor"), "nothing is approved blindly: {:?}", unseen.next);
}

#[test]
fn a_roll_says_what_is_in_its_way_how_it_soaks_and_how_it_ended() {
    // F20, F55
    let mut rig = Rig::at_gate(3);
    rig.approve("r", "x", None);
    rig.fingerprints("wk-1", 2, "CreateContainerError");
    rig.tick();
    assert!(
        of_roll(&rig).sentence.contains("stands still: wk-1 cannot start containers"),
        "{}",
        of_roll(&rig).sentence
    );
    rig.keep_pods(|pod| pod.reason.is_none());
    rig.until(|rig| rig.roll().soaking_since.is_some());
    assert!(of_roll(&rig).sentence.contains("soaks: every node is green on x"), "{}", of_roll(&rig).sentence);
    rig.until(|rig| !rig.roll().is_live());
    assert!(of_roll(&rig).sentence.contains("is through: every node is green on x and stayed so"));
}

#[test]
fn a_roll_that_waits_for_another_one_names_the_node_in_turn() {
    // F23
    let mut rig = Rig::of(6);
    rig.held.insert(("wk-1".to_owned(), StepName::Boot));
    rig.start_at("other", "o", "y", spec(3), false);
    rig.until(|rig| rig.world.rolls.in_turn().is_some());
    let nodes = vec!["wk-5".to_owned(), "wk-6".to_owned()];
    rig.start("r", "x", crate::domain::roll::spec::RollSpec { canary: None, nodes, ..spec(3) });
    rig.tick();
    let said = of_roll(&rig);
    assert!(said.sentence.contains("wk-1 of kernel/other is in turn, one at a time"), "{}", said.sentence);
}

#[test]
fn a_node_says_whose_its_cordon_is_and_never_calls_looking_a_proof() {
    // F2, F12
    let mut rig = Rig::at_gate(3);
    assert!(of_node(&rig, "wk-1").sentence.contains("is Ready and proven: a container started on it"));
    assert!(of_node(&rig, "wk-2").sentence.contains("nobody proved that containers start"));
    rig.approve("r", "x", None);
    rig.held.insert(("wk-2".to_owned(), StepName::Boot));
    rig.until(|rig| rig.state_of("wk-2", StepName::Boot).is_some());
    assert!(of_node(&rig, "wk-2").sentence.contains("it is in turn of kernel/fleet"));
    rig.fail_jobs(None);
    rig.node("wk-2").ready = false;
    rig.tick();
    let held = of_roll(&rig);
    assert!(held.next[0].contains("kubectl -n kura logs job/roll-"), "its log goes with the roll: {:?}", held.next);
    rig.verb(RollVerb::Abort { roll: id("r") });
    let left = of_node(&rig, "wk-2");
    assert!(left.sentence.contains("left it cordoned: it is ours to give back"), "{}", left.sentence);
    assert!(left.next.iter().any(|next| next.contains("kura-console uncordon wk-2")), "{:?}", left.next);
    assert_eq!(of_node(&rig, "wk-9").sentence, "the cluster has no node wk-9");
}
