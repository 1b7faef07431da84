//! Releases: as shown, as built.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::body;
use crate::control::render::content::ReleaseContent;
use crate::domain::ids::ReleaseId;
use crate::domain::preflight::{self, Check, File};
use crate::domain::release::{ContractWarning, Release, Yank};
use crate::domain::span::Seconds;

/// Where they are listed.
pub const PATH: &str = "/api/config/releases/";

/// The only way a release comes into being (R4).
pub const BUILD_PATH: &str = "/api/config/releases/build-from-git";

/// A release as shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReleaseBody {
    /// Identity.
    pub uuid: ReleaseId,
    /// What was asked for.
    pub git_ref: String,
    /// What it resolved to.
    pub commit: String,
    /// What runs it.
    pub engine: String,
    /// Deadline of one apply; 0 = none.
    pub timeout_seconds: Seconds,
    /// In the operator's words.
    pub notes: String,
    /// The Kubernetes version its states aim at, where it is known.
    pub target_version: Option<String>,
    /// SHA-256 of its content.
    pub content_digest: String,
    /// Breaches of the state contract that could be seen in its content.
    #[serde(default)]
    pub warnings: Vec<ContractWarning>,
    /// Names of the values and secrets it looks up.
    #[serde(default)]
    pub needs: Vec<String>,
    /// When it was built.
    pub created_at: Timestamp,
    /// Withdrawn or not (R116).
    pub yanked: bool,
    /// Who withdrew it, when, why.
    pub yank: Option<Yank>,
}

impl From<&Release> for ReleaseBody {
    fn from(release: &Release) -> Self {
        Self {
            uuid: release.id,
            git_ref: release.git_ref.clone(),
            commit: release.commit.clone(),
            engine: release.engine.clone(),
            timeout_seconds: release.timeout_seconds,
            notes: release.notes.clone(),
            target_version: release.target_version.clone(),
            content_digest: release.content.to_string(),
            warnings: release.contract.warnings.clone(),
            needs: release.contract.needs.clone(),
            created_at: release.created_at,
            yanked: release.yanked.is_some(),
            yank: release.yanked.clone(),
        }
    }
}

/// One release, with what a lint reads off its states (R155-R164).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReleaseDetail {
    /// As listed.
    #[serde(flatten)]
    pub release: ReleaseBody,
    /// Promises its states keep or break; empty where they touch no node, or cannot be read now.
    pub checks: Vec<Check>,
}

/// What a lint finds in a content; nothing where it is no folder of states.
pub fn checks(content: &[u8]) -> Vec<Check> {
    let Some(content) = ReleaseContent::read(content) else { return Vec::new() };
    let files: Vec<File<'_>> =
        content.files.iter().map(|file| File { path: &file.path, text: &file.content }).collect();
    preflight::content(&files)
}

/// A release to build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BuildBody {
    /// A tag, a branch, a commit; a folder or file where the configured place is no repository.
    pub git_ref: String,
    /// What the agents run it with.
    #[serde(default = "default_engine")]
    pub engine: String,
    /// Deadline of one apply; 0 = none. Settable only here (R4).
    #[serde(default)]
    pub timeout_seconds: Seconds,
    /// In the operator's words.
    #[serde(default)]
    pub notes: String,
    /// The Kubernetes version its states aim at.
    #[serde(default, deserialize_with = "body::sent", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub target_version: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

fn default_engine() -> String {
    "saltstack".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::preflight::Grade;

    #[test]
    fn a_content_is_read_as_the_vault_keeps_it() {
        // R155
        let content = r#"{"files":[{"path":"k8s/drain.sls","content":"cordon_drain:\n  cmd.run: []\n"}]}"#;
        let found = checks(content.as_bytes());
        assert!(found.iter().any(|check| check.id == "guards" && check.grade == Grade::Fail), "{found:?}");
        assert_eq!(checks(b"release: v1\n"), []);
    }
}
