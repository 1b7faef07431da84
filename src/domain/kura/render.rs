//! From a server to its manifest: pure, the same bytes for the same input, whatever the order of any map (K21).

use serde_json::{Map, Value, json};

use super::canonical::{bounded, revision};
use super::object::{ACCOUNT_LABEL, INSTANCE_LABEL, MANAGED_BY_LABEL, REGION_LABEL, REVISION_ANNOTATION};
use super::server::{GatewayMode, Server, ServerSpec};

/// API group and version of instances and gateways (K49).
pub const API_VERSION: &str = "kura.tuist.dev/v1alpha1";

/// Who our objects say they are managed by.
pub const MANAGED_BY: &str = "kura-console";

/// The controller behind the classes of dedicated gateways.
pub const GATEWAY_CONTROLLER: &str = "kura.tuist.dev/gateway";

/// The longest name of a gateway: its class is a label value too.
pub const GATEWAY_NAME_MAX: usize = 63;

/// What a server is to be in the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The `KuraInstance`, with its revision in an annotation.
    pub instance: Value,
    /// The `KuraGateway` of a server that has one of its own, with the same revision in an annotation.
    pub gateway: Option<Value>,
    /// What it is told by.
    pub imprint: Imprint,
}

/// What is asked of a manifest at every look: as much of it as is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imprint {
    /// Over everything that was rendered, the annotation apart (K22).
    pub revision: String,
    /// The image, as written.
    pub image: String,
    /// What its gateway is called, where it has one of its own.
    pub gateway: Option<String>,
}

impl Manifest {
    /// The `spec` of the instance.
    pub fn spec(&self) -> &Value {
        self.instance.get("spec").unwrap_or(&Value::Null)
    }
}

/// Renders a server for a tag.
pub fn render(server: &Server, tag: &str) -> Manifest {
    let (mut instance, mut gateway) = (instance(server, tag), gateway(server));
    let revision = revision(&json!({ "instance": instance, "gateway": gateway }));
    for object in [Some(&mut instance), gateway.as_mut()].into_iter().flatten() {
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.insert("annotations".to_owned(), json!({ REVISION_ANNOTATION: revision }));
        }
    }
    let name = gateway.as_ref().and_then(|gateway| gateway.pointer("/metadata/name")?.as_str().map(str::to_owned));
    Manifest { instance, gateway, imprint: Imprint { revision, image: image(&server.spec, tag), gateway: name } }
}

/// The image of a tag.
pub fn image(spec: &ServerSpec, tag: &str) -> String {
    spec.image_repository.as_ref().map_or_else(|| tag.to_owned(), |repository| format!("{repository}:{tag}"))
}

/// The class its ingresses are to have; none where it has no ingress.
pub fn class(server: &Server) -> Option<String> {
    let rendered = match server.spec.gateway {
        _ if server.spec.private => None,
        GatewayMode::Shared => Some(format!("kura-{}", server.region)),
        GatewayMode::Dedicated => Some(gateway_name(server)),
        GatewayMode::NodePort => None,
    };
    match server.spec.overrides.get("ingressClassName") {
        Some(set) => set.as_str().map(str::to_owned),
        None => rendered,
    }
}

/// What a gateway of its own is called; its class is called the same.
pub fn gateway_name(server: &Server) -> String {
    bounded(&format!("kgw-{}-{}", server.tenant, server.region), GATEWAY_NAME_MAX)
}

fn labels(server: &Server, name: &str) -> Value {
    json!({
        "app.kubernetes.io/name": "kura",
        INSTANCE_LABEL: name,
        MANAGED_BY_LABEL: MANAGED_BY,
        ACCOUNT_LABEL: server.tenant,
        REGION_LABEL: server.region,
    })
}

fn instance(server: &Server, tag: &str) -> Value {
    let spec = &server.spec;
    let env: Vec<Value> = spec.extra_env.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
    let all = [
        ("accountHandle", json!(server.tenant)),
        ("tenantID", json!(server.tenant_id)),
        ("region", json!(server.region)),
        ("image", json!(image(spec, tag))),
        ("replicas", json!(spec.replicas)),
        ("publicHost", json!(server.public_host())),
        ("ingressClassName", json!(class(server))),
        ("publicHostNetwork", json!(spec.public_host_network)),
        ("storageClassName", json!(spec.storage_class)),
        ("storageSize", json!(spec.storage_size)),
        ("nodeSelector", json!(spec.node_selector)),
        ("tolerations", json!(spec.tolerations)),
        ("extraEnv", json!(env)),
        ("private", json!(spec.private)),
        ("mesh", json!(spec.mesh)),
    ];
    let mut fields: Map<String, Value> = all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    fields.extend(spec.overrides.iter().map(|(name, value)| (name.clone(), value.clone())));
    // Nothing is the same as not said: a field that is null is left to whoever else owns it.
    fields.retain(|_, value| !value.is_null());
    json!({
        "apiVersion": API_VERSION,
        "kind": "KuraInstance",
        "metadata": { "name": server.instance_name, "labels": labels(server, &server.instance_name) },
        "spec": fields,
    })
}

/// A server has a gateway of its own where its class is that gateway's.
fn gateway(server: &Server) -> Option<Value> {
    let name = gateway_name(server);
    let dedicated = server.spec.gateway == GatewayMode::Dedicated && class(server).as_ref() == Some(&name);
    dedicated.then(|| {
        json!({
            "apiVersion": API_VERSION,
            "kind": "KuraGateway",
            "metadata": { "name": name, "labels": labels(server, &name) },
            "spec": {
                "region": server.region,
                "ingressClassName": name,
                "controllerClassName": GATEWAY_CONTROLLER,
                "replicas": 2,
                "nodeSelector": server.spec.node_selector,
                "hostNetwork": server.spec.public_host_network,
            },
        })
    })
}
