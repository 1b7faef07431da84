//! A server: one row of intent, a tenant in a region, served by one `KuraInstance` (K1-K3).

use std::collections::BTreeMap;
use std::sync::Arc;

use imbl::{OrdMap, Vector};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::super::ids::{DeploymentId, ServerId};
use super::deployment::{Deployment, DeploymentStatus};
use super::remembered::Remembered;

/// Deployments the World keeps per server; older ones are read from the journal, `control/past/deployments.rs` (K7).
pub const DEPLOYMENTS_KEPT: usize = 50;

/// Superseded rows in a row, since the last success, that flag a server: releases flow, it does not (K20).
pub const SUPERSEDED_FLAG: usize = 3;

/// Times a foreign manager may write one field back before nothing is applied by itself any more (K28).
pub const FOREIGN_EDITS_MAX: u32 = 3;

/// Tags a server's counters tell apart; the lowest are forgotten first.
pub const COUNTED_TAGS: usize = 50;

/// The longest name of an instance (K50).
pub const INSTANCE_NAME_MAX: usize = 53;

/// Where a server is: a projection, derived again on each pass (K2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ServerStatus {
    /// It never served.
    #[default]
    Provisioning,
    /// It served, and does not now.
    Replicating,
    /// Its public endpoint answers.
    Active,
    /// It does not serve, and its last deployment failed. Does not stick.
    Failed,
    /// It is being taken down.
    Destroying,
    /// It is gone.
    Destroyed,
}

impl ServerStatus {
    /// As the API writes it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Provisioning => "provisioning",
            Self::Replicating => "replicating",
            Self::Active => "active",
            Self::Failed => "failed",
            Self::Destroying => "destroying",
            Self::Destroyed => "destroyed",
        }
    }

    /// Nothing is deployed to it any more.
    pub fn is_leaving(self) -> bool {
        matches!(self, Self::Destroying | Self::Destroyed)
    }
}

/// Whether a server is being moved (K3).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MovePhase {
    /// It is not.
    #[default]
    None,
    /// It warms up on the image of the server it takes over from.
    MovingIn,
    /// Another one takes over from it.
    MovingOut,
}

impl MovePhase {
    /// As the API writes it.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::MovingIn => "moving_in",
            Self::MovingOut => "moving_out",
        }
    }
}

/// How requests reach a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GatewayMode {
    /// The gateway of its region, which many share.
    #[default]
    Shared,
    /// A gateway of its own.
    Dedicated,
    /// A port of its node; no ingress.
    NodePort,
}

/// What a person configures of a server. What is left out has the defaults.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ServerSpec {
    /// Pods (2).
    pub replicas: u32,
    /// The host name of its endpoint; none = `<tenant>-<region>.kura.tuist.dev`.
    pub public_host: Option<String>,
    /// It listens on the network of its node.
    pub public_host_network: bool,
    /// Storage class of its claims; none = the cluster's default.
    pub storage_class: Option<String>,
    /// Size of its claims (20Gi).
    pub storage_size: String,
    /// How requests reach it.
    pub gateway: GatewayMode,
    /// The repository its image is pulled from; none = the tag stands for the whole image.
    pub image_repository: Option<String>,
    /// Nodes it may run on.
    pub node_selector: BTreeMap<String, String>,
    /// Taints it tolerates, as in a pod.
    pub tolerations: Vec<Value>,
    /// Further environment variables; never secrets.
    pub extra_env: BTreeMap<String, String>,
    /// It has no public endpoint.
    pub private: bool,
    /// It belongs to the mesh of its tenant's servers.
    pub mesh: bool,
    /// Fields of the instance's spec that are set as they stand here, over everything above; null takes one out.
    pub overrides: BTreeMap<String, Value>,
}

