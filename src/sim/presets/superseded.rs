//! A rollout that was displaced in mid-drain: a pipeline forced a hotfix over a protected window.

use super::super::fleet::FleetBuilder;
use super::super::fleet::{Brakes, Build};
use super::super::script::Cue;
use super::super::stage::Stage;
use super::cluster::{self, CI, MARIA, Node, UPGRADE};
use super::preset::Preset;
use crate::domain::ids::RolloutId;
use crate::domain::span::Seconds;

pub(super) const PRESET: Preset = Preset {
    name: "superseded",
    summary: "a window displaced in mid-drain by a forced hotfix: one node was interrupted",
    past: Seconds(5_280),
    write,
};

const WORKERS: [Node; 5] =
    [("oak-w3", 7, 10), ("oak-w1", 19, 12), ("oak-w5", 42, 9), ("oak-w2", 58, 11), ("oak-w4", 90, 10)];

/// What displaced the window.
const HOTFIX: Build<'static> = Build {
    git_ref: "hotfix-ntp-17",
    commit: "c2e05a77d1bd4f5a93f0d9a6e6c1f2b7a8d94e10",
    timeout: Seconds(1800),
    notes: "time servers of the new site",
    target_version: None,
};

fn write(stage: &mut Stage) {
    cluster::set_up(stage, &WORKERS, Brakes::SERIAL);
    let start =
        MARIA.starts(RolloutId::named("displaced"), cluster::release(UPGRADE), "CHG-4471: Kubernetes 1.31 on oak");
    cluster::order(stage, 600, start);
    let mut hotfix = FleetBuilder::default();
    hotfix.release(HOTFIX, &stage.outside().vault);
    let built = cluster::moment(stage, 4_800);
    stage.script().add(built, Cue::Orders(hotfix.orders()));
    let force = CI.forces(RolloutId::named("hotfix"), cluster::release(HOTFIX), "hotfix pipeline, job 88213");
    cluster::order(stage, 5_100, force);
}
