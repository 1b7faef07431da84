//! Modes of one machine: failed, flapping, offline with a slot, skipped, reimaged, left cordoned.

use super::finding::{Finding, PER_LANE, Scene};
use super::mode::FailureMode;
use crate::domain::change::LeaseEnd;
use crate::domain::fleet::Machine;
use crate::domain::hold::by_whom_in_passing;
use crate::domain::ids::MachineId;
use crate::domain::observed::Node;
use crate::domain::rollout::HaltCause;
use crate::domain::rows::LaneView;
use crate::domain::span::Seconds;

/// Findings of the machines of a lane that can have one; done and waiting machines are not walked.
pub(super) fn in_lane(scene: Scene<'_>, view: &LaneView<'_>) -> Vec<Finding> {
    let lane = view.lane;
    let suspects = lane.holders.iter().chain(&lane.failing).chain(&lane.paused).chain(&lane.rebuilt).copied();
    let cordoned = cordoned(scene, view);
    let ids: std::collections::BTreeSet<MachineId> = suspects.chain(cordoned).collect();
    let machines = ids.iter().filter_map(|id| scene.world.machines.get(id));
    machines.flat_map(|machine| findings(scene, view, machine)).take(PER_LANE).collect()
}

fn cordoned(scene: Scene<'_>, view: &LaneView<'_>) -> Vec<MachineId> {
    if scene.observed.nodes.is_empty() {
        return Vec::new();
    }
    let members = view.lane.members.iter().map(|(_, id)| *id);
    members
        .filter(|id| scene.world.machines.get(id).is_some_and(|m| node(scene, m).is_some_and(|n| n.unschedulable)))
        .collect()
}

pub(super) fn findings(scene: Scene<'_>, view: &LaneView<'_>, machine: &Machine) -> Vec<Finding> {
    let subject = Subject { scene, view, machine };
    [
        subject.failed(),
        subject.offline(),
        subject.stalled_early(),
        subject.skipped(),
        subject.reimaged(),
        subject.cordoned(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn node<'a>(scene: Scene<'a>, machine: &Machine) -> Option<&'a Node> {
    scene.observed.nodes.get(&machine.node)
}

struct Subject<'a> {
    scene: Scene<'a>,
    view: &'a LaneView<'a>,
    machine: &'a Machine,
}

