//! The green gate: what is read of a node, what was proven of it, and how long it has been back (F1-F14).

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::fleet_roll::Roll;
use super::node::{NodeRoll, Verdict};
use super::partition::{Class, is_workload};
use super::probe::FINGERPRINTS;
use super::sight::{FleetPod, FleetSight};

/// Pods that are named one by one; the others are counted.
const NAMED_MAX: usize = 3;

/// How a node stands at its gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Green {
    /// It is proven green.
    Proven,
    /// Not yet, which is nobody's fault.
    Waits(String),
    /// Not, and something is to be seen that is in its way.
    Held(String),
    /// Its runtime is broken.
    Broken(String),
}

/// Judges a node: clean to look at, proven by a probe that began after it was given back, and back long enough. Without
/// the probe nothing passes (F8).
pub fn judge(roll: &Roll, name: &str, node: &NodeRoll, sight: &FleetSight, now: Timestamp) -> Green {
    let Some(back) = node.back_since() else { return Green::Waits(format!("{name} is not back yet")) };
    if let Some(found) = Prints::of(sight).on(name, back) {
        return Green::Broken(found);
    }
    // What was seen broken a moment ago and is not any more is proven anew before it counts (F13).
    if let Some(finding) = node.broken().filter(|finding| finding.passive) {
        return Green::Broken(finding.reason.clone());
    }
    let proof = node.findings.iter().rev().find(|finding| !finding.passive && finding.started_at >= back);
    match proof.map(|finding| (finding.verdict, finding.reason.clone())) {
        Some((Verdict::Broken, reason)) => return Green::Broken(reason),
        Some((Verdict::NotProven, reason)) => return Green::Held(reason),
        _ => {}
    }
    if let Some(reason) = passive(roll, name, sight) {
        return Green::Held(reason);
    }
    let settled = roll.spec.settle(name).after(back);
    match proof {
        None => Green::Waits(format!("{name} is to be proven by a probe")),
        Some(_) if now < settled => Green::Waits(format!("{name} settles")),
        Some(_) => Green::Proven,
    }
}

/// Pods that show the fingerprint of a wedged runtime, by node: one look through all pods for all nodes that are asked for.
#[derive(Debug)]
pub struct Prints<'a>(BTreeMap<&'a str, Vec<&'a FleetPod>>);

impl<'a> Prints<'a> {
    /// Those of somebody else that are not on their way out (F5).
    pub fn of(sight: &'a FleetSight) -> Self {
        let mut prints: BTreeMap<&str, Vec<&FleetPod>> = BTreeMap::new();
        let wedged = |pod: &&FleetPod| pod.reason.as_deref().is_some_and(|reason| FINGERPRINTS.contains(&reason));
        for pod in sight.pods.rows.values().filter(wedged).filter(|pod| !pod.stamp.is_leaving() && !pod.is_ours()) {
            pod.node.as_deref().into_iter().for_each(|node| prints.entry(node).or_default().push(pod));
        }
        Self(prints)
    }

    /// What they say of a node since it was given back (F6).
    pub fn on(&self, node: &str, back: Timestamp) -> Option<String> {
        let pods = self.0.get(node)?;
        let mut found: BTreeMap<&str, usize> = BTreeMap::new();
        let since = pods.iter().filter(|pod| pod.said_since() >= back).filter_map(|pod| pod.reason.as_deref());
        since.for_each(|reason| *found.entry(reason).or_default() += 1);
        let total: usize = found.values().sum();
        let kinds: Vec<String> = found.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        let noun = if total == 1 { "pod" } else { "pods" };
        (total > 0).then(|| format!("{node} cannot start containers: {total} {noun} say so ({})", kinds.join(", ")))
    }
}

/// What is to be read of a node: Ready, and its infra workloads run (F2, F31).
fn passive(roll: &Roll, name: &str, sight: &FleetSight) -> Option<String> {
    match sight.nodes.get(name) {
        None => return Some(format!("{name} is not there")),
        Some(node) if !node.ready => return Some(format!("{name} is not Ready")),
        Some(_) => {}
    }
    let partition = roll.spec.partition.as_ref()?;
    if let Err(fault) = partition.check(sight.pods_on(name)) {
        return Some(format!("{name}: {fault}"));
    }
    let waits = |pod: &&FleetPod| is_workload(pod) && partition.class(pod) == Ok(Class::Infra) && !pod.ready;
    let waiting: Vec<&str> = sight.pods_on(name).filter(waits).map(|pod| pod.stamp.name.as_str()).collect();
    let named = waiting.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
    let more = waiting.len().saturating_sub(NAMED_MAX);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!waiting.is_empty()).then(|| format!("{name}: {named}{rest} is not Ready"))
}

/// Workloads of a node that do not run and that the gate never waits for: they are told (F31).
pub fn reported(roll: &Roll, name: &str, sight: &FleetSight) -> Vec<String> {
    let Some(partition) = roll.spec.partition.as_ref() else { return Vec::new() };
    let told = |pod: &&FleetPod| is_workload(pod) && partition.class(pod) == Ok(Class::Others) && !pod.ready;
    sight.pods_on(name).filter(told).map(|pod| format!("{}/{}", pod.namespace, pod.stamp.name)).collect()
}
