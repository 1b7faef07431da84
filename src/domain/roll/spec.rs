//! What a person wants of a roll: where, in which order, with which brakes.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::kura::object::Stamp;
use super::super::span::Seconds;
use super::partition::Partition;
use super::probe::{PROBE_AGAIN_AFTER, START_DEADLINE};

/// Nodes a roll may have.
pub const NODES_MAX: usize = 500;

/// Stages that run at the same time where nothing else is said: the registry is one machine (F22).
pub const STAGE_PARALLELISM: u32 = 3;

/// Stages that may be asked to run at the same time.
pub const STAGE_PARALLELISM_MAX: u32 = 50;

/// Gates a roll may have.
pub const GATES_MAX: usize = 5;

/// How long rolled nodes are looked at after the last one is green (C-A6).
pub const SOAK: Seconds = Seconds(30 * 60);

/// How long a probe is given to start at least: a tick, and a kubelet that is not asleep.
pub const PROBE_START_MIN: Seconds = Seconds(5);

/// How long a probe may be given to start: one that is given longer leaves a wedge unseen for as long (F13).
pub const PROBE_START_MAX: Seconds = Seconds(10 * 60);

/// A node that is not green this long after its dwell is over ends the roll (F11).
pub const GATE_DEADLINE: Seconds = Seconds(30 * 60);

/// How long a node may be given to become green.
pub const GATE_DEADLINE_MAX: Seconds = Seconds(24 * 60 * 60);

/// The one gate of a roll that names none.
pub const CANARY_GATE: &str = "canary";

/// The image of a probe: small, and on every node already (F9).
pub const PROBE_IMAGE: &str = "registry.k8s.io/pause:3.10";

/// Labels by which the pod of a control plane is known.
pub const CONTROL_PLANE: [(&str, &str); 2] =
    [("app.kubernetes.io/name", "kura-console"), ("app.kubernetes.io/component", "control-plane")];

/// A label and its value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Selector {
    /// The name of the label.
    pub label: String,
    /// Its value.
    pub value: String,
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.label, self.value)
    }
}

impl Selector {
    /// This label with this value.
    pub fn new(label: &str, value: &str) -> Self {
        Self { label: label.to_owned(), value: value.to_owned() }
    }

    /// An object carries it.
    pub fn matches(&self, stamp: &Stamp) -> bool {
        stamp.label(&self.label) == Some(&self.value)
    }
}

/// What a roll is to do. What is left out has the defaults.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RollSpec {
    /// The node that goes first; none = no canary, and no gate.
    pub canary: Option<String>,
    /// The nodes, in the order they are to go. The canary counts as one of them only where it is named here too (C-A4).
    pub nodes: Vec<String>,
    /// Stages that run at the same time (3); 0 = every node pulls in its own turn.
    pub stage_parallelism: u32,
    /// Nodes that roll at the same time (1); anything else is refused (F56).
    pub concurrency: u32,
    /// Gates that a person opens one after the other once the canary is green.
    pub gates: Vec<String>,
    /// How long a node has to be back before it can be green, proven or not (F14).
    pub settle_seconds: Seconds,
    /// The same for the canary; `settle_seconds` where it is left out.
    pub canary_settle_seconds: Option<Seconds>,
    /// How long rolled nodes are looked at after the last one is green (1800).
    pub soak_seconds: Seconds,
    /// How the pods of the registry are known; none = nothing here pulls from a registry of this cluster.
    pub registry: Option<Selector>,
    /// Which workloads the gate judges; none = nodes, fingerprints and probes only (F31).
    pub partition: Option<Partition>,
    /// `spec.template.spec` of the Job that boots a node, as the target's owner supplies it (F58).
    pub boot: Option<Value>,
    /// The same for the Job that verifies it; none = Ready after another boot is all that is asked for.
    pub verify: Option<Value>,
    /// The image of a probe.
    pub probe_image: String,
    /// How long the container of a probe may take to start (60); later than that its node's runtime is broken (F11).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_start_seconds: Option<Seconds>,
    /// How long a node may take to become green once its dwell is over (1800); later than that the roll has failed (F11).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub green_deadline_seconds: Option<Seconds>,
}

impl Default for RollSpec {
    fn default() -> Self {
        Self {
            canary: None,
            nodes: Vec::new(),
            stage_parallelism: STAGE_PARALLELISM,
            concurrency: 1,
            gates: vec![CANARY_GATE.to_owned()],
            settle_seconds: Seconds(0),
            canary_settle_seconds: None,
            soak_seconds: SOAK,
            registry: Some(Selector::new("app.kubernetes.io/name", "zot")),
            partition: None,
            boot: None,
            verify: None,
            probe_image: PROBE_IMAGE.to_owned(),
            probe_start_seconds: None,
            green_deadline_seconds: None,
        }
    }
}

impl RollSpec {
    /// Every node once, the canary first.
    pub fn all_nodes(&self) -> Vec<&str> {
        let others = self.nodes.iter().filter(|node| Some(*node) != self.canary.as_ref());
        self.canary.iter().chain(others).map(String::as_str).collect()
    }

    /// How long the container of a probe may take to start (F11).
    pub fn probe_start(&self) -> Seconds {
        self.probe_start_seconds.unwrap_or(START_DEADLINE)
    }

    /// How long a node may take to become green once its dwell is over (F11).
    pub fn green_deadline(&self) -> Seconds {
        self.green_deadline_seconds.unwrap_or(GATE_DEADLINE)
    }

    /// While somebody looks after it, a rolled node is never longer without a probe that was judged (F7, F13).
    pub fn probed_within(&self) -> Seconds {
        Seconds(PROBE_AGAIN_AFTER.0.saturating_add(self.probe_start().0))
    }

    /// How long this node has to be back.
    pub fn settle(&self, node: &str) -> Seconds {
        let canary = self.canary.as_deref() == Some(node);
        self.canary_settle_seconds.filter(|_| canary).unwrap_or(self.settle_seconds)
    }
}
