//! Verbs of `when` about ticks, agents and machines.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::given::Agents;
use super::name::{Name, as_written, texts};

/// What agents do, and what is done to machines.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[schemars(tag = "do")]
pub enum AgentAct {
    /// One pass of the reconciler.
    Tick,
    /// One poll; never waits.
    Poll {
        /// Who asks.
        machine: Name,
    },
    /// One poll of each machine that is not silent.
    PollAll,
    /// How a run ended, under the generation last served.
    Result {
        /// Whose run.
        machine: Name,
        /// What ran; the current rollout's release where it is left out.
        #[serde(default)]
        release: Option<Name>,
        /// success, failed, timeout or canceled.
        outcome: Value,
        /// Id of the failed state.
        #[serde(default)]
        state: Option<String>,
        /// What the failed state said.
        #[serde(default)]
        message: Option<String>,
        /// How many states changed something.
        #[serde(default)]
        changed: Option<Value>,
        /// A drift run: it changed nothing.
        #[serde(default)]
        drift: bool,
    },
    /// Nothing of this machine reaches the server any more.
    AgentSilent {
        /// Which.
        machine: Name,
    },
    /// It is heard again.
    AgentBack {
        /// Which.
        machine: Name,
    },
    /// A machine gets a new system.
    Rebuild {
        /// Which.
        machine: Name,
        /// Baked into its image.
        #[serde(default)]
        version: Option<String>,
    },
    /// A machine joins.
    AddMachine(Newcomer),
    /// A machine is deleted.
    DeleteMachine {
        /// Which.
        machine: Name,
    },
    /// A machine changes its place; left out = unchanged, null = out.
    Assign {
        /// Which.
        machine: Name,
        /// Its tier.
        #[serde(default, deserialize_with = "as_written")]
        environment: Option<Value>,
        /// Its ring.
        #[serde(default, deserialize_with = "as_written")]
        ring: Option<Value>,
    },
    /// It cannot be rendered any more, from its next poll on.
    RenderError {
        /// Whose.
        machine: Name,
        /// What is missing.
        #[serde(deserialize_with = "texts")]
        #[schemars(schema_with = "super::name::texts_schema")]
        missing: Vec<String>,
    },
    /// It can be rendered again, from its next poll on.
    RenderOk {
        /// Whose.
        machine: Name,
    },
}

/// A machine that joins while the scenario runs.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Newcomer {
    /// Its id.
    pub id: String,
    /// Its host name; the id where it is left out.
    #[serde(default, deserialize_with = "as_written")]
    pub hostname: Option<Value>,
    /// Its tier.
    #[serde(default, deserialize_with = "as_written")]
    pub environment: Option<Value>,
    /// Its ring.
    #[serde(default, deserialize_with = "as_written")]
    pub ring: Option<Value>,
    /// Its Kubernetes node.
    #[serde(default, deserialize_with = "as_written")]
    pub node: Option<Value>,
    /// Stands for the hash of every release, 0..=99.
    #[serde(default)]
    #[schemars(range(max = 99))]
    pub bucket: Option<u8>,
    /// The version of its image.
    #[serde(default)]
    pub version: Option<String>,
    /// What differs from the agents of all machines.
    #[serde(default)]
    pub agent: Option<Agents>,
}
