//! A ring that stopped itself: a disruption budget refused the drain of its second node.

use super::super::agents::behaviour::Behaviour;
use super::super::fleet::Brakes;
use super::super::stage::Stage;
use super::cluster::{self, MARIA, Node, UPGRADE};
use super::preset::Preset;
use crate::control::ports::FailedState;
use crate::domain::ids::RolloutId;
use crate::domain::release::Outcome;
use crate::domain::span::Seconds;

pub(super) const PRESET: Preset = Preset {
    name: "halted",
    summary: "a ring halted by a drain that a disruption budget refused; a reset finds it mended",
    past: Seconds(5_100),
    write,
};

const WORKERS: [Node; 5] =
    [("oak-w3", 7, 10), ("oak-w1", 19, 5), ("oak-w5", 42, 9), ("oak-w2", 58, 11), ("oak-w4", 90, 10)];

fn write(stage: &mut Stage) {
    cluster::set_up(stage, &WORKERS, Brakes::SERIAL);
    cluster::behave(
        stage,
        "oak-w1",
        Behaviour {
            apply: Seconds(300),
            outcome: Outcome::Failed,
            heals_after: Some(1),
            failed_state: refused_drain(),
            ..cluster::usual()
        },
    );
    let start = MARIA.starts(RolloutId::named("halted"), cluster::release(UPGRADE), "CHG-4471: Kubernetes 1.31 on oak");
    cluster::order(stage, 600, start);
}

/// What `kubectl drain` says when the budget of a workload is used up (R166).
fn refused_drain() -> FailedState {
    FailedState {
        id: "cordon_drain".to_owned(),
        name: "kubectl drain oak-w1 --ignore-daemonsets --delete-emptydir-data --timeout=300s".to_owned(),
        comment:
            "error when evicting pods/\"kafka-1\" -n \"streaming\": Cannot evict pod as it would violate the pod's \
                  disruption budget. The disruption budget kafka needs 3 healthy pods and has 3 currently; \
                  global timeout reached: 5m0s"
                .to_owned(),
    }
}
