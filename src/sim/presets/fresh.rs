//! A window that has just begun: the first node of the control plane is being drained.

use super::super::fleet::Brakes;
use super::super::stage::Stage;
use super::cluster::{self, MARIA, Node, UPGRADE};
use super::preset::Preset;
use crate::domain::ids::RolloutId;
use crate::domain::span::Seconds;

pub(super) const PRESET: Preset = Preset {
    name: "fresh",
    summary: "a window that has just begun: one node at a time, the control plane first",
    past: Seconds(345),
    write,
};

const WORKERS: [Node; 5] =
    [("oak-w3", 7, 9), ("oak-w1", 19, 10), ("oak-w5", 42, 8), ("oak-w2", 58, 11), ("oak-w4", 90, 10)];

fn write(stage: &mut Stage) {
    cluster::set_up(stage, &WORKERS, Brakes::SERIAL);
    let start = MARIA.starts(RolloutId::named("fresh"), cluster::release(UPGRADE), "CHG-4471: Kubernetes 1.31 on oak");
    cluster::order(stage, 300, start);
}
