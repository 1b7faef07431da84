//! Stages on a real API server: a few at a time, and one that cannot pull is its own affair until its turn comes.

use std::time::Duration;

use kura_console::domain::roll::fleet_roll::{Roll, RollState};
use kura_console::domain::roll::node::{StepName, StepState};
use kura_console::domain::roll::spec::RollSpec;

use super::bed::Bed;

/// After which a pull that failed is tried again in the node's own turn.
const A_MINUTE: Duration = Duration::from_secs(61);

/// Nodes whose image is being pulled right now, as the API server has it.
async fn pulling(bed: &Bed) -> Vec<usize> {
    let own = bed.fleet.own().await;
    let is_pulled = |n: &usize| own.iter().any(|name| name.contains("-stage-") && name.ends_with(bed.fleet.node(*n)));
    (1..=5).filter(is_pulled).collect()
}

fn staged(roll: &Roll, node: &str) -> Option<StepState> {
    roll.nodes[node].step(StepName::Stage).map(|row| row.state)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pulls_run_two_at_a_time_however_long_they_take() {
    // F16, F22
    let Some(bed) = Bed::make(5).await else { return };
    bed.fleet.script(|script| script.pulling.extend((2..=5).map(|n| bed.fleet.node(n).to_owned())));
    let plane = bed.plane().await;
    plane.start(RollSpec { stage_parallelism: 2, ..bed.fleet.spec() }).await;
    plane.until_roll("the gate", |roll| roll.gate.is_some()).await;
    assert_eq!(pulling(&bed).await, [2, 3], "the canary went all its way, and nobody else began");
    for (done, next) in [(2, [3, 4]), (3, [4, 5])] {
        let node = bed.fleet.node(done).to_owned();
        bed.fleet.script(|script| {
            script.pulling.remove(&node);
        });
        bed.until("the next one begins", async || pulling(&bed).await == next).await;
    }
    let roll = plane.roll();
    assert_eq!((roll.state(), roll.turns.len()), (RollState::Awaiting, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pull_that_fails_is_no_failure_of_the_roll_and_stops_before_the_cordon() {
    // F19, F22
    let Some(bed) = Bed::make(3).await else { return };
    let node = bed.fleet.node(2).to_owned();
    bed.fleet.script(|script| {
        script.unpullable.insert(node.clone());
    });
    let plane = bed.plane().await;
    plane.start(RollSpec { stage_parallelism: 1, ..bed.fleet.spec() }).await;
    let both = |roll: &Roll| {
        let (failed, done) = (Some(StepState::Failed), Some(StepState::Done));
        roll.gate.is_some() && staged(roll, &node) == failed && staged(roll, bed.fleet.node(3)) == done
    };
    let roll = plane.until_roll("its pull failed, and the next one went on", both).await;
    assert_eq!((roll.state(), roll.reason()), (RollState::Awaiting, None));

    plane.approve().await;
    let roll = plane.until_told(&format!("{node} cannot pull kernel:1: ErrImagePull")).await;
    assert_eq!(roll.state(), RollState::Blocked);
    assert!(!bed.fleet.is_cordoned(&node).await && bed.fleet.boots(&node) == 0);
    bed.fleet.script(|script| {
        script.unpullable.remove(&node);
    });
    bed.clock.pass(A_MINUTE);
    let roll = plane.until_roll("its end", |roll| !roll.is_live()).await;
    assert_eq!(roll.state(), RollState::Succeeded, "{roll:#?}");
    assert_eq!(bed.fleet.boots(&node), 1);
    bed.until_tidy().await;
}
