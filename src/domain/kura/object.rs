//! Objects of the cluster as far as decisions need them: how they are called, told apart and written to.

use std::fmt;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::span::Seconds;
use super::labels::Labels;

/// The field manager of everything that is applied here (K28).
pub const FIELD_MANAGER: &str = "kura-console";

/// Where an instance says which manifest it was applied from (K22).
pub const REVISION_ANNOTATION: &str = "tuist.dev/kura-manifest-revision";

/// The label that names the instance an object belongs to (K50).
pub const INSTANCE_LABEL: &str = "app.kubernetes.io/instance";

/// The label that names who made an object (K50). On an instance: the control plane that claims it (K45).
pub const MANAGED_BY_LABEL: &str = "app.kubernetes.io/managed-by";

/// The label that names the tenant of an object (K50).
pub const ACCOUNT_LABEL: &str = "tuist.dev/account";

/// The label that names the region of an object (K50).
pub const REGION_LABEL: &str = "tuist.dev/region";

/// What the deletion of an instance waits for, until its controller has cleaned up (K50).
pub const INSTANCE_FINALIZER: &str = "kurainstances.kura.tuist.dev/finalizer";

/// Kinds of objects that are read or written for Kura servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum ObjectKind {
    /// `kurainstances.kura.tuist.dev/v1alpha1`, namespaced (K49).
    KuraInstance,
    /// `kuragateways.kura.tuist.dev/v1alpha1`, namespaced (K49).
    KuraGateway,
    /// `statefulsets.apps/v1`, namespaced.
    StatefulSet,
    /// `pods/v1`, namespaced.
    Pod,
    /// `ingresses.networking.k8s.io/v1`, namespaced.
    Ingress,
    /// `ingressclasses.networking.k8s.io/v1`, of the whole cluster.
    IngressClass,
    /// `persistentvolumeclaims/v1`, namespaced. Never written (K37).
    PersistentVolumeClaim,
    /// `persistentvolumes/v1`, of the whole cluster. Never written.
    PersistentVolume,
    /// `certificates.cert-manager.io/v1`, namespaced; the cluster may not have them. Never written.
    Certificate,
    /// `nodes/v1`, of the whole cluster.
    Node,
    /// `services/v1`, namespaced. Never written.
    Service,
    /// `events/v1`, namespaced: what is said of objects. Never written.
    Notice,
    /// `jobs.batch/v1`, namespaced: what the owner of a fleet supplies to boot a node (F58).
    Job,
}

impl ObjectKind {
    /// Its `kind` in a manifest.
    pub fn name(self) -> &'static str {
        match self {
            Self::KuraInstance => "KuraInstance",
            Self::KuraGateway => "KuraGateway",
            Self::StatefulSet => "StatefulSet",
            Self::Pod => "Pod",
            Self::Ingress => "Ingress",
            Self::IngressClass => "IngressClass",
            Self::PersistentVolumeClaim => "PersistentVolumeClaim",
            Self::PersistentVolume => "PersistentVolume",
            Self::Certificate => "Certificate",
            Self::Node => "Node",
            Self::Service => "Service",
            Self::Notice => "Event",
            Self::Job => "Job",
        }
    }

    /// True for kinds without a namespace.
    pub fn is_of_the_cluster(self) -> bool {
        matches!(self, Self::IngressClass | Self::PersistentVolume | Self::Node)
    }
}

impl fmt::Display for ObjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Which object: its kind and its name in the one namespace of ours, or in the cluster for kinds without one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct ObjectRef {
    /// What it is.
    pub kind: ObjectKind,
    /// What it is called.
    pub name: String,
    /// Where it lives, where that is not the one namespace: a drain takes pods off wherever they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

impl ObjectRef {
    /// The object of this kind and name.
    pub fn new(kind: ObjectKind, name: &str) -> Self {
        Self { kind, name: name.to_owned(), namespace: None }
    }

    /// The same in a namespace of its own.
    pub fn within(kind: ObjectKind, namespace: &str, name: &str) -> Self {
        Self { kind, name: name.to_owned(), namespace: Some(namespace.to_owned()) }
    }

    /// The object of one of these kinds that is told like this.
    pub fn told(text: &str, kinds: &[ObjectKind]) -> Option<Self> {
        let (kind, name) = text.split_once(' ')?;
        let kind = kinds.iter().find(|known| known.name() == kind)?;
        Some(Self::new(*kind, name))
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.name)
    }
}

/// What every object carries: identity, version, age, and whether it is on its way out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// `metadata.name`.
    pub name: String,
    /// `metadata.uid`: another one means another object of the same name.
    pub uid: String,
    /// `metadata.resourceVersion`, as opaque as the cluster gives it.
    pub resource_version: String,
    /// `metadata.creationTimestamp`.
    pub created_at: Timestamp,
    /// `metadata.deletionTimestamp` less the grace period: since when somebody wants it gone.
    #[serde(default)]
    pub deleting_since: Option<Timestamp>,
    /// `metadata.finalizers`, in their order.
    #[serde(default)]
    pub finalizers: Vec<String>,
    /// `metadata.labels`.
    #[serde(default)]
    pub labels: Labels,
}

impl Stamp {
    /// The version a write has to be planned from.
    pub fn version(&self) -> Version {
        Version { uid: self.uid.clone(), resource_version: self.resource_version.clone() }
    }

    /// The same in the version of another one: two that differ in nothing else are equal then.
    pub fn at(&self, other: &Self) -> Self {
        Self { resource_version: other.resource_version.clone(), ..self.clone() }
    }

    /// Somebody wants it gone already.
    pub fn is_leaving(&self) -> bool {
        self.deleting_since.is_some()
    }

    /// One of its labels.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.get(name)
    }

    /// How old it is.
    pub fn age(&self, now: Timestamp) -> Seconds {
        Seconds::between(self.created_at, now)
    }
}

/// One version of one object: what a write to it carries as its precondition (K37).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Version {
    /// Which object.
    pub uid: String,
    /// As of which write.
    pub resource_version: String,
}

/// The tag of an image: what stands behind the colon of its last part, or the whole text where it is a bare tag.
pub fn tag_of(image: &str) -> &str {
    // Once through the bytes: a pass asks for some images of each server, and all it looks for is ASCII.
    let (mut is_path, mut colon, mut end) = (false, None, image.len());
    for (at, byte) in image.bytes().enumerate() {
        match byte {
            b'@' => {
                end = at;
                break;
            }
            b'/' => (is_path, colon) = (true, None),
            b':' if colon.is_none() => colon = Some(at),
            _ => {}
        }
    }
    match colon {
        Some(colon) => &image[colon + 1..end],
        None if is_path => "latest",
        None => &image[..end],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_what_stands_behind_the_last_colon() {
        let images = ["0.19.0", "kura:0.19.0", "ghcr.io/t/kura:0.19.0", "host:5000/t/kura:0.19.0@sha256:aa"];
        assert!(images.iter().all(|image| tag_of(image) == "0.19.0"));
        assert_eq!(tag_of("host:5000/t/kura"), "latest");
        assert_eq!(tag_of("sha-5e77e0ec60c9"), "sha-5e77e0ec60c9");
    }
}
