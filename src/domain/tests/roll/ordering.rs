//! Staging ahead, and who goes when.

use std::collections::BTreeSet;

use super::rig::{Rig, id, refused, spec};
use crate::domain::input::Input;
use crate::domain::refusal::Refusal;
use crate::domain::roll::fleet_roll::RollState;
use crate::domain::roll::node::{StepName, StepState};
use crate::domain::roll::refusal::RollRefusal;
use crate::domain::roll::spec::RollSpec;
use crate::domain::verdict::Reply;

fn staging(rig: &Rig) -> usize {
    let runs = |node: &String| rig.state_of(node, StepName::Stage) == Some(StepState::Running);
    rig.roll().nodes.keys().filter(|node| runs(node)).count()
}

#[test]
fn stages_run_ahead_a_few_at_a_time_and_end_before_any_cordon() {
    // F15, F16, F18, F22, F46
    let mut rig = Rig::of(6);
    rig.held.extend((1..=6).map(|n| (format!("wk-{n}"), StepName::Stage)));
    rig.start("r", "x", RollSpec { stage_parallelism: 2, ..spec(6) });
    rig.tick();
    assert_eq!(staging(&rig), 2);
    assert_eq!(rig.state_of("wk-1", StepName::Stage), Some(StepState::Running), "the canary goes first here as well");
    rig.tick();
    rig.tick();
    assert_eq!(staging(&rig), 2);
    let harm = rig.steps.iter().filter(|step| step.deed.verb() != "apply");
    assert_eq!(harm.count(), 0, "nobody is cordoned, drained or booted by a stage");
}

#[test]
fn the_fleet_is_staged_while_the_canary_rolls_and_its_gate_waits() {
    // F16, F17
    let mut rig = Rig::at_gate(6);
    rig.tick();
    rig.tick();
    assert!(rig.roll().nodes.values().all(|node| node.staged.is_some()));
    assert_eq!(rig.turns(), ["wk-1"]);
    let before = rig.touched("wk-2").len();
    rig.approve("r", "x", None);
    rig.tick();
    assert_eq!(rig.touched("wk-2")[before], "patch Node wk-2", "its turn begins at the cordon");
}

#[test]
fn without_staging_ahead_each_node_pulls_in_its_own_turn() {
    // F17
    let mut rig = Rig::of(3);
    rig.start("r", "x", RollSpec { stage_parallelism: 0, ..spec(3) });
    rig.until(|rig| rig.roll().gate.is_some());
    assert!(rig.of_node("wk-2").step(StepName::Stage).is_none());
    rig.approve("r", "x", None);
    rig.until(|rig| rig.state() == RollState::Soaking);
    assert!(rig.roll().nodes.values().all(|node| node.staged.is_some()));
}

#[test]
fn a_stage_that_fails_is_no_failure_of_the_roll_and_stops_before_the_cordon() {
    // F19, A14
    let mut rig = Rig::of(3);
    rig.no_pull.insert("wk-2".to_owned());
    rig.start("r", "x", spec(3));
    rig.until(|rig| rig.roll().gate.is_some());
    assert_eq!(rig.state_of("wk-2", StepName::Stage), Some(StepState::Failed));
    rig.approve("r", "x", None);
    rig.tick();
    rig.tick();
    rig.tick();
    assert!(rig.roll().is_live());
    assert!(rig.of_node("wk-2").step(StepName::Cordon).is_none());
    assert!(rig.reason().is_empty() || rig.reason().contains("wk-2"), "{}", rig.reason());
    rig.until(|rig| rig.reason().contains("wk-2 cannot pull"));
    rig.no_pull.clear();
    rig.until(|rig| rig.state() == RollState::Soaking);
    assert!(rig.of_node("wk-2").step(StepName::Stage).unwrap().attempt > 1, "it pulled in its own turn");
}

#[test]
fn a_denied_gate_leaves_staged_images_and_nothing_else() {
    // F20
    let mut rig = Rig::at_gate(4);
    rig.tick();
    let (gate, revision) = ("canary".to_owned(), "x".to_owned());
    let verb = crate::domain::roll::verb::RollVerb::Deny { roll: id("r"), gate, revision, awaiting_since: None };
    assert_eq!(rig.verb(verb), Reply::Done);
    assert_eq!(rig.state(), RollState::Denied);
    (0..40).for_each(|_| rig.tick());
    for node in ["wk-2", "wk-3", "wk-4"] {
        assert!(rig.of_node(node).staged.is_some());
        assert!(rig.touched(node).iter().all(|text| text.contains("-stage-")), "{:?}", rig.touched(node));
    }
    assert!(rig.ours().is_empty());
}

#[test]
fn another_digest_than_the_one_that_is_rolled_is_staged_again_before_the_cordon() {
    // F21
    let mut rig = Rig::at_gate(3);
    rig.tick();
    let roll = rig.world.rolls.rolls.get_mut(0).unwrap();
    roll.nodes.get_mut("wk-2").unwrap().staged = Some("sha256:old".to_owned());
    rig.approve("r", "x", None);
    rig.tick();
    assert_eq!(rig.of_node("wk-2").step(StepName::Stage).unwrap().attempt, 2);
    rig.until(|rig| rig.state_of("wk-2", StepName::Cordon).is_some());
    assert_eq!(rig.of_node("wk-2").staged, rig.roll().digest);
}

