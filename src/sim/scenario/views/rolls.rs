//! Views of fleet rolls and of nodes.

use serde_json::{Value, json};

use super::super::run::Run;
use super::super::screens::Consoles;
use crate::domain::roll::sight::FleetPod;
use crate::wire::roll::node::NodeBody;
use crate::wire::roll::shown::RollBody;

impl<C: Consoles> Run<C> {
    /// A roll; `{}` where there is none of that name. One that was displaced under its name is the one that came after.
    pub(super) fn roll(&self, id: &str) -> Value {
        let lens = self.lens();
        let Some(roll) = lens.world.rolls.roll(self.newest_roll(id)) else { return json!({}) };
        let mut body = json!(RollBody::of(&lens.observed, roll, lens.now));
        body["roll"] = json!(id);
        self.dressed(body)
    }

    /// Nodes by name, as the first living process sees them.
    pub(super) fn nodes(&self) -> Value {
        let lens = self.lens();
        self.dressed(json!(NodeBody::all(lens.world, &lens.observed, lens.now)))
    }

    /// Pods of ours that a roll made, and the registry's.
    pub(super) fn pods_of_rolls(&self) -> Vec<Value> {
        let cluster = self.lens().observed.cluster.unwrap_or_default();
        let told = |pod: &&FleetPod| pod.is_ours() || pod.namespace == crate::sim::cluster::fleet::REGISTRY.0;
        let row = |pod: &FleetPod| {
            json!({
                "name": pod.stamp.name,
                "instance": null,
                "node": pod.node,
                "image": null,
                "ready": pod.ready,
                "phase": pod.phase,
                "reason": pod.reason,
                "labels": pod.stamp.labels,
            })
        };
        cluster.fleet.pods.rows.values().filter(told).map(row).collect()
    }
}
