//! A roll: one image on its way through one fleet.

use imbl::{OrdMap, Vector};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::ids::RollId;
use super::node::{NodeRoll, StepName};
use super::spec::RollSpec;

/// Where a roll is. Soaking is not an end (F55).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RollState {
    /// Nodes are staged, or one is in turn.
    Rolling,
    /// A person has to open a gate.
    Awaiting,
    /// Something is in its way; nothing disruptive begins meanwhile.
    Blocked,
    /// Every node is green and looked at for a while yet.
    Soaking,
    /// It went through.
    Succeeded,
    /// It stopped for good.
    Failed,
    /// A person stopped it.
    Aborted,
    /// A person kept a gate shut (F20).
    Denied,
    /// Another roll of the same target took its place (F53).
    Displaced,
}

impl RollState {
    /// As the API writes it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Rolling => "rolling",
            Self::Awaiting => "awaiting",
            Self::Blocked => "blocked",
            Self::Soaking => "soaking",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Aborted => "aborted",
            Self::Denied => "denied",
            Self::Displaced => "displaced",
        }
    }
}

/// A gate that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Awaiting {
    /// Which.
    pub gate: String,
    /// Since when: set once, whoever looks at it whenever (F39).
    pub since: Timestamp,
}

/// A gate a person opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    /// Which.
    pub gate: String,
    /// Since when it had waited.
    pub since: Timestamp,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub by: String,
}

/// What is in the way of a roll.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Blocked {
    /// One sentence that names the node, without anything that differs from one look to the next.
    pub reason: String,
    /// Since when.
    pub since: Timestamp,
}

/// How a roll ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum Ending {
    /// Every node is green and stayed so.
    Succeeded,
    /// It cannot go on.
    Failed {
        /// One sentence that names the node.
        reason: String,
    },
    /// A person stopped it.
    Aborted {
        /// Who.
        by: String,
        /// Why.
        reason: Option<String>,
    },
    /// A person kept a gate shut.
    Denied {
        /// Which.
        gate: String,
        /// Who.
        by: String,
        /// Why.
        reason: Option<String>,
    },
    /// Another one took its place.
    Displaced {
        /// Which.
        by: RollId,
    },
}

impl Ending {
    /// The state it leaves behind.
    pub fn state(&self) -> RollState {
        match self {
            Self::Succeeded => RollState::Succeeded,
            Self::Failed { .. } => RollState::Failed,
            Self::Aborted { .. } => RollState::Aborted,
            Self::Denied { .. } => RollState::Denied,
            Self::Displaced { .. } => RollState::Displaced,
        }
    }

    /// One sentence; none where it went through.
    pub fn reason(&self) -> Option<String> {
        let because = |reason: &Option<String>| reason.as_ref().map_or(String::new(), |why| format!(": {why}"));
        match self {
            Self::Succeeded => None,
            Self::Failed { reason } => Some(reason.clone()),
            Self::Aborted { by, reason } => Some(format!("aborted by {by}{}", because(reason))),
            Self::Denied { gate, by, reason } => Some(format!("the {gate} gate was denied by {by}{}", because(reason))),
            Self::Displaced { by } => Some(format!("displaced by roll {}", by.short())),
        }
    }
}

/// When and how a roll ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// When.
    pub at: Timestamp,
    /// How.
    pub ending: Ending,
}

/// A node whose turn came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnMark {
    /// Which.
    pub node: String,
    /// When.
    pub at: Timestamp,
}

/// Where a roll stands in its fleet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    /// Nodes of the fleet that are green.
    pub completed: usize,
    /// Nodes of the fleet.
    pub total: usize,
    /// The node in turn.
    pub node: Option<String>,
    /// Its step; `gate` while a person is waited for, `soak` at the end.
    pub phase: Option<String>,
}

/// One roll.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roll {
    /// Identity.
    pub id: RollId,
    /// Whose.
    pub project: String,
    /// Which fleet.
    pub target: String,
    /// The image.
    pub image: String,
    /// Of which source: what an approval is given for (F54).
    pub revision: String,
    /// What was asked for.
    pub spec: RollSpec,
    /// Who asked.
    pub by: String,
    /// When it began.
    pub started_at: Timestamp,
    /// Its place among the rolls there were.
    #[serde(default)]
    pub number: u64,
    /// Its nodes.
    pub nodes: OrdMap<String, NodeRoll>,
    /// Nodes whose turn came, in order.
    #[serde(default)]
    pub turns: Vector<TurnMark>,
    /// The digest that is rolled: what the first node was staged with (F21).
    #[serde(default)]
    pub digest: Option<String>,
    /// Where the registry was seen last (F28).
    #[serde(default)]
    pub registry: Option<String>,
    /// Gates that were opened, in order.
    #[serde(default)]
    pub approvals: Vector<Approval>,
    /// The gate it waits at.
    #[serde(default)]
    pub gate: Option<Awaiting>,
    /// What is in its way.
    #[serde(default)]
    pub blocked: Option<Blocked>,
    /// Since when every node is green.
    #[serde(default)]
    pub soaking_since: Option<Timestamp>,
    /// How it ended.
    #[serde(default)]
    pub ended: Option<Ended>,
    /// What went wrong with the last write to each object, until one succeeds.
    #[serde(default)]
    pub troubles: OrdMap<String, String>,
}

