//! Verbs of `when` about processes and what goes wrong with them.

use schemars::JsonSchema;
use serde::Deserialize;

use super::given::ProcessGiven;
use super::moment::Moment;

/// What happens to processes, clocks, stores and nodes.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[schemars(tag = "do")]
pub enum FaultAct {
    /// The process ends where it stands.
    Crash,
    /// It is there again, with nothing but the journal.
    Restart,
    /// A new process.
    Spawn(ProcessGiven),
    /// Nothing in the process goes on.
    Freeze,
    /// It goes on.
    Thaw,
    /// The process takes the reconciler's seat.
    TakeSeat,
    /// The process gives it back and stands for it no more.
    LeaveSeat,
    /// Two ends do not reach each other.
    Partition {
        /// The process.
        from: String,
        /// The other end.
        to: FarEnd,
        /// When they reach each other again.
        until: Moment,
    },
    /// The wall clock of the process jumps.
    ClockJump {
        /// How far.
        by: Moment,
    },
    /// The next append goes wrong.
    JournalFault {
        /// How.
        next: Wrong,
    },
    /// A node of the cluster changes.
    Node {
        /// Which.
        name: String,
        /// Its kubelet says so.
        #[serde(default)]
        ready: Option<bool>,
        /// Cordoned.
        #[serde(default)]
        unschedulable: Option<bool>,
        /// It is gone.
        #[serde(default)]
        gone: bool,
    },
}

/// What a process may be cut off from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FarEnd {
    /// The journal, and the heartbeat beside it.
    Journal,
    /// The cluster.
    Cluster,
    /// The agents.
    Agents,
}

/// How an append goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Wrong {
    /// Refused as if somebody had been faster.
    Conflict,
    /// The store fails; nothing is written.
    Error,
    /// It is written, and the answer gets lost.
    LostAnswer,
}
