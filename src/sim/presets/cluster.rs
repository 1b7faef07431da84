//! The cluster `oak` that most presets are about: a control-plane tier, a workers tier, and the people around it.

use jiff::Timestamp;

use super::super::agents::behaviour::Behaviour;
use super::super::fleet::{Brakes, Build, FleetBuilder, Seat, Tier};
use super::super::operator::Operator;
use super::super::script::Cue;
use super::super::stage::Stage;
use crate::control::ports::Clock;
use crate::domain::ids::{MachineId, ReleaseId};
use crate::domain::input::Order;
use crate::domain::span::Seconds;

/// Leads the maintenance window.
pub(super) const MARIA: Operator = Operator("maria");

/// Works in the machine room.
pub(super) const JONAS: Operator = Operator("jonas");

/// The pipeline that ships hotfixes.
pub(super) const CI: Operator = Operator("ci-pipeline");

/// Slugs of the tiers and of their rings, which bear the same names (R87).
pub(super) const CP: &str = "oak-cp";
/// The tier behind it.
pub(super) const WORKERS: &str = "oak-workers";

/// The release the window is about.
pub(super) const UPGRADE: Build<'static> = Build {
    git_ref: "k8s-1.31.4",
    commit: "9f31c07be2d54a0c8d7746a1f0f9be2b60d5a7e4",
    timeout: Seconds(3600),
    notes: "Kubernetes 1.31.4, containerd 2.0.2, node by node",
    target_version: Some("v1.31.4"),
};

/// The release before it, which everybody has.
pub(super) const BEFORE: Build<'static> = Build {
    git_ref: "k8s-1.30.9",
    commit: "41c6a9d2e7710b35c0f7a5c1f8c9be6ad2f0c3b8",
    timeout: Seconds(3600),
    notes: "Kubernetes 1.30.9",
    target_version: Some("v1.30.9"),
};

/// A machine of the cluster: host name, pinned bucket, minutes of an apply.
pub(super) type Node = (&'static str, u8, u64);

/// The control plane, in queue order.
pub(super) const CONTROL_PLANE: [Node; 3] = [("oak-cp-2", 11, 12), ("oak-cp-1", 46, 11), ("oak-cp-3", 83, 13)];

/// Sets the cluster up at the beginning of a stage: two tiers, one capped ring each, and an agent on every node.
pub(super) fn set_up(stage: &mut Stage, workers: &[Node], worker_brakes: Brakes) {
    let mut fleet = FleetBuilder::default();
    fleet.tier(Tier { slug: CP, name: "Oak control plane", order: 10 });
    fleet.tier(Tier { slug: WORKERS, name: "Oak workers", order: 11 });
    fleet.ring(CP, Brakes::SERIAL);
    fleet.ring(WORKERS, worker_brakes);
    for (tier, nodes) in [(CP, &CONTROL_PLANE[..]), (WORKERS, workers)] {
        for (hostname, bucket, _) in nodes {
            fleet.machine(Seat { hostname, environment: tier, ring: tier, bucket: Some(*bucket) });
        }
    }
    fleet.release(BEFORE, &stage.outside().vault);
    fleet.release(UPGRADE, &stage.outside().vault);
    let now = stage.clock().now();
    stage.script().add(now, Cue::Orders(fleet.orders()));
    for ((hostname, _, minutes), turn) in CONTROL_PLANE.iter().chain(workers).zip(0..) {
        behave(stage, hostname, Behaviour { apply: Seconds(minutes * 60), first_poll: Seconds(turn), ..usual() });
    }
}

/// An agent of this cluster.
pub(super) fn usual() -> Behaviour {
    Behaviour { poll: Seconds(10), drift: Seconds(1500), ..Behaviour::default() }
}

/// Gives a machine its agent.
pub(super) fn behave(stage: &mut Stage, hostname: &str, behaviour: Behaviour) {
    let now = stage.clock().now();
    stage.roster().with(|roster| roster.enroll(now, machine(hostname), behaviour));
}

/// Writes an order into the script, so long after the stage's beginning.
pub(super) fn order(stage: &mut Stage, after: u64, order: Order) {
    let at = moment(stage, after);
    stage.script().add(at, Cue::Orders(vec![order]));
}

/// So long after the stage's beginning.
pub(super) fn moment(stage: &Stage, after: u64) -> Timestamp {
    Seconds(after).after(stage.clock().now())
}

/// The machine of this name.
pub(super) fn machine(hostname: &str) -> MachineId {
    MachineId::named(hostname)
}

/// The release of this name.
pub(super) fn release(build: Build<'_>) -> ReleaseId {
    ReleaseId::named(build.git_ref)
}
