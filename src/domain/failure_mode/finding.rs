//! Findings: the modes that hold right now, with whom they are about, worst first.

use jiff::Timestamp;

use super::mode::FailureMode;
use super::{machine, ring, rollout};
use crate::domain::ids::{MachineId, RingId};
use crate::domain::observed::Observed;
use crate::domain::rollout::Rollout;
use crate::domain::rows::{LaneView, lanes_in_order};
use crate::domain::world::World;

/// One mode that holds, and what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which row of the table.
    pub mode: FailureMode,
    /// The machine it is about.
    pub machine: Option<MachineId>,
    /// The ring it is about.
    pub ring: Option<RingId>,
    /// One sentence that names it.
    pub sentence: String,
    /// Since when.
    pub since: Option<Timestamp>,
}

impl Finding {
    /// What to do, most useful first, with the name of the node it is about where one has to be typed.
    pub fn next(&self, world: &World) -> Vec<String> {
        let node = self.machine.and_then(|id| world.machines.get(&id)).map_or("NODE", |machine| machine.node.as_str());
        self.mode.next().iter().map(|text| text.replace("NODE", node)).collect()
    }

    /// What to verify afterwards.
    pub fn verify(&self) -> Vec<String> {
        self.mode.verify().iter().map(|text| (*text).to_owned()).collect()
    }
}

/// What recognising needs.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) world: &'a World,
    pub(super) observed: &'a Observed,
    pub(super) rollout: &'a Rollout,
    pub(super) now: Timestamp,
}

impl Scene<'_> {
    /// Whether a machine is online; none = not known.
    pub(super) fn is_online(self, machine: MachineId) -> Option<bool> {
        self.world.is_online(self.observed, machine, self.now)
    }
}

/// Findings one looks for per lane; more of the same tell nobody anything.
pub(super) const PER_LANE: usize = 20;

/// Everything that is wrong or waits in the current rollout, worst first.
pub fn findings(world: &World, observed: &Observed, now: Timestamp) -> Vec<Finding> {
    let Some(rollout) = world.current() else { return Vec::new() };
    let scene = Scene { world, observed, rollout, now };
    let mut found = rollout::findings(scene);
    for key in lanes_in_order(world) {
        let Some(view) = LaneView::of(world, rollout, key, now) else { continue };
        found.extend(ring::findings(scene, &view));
        found.extend(machine::in_lane(scene, &view));
    }
    found.sort_by_key(|finding| rank(finding.mode));
    found
}

/// The worst that is true of the rollout as a whole or of anything in it.
pub fn of_rollout(world: &World, observed: &Observed, now: Timestamp) -> Option<Finding> {
    findings(world, observed, now).into_iter().next()
}

/// The worst that is true of a ring or of a machine in it.
pub fn of_ring(world: &World, observed: &Observed, ring: RingId, now: Timestamp) -> Option<Finding> {
    findings(world, observed, now).into_iter().find(|finding| finding.ring == Some(ring))
}

/// The worst that is true of a machine.
pub fn of_machine(world: &World, observed: &Observed, id: MachineId, now: Timestamp) -> Option<Finding> {
    let scene = Scene { world, observed, rollout: world.current()?, now };
    let machine = world.machines.get(&id)?;
    let view = LaneView::of(world, scene.rollout, machine.place()?, now)?;
    let mut found = machine::findings(scene, &view, machine);
    found.sort_by_key(|finding| rank(finding.mode));
    found.into_iter().next()
}

/// Worst first: what stops the line, then what a person must decide, then what ends by itself.
fn rank(mode: FailureMode) -> usize {
    use FailureMode as M;
    const ORDER: [FailureMode; 23] = [
        M::TelemetryOut,
        M::NoTicks,
        M::ResetWithoutFix,
        M::StallBelowDeadline,
        M::DrainBlocked,
        M::HealthGateFailed,
        M::ApplyFailed,
        M::ConvergedFlaps,
        M::HolderOffline,
        M::HeadOffline,
        M::LinePaused,
        M::NothingGateable,
        M::DeadMachine,
        M::HolderPaused,
        M::TierShut,
        M::RenderError,
        M::AppliedButCordoned,
        M::Superseded,
        M::StartRefused,
        M::Reimaged,
        M::NotCapped,
        M::QueueChurn,
        M::Settling,
    ];
    ORDER.iter().position(|known| *known == mode).unwrap_or(ORDER.len())
}
