//! The default: the middle of a maintenance window, with something to decide.
//!
//! The control plane is done. In the workers tier two slots: one is held by a node that went offline in mid-drain and
//! is minutes away from its stall timeout, the other is kept by a node that settles. One node is done, one waits, one
//! was taken out of the line by a person.

use super::super::fleet::Brakes;
use super::super::script::Cue;
use super::super::stage::Stage;
use super::cluster::{self, JONAS, MARIA, Node, UPGRADE};
use super::preset::Preset;
use crate::domain::change::Level;
use crate::domain::ids::RolloutId;
use crate::domain::span::Seconds;

pub(super) const PRESET: Preset = Preset {
    name: "window",
    summary: "the middle of a maintenance window: a holder offline and close to its stall timeout",
    past: Seconds(PAST),
    write,
};

/// From the set-up to the first look.
const PAST: u64 = 8_700;

/// The workers, in queue order. `oak-w3` is the one that goes offline.
const WORKERS: [Node; 5] =
    [("oak-w3", 7, 25), ("oak-w1", 19, 38), ("oak-w5", 42, 37), ("oak-w2", 58, 30), ("oak-w4", 90, 33)];

fn write(stage: &mut Stage) {
    cluster::set_up(stage, &WORKERS, Brakes { cap: 2, ..Brakes::SERIAL });
    let (rollout, release) = (RolloutId::named("window"), cluster::release(UPGRADE));
    cluster::order(
        stage,
        600,
        MARIA.starts(rollout, release, "CHG-4471: Kubernetes 1.31 on oak, agreed with the data team"),
    );
    let skipped = Level::Machine(cluster::machine("oak-w2"));
    cluster::order(stage, 5_200, JONAS.pauses(skipped, "a disk is being replaced"));
    let offline = cluster::machine("oak-w3");
    let (gone, back) = (cluster::moment(stage, 4_700), cluster::moment(stage, PAST + 2_700));
    stage.script().add(gone, Cue::Silence(offline));
    stage.script().add(back, Cue::BringBack(offline));
}
