//! What a person can do about fleet rolls.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::super::ids::RollId;
use super::quorum::margin_of;
use super::rolls::Rolls;
use super::spec::RollSpec;

/// A verb. New identities arrive in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RollVerb {
    /// Roll an image through a fleet.
    Start {
        /// Its identity.
        id: RollId,
        /// Whose.
        project: String,
        /// Which fleet.
        target: String,
        /// The image.
        image: String,
        /// Of which source.
        revision: String,
        /// Where, in which order, with which brakes.
        spec: Box<RollSpec>,
        /// Take the place of the roll of this target that waits at a gate or only stages (F53).
        displace: bool,
    },
    /// Open a gate (F54).
    Approve {
        /// Of which roll.
        roll: RollId,
        /// Which.
        gate: String,
        /// The revision it was shown with.
        revision: String,
        /// Since when it was shown to wait; none = the person did not look at that.
        awaiting_since: Option<Timestamp>,
    },
    /// Keep a gate shut: the roll ends (F20).
    Deny {
        /// Of which roll.
        roll: RollId,
        /// Which.
        gate: String,
        /// The revision it was shown with.
        revision: String,
        /// Since when it was shown to wait.
        awaiting_since: Option<Timestamp>,
    },
    /// Stop a roll: no node is touched any more.
    Abort {
        /// Which.
        roll: RollId,
    },
    /// Probe a node now.
    Probe {
        /// Which.
        node: String,
    },
    /// Give a node back that a roll which has ended left cordoned.
    Uncordon {
        /// Which.
        node: String,
    },
}

impl RollVerb {
    /// Its name in the command table, the audit and the journal.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Start { .. } => "start-roll",
            Self::Approve { .. } => "approve",
            Self::Deny { .. } => "deny",
            Self::Abort { .. } => "abort",
            Self::Probe { .. } => "probe",
            Self::Uncordon { .. } => "uncordon",
        }
    }

    /// The roll it is given to.
    pub fn roll(&self) -> Option<RollId> {
        match self {
            Self::Approve { roll, .. } | Self::Deny { roll, .. } | Self::Abort { roll } => Some(*roll),
            _ => None,
        }
    }

    /// It only ever stops something: never held up by what changed meanwhile.
    pub fn is_stop(&self) -> bool {
        matches!(self, Self::Abort { .. })
    }

    /// It takes a typed confirmation: a fleet without a margin, a roll that makes way, a cordon that is lifted, a roll that
    /// ends (F56).
    pub fn is_typed(&self, rolls: &Rolls) -> bool {
        match self {
            Self::Start { spec, displace, .. } => *displace || margin_of(spec).is_bare(),
            Self::Approve { roll, .. } => rolls.roll(*roll).is_some_and(|roll| margin_of(&roll.spec).is_bare()),
            Self::Deny { .. } | Self::Uncordon { .. } => true,
            Self::Abort { .. } | Self::Probe { .. } => false,
        }
    }
}
