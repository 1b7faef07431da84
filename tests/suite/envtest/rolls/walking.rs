//! A roll from its start to its end on a real API server, through the whole loop.

use std::time::Duration;

use kura_console::domain::roll::change::RollChange;
use kura_console::domain::roll::fleet_roll::RollState;
use kura_console::domain::roll::node::{StepName, StepState, Verdict};
use kura_console::domain::roll::sight::JobEnd;
use serde_json::json;

use super::bed::Bed;
use super::fleet::DIGEST;

/// Canary, gate, one node after the other, the registry's host last although it is named first; every pod has a budget that
/// says no.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_roll_goes_through_with_its_gate_approved_and_leaves_nothing_behind() {
    // F4, F8, F15, F16, F17, F18, F21, F23, F26, F27, F28, F57, F58
    let Some(bed) = Bed::make(6).await else { return };
    let fleet = &bed.fleet;
    fleet.put_registry(fleet.node(2)).await;
    fleet.budget("app", &json!({"matchLabels": {"app": "app"}})).await;
    let plane = bed.plane().await;
    plane.start(fleet.spec()).await;

    let roll = plane.until_roll("the gate", |roll| roll.gate.is_some()).await;
    assert_eq!(roll.state(), RollState::Awaiting);
    assert_eq!(roll.digest.as_deref(), Some(DIGEST));
    let canary = &roll.nodes[fleet.node(1)];
    assert!(StepName::ALL.iter().all(|step| canary.step(*step).is_some_and(|row| row.state == StepState::Done)));
    assert!(canary.findings.iter().any(|one| one.verdict == Verdict::Proven && !one.passive), "{canary:#?}");
    let staged =
        |roll: &kura_console::domain::roll::fleet_roll::Roll| roll.nodes.values().all(|node| node.staged.is_some());
    plane.until_roll("all are staged while it waits", staged).await;
    assert_eq!([2, 3, 4, 5, 6].map(|n| fleet.boots(fleet.node(n))), [0; 5], "and nobody else was touched");
    assert!(!fleet.is_cordoned(fleet.node(2)).await);
    assert_eq!(fleet.boots(fleet.node(1)), 1);

    plane.approve().await;
    let roll = plane.until_roll("its end", |roll| !roll.is_live()).await;
    assert_eq!((roll.state(), roll.reason()), (RollState::Succeeded, None), "{roll:#?}");
    let turns: Vec<&str> = roll.turns.iter().map(|turn| turn.node.as_str()).collect();
    assert_eq!(turns, [1, 3, 4, 5, 6, 2].map(|n| fleet.node(n)), "the registry's host last");
    for n in 1..=6 {
        let node = fleet.node(n);
        assert_eq!(fleet.boots(node), 1, "{node}");
        assert!(!fleet.is_cordoned(node).await, "{node}");
        assert!(bed.api.get(&app(&bed, node)).await.status == 404, "what ran there left, whatever its budget says");
    }
    assert_ne!(fleet.registry_host().await.as_deref(), Some(fleet.node(2)), "it moved once, onto a rolled node");
    bed.until_tidy().await;
    assert!(plane.rolls().ledger.is_empty());

    let facts = plane.facts().await;
    let ended = facts.iter().filter(|fact| matches!(fact, RollChange::StepEnded { .. })).count();
    assert_eq!(ended, 6 * StepName::ALL.len(), "each step of each node is in the journal, once");
}

fn app(bed: &Bed, node: &str) -> String {
    format!("{}/app-{node}", super::super::objects::pods(&bed.lease.namespace))
}

/// Somebody had cordoned it before: it is rolled all the same, and stays as it was.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cordon_that_is_not_ours_stays() {
    // (A11)
    let Some(bed) = Bed::make(2).await else { return };
    bed.fleet.set_cordon(bed.fleet.node(2), true).await;
    let plane = bed.plane().await;
    let spec = kura_console::domain::roll::spec::RollSpec { gates: Vec::new(), ..bed.fleet.spec() };
    plane.start(spec).await;
    let roll = plane.until_roll("its end", |roll| !roll.is_live()).await;
    assert_eq!(roll.state(), RollState::Succeeded, "{roll:#?}");
    assert_eq!(bed.fleet.boots(bed.fleet.node(2)), 1);
    assert!(bed.fleet.is_cordoned(bed.fleet.node(2)).await && !bed.fleet.is_cordoned(bed.fleet.node(1)).await);
}

/// Whoever boots a node goes down with it: the real controller calls its Job failed, and the node is asked once it is back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_boot_that_takes_its_own_job_along_is_judged_by_the_node() {
    // F58
    let Some(bed) = Bed::make(1).await else { return };
    let node = bed.fleet.node(1).to_owned();
    bed.fleet.script(|script| {
        script.doomed.insert(node.clone());
    });
    let plane = bed.plane().await;
    plane.start(bed.fleet.spec()).await;
    let has_failed = || plane.fleet().jobs.rows.values().any(|job| matches!(job.ended, Some(JobEnd::Failed { .. })));
    bed.until("its Job has failed", async || has_failed()).await;
    let roll = plane.until_told("how it comes back decides").await;
    assert_eq!(roll.state(), RollState::Blocked);
    assert_eq!(roll.nodes[&node].step(StepName::Boot).map(|row| row.state), Some(StepState::Running));
    bed.fleet.bring_up(&node).await;
    let roll = plane.until_roll("the gate", |roll| roll.gate.is_some()).await;
    assert_eq!(roll.nodes[&node].step(StepName::Boot).map(|row| row.state), Some(StepState::Done));
    assert_eq!(bed.fleet.boots(&node), 1);
}

/// The real controller calls the Job failed while the node says Ready yet: it may be about to go down.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_boot_whose_job_dies_before_its_node_fails_only_if_the_node_stays() {
    // F58
    let Some(bed) = Bed::make(2).await else { return };
    let [first, second] = [1, 2].map(|n| bed.fleet.node(n).to_owned());
    bed.fleet.script(|script| script.hasty.extend([first.clone(), second.clone()]));
    let plane = bed.plane().await;
    plane.start(bed.fleet.spec()).await;
    let told = "it fails unless the node goes down within 2m";
    let roll = plane.until_told(told).await;
    assert_eq!(roll.state(), RollState::Blocked);
    assert!(
        roll.reason().is_some_and(|why| why.starts_with(&format!("{first} is Ready and its boot says"))),
        "{roll:#?}"
    );
    bed.fleet.bring_up(&first).await;
    plane.until_roll("the gate", |roll| roll.gate.is_some()).await;

    plane.approve().await;
    plane.until_told(told).await;
    bed.clock.pass(Duration::from_secs(121));
    let roll = plane.until_roll("its end", |roll| !roll.is_live()).await;
    assert_eq!(roll.state(), RollState::Failed);
    assert!(roll.reason().is_some_and(|why| why.starts_with(&format!("{second}: its boot failed"))), "{roll:#?}");
    assert!(bed.fleet.is_cordoned(&second).await, "whether it is well is for a person to say");
    bed.until_tidy().await;
}
