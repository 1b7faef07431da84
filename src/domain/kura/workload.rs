//! What runs for an instance: its own object, the StatefulSet, its pods and the volumes they are tied to.

use imbl::OrdMap;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::live_spec::LiveSpec;
use super::object::Stamp;

/// A `KuraInstance` as it is (K47, K49).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instance {
    /// Identity and version.
    pub stamp: Stamp,
    /// Its `spec` as it stands, with fields nobody here knows (K49).
    pub spec: LiveSpec,
    /// Its annotation `tuist.dev/kura-manifest-revision`: what it was applied from (K22).
    #[serde(default)]
    pub revision: Option<String>,
    /// Fields whose value another manager set, as paths such as `spec.ingressClassName`, with that manager's name: what
    /// `metadata.managedFields` says (K28). Status and what nobody applies here are left out.
    #[serde(default)]
    pub foreign: OrdMap<String, String>,
    /// `status.phase`.
    #[serde(default)]
    pub phase: Option<String>,
    /// `status.observedImage`, as written; it may latch before a pod runs it (K33).
    #[serde(default)]
    pub observed_image: Option<String>,
    /// `status.readyReplicas`.
    #[serde(default)]
    pub ready_replicas: u32,
    /// `status.message`.
    #[serde(default)]
    pub message: Option<String>,
    /// `status.publicURL`.
    #[serde(default)]
    pub public_url: Option<String>,
    /// `status.lastReconciledAt`: the heartbeat of its controller.
    #[serde(default)]
    pub last_reconciled_at: Option<Timestamp>,
    /// `status.nodeAddress` and the port with it: where a server without an ingress answers, once all of it is known.
    #[serde(default)]
    pub node_port: Option<NodePort>,
    /// How far a bootstrap got, where the workload reports that (I11).
    #[serde(default)]
    pub progress: Option<Progress>,
}

/// A port of a node that leads to an instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodePort {
    /// The address of the node its first pod runs on.
    pub address: String,
    /// The port its service has there.
    pub port: u16,
}

/// A bootstrap that reports how far it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    /// In the workload's own words.
    pub text: String,
    /// When that text last changed.
    pub at: Timestamp,
}

/// How a StatefulSet brings its pods to a new template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum UpdateStrategy {
    /// One by one, highest ordinal first, those below `partition` not at all.
    RollingUpdate {
        /// 0 = all.
        partition: u32,
    },
    /// Only once somebody deletes them.
    OnDelete,
}

/// What becomes of the claims of a StatefulSet (K52).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Retention {
    /// They stay.
    #[default]
    Retain,
    /// They go, and the data set with them.
    Delete,
}

/// The StatefulSet of an instance, which has the instance's name (K46).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatefulSet {
    /// Identity and version.
    pub stamp: Stamp,
    /// Image of the container `kura` in its template, as written.
    pub image: Option<String>,
    /// `spec.replicas`.
    pub replicas: u32,
    /// `status.readyReplicas`.
    #[serde(default)]
    pub ready_replicas: u32,
    /// `spec.updateStrategy`.
    pub strategy: UpdateStrategy,
    /// The strategy says `RollingUpdate` and no more, not even `partition: 0`: Kubernetes makes as many of the lowest
    /// ordinals of the old template as it counts pods of it, whichever those are.
    #[serde(default)]
    pub is_bare: bool,
    /// When the update strategy was last written, as `managedFields` says.
    #[serde(default)]
    pub strategy_since: Option<Timestamp>,
    /// It carries `kura.tuist.dev/resize-rollout-hold`: the controller holds the update, not an operator (K38).
    #[serde(default)]
    pub resize_hold: bool,
    /// `persistentVolumeClaimRetentionPolicy.whenDeleted` (K52).
    #[serde(default)]
    pub claims_when_deleted: Retention,
    /// `persistentVolumeClaimRetentionPolicy.whenScaled` (K52).
    #[serde(default)]
    pub claims_when_scaled: Retention,
}

/// Who holds an update back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PausedBy {
    /// A person: `OnDelete` or a partition.
    Operator,
    /// The instance's controller, while it resizes volumes.
    Controller,
}

impl StatefulSet {
    /// Who holds its update back, if somebody does (K38).
    pub fn paused_by(&self) -> Option<PausedBy> {
        match self.strategy {
            UpdateStrategy::OnDelete if self.resize_hold => Some(PausedBy::Controller),
            UpdateStrategy::OnDelete => Some(PausedBy::Operator),
            UpdateStrategy::RollingUpdate { partition } if partition > 0 => Some(PausedBy::Operator),
            UpdateStrategy::RollingUpdate { .. } => None,
        }
    }
}

/// A pod of an instance, projected: `managedFields` and everything else a decision does not need are dropped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pod {
    /// Identity and version.
    pub stamp: Stamp,
    /// The instance it belongs to, by its label (K50).
    pub instance: Option<String>,
    /// Where it runs, or is tied to; none = not scheduled yet.
    pub node: Option<String>,
    /// Image of its container `kura`, as written.
    pub image: Option<String>,
    /// Its condition `Ready`.
    pub ready: bool,
    /// When that condition last changed.
    #[serde(default)]
    pub ready_since: Option<Timestamp>,
    /// `status.phase`, such as `Pending` or `Running`.
    #[serde(default)]
    pub phase: String,
    /// Why it is not running or not Ready, such as `CrashLoopBackOff` or `Unschedulable`, with the message where one is
    /// given.
    #[serde(default)]
    pub reason: Option<String>,
    /// `status.startTime`.
    #[serde(default)]
    pub started_at: Option<Timestamp>,
    /// Claims it mounts, by name.
    #[serde(default)]
    pub claims: Vec<String>,
}

/// A claim of a pod.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Identity and version.
    pub stamp: Stamp,
    /// The volume it is bound to.
    pub volume: Option<String>,
}

/// A volume.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    /// Identity and version.
    pub stamp: Stamp,
    /// The one node its affinity ties it to (I6).
    pub pinned_to: Option<String>,
}
