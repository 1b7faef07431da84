//! Nodes: for Kura servers and for ring rollouts alike.

use serde::Deserialize;

use super::super::object::{Condition, Meta, Watched, named_by_metadata};
use crate::domain::observed::{Node, VIP_LABEL};

/// As it comes.
#[derive(Debug, Clone, Deserialize)]
pub struct NodeObject {
    metadata: Meta,
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
}

impl Watched for NodeObject {
    type Row = Node;

    named_by_metadata!();

    fn row(self, _: &str) -> Option<Node> {
        Some(Node {
            ready: Condition::of(&self.status.conditions, "Ready").is_some_and(Condition::holds),
            unschedulable: self.spec.unschedulable,
            version: self.status.node_info.kubelet_version.filter(|version| !version.is_empty()),
            holds_vip: self.metadata.labels.contains_key(VIP_LABEL), // its value is the address
        })
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
            "metadata": {"name": "n1", "labels": {VIP_LABEL: "192.0.2.7"}},
            "spec": {"unschedulable": true},
            "status": {"conditions": [{"type": "Ready", "status": "Unknown"}], "nodeInfo": {"kubeletVersion": "v1.34.1"}},
        });
        let row = serde_json::from_value::<NodeObject>(object).unwrap().row("kura").unwrap();
        let node = Node { ready: false, unschedulable: true, version: Some("v1.34.1".to_owned()), holds_vip: true };
        assert_eq!(row, node);
    }
}
