//! What a control plane tells that has the runbook's own endpoints and no others. Read leniently: only what the runbook
//! itself shows must be there; what this program's own server adds is taken where it is told.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;
use uuid::Uuid;

use super::agent::FailedStateBody;
use crate::domain::fleet::{ConfigValues, Pause, Rung};
use crate::domain::ids::{EnvironmentId, MachineId, ReleaseId, RingId, RolloutId};
use crate::domain::release::Outcome;
use crate::domain::rows::RowState;
use crate::domain::span::Seconds;

/// The account. These two switches tell a control plane from anything else that answers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AccountTold {
    /// Unattended starts on commits.
    pub auto_deploy: bool,
    /// Unattended starts on tags.
    pub track_config_tags: bool,
    /// For people.
    #[serde(default)]
    pub name: Option<String>,
    /// Glob of the tags that are followed.
    #[serde(default)]
    pub config_tag_pattern: Option<String>,
}

/// An environment.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct EnvironmentTold {
    /// Identity.
    pub uuid: EnvironmentId,
    /// Immutable.
    pub slug: String,
    /// For people.
    #[serde(default)]
    pub name: Option<String>,
    /// Place in the path.
    #[serde(default)]
    pub promotion_order: Option<i64>,
    /// Values for rendering.
    #[serde(default)]
    pub config_values: ConfigValues,
    /// Held or not.
    #[serde(default)]
    pub paused: bool,
    /// Who holds it.
    #[serde(default)]
    pub pause: Option<Pause>,
}

/// A ring.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct RingTold {
    /// Identity.
    pub uuid: RingId,
    /// Immutable.
    pub slug: String,
    /// For people.
    #[serde(default)]
    pub name: Option<String>,
    /// Counted failures that halt it.
    #[serde(default)]
    pub failure_count_threshold: Option<u32>,
    /// Time-based election.
    #[serde(default)]
    pub wave_ladder: Vec<Rung>,
    /// 0 = no cap.
    #[serde(default)]
    pub max_in_flight: u32,
    /// How long a first success keeps its slot.
    #[serde(default)]
    pub min_settle_seconds: Seconds,
    /// How long a slot may be held.
    #[serde(default)]
    pub stall_timeout_seconds: Seconds,
    /// Held or not.
    #[serde(default)]
    pub paused: bool,
    /// Who holds it.
    #[serde(default)]
    pub pause: Option<Pause>,
}

/// A release.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ReleaseTold {
    /// Identity.
    pub uuid: ReleaseId,
    /// What was asked for.
    #[serde(default)]
    pub git_ref: Option<String>,
    /// What it resolved to.
    #[serde(default)]
    pub commit: Option<String>,
    /// What runs it.
    #[serde(default)]
    pub engine: Option<String>,
    /// Deadline of one apply.
    #[serde(default)]
    pub timeout_seconds: Seconds,
    /// In the operator's words.
    #[serde(default)]
    pub notes: Option<String>,
    /// When it was built.
    #[serde(default)]
    pub created_at: Option<Timestamp>,
    /// Withdrawn or not.
    #[serde(default)]
    pub yanked: bool,
}

/// A rollout as listed or shown by itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RolloutTold {
    /// Identity.
    pub uuid: RolloutId,
    /// What it ships.
    #[serde(default)]
    pub config_release_uuid: Option<ReleaseId>,
    /// `running`, `completed`, `halted`, `superseded`.
    #[serde(default)]
    pub status: Option<String>,
    /// Superseded by force only.
    #[serde(default)]
    pub protected: bool,
    /// When.
    #[serde(default)]
    pub started_at: Option<Timestamp>,
    /// Who.
    #[serde(default)]
    pub started_by: Option<String>,
    /// When it ended.
    #[serde(default)]
    pub ended_at: Option<Timestamp>,
    /// Why it was halted.
    #[serde(default)]
    pub halt_reason: Option<String>,
}

/// The status of a rollout.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct StatusTold {
    /// One row per machine; the runbook leaves the name of the list open.
    #[serde(alias = "rows")]
    pub machines: Vec<RowTold>,
    /// Ring -> reason.
    #[serde(default)]
    pub halted_rings: BTreeMap<String, String>,
    /// Why the cursor does not move.
    #[serde(default)]
    pub stall_reason: Option<String>,
    /// Machines inside their settle window.
    #[serde(default)]
    pub settling: usize,
    /// What blocks promotion on purpose.
    #[serde(default)]
    pub blocking: Option<BlockingTold>,
    /// What it ships.
    #[serde(default)]
    pub config_release_uuid: Option<ReleaseId>,
    /// `running`, `completed`, `halted`, `superseded`.
    #[serde(default)]
    pub status: Option<String>,
    /// Superseded by force only.
    #[serde(default)]
    pub protected: Option<bool>,
    /// Slug of the environment the cursor stands on.
    #[serde(default)]
    pub current_environment: Option<String>,
    /// Machines in scope, where the rows are only a page of them.
    #[serde(default)]
    pub total: Option<usize>,
    /// Results cannot be read.
    #[serde(default)]
    pub counts_approximate: bool,
}

/// What blocks promotion on purpose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct BlockingTold {
    /// Machines that were paused before they applied.
    #[serde(default)]
    pub paused: usize,
}

/// A machine.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RowTold {
    /// For people.
    pub hostname: String,
    /// Identity.
    pub uuid: MachineId,
    /// Slug.
    pub environment: String,
    /// Slug.
    pub ring: String,
    /// Place in the hash.
    pub bucket: u8,
    /// Environment open and elected.
    pub eligible: bool,
    /// One of the runbook's seven.
    pub state: RowState,
    /// Has a slot.
    #[serde(default)]
    pub holds_slot: bool,
    /// 1-based.
    #[serde(default)]
    pub queue_position: Option<usize>,
    /// When the slot was granted.
    #[serde(default)]
    pub held_since: Option<Timestamp>,
    /// When its open settle window closes.
    #[serde(default)]
    pub settles_at: Option<Timestamp>,
    /// What is missing for its rendering.
    #[serde(default)]
    pub render_error: Option<String>,
    /// Counted failures.
    #[serde(default)]
    pub failures: u32,
    /// Its last poll.
    #[serde(default)]
    pub last_seen_at: Option<Timestamp>,
}

/// What an order that makes something is answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct MadeTold {
    /// Its identity.
    pub uuid: Uuid,
}

/// One run, of which the runbook shows that its failing state can be read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ResultTold {
    /// How it ended.
    pub outcome: Outcome,
    /// What ran.
    #[serde(default)]
    pub release_uuid: Option<ReleaseId>,
    /// By the agent's clock.
    #[serde(default)]
    pub started_at: Option<Timestamp>,
    /// By the agent's clock.
    #[serde(default)]
    pub finished_at: Option<Timestamp>,
    /// By the control plane's clock.
    #[serde(default)]
    pub received_at: Option<Timestamp>,
    /// States that changed something.
    #[serde(default)]
    pub changed_count: u64,
    /// States that failed.
    #[serde(default)]
    pub failed_states: Vec<FailedStateBody>,
    /// The end of its log.
    #[serde(default)]
    pub log_tail: String,
}
