//! Objects as tests need them, in the shapes the upstream controller makes (K46, K49, K50).

use serde_json::{Value, json};

/// Where the objects of a kind are.
pub fn path(api: &str, namespace: &str, plural: &str) -> String {
    format!("{api}/namespaces/{namespace}/{plural}")
}

pub fn pods(namespace: &str) -> String {
    path("/api/v1", namespace, "pods")
}

pub fn claims(namespace: &str) -> String {
    path("/api/v1", namespace, "persistentvolumeclaims")
}

pub fn stateful_sets(namespace: &str) -> String {
    path("/apis/apps/v1", namespace, "statefulsets")
}

pub fn instances(namespace: &str) -> String {
    path("/apis/kura.tuist.dev/v1alpha1", namespace, "kurainstances")
}

pub fn gateways(namespace: &str) -> String {
    path("/apis/kura.tuist.dev/v1alpha1", namespace, "kuragateways")
}

/// The image of a runtime tag.
pub fn image(tag: &str) -> String {
    format!("ghcr.io/tuist/kura:{tag}")
}

/// An instance as the control plane applies it.
pub fn instance(name: &str, tag: &str, replicas: u32) -> Value {
    json!({
        "apiVersion": "kura.tuist.dev/v1alpha1",
        "kind": "KuraInstance",
        "metadata": {"name": name, "labels": labels(name)},
        "spec": {
            "accountHandle": "acme",
            "tenantID": "7",
            "region": "eu-central",
            "image": image(tag),
            "replicas": replicas,
            "publicHost": format!("{name}.kura.example"),
            "ingressClassName": "kgw-acme-eu-central",
        },
    })
}

pub fn gateway(name: &str) -> Value {
    json!({
        "apiVersion": "kura.tuist.dev/v1alpha1",
        "kind": "KuraGateway",
        "metadata": {"name": name, "labels": labels(name)},
        "spec": {"region": "eu-central", "ingressClassName": name, "replicas": 1},
    })
}

/// How a StatefulSet is told to roll. Both mean all of its pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// With a partition of 0, written out. Pods have no node, and are gone at once when they are deleted.
    Partitioned,
    /// `RollingUpdate` and no more, as the upstream controller says it. Pods get nodes, and take their time to end.
    Bare,
}

/// The workload of an instance whose strategy says `RollingUpdate` and no more.
pub fn bare_workload(name: &str, tag: &str, replicas: u32) -> Value {
    let mut set = workload(name, tag, replicas);
    set["spec"]["updateStrategy"] = json!({"type": "RollingUpdate"});
    set["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = json!(30);
    set
}

/// The workload of an instance, as the upstream controller makes it (K46), with the partition written out.
pub fn workload(name: &str, tag: &str, replicas: u32) -> Value {
    let probe = |path: &str| json!({"httpGet": {"path": path, "port": 4000}});
    json!({
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name, "labels": labels(name)},
        "spec": {
            "serviceName": name,
            "replicas": replicas,
            "podManagementPolicy": "Parallel",
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
            "selector": {"matchLabels": {"app.kubernetes.io/instance": name}},
            "template": {
                "metadata": {"labels": labels(name)},
                "spec": {"terminationGracePeriodSeconds": 0, "containers": [{
                    "name": "kura",
                    "image": image(tag),
                    "ports": [{"containerPort": 4000}, {"containerPort": 7443}],
                    "readinessProbe": probe("/ready"),
                    "livenessProbe": probe("/up"),
                    "startupProbe": probe("/up"),
                    "volumeMounts": [{"name": "data", "mountPath": "/data"}],
                }]},
            },
            "volumeClaimTemplates": [{
                "metadata": {"name": "data"},
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
            }],
        },
    })
}

fn labels(name: &str) -> Value {
    json!({
        "app.kubernetes.io/name": "kura",
        "app.kubernetes.io/instance": name,
        "tuist.dev/account": "acme",
        "tuist.dev/region": "eu-central",
    })
}
