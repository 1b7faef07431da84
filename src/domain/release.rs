//! Releases: immutable content that rollouts carry, and the outcomes agents report for it.

use std::fmt;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ids::ReleaseId;
use super::span::Seconds;

/// SHA-256 of a content in the Vault, in hex. World and Change hold digests, never contents.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(pub String);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What reading the content of a release found. Nothing of it is enforced (R155-R166).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Contract {
    /// Breaches of the state contract, by rule.
    pub warnings: Vec<ContractWarning>,
    /// Names of the values and secrets it looks up, such as `vars.K8S_VIP`, sorted.
    pub needs: Vec<String>,
}

impl Contract {
    /// True where there is nothing to be said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Something that would bite, as far as it could be seen in the content of a release.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct ContractWarning {
    /// A stable word for programs.
    pub id: String,
    /// One sentence that shows nothing of the content but names.
    pub message: String,
    /// What to do about it.
    #[serde(default)]
    pub hint: Option<String>,
}

/// What an operator ships. Only `build-from-git` makes one, and nothing edits it afterwards (R4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {
    /// Identity.
    pub id: ReleaseId,
    /// What the operator asked for: a tag, a branch, a folder.
    pub git_ref: String,
    /// What it was resolved to.
    pub commit: String,
    /// Which engine the agents run it with.
    pub engine: String,
    /// Deadline of one apply, enforced by the agent; 0 = none (R4).
    pub timeout_seconds: Seconds,
    /// In the operator's words.
    pub notes: String,
    /// The Kubernetes version its upgrade states aim at, where it is known.
    #[serde(default)]
    pub target_version: Option<String>,
    /// Where the Vault keeps it.
    pub content: Digest,
    /// What reading its content found.
    #[serde(default, skip_serializing_if = "Contract::is_empty")]
    pub contract: Contract,
    /// When it was built.
    pub created_at: Timestamp,
    /// Set once it was withdrawn; there is no un-yank (R116).
    pub yanked: Option<Yank>,
}

/// Who withdrew a release and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Yank {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub by: String,
    /// Why.
    pub reason: Option<String>,
}

/// How a run of an agent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Converged, health gate included.
    Success,
    /// A state failed: apply, drain or health gate (R57).
    Failed,
    /// Killed at the release's deadline; counts as a failure (R57).
    Timeout,
    /// Withdrawn while it ran; neither counted nor failed (R57).
    Canceled,
}

impl Outcome {
    /// True for the outcomes that make a row `failed` and may count (R57, R131).
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::Timeout)
    }
}
