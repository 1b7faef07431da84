//! The manifest of a server: rendered, applied, live, and what differs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::kura::drift::{FieldDrift, drift};
use crate::domain::kura::render::render;
use crate::domain::kura::server::Server;
use crate::domain::observed::Observed;

/// A manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ManifestBody {
    /// What is rendered; null where the server has no tag.
    pub rendered: Option<Value>,
    /// The gateway that is rendered with it.
    pub gateway: Option<Value>,
    /// The `spec` of the live object; null where there is none.
    pub live: Option<Value>,
    /// The revision of what was applied last; null = nothing was from here.
    pub applied: Option<String>,
    /// Of what is rendered.
    pub revision_rendered: Option<String>,
    /// Of what the live object carries.
    pub revision_applied: Option<String>,
    /// Rendered fields that read otherwise on the live object.
    pub diff: Vec<FieldDrift>,
}

impl ManifestBody {
    /// The body of one.
    pub fn of(observed: &Observed, server: &Server) -> Self {
        let live = observed.cluster.as_ref().and_then(|sight| sight.instances.get(&server.instance_name));
        let manifest = server.wanted_tag().map(|tag| render(server, tag));
        let diff = manifest.as_ref().zip(live).map(|(manifest, live)| drift(manifest, &live.spec));
        Self {
            diff: diff.unwrap_or_default(),
            revision_rendered: manifest.as_ref().map(|manifest| manifest.imprint.revision.clone()),
            gateway: manifest.as_ref().and_then(|manifest| manifest.gateway.clone()),
            rendered: manifest.map(|manifest| manifest.instance),
            live: live.map(|live| (*live.spec).clone()),
            applied: server.applied.as_ref().map(|applied| applied.revision.clone()),
            revision_applied: live.and_then(|live| live.revision.clone()),
        }
    }
}
