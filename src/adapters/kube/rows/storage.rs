//! Claims and volumes: read, never written (K37).

use serde::Deserialize;

use super::super::object::{Meta, Watched, named_by_metadata};
use crate::domain::kura::workload::{Claim, Volume};

/// What volumes that live on one machine are tied to it by.
const HOSTNAME: &str = "kubernetes.io/hostname";

/// A claim as it comes.
#[derive(Debug, Clone, Deserialize)]
pub struct ClaimObject {
    metadata: Meta,
    #[serde(default)]
    spec: ClaimSpec,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ClaimSpec {
    volume_name: Option<String>,
}

/// A volume as it comes.
#[derive(Debug, Clone, Deserialize)]
pub struct VolumeObject {
    metadata: Meta,
    #[serde(default)]
    spec: VolumeSpec,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct VolumeSpec {
    claim_ref: Option<ClaimRef>,
    node_affinity: Affinity,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct ClaimRef {
    namespace: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Affinity {
    required: Required,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Required {
    node_selector_terms: Vec<Term>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Term {
    match_expressions: Vec<Expression>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Expression {
    key: String,
    operator: String,
    values: Vec<String>,
}

impl Watched for ClaimObject {
    type Row = Claim;

    named_by_metadata!();

    fn row(self, _: &str) -> Option<Claim> {
        Some(Claim { stamp: self.metadata.slim_stamp(), volume: self.spec.volume_name.filter(|name| !name.is_empty()) })
    }
}

impl Watched for VolumeObject {
    type Row = Volume;

    named_by_metadata!();

    /// Volumes are of the whole cluster; those that nobody of this namespace claims are not kept.
    fn row(self, namespace: &str) -> Option<Volume> {
        self.spec.claim_ref.as_ref().filter(|claim| claim.namespace == namespace)?;
        let pinned_to = self.spec.node_affinity.required.node();
        Some(Volume { stamp: self.metadata.slim_stamp(), pinned_to })
    }
}

impl Required {
    /// The one node it can be used on; none where there are several, or no telling (I6).
    fn node(&self) -> Option<String> {
        let [term] = &*self.node_selector_terms else { return None };
        let host = term.match_expressions.iter().find(|one| one.key == HOSTNAME && one.operator == "In")?;
        let [node] = &*host.values else { return None };
        Some(node.clone())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn volume(namespace: &str, hosts: &[&str]) -> Option<Volume> {
        let host = json!({"key": HOSTNAME, "operator": "In", "values": hosts});
        let object = json!({
            "metadata": {"name": "pv-1"},
            "spec": {
                "claimRef": {"namespace": namespace, "name": "data-a-0"},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [host]}]}},
            },
        });
        serde_json::from_value::<VolumeObject>(object).unwrap().row("kura")
    }

    #[test]
    fn a_volume_on_one_node_is_pinned_to_it() {
        // I6
        assert_eq!(volume("kura", &["n1"]).unwrap().pinned_to.as_deref(), Some("n1"));
        assert_eq!(volume("kura", &["n1", "n2"]).unwrap().pinned_to, None);
    }

    #[test]
    fn volumes_of_others_are_not_kept() {
        assert!(volume("elsewhere", &["n1"]).is_none());
    }
}