#[test]
fn once_a_digest_is_rolled_it_is_pulled_by_that_and_not_by_its_tag() {
    // F21
    let mut rig = Rig::at_gate(3);
    let digest = "image@sha256:1".to_owned();
    rig.world.rolls.rolls.get_mut(0).unwrap().digest = Some(digest.clone());
    assert_eq!(rig.of_node("wk-2").staged.as_deref(), Some("sha256:1"));
    rig.approve("r", "x", None);
    rig.tick();
    let pod = crate::domain::roll::manifest::stage(rig.roll(), "wk-2");
    assert_eq!(pod["spec"]["containers"][0]["image"], digest.as_str());
    let pods = |rig: &Rig| {
        rig.steps.iter().filter(|step| step.deed.verb() == "apply" && step.object.name.contains("-stage-")).count()
    };
    let before = pods(&rig);
    (0..6).for_each(|_| rig.tick_after(30));
    assert!(pods(&rig) - before <= 3, "what is still another one is pulled again each minute, not each look");
    assert!(rig.of_node("wk-2").step(StepName::Cordon).is_none() && rig.roll().is_live());
    rig.until(|rig| rig.reason().contains("wk-2 has sha256:1 staged, and image@sha256:1 is rolled"));
}

#[test]
fn the_hosts_turn_is_last_wherever_it_is_by_then() {
    // F27, F28, F49
    let mut rig = Rig::of(5);
    rig.put_registry("wk-2");
    rig.start("r", "x", spec(5));
    rig.until(|rig| rig.roll().gate.is_some());
    rig.put_registry("wk-4");
    rig.approve("r", "x", None);
    rig.tick();
    assert_eq!(rig.turns(), ["wk-1", "wk-2"]);
    rig.put_registry("wk-5");
    rig.until(|rig| rig.state() == RollState::Soaking);
    assert_eq!(rig.turns(), ["wk-1", "wk-2", "wk-3", "wk-4", "wk-5"]);
}

#[test]
fn a_node_that_became_the_host_while_it_pulled_is_put_back_untouched() {
    // F28, A14
    let mut rig = Rig::of(4);
    rig.put_registry("wk-4");
    rig.start("r", "x", RollSpec { stage_parallelism: 0, ..spec(4) });
    rig.until(|rig| rig.roll().gate.is_some());
    rig.held.insert(("wk-2".to_owned(), StepName::Stage));
    rig.approve("r", "x", None);
    rig.tick();
    assert_eq!(rig.roll().in_turn(), Some("wk-2"));
    rig.put_registry("wk-2");
    rig.held.clear();
    rig.keep_pods(|pod| !pod.is_ours());
    rig.until(|rig| rig.state() == RollState::Soaking);
    assert_eq!(rig.turns(), ["wk-1", "wk-3", "wk-4", "wk-2"]);
}

#[test]
fn the_host_is_never_the_canary() {
    // F28
    let mut rig = Rig::of(3);
    rig.put_registry("wk-1");
    let refusal = refused(rig.start("r", "x", spec(3)));
    assert_eq!(refusal, Refusal::Roll(RollRefusal::RegistryIsCanary { node: "wk-1".to_owned() }));
    rig.put_registry("wk-2");
    rig.start("r", "x", RollSpec { stage_parallelism: 0, ..spec(3) });
    rig.put_registry("wk-1");
    rig.tick();
    assert!(rig.turns().is_empty(), "it moved onto the canary before that was touched");
    assert!(rig.reason().contains("canary"), "{}", rig.reason());
}

#[test]
fn while_nobody_can_pull_from_the_registry_nobody_is_drained() {
    // F28, A14
    for (is_lost, words) in [(true, "nowhere to be seen"), (false, "not Ready on wk-3")] {
        let mut rig = Rig::of(4);
        rig.put_registry("wk-3");
        rig.start("r", "x", spec(4));
        rig.until(|rig| rig.roll().gate.is_some());
        match is_lost {
            true => drop(rig.fleet.pods.rows.remove("apps/zot")),
            false => rig.fleet.pods.rows.get_mut("apps/zot").unwrap().ready = false,
        }
        rig.approve("r", "x", None);
        (0..3).for_each(|_| rig.tick());
        assert_eq!(rig.reason(), format!("the registry is {words}: nobody could pull after a drain"));
        assert_eq!(rig.turns(), ["wk-1"]);
        rig.put_registry("wk-3");
        rig.until(|rig| rig.state() == RollState::Soaking);
        assert_eq!(rig.turns(), ["wk-1", "wk-2", "wk-4", "wk-3"]);
    }
}

/// Something is seen of a cluster all the time. A look begins nothing, and so it does not say either that nothing is in the way.
#[test]
fn a_look_between_two_ticks_leaves_what_is_in_the_way_and_since_when() {
    // F28, F55
    for drains in [false, true] {
        let mut rig = Rig::at_gate(4);
        let lose = |rig: &mut Rig| rig.fleet.nodes.rows.get_mut("wk-3").unwrap().ready = false;
        match drains {
            true => drop(rig.held.insert(("wk-2".to_owned(), StepName::Drain))),
            false => lose(&mut rig),
        }
        rig.approve("r", "x", None);
        if drains {
            rig.until(|rig| rig.state_of("wk-2", StepName::Drain) == Some(StepState::Running));
            lose(&mut rig);
            rig.held.clear();
        }
        rig.tick();
        rig.tick();
        let blocked = rig.roll().blocked.clone();
        assert!(blocked.as_ref().is_some_and(|blocked| blocked.reason.contains("wk-3 is not Ready")), "{blocked:?}");
        for _ in 0..3 {
            rig.pass_time(7);
            rig.look();
            rig.decide(&Input::Seen { ran: Vec::new(), tried: BTreeSet::new() });
            assert_eq!(rig.roll().blocked, blocked, "while it drains: {drains}");
        }
        rig.tick();
        assert_eq!(rig.roll().blocked, blocked, "nor does the tick that follows begin to count anew");
    }
}
