//! Every object that a verb on fleet rolls writes to the cluster, as it would be sent, in the order in which that happens.

use serde_json::{Value, json};

use super::super::roll::fleet_roll::Roll;
use super::super::roll::manifest::{job, probe, stage};
use super::super::roll::node::StepName;
use super::super::roll::order::remaining;
use super::super::roll::sight::{FleetPod, FleetSight};
use super::super::roll::spec::PROBE_IMAGE;
use super::rehearsal::Rehearsal;

impl Rehearsal<'_> {
    /// What a roll writes, node by node. Pods are those that are there now; whoever is there by then leaves.
    pub(super) fn roll_writes(&mut self, roll: &Roll, registry: Option<&str>) {
        let nothing = FleetSight::default();
        let fleet = self.observed.cluster.as_ref().map_or(&nothing, |sight| &sight.fleet);
        let writes: Vec<Value> =
            remaining(roll, registry).into_iter().flat_map(|node| self.node_writes(roll, fleet, node)).collect();
        self.plan.writes = writes;
    }

    fn node_writes(&self, roll: &Roll, fleet: &FleetSight, node: &str) -> Vec<Value> {
        let seen = fleet.nodes.get(node);
        let is_foreign = seen.is_some_and(|seen| self.after.rolls.is_foreign(seen));
        let is_cordoned = seen.is_some_and(|seen| seen.unschedulable);
        let leaving = fleet.pods_on(node).filter(|pod| pod.is_drained()).map(eviction);
        let owners = |step, supplied: &Option<Value>| {
            supplied.as_ref().map(|supplied| self.placed(job(roll, node, step, supplied)))
        };
        let mut writes = vec![self.placed(stage(roll, node))];
        writes.extend((!is_cordoned).then(|| cordon(fleet, node, true)));
        writes.extend(leaving);
        writes.extend(owners(StepName::Boot, &roll.spec.boot));
        writes.extend(owners(StepName::Verify, &roll.spec.verify));
        writes.extend((!is_foreign).then(|| cordon(fleet, node, false)));
        writes.push(self.placed(probe(Some(roll.id), node, 0, &roll.spec.probe_image, self.now)));
        writes
    }

    /// The one pod of a probe that a person asks for.
    pub(super) fn probe_writes(&mut self, node: &str) {
        let number = self.after.rolls.asked.get(node).map_or(0, |asked| asked.number);
        self.plan.writes = vec![self.placed(probe(None, node, number, PROBE_IMAGE, self.now))];
    }

    /// The one bit of a node that is given back.
    pub(super) fn uncordon_writes(&mut self, node: &str) {
        let nothing = FleetSight::default();
        let fleet = self.observed.cluster.as_ref().map_or(&nothing, |sight| &sight.fleet);
        self.plan.writes = vec![cordon(fleet, node, false)];
    }

    /// In the namespace it is sent to, where that is known.
    fn placed(&self, mut object: Value) -> Value {
        let identity = self.observed.cluster.as_ref().and_then(|sight| sight.identity.as_ref());
        if let Some(identity) = identity {
            object["metadata"]["namespace"] = json!(identity.namespace);
        }
        object
    }
}

/// The bit, under the version that is seen now; by then it is another one.
fn cordon(fleet: &FleetSight, node: &str, unschedulable: bool) -> Value {
    let mut metadata = json!({ "name": node });
    if let Some(seen) = fleet.nodes.get(node) {
        metadata["uid"] = json!(seen.stamp.uid);
        metadata["resourceVersion"] = json!(seen.stamp.resource_version);
    }
    json!({ "apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": { "unschedulable": unschedulable } })
}

fn eviction(pod: &FleetPod) -> Value {
    json!({
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": { "name": pod.stamp.name, "namespace": pod.namespace },
        "deleteOptions": {
            "preconditions": { "uid": pod.stamp.uid, "resourceVersion": pod.stamp.resource_version },
        },
    })
}
