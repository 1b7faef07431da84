//! Verbs on Kura servers as requests, and the requests as verbs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::body::parse;
use super::super::call::{Call, Method};
use super::super::problem::Problem;
use super::{gateway, server};
use crate::domain::ids::ServerId;
use crate::domain::kura::server::{MovePhase, ServerSpec};
use crate::domain::kura::verb::KuraVerb;

/// Where runtime tags are listed and released.
pub const TAGS_PATH: &str = "/api/kura/runtime-tags/";

/// Where orphans are listed.
pub const ORPHANS_PATH: &str = "/api/kura/orphans/";

/// Release a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TagNew {
    /// Its image tag.
    pub tag: String,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
}

/// Deploy a tag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeploymentNew {
    /// Where to.
    pub image_tag: String,
    /// Apply even if everything agrees.
    #[serde(default)]
    pub force: bool,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
}

impl DeploymentNew {
    /// Reads a body.
    pub fn parse(bytes: &[u8]) -> Result<Self, Problem> {
        parse(bytes)
    }

    /// The verb it is.
    pub fn verb(&self, server: ServerId) -> KuraVerb {
        KuraVerb::Deploy { server, tag: self.image_tag.clone(), force: self.force }
    }
}

/// Add a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerNew {
    /// Handle of its tenant.
    pub tenant: String,
    /// Id of its tenant; the handle where it is left out.
    #[serde(default)]
    pub tenant_id: Option<String>,
    /// Where it is to serve.
    pub region: String,
    /// The cluster it is to run in; the region where it is left out.
    #[serde(default)]
    pub cluster_id: Option<String>,
    /// What differs from the defaults.
    #[serde(default)]
    pub spec: ServerSpec,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
}

/// Change a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerPatch {
    /// All of what is configured.
    #[serde(default)]
    pub spec: Option<ServerSpec>,
    /// Whether it moves.
    #[serde(default)]
    pub move_phase: Option<MovePhase>,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
}

/// The request that carries a verb.
pub fn call_of(verb: &KuraVerb) -> Call {
    let at = |server: &ServerId, rest: &str| format!("{}{server}{rest}", server::PATH);
    let post = |path: String, body: Value| Call { method: Method::Post, path, body };
    let patch = |path: String, body: Value| Call { method: Method::Patch, path, body };
    match verb {
        KuraVerb::ReleaseTag { tag } => post(TAGS_PATH.to_owned(), json!({ "tag": tag })),
        KuraVerb::AddServer { tenant, tenant_id, region, cluster_id, spec, .. } => {
            let (tenant, tenant_id) = (tenant.clone(), tenant_id.clone());
            let (region, cluster_id, spec) = (region.clone(), cluster_id.clone(), (**spec).clone());
            let body = ServerNew { tenant, tenant_id, region, cluster_id, spec, reason: None };
            post(server::PATH.to_owned(), json!(body))
        }
        KuraVerb::ConfigureServer { server, spec } => patch(at(server, ""), json!({ "spec": spec })),
        KuraVerb::MoveServer { server, phase } => patch(at(server, ""), json!({ "move_phase": phase })),
        KuraVerb::Deploy { server, tag, force } => {
            post(at(server, "/deployments"), json!({ "image_tag": tag, "force": force }))
        }
        KuraVerb::ForceReapply { server } => post(at(server, "/force-reapply"), json!({})),
        KuraVerb::DestroyServer { server } => Call { method: Method::Delete, path: at(server, ""), body: Value::Null },
        KuraVerb::DeleteGateway { name } => post(format!("{}{name}/delete", gateway::PATH), json!({})),
        KuraVerb::StripFinalizer { name, finalizer } => {
            post(format!("{}{name}/strip-finalizer", gateway::PATH), json!({ "finalizer": finalizer }))
        }
        KuraVerb::DeleteOrphan { name } => post(format!("{ORPHANS_PATH}{name}/delete"), json!({})),
    }
}