impl Default for ServerSpec {
    fn default() -> Self {
        Self {
            replicas: 2,
            public_host: None,
            public_host_network: false,
            storage_class: None,
            storage_size: "20Gi".to_owned(),
            gateway: GatewayMode::Shared,
            image_repository: None,
            node_selector: BTreeMap::new(),
            tolerations: Vec::new(),
            extra_env: BTreeMap::new(),
            private: false,
            mesh: true,
            overrides: BTreeMap::new(),
        }
    }
}

/// A person chose an older tag: it stays until something newer than what was newest then is released (K25).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pin {
    /// The tag that was chosen.
    pub tag: String,
    /// The newest tag at that time.
    pub newest: String,
    /// Who chose.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

/// The manifest that was applied last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedManifest {
    /// Its revision (K22).
    pub revision: String,
    /// Its image.
    pub image: String,
    /// When.
    pub at: Timestamp,
    /// The version of the object it was written over: whoever still sees that one sees what was there before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
}

/// A pod of a set that rolls together (K35).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PodMark {
    /// Its name.
    pub name: String,
    /// Which pod of that name.
    pub uid: String,
    /// It was deleted.
    #[serde(default)]
    pub done: bool,
    /// How many pods of that name went before it in the same change: each came back on an old image.
    #[serde(default, skip_serializing_if = "is_first")]
    pub again: u32,
}

fn is_first(again: &u32) -> bool {
    *again == 0
}

/// An image change of an instance and the pods that roll together in it (K35, K40).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roll {
    /// Where it leads.
    pub image: String,
    /// The set is fixed: the template carries the image. Until then nothing is deleted (K36).
    pub fixed: bool,
    /// The set.
    pub pods: Vec<PodMark>,
}

/// A manager that writes a field back (K28).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForeignEdit {
    /// Who.
    pub manager: String,
    /// How often in a row, the first edit included.
    pub times: u32,
    /// It is counted since the last apply.
    pub counted: bool,
}

/// A server and everything the control plane remembers of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// Identity.
    pub id: ServerId,
    /// Kura's customer, by handle.
    pub tenant: String,
    /// The same, by id.
    pub tenant_id: String,
    /// Where it serves.
    pub region: String,
    /// The cluster it runs in.
    pub cluster_id: String,
    /// Its instance.
    pub instance_name: String,
    /// What a person configured.
    pub spec: Arc<ServerSpec>,
    /// A projection.
    pub status: ServerStatus,
    /// Where it serves, once it did.
    pub url: Option<String>,
    /// The tag it served last.
    pub current_image_tag: Option<String>,
    /// The tag its controller reports.
    pub observed_image_tag: Option<String>,
    /// Whether it moves.
    pub move_phase: MovePhase,
    /// When it was added.
    pub inserted_at: Timestamp,
    /// Its place among the servers that were added.
    pub number: u64,
    /// Attempts, oldest first, at most `DEPLOYMENTS_KEPT`.
    #[serde(default)]
    pub deployments: Vector<Deployment>,
    /// Attempts there ever were.
    #[serde(default)]
    pub attempts: u64,
    /// A person chose an older tag.
    #[serde(default)]
    pub pin: Option<Pin>,
    /// The manifest that was applied last.
    #[serde(default)]
    pub applied: Option<AppliedManifest>,
    /// The last image change.
    #[serde(default)]
    pub roll: Option<Roll>,
    /// Managers that write fields back, by field.
    #[serde(default)]
    pub foreign: OrdMap<String, ForeignEdit>,
    /// What went wrong with the last write to each object, until one succeeds.
    #[serde(default)]
    pub troubles: OrdMap<String, String>,
    /// Superseded rows by tag (K19).
    #[serde(default)]
    pub superseded_total: OrdMap<String, u64>,
    /// Not-Ready pods that were deleted, by the image their change led to (K41).
    #[serde(default)]
    pub deleted_total: OrdMap<String, u64>,
    /// What it was last rendered as.
    #[serde(skip)]
    pub rendered: Remembered,
}

