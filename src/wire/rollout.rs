//! Rollouts: as listed, as started.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::body;
use crate::domain::ids::{Generation, ReleaseId, RolloutId};
use crate::domain::input::{Intent, Verb};
use crate::domain::rollout::{Ending, Rollout};
use crate::domain::world::World;

/// Where they are listed and started.
pub const PATH: &str = "/api/config/rollouts/";

/// A rollout as listed; its status says the rest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RolloutBody {
    /// Identity; a reset keeps it (R99).
    pub uuid: RolloutId,
    /// What it ships.
    pub config_release_uuid: ReleaseId,
    /// What people call that.
    pub git_ref: String,
    /// `running`, `completed`, `halted`, `superseded`.
    pub status: String,
    /// Superseded by force only (R91).
    pub protected: bool,
    /// Counts the starts and resets of the account.
    pub generation: Generation,
    /// Slug of the environment its cursor stands on; null where there is none.
    pub current_environment: Option<String>,
    /// Who started it.
    pub started_by: String,
    /// When; a reset keeps it.
    pub started_at: Timestamp,
    /// When it was reset last.
    pub reset_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Why it was halted.
    pub halt_reason: Option<String>,
    /// What took its place.
    pub superseded_by: Option<RolloutId>,
}

impl RolloutBody {
    /// The body of a rollout.
    pub fn of(world: &World, rollout: &Rollout) -> Self {
        let (halt_reason, superseded_by) = match &rollout.ending {
            Some(Ending::Halted { reason }) => (Some(reason.clone()), None),
            Some(Ending::Superseded { by }) => (None, Some(*by)),
            _ => (None, None),
        };
        Self {
            uuid: rollout.id,
            config_release_uuid: rollout.release,
            git_ref: world.release_name(rollout.release).to_owned(),
            status: rollout.status().to_owned(),
            protected: rollout.protected,
            generation: rollout.generation,
            current_environment: current_environment(world, rollout),
            started_by: rollout.started_by.clone(),
            started_at: rollout.started_at,
            reset_at: rollout.reset_at,
            ended_at: rollout.ended_at,
            halt_reason,
            superseded_by,
        }
    }
}

/// Slug of the environment a rollout's cursor stands on, also where that has left the path since (R77).
pub fn current_environment(world: &World, rollout: &Rollout) -> Option<String> {
    let known = world.cursor_environment(rollout).map(|environment| environment.slug.clone());
    known.or_else(|| rollout.cursor.as_ref().map(|cursor| cursor.slug.clone()))
}

/// A release to start, or to begin again where it runs (R90-R99).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartBody {
    /// What to ship.
    pub config_release_uuid: ReleaseId,
    /// Left out: a reset keeps what it finds, a new rollout is unprotected (R98).
    #[serde(default, deserialize_with = "body::sent", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub protected: Option<bool>,
    /// Supersede a protected rollout (R91).
    #[serde(default)]
    pub force: bool,
    /// 409 where the other would happen (R93).
    #[serde(default, deserialize_with = "body::sent", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Intent")]
    pub intent: Option<Intent>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl StartBody {
    /// The verb that starts it under this identity, if a new rollout comes of it.
    pub fn verb(&self, id: RolloutId) -> Verb {
        let Self { config_release_uuid: release, protected, force, intent, .. } = *self;
        Verb::Start { id, release, protected, force, intent }
    }
}
