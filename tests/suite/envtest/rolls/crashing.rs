//! Control planes that end without a word, in the middle of each step: whoever comes next does what is left, once.

use kura_console::domain::roll::change::RollChange;
use kura_console::domain::roll::fleet_roll::{Roll, RollState};
use kura_console::domain::roll::node::StepName;

use super::bed::Bed;

fn began(roll: &Roll, node: &str, step: StepName) -> bool {
    roll.nodes.get(node).is_some_and(|node| node.step(step).is_some())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_at_each_step_is_gone_on_from_and_nothing_happens_twice() {
    // F36, F39, F50
    let Some(bed) = Bed::make(2).await else { return };
    let (canary, other) = (bed.fleet.node(1).to_owned(), bed.fleet.node(2).to_owned());
    let mut plane = bed.plane().await;
    plane.start(bed.fleet.spec()).await;
    for step in StepName::ALL {
        plane.until_roll(step.word(), |roll| began(roll, &canary, step)).await;
        plane.crash().await;
        plane = bed.plane().await;
    }
    let waiting = plane.until_roll("the gate", |roll| roll.gate.is_some()).await.gate;
    plane.crash().await;
    plane = bed.plane().await;
    assert_eq!(plane.roll().gate, waiting, "it waits since then");
    plane.approve().await;
    for step in [StepName::Drain, StepName::Uncordon] {
        plane.until_roll(step.word(), |roll| began(roll, &other, step)).await;
        plane.crash().await;
        plane = bed.plane().await;
    }
    let roll = plane.until_roll("its end", |roll| !roll.is_live()).await;
    assert_eq!(roll.state(), RollState::Succeeded, "{roll:#?}");
    bed.until_tidy().await;
    for node in [&canary, &other] {
        assert_eq!(bed.fleet.boots(node), 1, "{node}");
        assert!(!bed.fleet.is_cordoned(node).await, "{node}");
    }
    assert!(plane.rolls().ledger.is_empty());
    let facts = plane.facts().await;
    for step in StepName::ALL {
        let is_this = |fact: &&RollChange| matches!(fact, RollChange::StepBegan { step: begun, .. } if *begun == step);
        assert_eq!(facts.iter().filter(is_this).count(), 2, "{}: once for each node", step.word());
    }
}
