//! Where the objects of a kind are on an API server.

use crate::domain::kura::object::ObjectKind;

/// `apiVersion` of a kind.
pub(super) fn version(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::KuraInstance | ObjectKind::KuraGateway => "kura.tuist.dev/v1alpha1",
        ObjectKind::StatefulSet => "apps/v1",
        ObjectKind::Ingress | ObjectKind::IngressClass => "networking.k8s.io/v1",
        ObjectKind::Certificate => "cert-manager.io/v1",
        ObjectKind::Pod
        | ObjectKind::PersistentVolumeClaim
        | ObjectKind::PersistentVolume
        | ObjectKind::Node
        | ObjectKind::Service
        | ObjectKind::Notice => "v1",
        ObjectKind::Job => "batch/v1",
    }
}

fn plural(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::KuraInstance => "kurainstances",
        ObjectKind::KuraGateway => "kuragateways",
        ObjectKind::StatefulSet => "statefulsets",
        ObjectKind::Pod => "pods",
        ObjectKind::Ingress => "ingresses",
        ObjectKind::IngressClass => "ingressclasses",
        ObjectKind::PersistentVolumeClaim => "persistentvolumeclaims",
        ObjectKind::PersistentVolume => "persistentvolumes",
        ObjectKind::Certificate => "certificates",
        ObjectKind::Node => "nodes",
        ObjectKind::Service => "services",
        ObjectKind::Notice => "events",
        ObjectKind::Job => "jobs",
    }
}

fn root(kind: ObjectKind) -> String {
    let version = version(kind);
    let root = if version.contains('/') { "apis" } else { "api" };
    format!("/{root}/{version}")
}

/// The path of all objects of a kind, in the namespace where the kind has one.
pub(super) fn path(kind: ObjectKind, namespace: &str) -> String {
    if kind.is_of_the_cluster() {
        everywhere(kind)
    } else {
        format!("{}/namespaces/{namespace}/{}", root(kind), plural(kind))
    }
}

/// The path of all objects of a kind, whatever namespace they are in.
pub(super) fn everywhere(kind: ObjectKind) -> String {
    format!("{}/{}", root(kind), plural(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_api() {
        assert_eq!(path(ObjectKind::Pod, "kura"), "/api/v1/namespaces/kura/pods");
        assert_eq!(path(ObjectKind::Node, "kura"), "/api/v1/nodes");
        assert_eq!(everywhere(ObjectKind::Pod), "/api/v1/pods");
        assert_eq!(
            path(ObjectKind::KuraInstance, "kura"),
            "/apis/kura.tuist.dev/v1alpha1/namespaces/kura/kurainstances"
        );
        assert_eq!(path(ObjectKind::IngressClass, "kura"), "/apis/networking.k8s.io/v1/ingressclasses");
    }
}
