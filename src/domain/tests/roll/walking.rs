//! A roll from its start to its end, and what is left behind.

use super::rig::{Rig, id};
use crate::domain::roll::fleet_roll::RollState;
use crate::domain::roll::node::{StepName, StepState};
use crate::domain::roll::verb::RollVerb;

#[test]
fn canary_gate_nodes_soak_end() {
    // F15, F17, F55
    let mut rig = Rig::at_gate(3);
    assert_eq!(rig.turns(), ["wk-1"]);
    assert_eq!(rig.state(), RollState::Awaiting);
    rig.approve("r", "x", None);
    rig.until(|rig| rig.state() == RollState::Soaking);
    assert_eq!(rig.turns(), ["wk-1", "wk-2", "wk-3"]);
    let progress = rig.roll().progress();
    assert_eq!((progress.completed, progress.total, progress.phase.as_deref()), (2, 2, Some("soak")));
    rig.until(|rig| !rig.roll().is_live());
    assert_eq!(rig.state(), RollState::Succeeded);
    assert!(StepName::ALL.iter().all(|step| rig.state_of("wk-3", *step) == Some(StepState::Done)));
}

#[test]
fn a_node_goes_through_its_steps_in_order() {
    // F15, F26, F58
    let mut rig = Rig::at_gate(2);
    let verbs: Vec<String> = rig.touched("wk-1").into_iter().filter(|text| !text.contains("-probe-")).collect();
    let short = rig.roll().id.short();
    let name = |step: &str, n: u32| format!("roll-{short}-{step}-{n}-wk-1");
    let expected = [
        format!("apply Pod {}", name("stage", 1)),
        "patch Node wk-1".to_owned(),
        "evict Pod app-wk-1".to_owned(),
        format!("apply Job {}", name("boot", 1)),
        "patch Node wk-1".to_owned(),
    ];
    let main: Vec<String> = verbs.into_iter().filter(|text| !text.starts_with("delete")).collect();
    assert_eq!(main, expected);
    rig.approve("r", "x", None);
}

#[test]
fn nothing_of_ours_is_left_behind() {
    // F9, F57
    let mut rig = Rig::at_gate(3);
    rig.approve("r", "x", None);
    rig.until(|rig| !rig.roll().is_live());
    rig.tick();
    rig.tick();
    assert!(rig.ours().is_empty(), "{:?}", rig.ours());
    assert!(rig.fleet.jobs.rows.is_empty() && rig.world.rolls.ledger.is_empty());
    assert!(rig.fleet.nodes.rows.values().all(|node| !node.unschedulable));
}

#[test]
fn an_abort_touches_nobody_any_more_and_probing_goes_on_for_the_soak() {
    // F60
    let mut rig = Rig::at_gate(3);
    rig.approve("r", "x", None);
    rig.held.insert(("wk-2".to_owned(), StepName::Boot));
    rig.until(|rig| rig.state_of("wk-2", StepName::Boot).is_some());
    rig.verb(RollVerb::Abort { roll: id("r") });
    let before = rig.steps.len();
    for _ in 0..5 {
        rig.tick();
    }
    let after: Vec<String> =
        rig.steps[before..].iter().map(|step| format!("{} {}", step.deed.verb(), step.object)).collect();
    assert!(after.iter().all(|text| text.contains("Pod roll-") || text.contains("delete Job")), "{after:?}");
    assert!(after.iter().any(|text| text.contains("-probe-")), "rolled nodes are still probed");
    assert!(rig.world.rolls.ledger.contains_key("wk-2"), "what it left cordoned stands in the ledger");
    assert!(rig.fleet.nodes.rows["wk-2"].unschedulable);
    assert_eq!(rig.fleet.jobs.rows.len(), 1, "a boot under way is let to its end");
    for _ in 0..35 {
        rig.tick();
    }
    let quiet = rig.steps.len();
    rig.tick();
    assert_eq!(rig.steps.len(), quiet, "after the soak nobody is looked at any more");
    rig.fingerprints("wk-1", 2, "CreateContainerError");
    rig.tick();
    assert_eq!(rig.state(), RollState::Aborted);
}

