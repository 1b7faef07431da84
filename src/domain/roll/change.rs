//! Facts about fleet rolls that are kept: they outlive every object of the cluster (F57). Variants and fields are only
//! ever added.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::super::ids::RollId;
use super::super::kura::object::ObjectRef;
use super::fleet_roll::{Ending, Roll};
use super::node::{StepEnding, StepName, Verdict};

/// How a cordon of ours ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CordonEnd {
    /// We gave it back.
    GivenBack,
    /// Somebody else lifted it.
    Lifted,
    /// The node is gone.
    Gone,
    /// Somebody else has set it since, and it is theirs.
    Theirs,
}

/// One fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum RollChange {
    /// A roll began.
    Started {
        /// As begun.
        roll: Box<Roll>,
    },
    /// The registry is somewhere else, or nowhere (F28).
    RegistrySeen {
        /// In which roll.
        roll: RollId,
        /// Where.
        node: Option<String>,
    },
    /// The turn of a node came.
    TurnBegan {
        /// In which roll.
        roll: RollId,
        /// Whose.
        node: String,
    },
    /// A node was put back before it was touched, because the order is another by now.
    TurnPutBack {
        /// In which roll.
        roll: RollId,
        /// Whose.
        node: String,
    },
    /// A step was begun.
    StepBegan {
        /// In which roll.
        roll: RollId,
        /// On which node.
        node: String,
        /// Which.
        step: StepName,
        /// The boot the node is in, before ours.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        boot_id: Option<String>,
        /// The bit as it was before we touched it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unschedulable: Option<bool>,
    },
    /// A step ended.
    StepEnded {
        /// In which roll.
        roll: RollId,
        /// On which node.
        node: String,
        /// Which.
        step: StepName,
        /// How.
        ending: StepEnding,
    },
    /// We are about to cordon a node: it is ours to give back.
    CordonTaken {
        /// For which roll.
        roll: RollId,
        /// Which.
        node: String,
    },
    /// A cordon of ours is none any more.
    CordonEnded {
        /// Of which node.
        node: String,
        /// How.
        how: CordonEnd,
    },
    /// A probe was judged, or what runs on a node was looked at.
    Found {
        /// For which roll; none = a person asked.
        roll: Option<RollId>,
        /// Of which node.
        node: String,
        /// What it says.
        verdict: Verdict,
        /// Why.
        reason: String,
        /// When it was begun.
        started_at: Timestamp,
        /// It is a look, not a probe.
        #[serde(default)]
        passive: bool,
    },
    /// Something else, or nothing any more, is in the way of a roll.
    Blocked {
        /// Of which.
        roll: RollId,
        /// What.
        reason: Option<String>,
    },
    /// A gate waits for a person.
    GateReached {
        /// Of which roll.
        roll: RollId,
        /// Which.
        gate: String,
    },
    /// A person opened a gate.
    GateApproved {
        /// Of which roll.
        roll: RollId,
        /// Which.
        gate: String,
        /// Who.
        by: String,
    },
    /// Every node is green.
    SoakBegan {
        /// Of which roll.
        roll: RollId,
    },
    /// A roll ended.
    Ended {
        /// Which.
        roll: RollId,
        /// How.
        ending: Ending,
    },
    /// A person asked for a probe of a node.
    ProbeAsked {
        /// Which.
        node: String,
        /// Who.
        by: String,
    },
    /// A person asked to give a node back.
    UncordonAsked {
        /// Which.
        node: String,
        /// Who.
        by: String,
    },
    /// A write did not succeed, or does again.
    WriteTroubled {
        /// For which roll.
        roll: RollId,
        /// To which object.
        object: ObjectRef,
        /// What is wrong; none = nothing any more.
        trouble: Option<String>,
    },
}

impl RollChange {
    /// The roll it is about.
    pub fn roll(&self) -> Option<RollId> {
        match self {
            Self::Started { roll } => Some(roll.id),
            Self::RegistrySeen { roll, .. }
            | Self::TurnBegan { roll, .. }
            | Self::TurnPutBack { roll, .. }
            | Self::StepBegan { roll, .. }
            | Self::StepEnded { roll, .. }
            | Self::CordonTaken { roll, .. }
            | Self::Blocked { roll, .. }
            | Self::GateReached { roll, .. }
            | Self::GateApproved { roll, .. }
            | Self::SoakBegan { roll }
            | Self::Ended { roll, .. }
            | Self::WriteTroubled { roll, .. } => Some(*roll),
            Self::Found { roll, .. } => *roll,
            Self::CordonEnded { .. } | Self::ProbeAsked { .. } | Self::UncordonAsked { .. } => None,
        }
    }

    /// The node it is about.
    pub fn node(&self) -> Option<&str> {
        match self {
            Self::TurnBegan { node, .. }
            | Self::TurnPutBack { node, .. }
            | Self::StepBegan { node, .. }
            | Self::StepEnded { node, .. }
            | Self::CordonTaken { node, .. }
            | Self::CordonEnded { node, .. }
            | Self::Found { node, .. }
            | Self::ProbeAsked { node, .. }
            | Self::UncordonAsked { node, .. } => Some(node),
            _ => None,
        }
    }
}
