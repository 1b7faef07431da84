//! Deployments as shown.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::ids::{DeploymentId, ServerId};
use crate::domain::kura::deployment::{Deployment, DeploymentStatus, Wait};

/// One attempt (K4). What does not apply is null.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeploymentBody {
    /// Identity.
    pub id: DeploymentId,
    /// Of which server.
    pub server_id: ServerId,
    /// Where it leads.
    pub image_tag: String,
    /// Applied even if everything agreed.
    pub force: bool,
    /// Why.
    pub reason: Option<String>,
    /// Who asked for it.
    pub requested_by: String,
    /// Where it is.
    pub status: DeploymentStatus,
    /// The revision that was applied.
    pub manifest_revision: Option<String>,
    /// The first broken link.
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

impl DeploymentBody {
    /// The body of one.
    pub fn of(server: ServerId, row: &Deployment) -> Self {
        Self {
            id: row.id,
            server_id: server,
            image_tag: row.image_tag.clone(),
            force: row.force,
            reason: row.reason.clone(),
            requested_by: row.requested_by.clone(),
            status: row.status,
            manifest_revision: row.manifest_revision.clone(),
            wait: row.wait.clone(),
            displaced_by: row.displaced_by.clone(),
            error: row.error.clone(),
            detail: row.detail.clone(),
            inserted_at: row.inserted_at,
            started_at: row.started_at,
            finished_at: row.finished_at,
        }
    }
}
