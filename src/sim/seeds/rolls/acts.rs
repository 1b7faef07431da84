//! What happens to a generated fleet from outside: kubelets, runtimes, a registry, and other people's hands.

use jiff::Timestamp;

use crate::domain::input::{Order, Verb};
use crate::domain::roll::fleet_roll::Roll;
use crate::domain::roll::node::StepName;
use crate::domain::roll::sight::is_ours;
use crate::domain::roll::verb::RollVerb;
use crate::sim::cluster::fleet::{FleetSimJob, Pace, ProbeFate, REGISTRY};
use crate::sim::cluster::objects::Objects;
use crate::sim::cluster::rolls::SOMEBODY;

/// The project of every generated roll.
pub const PROJECT: &str = "kernel";

/// The nodes of a generated world.
#[derive(Debug, Clone)]
pub struct Nodes {
    /// How many there are.
    pub count: usize,
    /// Who hosts the registry at the beginning.
    pub registry: Option<usize>,
    /// How long things take.
    pub pace: Pace,
}

/// The name of a node.
pub fn node(n: usize) -> String {
    format!("wk-{n}")
}

/// Puts the nodes up.
pub fn put_up(objects: &mut Objects, nodes: &Nodes, now: Timestamp) {
    objects.fleet.pace = nodes.pace;
    objects.fleet.labels.insert("tier".to_owned(), "infra".to_owned());
    (1..=nodes.count).for_each(|n| objects.put_node(&node(n), None, now));
    if let Some(host) = nodes.registry {
        objects.put_registry(Some(&node(host)), now);
    }
}

/// One thing that happens to the fleet.
#[derive(Debug, Clone)]
pub enum FleetAct {
    /// A runtime makes no containers any more, or does again.
    Wedged(String, bool),
    /// The registry is elsewhere, or nowhere.
    Registry(Option<String>),
    /// A kubelet says that it is Ready, or does not.
    Ready(String, bool),
    /// Somebody cordons a node, or lifts whatever cordon there is.
    Cordon(String, bool),
    /// Probes on a node come to this; none = to whatever its runtime makes of them.
    Probes(String, Option<ProbeFate>),
    /// What runs on a node says so, or does not any more.
    Says(String, Option<&'static str>),
    /// A node boots by itself.
    Reboots(String),
    /// The next Job of a step fails.
    Doomed(String, StepName),
    /// Somebody deletes what we have made for a node.
    Deleted(String),
    /// The tag of the image leads to another digest.
    TagMoves,
    /// Nothing but that somebody looks.
    Looked,
}

/// Lets it happen.
pub fn befall(objects: &mut Objects, act: &FleetAct, now: Timestamp) {
    objects.advance(now);
    let fleet = &mut objects.fleet;
    match act {
        FleetAct::Wedged(node, true) => drop(fleet.wedged.insert(node.clone())),
        FleetAct::Wedged(node, false) => drop(fleet.wedged.remove(node)),
        FleetAct::Registry(node) => objects.put_registry(node.as_deref(), now),
        FleetAct::Ready(node, ready) => fleet.edit(node, |node| node.ready = *ready),
        // Who cordons what is cordoned is told so, and nothing is written.
        FleetAct::Cordon(node, bit) if fleet.node(node).is_some_and(|node| node.unschedulable != *bit) => {
            fleet.set_cordon(node, *bit, SOMEBODY, now);
        }
        FleetAct::Cordon(..) => {}
        FleetAct::Probes(node, None) => drop(fleet.probes.remove(node)),
        FleetAct::Probes(node, Some(fate)) => objects.probes_come_to(node, fate.clone(), now),
        FleetAct::Says(node, reason) => says(objects, node, *reason, now),
        FleetAct::Reboots(node) => {
            *fleet.boots.entry(node.clone()).or_insert(1) += 1;
            fleet.edit(node, |node| node.ready = true);
        }
        FleetAct::Doomed(node, step) => drop(fleet.doomed.insert((node.clone(), *step))),
        FleetAct::Deleted(node) => {
            fleet.pods.retain(|_, pod| pod.pod.node.as_ref() != Some(node) || !is_ours(&pod.pod.stamp));
            let gone = |job: &FleetSimJob| job.node == *node && job.job.ended.is_some();
            fleet.jobs_made.retain(|name| !fleet.jobs.get(name).is_some_and(gone));
            fleet.jobs.retain(|_, job| !gone(job));
        }
        FleetAct::TagMoves => fleet.tag_moves += 1,
        FleetAct::Looked => {}
    }
}

/// Whatever runs there for others, the registry left out, has a reason why it does not.
fn says(objects: &mut Objects, node: &str, reason: Option<&str>, now: Timestamp) {
    let version = objects.version();
    let key = format!("{}/{}", REGISTRY.0, REGISTRY.1);
    let here =
        objects.fleet.pods.iter_mut().filter(|(name, pod)| **name != key && pod.pod.node.as_deref() == Some(node));
    for (_, pod) in here.filter(|(_, pod)| !is_ours(&pod.pod.stamp)) {
        pod.pod.stamp.resource_version.clone_from(&version);
        (pod.pod.reason, pod.pod.since) = (reason.map(str::to_owned), Some(now));
        pod.pod.ready = reason.is_none();
    }
}

/// What a person decides about the roll of a target that goes on by then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Opens the gate that waits.
    Approve,
    /// Opens it for a revision that was shown before.
    ApproveStale,
    /// Keeps it shut.
    Deny,
    /// Stops the roll.
    Abort,
}

/// The order it comes to: the name of the roll, its gate and its revision are those of that moment.
pub fn order(decision: Decision, roll: &Roll, given: &Order) -> Order {
    let gate = roll.gate.as_ref().map_or("canary", |gate| gate.gate.as_str()).to_ascii_uppercase();
    let (id, revision) = (roll.id, roll.revision.clone());
    let awaiting_since = roll.gate.as_ref().map(|gate| gate.since);
    let verb = match decision {
        Decision::Approve => RollVerb::Approve { roll: id, gate, revision, awaiting_since },
        Decision::ApproveStale => RollVerb::Approve { roll: id, gate, revision: "stale".to_owned(), awaiting_since },
        Decision::Deny => RollVerb::Deny { roll: id, gate, revision, awaiting_since: None },
        Decision::Abort => RollVerb::Abort { roll: id },
    };
    Order { verb: Verb::Roll(verb), ..given.clone() }
}
