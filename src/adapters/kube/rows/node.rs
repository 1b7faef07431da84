//! Nodes: for Kura servers, for ring rollouts and for fleet rolls alike.

use serde::Deserialize;

use super::super::managers::{Claims, holder};
use super::super::object::{Condition, Meta, Watched, named_by_metadata};
use crate::domain::kura::object::FIELD_MANAGER;
use crate::domain::observed::{Node, VIP_LABEL};
use crate::domain::roll::sight::FleetNode;

/// As it comes.
#[derive(Debug, Clone, Deserialize)]
pub struct NodeObject {
    metadata: Meta<Vec<Claims>>,
    #[serde(default)]
    spec: NodeSpec,
    #[serde(default)]
    status: NodeStatus,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct NodeSpec {
    unschedulable: bool,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct NodeStatus {
    conditions: Vec<Condition>,
    node_info: NodeFacts,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct NodeFacts {
    kubelet_version: Option<String>,
    #[serde(rename = "bootID")]
    boot_id: Option<String>,
    kernel_version: Option<String>,
    os_image: Option<String>,
}

/// One node, as two readers want it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeRow {
    /// For everybody.
    pub node: Node,
    /// For fleet rolls.
    pub fleet: FleetNode,
}

impl Watched for NodeObject {
    type Row = NodeRow;

    named_by_metadata!();

    fn row(self, _: &str) -> Option<NodeRow> {
        let facts = self.status.node_info;
        let said = |fact: Option<String>| fact.filter(|text| !text.is_empty());
        let node = Node {
            ready: Condition::of(&self.status.conditions, "Ready").is_some_and(Condition::holds),
            unschedulable: self.spec.unschedulable,
            version: said(facts.kubelet_version),
            holds_vip: self.metadata.labels.contains_key(VIP_LABEL), // its value is the address
        };
        let cordoned_by = holder(&self.metadata.managed_fields, &["spec", "unschedulable"], FIELD_MANAGER);
        let fleet = FleetNode {
            stamp: self.metadata.slim_stamp(),
            ready: node.ready,
            unschedulable: node.unschedulable,
            cordoned_by: cordoned_by.filter(|_| node.unschedulable),
            boot_id: said(facts.boot_id),
            kernel: said(facts.kernel_version),
            os_image: said(facts.os_image),
        };
        Some(NodeRow { node, fleet })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_node_says_if_it_is_ready_cordoned_and_holds_the_vip() {
        // R165
        let object = json!({
            "metadata": {"name": "n1", "uid": "u", "resourceVersion": "7", "labels": {VIP_LABEL: "192.0.2.7"},
                "managedFields": [{"manager": "kubectl-cordon", "fieldsV1": {"f:spec": {"f:unschedulable": {}}}}]},
            "spec": {"unschedulable": true},
            "status": {"conditions": [{"type": "Ready", "status": "Unknown"}], "nodeInfo": {
                "kubeletVersion": "v1.34.1", "bootID": "b-1", "kernelVersion": "6.12.9", "osImage": "",
            }},
        });
        let row = serde_json::from_value::<NodeObject>(object).unwrap().row("kura").unwrap();
        let node = Node { ready: false, unschedulable: true, version: Some("v1.34.1".to_owned()), holds_vip: true };
        assert_eq!(row.node, node);
        // A11
        assert!(row.fleet.is_theirs(), "{:?}", row.fleet.cordoned_by);
        // F58
        assert_eq!((row.fleet.boot_id.as_deref(), row.fleet.kernel.as_deref()), (Some("b-1"), Some("6.12.9")));
        assert_eq!((row.fleet.os_image, row.fleet.stamp.resource_version.as_str()), (None, "7"));
    }
}
