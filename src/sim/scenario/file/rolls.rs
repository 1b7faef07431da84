//! Verbs of `when` about fleet rolls, and what happens to their nodes.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::name::{Name, as_written};
use crate::domain::roll::node::StepName;

/// What is done about fleet rolls, and what becomes of their steps.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[schemars(tag = "do")]
pub enum RollAct {
    /// Begins a roll.
    StartRoll(Box<RollGiven>),
    /// How the stage of a node ends.
    StageResult {
        /// Of which roll.
        roll: Name,
        /// On which node.
        node: Name,
        /// `ok`, or anything else.
        outcome: String,
        /// What is said about it.
        #[serde(default)]
        message: Option<String>,
    },
    /// How a step ends; an early result waits for its step.
    StepResult {
        /// Of which roll.
        roll: Name,
        /// On which node.
        node: Name,
        /// Which.
        step: StepName,
        /// `ok`, or anything else.
        outcome: String,
        /// What is said about it.
        #[serde(default)]
        message: Option<String>,
    },
    /// What the probe that is out on a node comes to, and every later one.
    ProbeResult {
        /// Of which roll.
        roll: Name,
        /// On which node.
        node: Name,
        /// How.
        outcome: ProbeOutcome,
        /// What is said about it.
        #[serde(default)]
        message: Option<String>,
    },
    /// A person opens a gate.
    Approve(GateAct),
    /// A person keeps a gate shut.
    Deny(GateAct),
    /// A person stops a roll.
    Abort {
        /// Which.
        roll: Name,
    },
    /// Another revision takes the place of a roll.
    Displace {
        /// Which.
        roll: Name,
        /// By what.
        #[serde(default)]
        revision: Option<Name>,
    },
    /// A node makes no containers any more, and says Ready all the same.
    RuntimeWedged {
        /// Which.
        node: Name,
    },
    /// The registry is somewhere else from now on; null = nowhere.
    RegistryMoves {
        /// Where.
        to: Option<Name>,
    },
    /// A person has a node probed.
    Probe {
        /// Which.
        node: Name,
    },
    /// A person gives a node back.
    Uncordon {
        /// Which.
        node: Name,
    },
}

/// A roll. What the API takes goes to it as it is written.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RollGiven {
    /// What the file calls it.
    pub roll: Name,
    /// Whose; `kernel` where it is left out.
    #[serde(default)]
    pub project: Option<Name>,
    /// Which fleet; `fleet` where it is left out.
    #[serde(default)]
    pub target: Option<Name>,
    /// The image; that of the revision where it is left out.
    #[serde(default)]
    pub image: Option<Name>,
    /// Of which source.
    #[serde(default)]
    pub revision: Option<Name>,
    /// The node that goes first.
    #[serde(default)]
    pub canary: Option<Name>,
    /// The nodes, in order.
    #[serde(default)]
    pub nodes: Option<Vec<Name>>,
    /// Stages that run at the same time.
    #[serde(default, deserialize_with = "as_written")]
    pub stage_parallelism: Option<Value>,
    /// Nodes that roll at the same time.
    #[serde(default, deserialize_with = "as_written")]
    pub concurrency: Option<Value>,
    /// Gates after the canary.
    #[serde(default, deserialize_with = "as_written")]
    pub gates: Option<Value>,
    /// How long a node has to be back.
    #[serde(default, deserialize_with = "as_written")]
    pub settle_seconds: Option<Value>,
    /// The same for the canary.
    #[serde(default, deserialize_with = "as_written")]
    pub canary_settle_seconds: Option<Value>,
    /// How long rolled nodes are looked at in the end.
    #[serde(default, deserialize_with = "as_written")]
    pub soak_seconds: Option<Value>,
    /// Which workloads the gate judges.
    #[serde(default, deserialize_with = "as_written")]
    pub partition: Option<Value>,
    /// It takes the place of one that goes on.
    #[serde(default, deserialize_with = "as_written")]
    pub displace: Option<Value>,
}

/// A decision at a gate.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GateAct {
    /// Of which roll.
    pub roll: Name,
    /// Which; `canary` where it is left out.
    #[serde(default = "canary")]
    pub gate: String,
    /// The revision it was shown with; the one that waits where it is left out.
    #[serde(default)]
    pub revision: Option<Name>,
}

fn canary() -> String {
    "canary".to_owned()
}

/// What a probe comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProbeOutcome {
    /// Its container runs.
    Running,
    /// Its container cannot be made.
    CreateContainerError,
    /// Its image cannot be pulled.
    ImagePullError,
    /// The kubelet does not admit it.
    Rejected,
    /// Nothing happens.
    NeverStarted,
}
