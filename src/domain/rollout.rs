//! A rollout: one release on its way through the environments, and what stops it.

use imbl::OrdMap;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::ids::{EnvironmentId, Generation, MachineId, ReleaseId, RingId, RolloutId};

/// Place of the cursor: environments at or before it are served (R13, R77).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cursor {
    /// Promotion order of the environment it stands on.
    pub order: i64,
    /// Slug, which breaks ties (R77).
    pub slug: String,
}

/// How a rollout ended, if it did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Ending {
    /// Every environment is behind it (R85).
    Completed,
    /// Stopped by a person, or because its release was yanked (R115, R116).
    Halted {
        /// One sentence.
        reason: String,
    },
    /// Displaced by another start (R92).
    Superseded {
        /// The rollout that took the account's slot.
        by: RolloutId,
    },
}

/// What halted a ring (R65).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HaltCause {
    /// Counted failures reached the threshold.
    Threshold,
    /// A holder held its slot too long.
    Stall,
}

/// A ring that stopped admitting. The first reason stays until reset, supersede or a new rollout (R67, R68).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RingHalt {
    /// Which brake fired.
    pub cause: HaltCause,
    /// The machine that is to blame.
    pub machine: MachineId,
    /// One sentence that names it.
    pub reason: String,
    /// When.
    pub at: Timestamp,
}

/// One run of a release. At most one of an account is running (R90).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rollout {
    /// Identity; a reset keeps it (R99).
    pub id: RolloutId,
    /// What it ships.
    pub release: ReleaseId,
    /// Refuses to be superseded without force (R91).
    pub protected: bool,
    /// Bumped by every start and reset of the account (R63).
    pub generation: Generation,
    /// The environment that is being converged; none = no environment is in the path yet.
    pub cursor: Option<Cursor>,
    /// When each environment opened in this generation; anchors the ladder (R70, R83).
    #[serde(default)]
    pub opened: OrdMap<EnvironmentId, Timestamp>,
    /// Rings that stopped admitting (R64).
    #[serde(default)]
    pub halted_rings: OrdMap<RingId, RingHalt>,
    /// What was elected before a ladder was lowered in this generation; election never shrinks (R75).
    #[serde(default, with = "kept")]
    pub elected: OrdMap<(EnvironmentId, RingId), u8>,
    /// Counted failures per ring in this generation (R59).
    #[serde(default)]
    pub failures: OrdMap<RingId, u32>,
    /// Who started it.
    pub started_by: String,
    /// When it was started; a reset keeps it.
    pub started_at: Timestamp,
    /// When it was last reset.
    pub reset_at: Option<Timestamp>,
    /// None while it runs.
    pub ending: Option<Ending>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

impl Rollout {
    /// Only a running rollout serves anything (R11).
    pub fn is_running(&self) -> bool {
        self.ending.is_none()
    }

    /// The word of the API for where it is.
    pub fn status(&self) -> &'static str {
        match self.ending {
            None => "running",
            Some(Ending::Completed) => "completed",
            Some(Ending::Halted { .. }) => "halted",
            Some(Ending::Superseded { .. }) => "superseded",
        }
    }
}

/// A map whose key is a pair, as a list of entries.
mod kept {
    use imbl::OrdMap;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{EnvironmentId, RingId};

    type Kept = OrdMap<(EnvironmentId, RingId), u8>;

    pub(super) fn serialize<S: Serializer>(kept: &Kept, to: S) -> Result<S::Ok, S::Error> {
        kept.iter().collect::<Vec<_>>().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Kept, D::Error> {
        Ok(Vec::<((EnvironmentId, RingId), u8)>::deserialize(from)?.into_iter().collect())
    }
}