impl Roll {
    /// A new one, none of whose nodes was touched.
    pub fn new(id: RollId, project: &str, target: &str, revision: &str, spec: RollSpec, at: Timestamp) -> Self {
        let nodes = spec.all_nodes().into_iter().map(|node| (node.to_owned(), NodeRoll::default())).collect();
        Self {
            id,
            project: project.to_owned(),
            target: target.to_owned(),
            image: String::new(),
            revision: revision.to_owned(),
            spec,
            by: String::new(),
            started_at: at,
            number: 0,
            nodes,
            turns: Vector::new(),
            digest: None,
            registry: None,
            approvals: Vector::new(),
            gate: None,
            blocked: None,
            soaking_since: None,
            ended: None,
            troubles: OrdMap::new(),
        }
    }

    /// It has not ended.
    pub fn is_live(&self) -> bool {
        self.ended.is_none()
    }

    /// Where it is.
    pub fn state(&self) -> RollState {
        match (&self.ended, &self.gate, &self.blocked, &self.soaking_since) {
            (Some(ended), ..) => ended.ending.state(),
            (None, Some(_), ..) => RollState::Awaiting,
            (None, None, Some(_), _) => RollState::Blocked,
            (None, None, None, Some(_)) => RollState::Soaking,
            _ => RollState::Rolling,
        }
    }

    /// Why it stands still or stopped.
    pub fn reason(&self) -> Option<String> {
        let ended = self.ended.as_ref().map(|ended| ended.ending.reason());
        ended.unwrap_or_else(|| self.blocked.as_ref().map(|blocked| blocked.reason.clone()))
    }

    /// The node whose turn it is: picked, and not green yet. Nobody else is cordoned meanwhile (F23).
    pub fn in_turn(&self) -> Option<&str> {
        let last = self.turns.last().filter(|_| self.is_live())?;
        let green = self.nodes.get(&last.node).is_some_and(|node| node.is_past(StepName::Green));
        (!green).then_some(last.node.as_str())
    }

    /// Its turn came at some time.
    pub fn had_turn(&self, node: &str) -> bool {
        self.turns.iter().any(|turn| turn.node == node)
    }

    /// The gate that is to be opened next, where the canary is green and one is shut.
    pub fn next_gate(&self) -> Option<&str> {
        let canary = self.spec.canary.as_ref().and_then(|canary| self.nodes.get(canary))?;
        let gate = self.spec.gates.get(self.approvals.len())?;
        canary.is_past(StepName::Green).then_some(gate.as_str())
    }

    /// Nodes that are back, with what is known of them: they are looked at until the end of the soak (F13).
    pub fn rolled(&self) -> impl Iterator<Item = (&String, &NodeRoll)> {
        self.nodes.iter().filter(|(_, node)| node.back_since().is_some())
    }

    /// Until when rolled nodes are looked at; none = the roll goes on (F60).
    pub fn watched_until(&self) -> Option<Timestamp> {
        let ended = self.ended.as_ref()?;
        match &ended.ending {
            Ending::Succeeded => Some(ended.at),
            _ => Some(self.spec.soak_seconds.after(self.soaking_since.unwrap_or(ended.at))),
        }
    }

    /// Its rolled nodes are looked at.
    pub fn is_watching(&self, now: Timestamp) -> bool {
        self.watched_until().is_none_or(|until| now < until)
    }

    /// Where it stands in its fleet; the canary counts where the fleet names it (C-A4).
    pub fn progress(&self) -> Progress {
        let green = |node: &&String| self.nodes.get(*node).is_some_and(|node| node.is_past(StepName::Green));
        let turn = self.in_turn().and_then(|node| Some((node, self.nodes.get(node)?)));
        let step = turn.map(|(_, node)| match node.standing() {
            super::node::Standing::Running(step) | super::node::Standing::Next(step) => step.word().to_owned(),
            super::node::Standing::Over => StepName::Green.word().to_owned(),
        });
        let last = || self.turns.last().map(|turn| turn.node.clone()).filter(|_| self.gate.is_some());
        let phase = match (&step, &self.gate, self.soaking_since.filter(|_| self.is_live())) {
            (Some(_), ..) => step,
            (None, Some(_), _) => Some("gate".to_owned()),
            (None, None, Some(_)) => Some("soak".to_owned()),
            _ => None,
        };
        Progress {
            completed: self.spec.nodes.iter().filter(green).count(),
            total: self.spec.nodes.len(),
            node: turn.map(|(node, _)| node.to_owned()).or_else(last),
            phase,
        }
    }

    /// What people call it: its project and target.
    pub fn name(&self) -> String {
        format!("{}/{}", self.project, self.target)
    }
}
