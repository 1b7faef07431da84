//! When something is to be done about the probes of rolled nodes.

use jiff::Timestamp;

use super::super::ids::RollId;
use super::super::span::Seconds;
use super::manifest::probe_object;
use super::node::NodeRoll;
use super::probe::{PROBE_AGAIN_AFTER, START_DEADLINE};
use super::rolls::Rolls;
use super::sight::{FleetPod, FleetSight};

/// The pod of a probe of a node: by its number, of a roll or of a person.
pub fn pod_of<'a>(fleet: &'a FleetSight, roll: Option<RollId>, node: &str, number: u64) -> Option<&'a FleetPod> {
    fleet.own_pod(&probe_object(roll, node, number).name)
}

/// When a rolled node is probed anew; none = it was not yet, and is at once (F7).
pub fn again_at(node: &NodeRoll) -> Option<Timestamp> {
    let last = node.findings.iter().rev().find(|finding| !finding.passive)?;
    Some(PROBE_AGAIN_AFTER.after(last.started_at))
}

impl Rolls {
    /// Rolled nodes are looked at or will be, or somebody asked for a probe.
    pub fn asks_for_probes(&self, now: Timestamp) -> bool {
        !self.asked.is_empty() || self.rolls.iter().any(|roll| roll.is_watching(now))
    }

    /// The next moment, of those to come, at which a rolled node is to be probed anew or a probe that is out has had its
    /// time to start. Nobody sees that of the cluster, and the next tick may be most of a minute away: a node would be
    /// left alone for longer than the rules allow (F7, F13). What is due by now is left to the pass that comes anyway.
    pub fn next_probe(&self, fleet: &FleetSight, now: Timestamp) -> Option<Timestamp> {
        let out = |roll, name: &str, number, start: Seconds| {
            pod_of(fleet, roll, name, number).map(|pod| start.after(pod.began_at()))
        };
        let watched = self.watched(now);
        let of_rolls = watched.iter().filter_map(|(name, (id, node))| {
            let start = self.roll(*id).map_or(START_DEADLINE, |roll| roll.spec.probe_start());
            out(Some(*id), name, node.probed, start).or_else(|| again_at(node))
        });
        let of_people = self.asked.iter().filter_map(|(name, asked)| out(None, name, asked.number, START_DEADLINE));
        of_rolls.chain(of_people).filter(|at| *at > now).min()
    }
}