impl Subject<'_> {
    fn find(&self, mode: FailureMode, sentence: String) -> Finding {
        let (machine, ring) = (Some(self.machine.id), Some(self.view.ring.id));
        Finding { mode, machine, ring, sentence, since: None }
    }

    /// FM-2, FM-3, FM-4, FM-5, FM-D8: told apart by the failing state, the node, and what it had proven before.
    fn failed(&self) -> Option<Finding> {
        if !self.view.lane.failing.contains(&self.machine.id) {
            return None;
        }
        let result = self.machine.last_result.as_ref()?;
        let state = result.failed_state.as_deref().unwrap_or("");
        let name = &self.machine.hostname;
        let holds = self.machine.lease.is_some();
        let proven = self.machine.first_success.contains_key(&self.scene.rollout.release);
        let (mode, sentence) = if result.repeats {
            (FailureMode::ResetWithoutFix, format!("{name} failed in {state} again after the reset"))
        } else if proven && !holds {
            (FailureMode::ConvergedFlaps, format!("{name} was done and failed again in {state}"))
        } else if state.contains("drain") {
            (FailureMode::DrainBlocked, format!("{name} failed in {state}: its drain is blocked"))
        } else if state.contains("health") || self.is_upgraded() {
            (FailureMode::HealthGateFailed, format!("{name} failed in {state} after its upgrade"))
        } else if state.is_empty() {
            (FailureMode::ApplyFailed, format!("{name} failed and keeps its slot"))
        } else {
            (FailureMode::ApplyFailed, format!("{name} failed in {state} and keeps its slot"))
        };
        Some(Finding { since: Some(result.at), ..self.find(mode, sentence) })
    }

    /// At the version the release aims at, as far as the cluster tells.
    fn is_upgraded(&self) -> bool {
        let release = self.scene.world.releases.get(&self.scene.rollout.release);
        let target = release.and_then(|r| r.target_version.as_ref());
        let running = node(self.scene, self.machine).and_then(|n| n.version.as_ref());
        target.is_some() && target == running
    }

    /// FM-1.
    fn offline(&self) -> Option<Finding> {
        let lease = self.machine.lease.as_ref()?;
        if self.scene.is_online(self.machine.id) != Some(false) {
            return None;
        }
        let held = Seconds::between(lease.granted_at, self.scene.now);
        let seen = self.scene.observed.last_seen(self.machine.id);
        let away = seen.map_or(String::new(), |at| format!(" for {}", Seconds::between(at, self.scene.now)));
        let sentence = format!("{} holds a slot for {held} and is offline{away}", self.machine.hostname);
        Some(Finding { since: seen, ..self.find(FailureMode::HolderOffline, sentence) })
    }

    /// FM-D7: the ring halted over a machine that was still within its deadline.
    fn stalled_early(&self) -> Option<Finding> {
        let halt = self.scene.rollout.halted_rings.get(&self.view.ring.id)?;
        let release = self.scene.world.releases.get(&self.scene.rollout.release)?;
        let (stall, deadline) = (self.view.ring.settings.stall_timeout_seconds, release.timeout_seconds);
        let below = deadline.is_off() || stall < deadline;
        let online = self.scene.is_online(self.machine.id) == Some(true);
        let ours = halt.cause == HaltCause::Stall && halt.machine == self.machine.id;
        (ours && below && online && self.machine.lease.is_some()).then(|| {
            let limit = if deadline.is_off() { "no deadline".to_owned() } else { format!("a deadline of {deadline}") };
            let sentence = format!(
                "{} is still at work: {} halts after {stall}, the release allows {limit}",
                self.machine.hostname, self.view.ring.slug
            );
            Finding { since: Some(halt.at), ..self.find(FailureMode::StallBelowDeadline, sentence) }
        })
    }

    /// FM-8, FM-14, FM-D3: paused before it applied, told apart by what it was doing and whether it is there at all.
    fn skipped(&self) -> Option<Finding> {
        let pause = self.machine.paused.as_ref()?;
        let rollout = self.scene.rollout;
        if !rollout.is_running() || self.machine.first_success.contains_key(&rollout.release) {
            return None;
        }
        let name = &self.machine.hostname;
        let dead = self.scene.is_online(self.machine.id) == Some(false);
        let held = self.machine.interrupted.is_some_and(|i| i.cause == LeaseEnd::Paused);
        let (mode, sentence) = if dead {
            (
                FailureMode::DeadMachine,
                format!("{name} is offline and paused {}: it still holds the cursor", by_whom_in_passing(pause)),
            )
        } else if held {
            (FailureMode::HolderPaused, format!("{name} was paused {} while it held a slot", by_whom_in_passing(pause)))
        } else if self.keeps_a_tier_shut() {
            (
                FailureMode::TierShut,
                format!("{name} is paused {} and keeps the later environments shut", by_whom_in_passing(pause)),
            )
        } else {
            return None;
        };
        Some(Finding { since: Some(pause.at), ..self.find(mode, sentence) })
    }

    fn keeps_a_tier_shut(&self) -> bool {
        let world = self.scene.world;
        let here = world.cursor_environment(self.scene.rollout).is_some_and(|e| e.id == self.view.key.0);
        here && world.lanes().iter().any(|((environment, _), _)| !world.is_open(self.scene.rollout, *environment))
    }

    /// FM-15.
    fn reimaged(&self) -> Option<Finding> {
        let at = self.machine.rebuilt_at?;
        let version = self.machine.version.as_ref().map_or(String::new(), |v| format!(" at {v}"));
        let name = &self.machine.hostname;
        let sentence = match self.scene.rollout.is_running() {
            true => format!("{name} was reimaged and came back{version}: it converges under the cap"),
            false => format!("{name} was reimaged, is behind{version}, and no rollout is running"),
        };
        Some(Finding { since: Some(at), ..self.find(FailureMode::Reimaged, sentence) })
    }

    /// FM-D4: done, and the uncordon of its release did not fire (R161).
    fn cordoned(&self) -> Option<Finding> {
        let node = node(self.scene, self.machine).filter(|node| node.unschedulable)?;
        let release = self.scene.world.releases.get(&self.scene.rollout.release)?;
        let at_target = release.target_version.is_none() || release.target_version == node.version;
        (self.machine.is_done(release.id) && at_target).then(|| {
            let sentence =
                format!("{} is applied, and its node {} is cordoned", self.machine.hostname, self.machine.node);
            self.find(FailureMode::AppliedButCordoned, sentence)
        })
    }
}
