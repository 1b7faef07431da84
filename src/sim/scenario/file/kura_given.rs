//! `given` of Kura servers: what the control plane knows of them, and what the cluster looks like.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::moment::Moment;
use super::name::Name;
use crate::domain::kura::deployment::DeploymentStatus;
use crate::domain::kura::server::{MovePhase, ServerStatus};
use crate::domain::kura::workload::PausedBy;

/// A server. What is left out is in agreement.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerGiven {
    /// Its id.
    pub id: String,
    /// Handle of its tenant; the id where it is left out.
    #[serde(default)]
    pub tenant: Option<String>,
    /// Where it serves.
    #[serde(default = "eu")]
    pub region: String,
    /// Its status; active where it has a current tag, else provisioning.
    #[serde(default)]
    pub status: Option<ServerStatus>,
    /// Whether it moves.
    #[serde(default)]
    pub move_phase: MovePhase,
    /// The tag it serves.
    #[serde(default)]
    pub current_tag: Option<Name>,
    /// Its pods.
    #[serde(default)]
    pub replicas: Option<u32>,
    /// How many of them are Ready; all where it is left out.
    #[serde(default)]
    pub ready: Option<u32>,
    /// The image of its pods; the current tag where it is left out.
    #[serde(default)]
    pub image: Option<Name>,
    /// Its last deployment.
    #[serde(default)]
    pub deployment: Option<DeploymentGiven>,
    /// Deployments before that, oldest first.
    #[serde(default)]
    pub history: Vec<RowGiven>,
    /// What is configured: fields of a server's spec, others of the instance's as they stand.
    #[serde(default)]
    pub spec: BTreeMap<String, Value>,
    /// Fields that are rendered otherwise than by default.
    #[serde(default)]
    pub rendered: BTreeMap<String, Value>,
    /// Fields that read otherwise on the live object.
    #[serde(default)]
    pub live: BTreeMap<String, Value>,
    /// The revision on the live object.
    #[serde(default)]
    pub revision: Option<Name>,
}

fn eu() -> String {
    "eu".to_owned()
}

/// The last deployment of a server.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeploymentGiven {
    /// Its tag.
    pub tag: Name,
    /// Where it is.
    #[serde(default = "running")]
    pub status: DeploymentStatus,
    /// By force.
    #[serde(default)]
    pub force: bool,
    /// How long ago it was scheduled.
    #[serde(default)]
    pub open_for: Moment,
}

fn running() -> DeploymentStatus {
    DeploymentStatus::Running
}

/// A deployment of the past.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RowGiven {
    /// Its tag.
    pub tag: Name,
    /// How it ended.
    pub status: DeploymentStatus,
}

/// An instance: one that no server claims, or more about one that a server does.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InstanceGiven {
    /// Its name.
    pub name: String,
    /// The image its controller reports.
    #[serde(default)]
    pub observed_image: Option<Name>,
    /// How many of its pods are Ready.
    #[serde(default)]
    pub ready: Option<u32>,
    /// Its pods.
    #[serde(default)]
    pub replicas: Option<u32>,
    /// The control plane that claims it.
    #[serde(default)]
    pub managed_by: Option<String>,
    /// Who holds its update back.
    #[serde(default)]
    pub update_paused: Option<PausedBy>,
}

/// A gateway.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GatewayGiven {
    /// Its name.
    pub name: String,
    /// The class it serves; its name where it is left out.
    #[serde(default, rename = "ingressClassName")]
    pub ingress_class_name: Option<String>,
    /// Whose it is.
    #[serde(default)]
    pub tenant: Option<String>,
    /// Where.
    #[serde(default)]
    pub region: Option<String>,
    /// How old it is.
    #[serde(default)]
    pub age: Option<Moment>,
    /// `status.phase`.
    #[serde(default)]
    pub phase: Option<String>,
    /// What its deletion waits for.
    #[serde(default)]
    pub finalizers: Option<Vec<String>>,
    /// How long it has been on its way out.
    #[serde(default)]
    pub deleting_for: Option<Moment>,
    /// Its controller runs.
    #[serde(default)]
    pub controller_alive: Option<bool>,
}

/// A pod, by name.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PodGiven {
    /// Its name.
    pub name: String,
    /// Its namespace; pods outside of `kura` are nobody's here.
    #[serde(default)]
    pub namespace: Option<String>,
    /// Where it runs, or is tied to.
    #[serde(default)]
    pub node: Option<String>,
    /// Its image.
    #[serde(default)]
    pub image: Option<Name>,
    /// It is Ready, and so it stays.
    #[serde(default)]
    pub ready: Option<bool>,
    /// Why it is not.
    #[serde(default)]
    pub reason: Option<String>,
    /// Its labels.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// When it started.
    #[serde(default)]
    pub started: Option<Moment>,
}
