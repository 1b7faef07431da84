//! A node within a roll: its steps with their times, what was staged on it, and what probes said of it.

use imbl::{OrdMap, Vector};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::span::Seconds;

/// Probes of a node the World keeps; older ones are read from the journal, `control/past/rolls.rs` (F57).
pub const PROBES_KEPT: usize = 50;

/// After a stage failed it is tried again this much later, in the node's own turn (F19).
pub const STAGE_AGAIN_AFTER: Seconds = Seconds(60);

/// What is done to a node, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepName {
    /// Its image is pulled; harmless, and ends before the cordon (F15, F18).
    Stage,
    /// Nothing new is scheduled to it.
    Cordon,
    /// What runs on it leaves, whatever budgets say (F26).
    Drain,
    /// The owner's Job boots it (F58).
    Boot,
    /// It is back, on another boot.
    Verify,
    /// It may be scheduled to again, where that was so before.
    Uncordon,
    /// It is proven green (F8).
    Green,
}

impl StepName {
    /// All of them, in order.
    pub const ALL: [Self; 7] =
        [Self::Stage, Self::Cordon, Self::Drain, Self::Boot, Self::Verify, Self::Uncordon, Self::Green];

    /// As the API writes it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stage => "stage",
            Self::Cordon => "cordon",
            Self::Drain => "drain",
            Self::Boot => "boot",
            Self::Verify => "verify",
            Self::Uncordon => "uncordon",
            Self::Green => "green",
        }
    }
}

/// How a step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    /// It was begun.
    Running,
    /// It is done.
    Done,
    /// There was nothing to do, or nothing that was ours to do.
    Skipped,
    /// It cannot be done.
    Failed,
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum StepEnding {
    /// It is done.
    Done,
    /// The image is there.
    Staged {
        /// As this digest (F21).
        digest: String,
    },
    /// Nothing was done.
    Skipped {
        /// Why.
        why: String,
    },
    /// It cannot be done.
    Failed {
        /// Why.
        why: String,
    },
}

/// A step that was begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRow {
    /// How it stands.
    pub state: StepState,
    /// When it was begun, the last time.
    pub started_at: Timestamp,
    /// When it ended.
    #[serde(default)]
    pub ended_at: Option<Timestamp>,
    /// Why it was skipped or failed.
    #[serde(default)]
    pub detail: Option<String>,
    /// How often it was begun.
    pub attempt: u32,
}

impl StepRow {
    /// Nothing is left to do.
    pub fn is_over(&self) -> bool {
        matches!(self.state, StepState::Done | StepState::Skipped)
    }
}

/// What a probe says of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// A container started: the runtime works.
    Proven,
    /// Containers cannot start.
    Broken,
    /// It says nothing about the runtime: an image that cannot be pulled, a pod the kubelet does not admit (F11).
    NotProven,
}

impl Verdict {
    /// As the API writes it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Broken => "broken",
            Self::NotProven => "not_proven",
        }
    }
}

/// A finding about the runtime of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What it says.
    pub verdict: Verdict,
    /// Why, in words.
    pub reason: String,
    /// When the probe was begun, or the pods were looked at.
    pub started_at: Timestamp,
    /// When it was judged.
    pub at: Timestamp,
    /// It is a look at what runs there, not a probe (F5).
    #[serde(default)]
    pub passive: bool,
}

/// A node within a roll.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeRoll {
    /// Steps that were begun.
    #[serde(default)]
    pub steps: OrdMap<StepName, StepRow>,
    /// What was staged, by digest.
    #[serde(default)]
    pub staged: Option<String>,
    /// Somebody had cordoned it before this roll touched it.
    #[serde(default)]
    pub was_cordoned: bool,
    /// The boot it was in before ours.
    #[serde(default)]
    pub boot_id: Option<String>,
    /// Findings since it is back, oldest first, at most `PROBES_KEPT`.
    #[serde(default)]
    pub findings: Vector<Finding>,
    /// Probes that were judged.
    #[serde(default)]
    pub probed: u64,
}

/// What is to be done next about a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// This step was begun.
    Running(StepName),
    /// This one is to be begun.
    Next(StepName),
    /// None is left.
    Over,
}

impl NodeRoll {
    /// A step, if it was begun.
    pub fn step(&self, step: StepName) -> Option<&StepRow> {
        self.steps.get(&step)
    }

    /// A step has nothing left to do.
    pub fn is_past(&self, step: StepName) -> bool {
        self.step(step).is_some_and(StepRow::is_over)
    }

    /// What is to be done next.
    pub fn standing(&self) -> Standing {
        let Some(first) = StepName::ALL.into_iter().find(|step| !self.is_past(*step)) else { return Standing::Over };
        match self.step(first) {
            Some(row) if row.state == StepState::Running => Standing::Running(first),
            _ => Standing::Next(first),
        }
    }

    /// When it was given back: findings from before say nothing (F6).
    pub fn back_since(&self) -> Option<Timestamp> {
        self.step(StepName::Uncordon).filter(|row| row.is_over()).and_then(|row| row.ended_at)
    }

    /// What was found last since it is back.
    pub fn last_finding(&self) -> Option<&Finding> {
        self.findings.last()
    }

    /// It was found broken, and nothing since says otherwise.
    pub fn broken(&self) -> Option<&Finding> {
        self.last_finding().filter(|finding| finding.verdict == Verdict::Broken)
    }

    /// How long it took from its first disruptive step, or its own pull, to its uncordon, and from there to green (F57).
    pub fn spans(&self, turn_at: Timestamp) -> [(&'static str, Option<Seconds>); 2] {
        let back = self.back_since();
        let green = self.step(StepName::Green).filter(|row| row.is_over()).and_then(|row| row.ended_at);
        let rolled = back.map(|back| Seconds::between(turn_at, back));
        let proven = back.zip(green).map(|(back, green)| Seconds::between(back, green));
        [("roll-node", rolled), ("green", proven)]
    }
}
