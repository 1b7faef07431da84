//! A deployment: one attempt to bring a server to one image tag (K4, K5).

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::ids::DeploymentId;

/// Where a deployment is. The last four are for good (K5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DeploymentStatus {
    /// Scheduled; nothing was applied for it yet.
    Pending,
    /// What it wants is applied; its server converges.
    Running,
    /// The public endpoint serves it.
    Succeeded,
    /// The cluster can never take it.
    Failed,
    /// Withdrawn with its server.
    Cancelled,
    /// A newer intent took its place (K10).
    Superseded,
}

impl DeploymentStatus {
    /// `pending` or `running`.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Running)
    }

    /// As the API writes it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Superseded => "superseded",
        }
    }
}

/// What a deployment waits for: the first link that is broken (K29, K30).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaitKind {
    /// The controller has not reconciled the object yet.
    NotObserved,
    /// Pods on another image, or none that is Ready.
    WorkloadNotReady,
    /// Nobody serves the class of its ingresses.
    IngressClassWithoutController,
    /// Its ingresses have no address.
    IngressWithoutAddress,
    /// NXDOMAIN.
    PublicHostNotResolvable,
    /// The resolver could not say; that is not NXDOMAIN.
    ResolverError,
    /// The name leads elsewhere.
    AddressMismatch,
    /// The certificate is not good for the host.
    CertificateNotReady,
    /// `/up` is not 2xx.
    PublicEndpointNotReady,
    /// The same for a server that is reached by a port of its node.
    NodePortEndpointNotReady,
}

impl WaitKind {
    /// Every kind, in the order in which the links are looked at.
    pub const ALL: [Self; 10] = [
        Self::NotObserved,
        Self::WorkloadNotReady,
        Self::IngressClassWithoutController,
        Self::IngressWithoutAddress,
        Self::PublicHostNotResolvable,
        Self::ResolverError,
        Self::AddressMismatch,
        Self::CertificateNotReady,
        Self::PublicEndpointNotReady,
        Self::NodePortEndpointNotReady,
    ];

    /// As the API writes it.
    pub fn word(self) -> &'static str {
        match self {
            Self::NotObserved => "not_observed",
            Self::WorkloadNotReady => "workload_not_ready",
            Self::IngressClassWithoutController => "ingress_class_without_controller",
            Self::IngressWithoutAddress => "ingress_without_address",
            Self::PublicHostNotResolvable => "public_host_not_resolvable",
            Self::ResolverError => "resolver_error",
            Self::AddressMismatch => "address_mismatch",
            Self::CertificateNotReady => "certificate_not_ready",
            Self::PublicEndpointNotReady => "public_endpoint_not_ready",
            Self::NodePortEndpointNotReady => "node_port_endpoint_not_ready",
        }
    }
}

/// A wait. It never expires (K30).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Wait {
    /// For what.
    pub kind: WaitKind,
    /// Since when this link is the first broken one.
    pub since: Timestamp,
    /// What exactly is wrong, without anything that differs from one look to the next.
    pub detail: String,
}

/// How a deployment ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum Closing {
    /// Its server serves it; or it asked for what runs already, and the detail says so.
    Succeeded {
        /// Why nothing was applied, where nothing was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
        /// Where it is served; none = unchanged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
    },
    /// The cluster can never take it.
    Failed {
        /// What it said.
        error: String,
    },
    /// Its server is destroyed.
    Cancelled,
    /// A newer intent took its place (K10, K24).
    Superseded {
        /// The tag that did.
        by: String,
    },
}

/// One attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deployment {
    /// Identity.
    pub id: DeploymentId,
    /// Where it leads.
    pub image_tag: String,
    /// Apply once even if everything agrees, and take over fields of others (K24, K28).
    pub force: bool,
    /// Why, in the words of whoever asked.
    pub reason: Option<String>,
    /// The person, or the process that scheduled it.
    pub requested_by: String,
    /// Where it is.
    pub status: DeploymentStatus,
    /// The revision that was applied for it; none = nothing was yet.
    pub manifest_revision: Option<String>,
    /// A manifest was applied for it: its force is spent (K24).
    pub applied: bool,
    /// What it waits for.
    pub wait: Option<Wait>,
    /// The tag that took its place.
    pub displaced_by: Option<String>,
    /// Why it failed.
    pub error: Option<String>,
    /// What else there is to say about how it ended.
    pub detail: Option<String>,
    /// When it was scheduled.
    pub inserted_at: Timestamp,
    /// When what it wants was applied.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
}

impl Deployment {
    /// A new one.
    pub fn pending(id: DeploymentId, image_tag: &str, requested_by: &str, at: Timestamp) -> Self {
        Self {
            id,
            image_tag: image_tag.to_owned(),
            force: false,
            reason: None,
            requested_by: requested_by.to_owned(),
            status: DeploymentStatus::Pending,
            manifest_revision: None,
            applied: false,
            wait: None,
            displaced_by: None,
            error: None,
            detail: None,
            inserted_at: at,
            started_at: None,
            finished_at: None,
        }
    }

    /// It has to be applied whatever the cluster looks like (K24).
    pub fn owes_force(&self) -> bool {
        self.force && !self.applied
    }

    /// Ends it; one that has ended stays as it is (K5).
    pub(super) fn close(&mut self, closing: &Closing, at: Timestamp) {
        if !self.status.is_open() {
            return;
        }
        self.finished_at = Some(at);
        self.wait = None;
        match closing {
            Closing::Succeeded { detail, .. } => {
                self.status = DeploymentStatus::Succeeded;
                self.detail.clone_from(detail);
            }
            Closing::Failed { error } => {
                self.status = DeploymentStatus::Failed;
                self.error = Some(error.clone());
            }
            Closing::Cancelled => self.status = DeploymentStatus::Cancelled,
            Closing::Superseded { by } => {
                self.status = DeploymentStatus::Superseded;
                self.displaced_by = Some(by.clone());
            }
        }
    }
}
