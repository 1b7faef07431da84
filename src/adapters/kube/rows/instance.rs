//! KuraInstances: kept whole as far as the spec goes, because drift is told field by field (K49).

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::super::managers::{Claims, foreign};
use super::super::object::{Meta, Watched, named_by_metadata};
use crate::domain::kura::object::{FIELD_MANAGER, REVISION_ANNOTATION};
use crate::domain::kura::workload::{Instance, NodePort};

/// As it comes.
#[derive(Debug, Clone, Deserialize)]
pub struct InstanceObject {
    metadata: Meta<Vec<Claims>>,
    #[serde(default)]
    spec: Value,
    #[serde(default)]
    status: InstanceStatus,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct InstanceStatus {
    phase: Option<String>,
    observed_image: Option<String>,
    ready_replicas: u32,
    message: Option<String>,
    #[serde(rename = "publicURL")]
    public_url: Option<String>,
    last_reconciled_at: Option<Timestamp>,
    node_address: Option<String>,
    node_port_cache: Option<u16>,
    /// What older controllers call the same.
    #[serde(rename = "nodePortHTTP")]
    node_port_http: Option<u16>,
}

impl Watched for InstanceObject {
    type Row = Instance;

    named_by_metadata!();

    fn row(self, _: &str) -> Option<Instance> {
        let revision = self.metadata.annotations.get(REVISION_ANNOTATION).cloned();
        let foreign = foreign(&self.metadata.managed_fields, FIELD_MANAGER);
        let status = self.status;
        let port = status.node_port_cache.or(status.node_port_http).filter(|port| *port > 0);
        Some(Instance {
            stamp: self.metadata.stamp(),
            spec: self.spec.into(),
            revision,
            foreign,
            phase: status.phase,
            observed_image: status.observed_image,
            ready_replicas: status.ready_replicas,
            message: status.message,
            public_url: status.public_url,
            last_reconciled_at: status.last_reconciled_at,
            node_port: status.node_address.filter(|address| !address.is_empty()).zip(port).map(node_port),
            progress: None,
        })
    }
}

fn node_port((address, port): (String, u16)) -> NodePort {
    NodePort { address, port }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_spec_is_kept_with_fields_nobody_knows() {
        // K49
        let object: InstanceObject = serde_json::from_value(json!({
            "metadata": {
                "name": "kura-acme-eu1", "uid": "u", "resourceVersion": "7",
                "creationTimestamp": "2026-01-01T00:00:00Z",
                "annotations": {"tuist.dev/kura-manifest-revision": "00ff"},
                "managedFields": [{"manager": "kubectl-edit", "fieldsV1": {"f:spec": {"f:image": {}}}}],
            },
            "spec": {"image": "kura:0.20.0", "aFieldOfTomorrow": [1]},
            "status": {"phase": "Ready", "publicURL": "https://a.example"},
        }))
        .unwrap();
        let row = object.row("kura").unwrap();
        assert_eq!(row.spec["aFieldOfTomorrow"], json!([1]));
        assert_eq!(row.revision.as_deref(), Some("00ff"));
        assert_eq!(row.foreign.get("spec.image").map(String::as_str), Some("kubectl-edit"));
        assert_eq!(row.public_url.as_deref(), Some("https://a.example"));
    }
}