#[test]
fn what_is_found_after_an_abort_is_reported_and_nothing_else() {
    // F60
    let mut rig = Rig::at_gate(3);
    rig.verb(RollVerb::Abort { roll: id("r") });
    rig.fingerprints("wk-1", 3, "ContainerStatusUnknown");
    rig.tick();
    let found = rig.of_node("wk-1").findings.iter().find(|finding| finding.passive).cloned().unwrap();
    assert!(found.reason.contains("wk-1") && found.reason.contains("3 pods"), "{}", found.reason);
    assert_eq!(rig.state(), RollState::Aborted);
}

#[test]
fn a_step_that_fails_ends_the_roll_and_names_node_and_step() {
    let mut rig = Rig::rolling(2);
    rig.held.insert(("wk-1".to_owned(), StepName::Boot));
    rig.until(|rig| !rig.fleet.jobs.rows.is_empty());
    rig.fail_jobs(None);
    rig.tick();
    assert_eq!(rig.state(), RollState::Failed);
    assert_eq!(rig.reason(), "wk-1: its boot failed: exit code 3");
    assert_eq!(rig.state_of("wk-1", StepName::Boot), Some(StepState::Failed));
}

#[test]
fn a_job_that_goes_down_with_its_node_is_judged_by_how_the_node_comes_back() {
    // F58
    for (boot, state) in [("boot-2", RollState::Awaiting), ("boot-1", RollState::Failed)] {
        let mut rig = Rig::rolling(2);
        rig.held.insert(("wk-1".to_owned(), StepName::Boot));
        rig.until(|rig| !rig.fleet.jobs.rows.is_empty());
        rig.node("wk-1").ready = false;
        rig.fail_jobs(None);
        rig.tick();
        assert_eq!(rig.state_of("wk-1", StepName::Boot), Some(StepState::Running));
        assert_eq!(rig.reason(), "wk-1 is not Ready and its boot says exit code 3: how it comes back decides");
        rig.node("wk-1").ready = true;
        rig.node("wk-1").boot_id = Some(boot.to_owned());
        rig.tick();
        assert_eq!(rig.state(), state, "{boot}");
    }
}

#[test]
fn a_job_that_goes_down_before_its_node_is_no_failed_boot_yet() {
    // F58
    let failed = || {
        let mut rig = Rig::rolling(2);
        rig.held.insert(("wk-1".to_owned(), StepName::Boot));
        rig.until(|rig| !rig.fleet.jobs.rows.is_empty());
        let now = rig.now;
        rig.fail_jobs(Some(now));
        rig.tick_after(10);
        let told = "wk-1 is Ready and its boot says exit code 3: it fails unless the node goes down within 2m";
        assert_eq!((rig.state(), rig.reason().as_str()), (RollState::Blocked, told));
        rig
    };
    let mut rig = failed();
    rig.node("wk-1").ready = false;
    (0..10).for_each(|_| rig.tick());
    assert_eq!(rig.state_of("wk-1", StepName::Boot), Some(StepState::Running), "it takes as long as it takes");
    rig.node("wk-1").ready = true;
    rig.node("wk-1").boot_id = Some("boot-2".to_owned());
    rig.until(|rig| rig.roll().gate.is_some());

    let mut rig = failed();
    rig.node("wk-1").boot_id = Some("boot-2".to_owned());
    rig.tick_after(10);
    assert_eq!(rig.state_of("wk-1", StepName::Boot), Some(StepState::Done), "sooner back than anybody noticed");

    let mut rig = failed();
    rig.tick_after(109);
    assert_eq!(rig.state(), RollState::Blocked);
    rig.tick_after(1);
    assert_eq!((rig.state(), rig.reason().as_str()), (RollState::Failed, "wk-1: its boot failed: exit code 3"));
}
