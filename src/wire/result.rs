//! Apply results as they are read back: telemetry, newest first.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::agent::FailedStateBody;
use crate::domain::ids::{Generation, MachineId, ReleaseId};
use crate::domain::release::Outcome;

/// What an agent reported of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultBody {
    /// Whose run.
    pub machine_uuid: MachineId,
    /// What people call the machine; empty where it is gone.
    #[serde(default)]
    pub hostname: String,
    /// What ran.
    pub release_uuid: ReleaseId,
    /// In which generation.
    pub generation: Generation,
    /// `success`, `failed`, `timeout` or `canceled`.
    pub outcome: Outcome,
    /// By the agent's clock.
    pub started_at: Timestamp,
    /// By the agent's clock.
    pub finished_at: Timestamp,
    /// By the control plane's clock.
    pub received_at: Timestamp,
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
