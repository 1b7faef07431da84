//! Apply results as they are read back: telemetry, newest first.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::FailedStateBody;
use crate::control::ports::ApplyResult;
use crate::domain::ids::{Generation, MachineId, ReleaseId};
use crate::domain::release::Outcome;
use crate::domain::world::World;

/// What an agent reported of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

impl ResultBody {
    /// The body of a result; `world` knows what people call the machine.
    pub fn of(world: &World, result: ApplyResult) -> Self {
        let hostname = world.machines.get(&result.machine).map(|machine| machine.hostname.clone());
        Self {
            machine_uuid: result.machine,
            hostname: hostname.unwrap_or_default(),
            release_uuid: result.release,
            generation: result.generation,
            outcome: result.outcome,
            started_at: result.started_at,
            finished_at: result.finished_at,
            received_at: result.received_at,
            changed_count: result.changed_count,
            failed_states: result.failed_states.into_iter().map(FailedStateBody::from).collect(),
            log_tail: result.log_tail,
        }
    }
}