impl Server {
    /// A new one with the defaults, that was never deployed to.
    pub fn new(id: ServerId, tenant: &str, region: &str, at: Timestamp) -> Self {
        Self {
            id,
            tenant: tenant.to_owned(),
            tenant_id: tenant.to_owned(),
            region: region.to_owned(),
            cluster_id: region.to_owned(),
            instance_name: instance_name(tenant, region),
            spec: Arc::default(),
            status: ServerStatus::Provisioning,
            url: None,
            current_image_tag: None,
            observed_image_tag: None,
            move_phase: MovePhase::None,
            inserted_at: at,
            number: 0,
            deployments: Vector::new(),
            attempts: 0,
            pin: None,
            applied: None,
            roll: None,
            foreign: OrdMap::new(),
            troubles: OrdMap::new(),
            superseded_total: OrdMap::new(),
            deleted_total: OrdMap::new(),
            rendered: Remembered::default(),
        }
    }

    /// The deployment that is open: there is at most one, and none was scheduled after it (K6, K10).
    pub fn open(&self) -> Option<&Deployment> {
        self.deployments.last().filter(|row| row.status.is_open())
    }

    /// One of the deployments that are kept.
    pub fn deployment(&self, id: DeploymentId) -> Option<&Deployment> {
        self.deployments.iter().rev().find(|row| row.id == id)
    }

    /// The tag its instance is to carry: that of the open deployment, else the one it serves. Where it never served, that
    /// of its last attempt: a failed row does not make its instance go missing for good (K26).
    pub fn wanted_tag(&self) -> Option<&str> {
        let open = self.open().map(|row| row.image_tag.as_str());
        open.or(self.current_image_tag.as_deref()).or_else(|| {
            let last = self.deployments.last().filter(|row| row.status != DeploymentStatus::Cancelled)?;
            Some(last.image_tag.as_str())
        })
    }

    /// The identity of its next deployment: the same whenever it is decided again.
    pub fn next_deployment(&self) -> DeploymentId {
        self.attempt(self.attempts + 1)
    }

    /// The identity of one of the attempts there ever were, which count from 1.
    pub fn attempt(&self, number: u64) -> DeploymentId {
        DeploymentId(Uuid::new_v5(&self.id.0, format!("deployment {number}").as_bytes()))
    }

    /// Superseded rows since the last success (K20).
    pub fn consecutive_superseded(&self) -> usize {
        let since = self.deployments.iter().rev().take_while(|row| row.status != DeploymentStatus::Succeeded);
        since.filter(|row| row.status == DeploymentStatus::Superseded).count()
    }

    /// Releases flow, and this server does not follow (K20).
    pub fn is_left_behind(&self) -> bool {
        self.consecutive_superseded() >= SUPERSEDED_FLAG
    }

    /// A manager that has written one field back too often; nothing is applied by itself any more (K28).
    pub fn tug_of_war(&self) -> Option<(&String, &ForeignEdit)> {
        self.foreign.iter().find(|(_, edit)| edit.times >= FOREIGN_EDITS_MAX)
    }

    /// The host name of its public endpoint; none where it has none.
    pub fn public_host(&self) -> Option<String> {
        let usual = || format!("{}-{}.kura.tuist.dev", self.tenant, self.region);
        let set = self.spec.overrides.get("publicHost").map(|value| value.as_str().map(str::to_owned));
        let host = set.unwrap_or_else(|| Some(self.spec.public_host.clone().unwrap_or_else(usual)));
        host.filter(|_| !self.spec.private)
    }

    /// What is configured of it, to be configured otherwise.
    pub fn spec_mut(&mut self) -> &mut ServerSpec {
        Arc::make_mut(&mut self.spec)
    }

    /// It serves, or served, under one name for people: its tenant in its region.
    pub fn name(&self) -> String {
        format!("{}-{}", self.tenant, self.region)
    }
}

/// The name of a tenant's instance in a cluster, cut where it would be too long (K50).
pub fn instance_name(tenant: &str, cluster_id: &str) -> String {
    super::canonical::bounded(&format!("kura-{tenant}-{cluster_id}"), INSTANCE_NAME_MAX)
}
