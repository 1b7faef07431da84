//! How requests reach an instance: gateways, ingresses, their classes, and what was probed of the public endpoint.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::span::Seconds;
use super::object::Stamp;

/// A `KuraGateway` as it is (K49).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gateway {
    /// Identity and version; its labels say whose it is (K50).
    pub stamp: Stamp,
    /// `spec.region`.
    #[serde(default)]
    pub region: Option<String>,
    /// `spec.ingressClassName`.
    pub class: Option<String>,
    /// Its annotation `tuist.dev/kura-manifest-revision`: what it was applied from (K22).
    #[serde(default)]
    pub revision: Option<String>,
    /// `status.phase`.
    #[serde(default)]
    pub phase: Option<String>,
    /// `status.readyReplicas`.
    #[serde(default)]
    pub ready_replicas: u32,
    /// `status.message`.
    #[serde(default)]
    pub message: Option<String>,
    /// `status.lastReconciledAt`: the heartbeat of its controller (K44).
    #[serde(default)]
    pub last_reconciled_at: Option<Timestamp>,
}

/// An Ingress of an instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ingress {
    /// Identity and version.
    pub stamp: Stamp,
    /// The instance it belongs to, by its label or its owner.
    pub instance: Option<String>,
    /// `spec.ingressClassName`.
    pub class: Option<String>,
    /// Hosts of its rules.
    pub hosts: Vec<String>,
    /// `status.loadBalancer.ingress`: addresses and host names, sorted.
    pub addresses: Vec<String>,
}

/// An IngressClass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IngressClass {
    /// Identity and version.
    pub stamp: Stamp,
    /// `spec.controller`.
    pub controller: String,
    /// A controller that serves the class runs: at least one Ready pod. None = that cannot be told from here, and is
    /// not taken for a broken link.
    pub has_controller: Option<bool>,
}

/// A Service of an instance or a gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    /// Identity and version.
    pub stamp: Stamp,
    /// The instance it belongs to, by its label or its owner.
    pub instance: Option<String>,
    /// `spec.type`, such as `LoadBalancer`.
    pub kind: String,
    /// Ports it has on every node.
    #[serde(default)]
    pub node_ports: Vec<u16>,
    /// `status.loadBalancer.ingress`: addresses and host names, sorted.
    #[serde(default)]
    pub addresses: Vec<String>,
}

/// A certificate, where the cluster has cert-manager.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// Identity and version.
    pub stamp: Stamp,
    /// `spec.dnsNames`.
    pub hosts: Vec<String>,
    /// Its condition `Ready`.
    pub ready: bool,
    /// What the issuer says, such as that it is rate-limited (I5).
    pub message: Option<String>,
}

/// The name of a public host, as a resolver answered it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Dns {
    /// Not asked yet.
    #[default]
    Unknown,
    /// It has these addresses, sorted.
    Addresses {
        /// None = the name is there and has no address.
        addresses: Vec<String>,
    },
    /// The resolver says that there is no such name.
    NxDomain,
    /// The resolver could not say; that is not the same (K30).
    Failed {
        /// What it said instead, without anything that differs from one try to the next.
        why: String,
    },
}

/// The TLS handshake with a public host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Tls {
    /// Not tried yet, or it did not come to that.
    #[default]
    Unknown,
    /// The certificate is good for the host.
    Valid,
    /// It is not.
    Invalid {
        /// Why, such as an unknown authority.
        why: String,
    },
}

/// The answer to `GET https://<host>/up`, asked for with a timeout of `UP_TIMEOUT` (K32).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Up {
    /// Not asked yet, or it did not come to that.
    #[default]
    Unknown,
    /// The endpoint answered.
    Status {
        /// The HTTP status; 2xx is up.
        status: u16,
    },
    /// It did not answer in time.
    Timeout,
    /// It could not be asked.
    Failed {
        /// Why, such as a refused connection.
        why: String,
    },
}

/// How long `/up` may take (K32).
pub const UP_TIMEOUT: Seconds = Seconds(5);

impl Up {
    /// 2xx.
    pub fn is_up(&self) -> bool {
        matches!(self, Self::Status { status } if (200..300).contains(status))
    }
}

/// What was probed of one public endpoint, link by link, each probe bounded in time and in the way that clients take: a
/// link that cannot be reached because of one before it stays unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// When this round of probes ended.
    pub as_of: Timestamp,
    /// The name.
    pub dns: Dns,
    /// The certificate.
    pub tls: Tls,
    /// The answer.
    pub up: Up,
}
