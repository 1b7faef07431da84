//! What a person wants of a roll: where, in which order, with which brakes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::kura::object::Stamp;
use super::super::span::Seconds;
use super::partition::Partition;

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
        }
    }
}

impl RollSpec {
    /// Every node once, the canary first.
    pub fn all_nodes(&self) -> Vec<&str> {
        let others = self.nodes.iter().filter(|node| Some(*node) != self.canary.as_ref());
        self.canary.iter().chain(others).map(String::as_str).collect()
    }

    /// How long this node has to be back.
    pub fn settle(&self, node: &str) -> Seconds {
        let canary = self.canary.as_deref() == Some(node);
        self.canary_settle_seconds.filter(|_| canary).unwrap_or(self.settle_seconds)
    }
}
