//! What stops a roll on a real API server, with the sentence that says so, and what stays behind: nothing but a cordon that
//! a person gives back.

use std::time::Duration;

use kura_console::domain::roll::fleet_roll::{Roll, RollState};
use kura_console::domain::roll::node::StepName;
use kura_console::domain::roll::verb::RollVerb;
use kura_console::domain::verdict::Reply;

use super::bed::{Bed, roll_id};

/// After which a rolled node is probed anew (F7).
const A_MINUTE: Duration = Duration::from_secs(61);

fn began(roll: &Roll, node: &str, step: StepName) -> bool {
    roll.nodes.get(node).is_some_and(|node| node.step(step).is_some())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cordon_that_somebody_lifts_before_the_boot_stops_the_roll() {
    // (A11)
    let Some(bed) = Bed::make(3).await else { return };
    let node = bed.fleet.node(1).to_owned();
    bed.fleet.script(|script| {
        script.clinging.insert(node.clone());
    });
    let plane = bed.plane().await;
    plane.start(bed.fleet.spec()).await;
    plane.until_roll("the drain", |roll| began(roll, &node, StepName::Drain)).await;
    bed.fleet.set_cordon(&node, false).await;
    let roll = plane.until_told("somebody lifted its cordon before the boot").await;
    assert_eq!(roll.state(), RollState::Failed);
    assert_eq!(roll.reason(), Some(format!("{node} is schedulable again: somebody lifted its cordon before the boot")));
    assert_eq!(bed.fleet.boots(&node), 0);
    bed.until("it is not ours any more", async || plane.rolls().ledger.is_empty()).await;
    assert!(!bed.fleet.is_cordoned(&node).await, "nobody cordons it again");
    bed.until_tidy().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_runtime_that_wedges_after_green_holds_every_other_node() {
    // F3, F5, F7, F13
    let Some(bed) = Bed::make(3).await else { return };
    let node = bed.fleet.node(1).to_owned();
    let plane = bed.plane().await;
    plane.start(bed.fleet.spec()).await;
    plane.until_roll("the gate", |roll| roll.gate.is_some()).await;
    bed.fleet.script(|script| {
        script.wedged.insert(node.clone());
    });
    bed.clock.pass(A_MINUTE);
    plane.until_roll("a probe finds it", |roll| roll.nodes[&node].broken().is_some()).await;
    plane.approve().await;
    let roll = plane.until_told("cannot start containers").await;
    assert_eq!(roll.state(), RollState::Blocked);
    let reason = roll.reason().expect("it says why");
    assert!(reason.starts_with(&format!("{node} is Ready and cannot start containers")), "{reason}");
    assert!(reason.contains("CreateContainerError"), "{reason}");
    assert_eq!([2, 3].map(|n| bed.fleet.boots(bed.fleet.node(n))), [0, 0]);

    bed.fleet.script(|script| {
        script.wedged.remove(&node);
    });
    bed.clock.pass(A_MINUTE);
    let roll = plane.until_roll("it is well again and the roll goes on", |roll| roll.turns.len() > 1).await;
    assert_eq!(roll.turns[1].node, bed.fleet.node(2));
}

/// The reference incident: the kubelet says Ready all the time, and pods on it cannot be started. What shows it is what is
/// read of the node; no probe need be out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_that_cannot_start_on_a_rolled_node_hold_the_roll_between_two_probes() {
    // F2, F3, F5, F6
    let Some(bed) = Bed::make(3).await else { return };
    let node = bed.fleet.node(1).to_owned();
    let plane = bed.plane().await;
    plane.start(bed.fleet.spec()).await;
    plane.until_roll("the gate", |roll| roll.gate.is_some()).await;
    bed.fleet.script(|script| {
        script.wedged.insert(node.clone());
    });
    // Kubelets tell whole seconds: what begins in the second of the uncordon cannot be told from what was there before.
    bed.clock.pass(Duration::from_secs(2));
    for n in 1..=3 {
        bed.fleet.put_pod(&format!("late-{n}"), &node).await;
    }
    let words = format!("{node} cannot start containers: 3 pods say so (3 CreateContainerError)");
    let is_seen = |roll: &Roll| roll.nodes[&node].findings.iter().any(|one| one.passive && one.reason == words);
    plane.until_roll(&words, is_seen).await;
    assert!(plane.fleet().nodes.get(&node).is_some_and(|node| node.ready));
    plane.approve().await;
    let roll = plane.until_told(&words).await;
    assert_eq!((roll.state(), roll.turns.len()), (RollState::Blocked, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_registry_that_is_lost_holds_every_other_node() {
    // F27, F28
    let Some(bed) = Bed::make(3).await else { return };
    bed.fleet.put_registry(bed.fleet.node(3)).await;
    let plane = bed.plane().await;
    plane.start(bed.fleet.spec()).await;
    plane.until_roll("the gate", |roll| roll.gate.is_some()).await;
    bed.fleet.lose_registry().await;
    bed.until("it is gone", async || bed.fleet.registry_host().await.is_none()).await;
    plane.approve().await;
    let roll = plane.until_told("the registry is nowhere to be seen").await;
    assert_eq!((roll.state(), roll.turns.len()), (RollState::Blocked, 1));
    assert_eq!(roll.reason().as_deref(), Some("the registry is nowhere to be seen: nobody could pull after a drain"));
    bed.fleet.put_registry(bed.fleet.node(1)).await;
    plane.until_roll("it is back and the roll goes on", |roll| roll.turns.len() > 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_abort_lets_the_boot_end_and_leaves_a_cordon_that_a_person_gives_back() {
    // F58, F60
    let Some(bed) = Bed::make(2).await else { return };
    let node = bed.fleet.node(1).to_owned();
    bed.fleet.script(|script| {
        script.stuck.insert(node.clone());
    });
    let plane = bed.plane().await;
    plane.start(bed.fleet.spec()).await;
    bed.until("its Job is there", async || !plane.fleet().jobs.rows.is_empty()).await;
    assert_eq!(plane.ask(RollVerb::Abort { roll: roll_id() }).await, Reply::Done);
    assert_eq!(plane.roll().state(), RollState::Aborted);
    assert!(!bed.fleet.own().await.is_empty(), "a boot that is cut short is worse than one too many");
    bed.fleet.script(|script| {
        script.stuck.remove(&node);
    });
    bed.until_tidy().await;
    assert_eq!(bed.fleet.boots(&node), 1);
    assert!(bed.fleet.is_cordoned(&node).await);
    assert!(plane.rolls().ledger.contains_key(&node));

    assert_eq!(plane.ask(RollVerb::Uncordon { node: node.clone() }).await, Reply::Done);
    bed.until("it is given back", async || !bed.fleet.is_cordoned(&node).await).await;
    bed.until("the ledger is empty", async || plane.rolls().ledger.is_empty()).await;
    let refused = plane.ask(RollVerb::Uncordon { node: node.clone() }).await;
    assert!(matches!(refused, Reply::Refused(_)), "nobody else's is ever given back: {refused:?}");
}
