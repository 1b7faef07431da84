//! Services of instances and gateways.

use serde::Deserialize;

use super::super::object::{Meta, Watched, named_by_metadata};
use super::ingress::LoadBalancerStatus;
use crate::domain::kura::traffic::Service;

/// As it comes.
#[derive(Debug, Clone, Deserialize)]
pub struct ServiceObject {
    metadata: Meta,
    #[serde(default)]
    spec: ServiceSpec,
    #[serde(default)]
    status: LoadBalancerStatus,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct ServiceSpec {
    #[serde(rename = "type")]
    kind: String,
    ports: Vec<Port>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Port {
    node_port: u16,
}

impl Watched for ServiceObject {
    type Row = Service;

    named_by_metadata!();

    /// Those of nobody here explain nothing.
    fn row(self, _: &str) -> Option<Service> {
        let instance = self.metadata.instance()?;
        let ports = self.spec.ports.iter().map(|port| port.node_port);
        Some(Service {
            instance: Some(instance),
            stamp: self.metadata.slim_stamp(),
            kind: self.spec.kind,
            node_ports: ports.filter(|port| *port > 0).collect(),
            addresses: self.status.addresses(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_service_says_which_ports_it_has_on_nodes_and_where_it_is_balanced() {
        let object = json!({
            "metadata": {"name": "a-external", "labels": {"app.kubernetes.io/instance": "kura-acme-eu1"}},
            "spec": {"type": "NodePort", "ports": [{"port": 4000, "nodePort": 30080}, {"port": 7443}]},
            "status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}},
        });
        let row = serde_json::from_value::<ServiceObject>(object).unwrap().row("kura").unwrap();
        assert_eq!((row.kind.as_str(), row.node_ports), ("NodePort", vec![30_080]));
        assert_eq!(row.addresses, ["192.0.2.1"]);
        let other = json!({"metadata": {"name": "kubernetes"}, "spec": {"type": "ClusterIP"}});
        assert!(serde_json::from_value::<ServiceObject>(other).unwrap().row("kura").is_none());
    }
}
