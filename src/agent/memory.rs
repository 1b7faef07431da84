//! What the agent remembers across restarts: the content of its state file.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::domain::ids::MachineId;
use crate::domain::input::Edition;
use crate::domain::release::Digest;
use crate::domain::span::Seconds;
use crate::wire::agent::ReportBody;

/// The form of the state file that this program reads and writes.
pub const MEMORY_VERSION: u32 = 1;

/// Reports that wait for a control plane that is away. Beyond it the oldest gives way: the newest say how things are.
pub const REPORTS_MAX: usize = 50;

/// Everything an agent knows. Contents lie beside it, by digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// `MEMORY_VERSION`.
    pub version: u32,
    /// Whose memory it is.
    pub machine: MachineId,
    /// What is served to this machine, as last heard.
    #[serde(default)]
    pub current: Option<Offer>,
    /// What the machine is converged on; none as soon as a run of anything ends without success.
    #[serde(default)]
    pub applied: Option<Applied>,
    /// Failed runs of the newest edition that had some.
    #[serde(default)]
    pub trouble: Option<Trouble>,
    /// The last release that succeeded (R62).
    #[serde(default)]
    pub good: Option<Offer>,
    /// The run in flight.
    #[serde(default)]
    pub run: Option<Run>,
    /// When the last run began; the next one begins later, since that instant is its name.
    #[serde(default)]
    pub last_run_at: Option<Timestamp>,
    /// Reports that nobody has acknowledged, oldest first.
    #[serde(default)]
    pub reports: Vec<ReportBody>,
    /// The reimaging this machine was last told about (R152).
    #[serde(default)]
    pub rebuilt: Option<Rebuilt>,
}

/// What a machine is to converge on, without its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// What it is known by.
    pub edition: Edition,
    /// Of the content.
    pub digest: Digest,
    /// Deadline of one run; 0 = none (R4).
    pub timeout_seconds: Seconds,
    /// How often the machine was reimaged until it was served; it goes back with the report (R153).
    #[serde(default)]
    pub rebuilds: Option<u32>,
}

/// A success, and when it is to be proven again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// What succeeded, in the generation it is served in now.
    pub edition: Edition,
    /// Of the content that succeeded.
    pub digest: Digest,
    /// True once the control plane has answered a poll after it took the report, without a new generation: only then
    /// is it sure to count the machine as done (R175).
    pub confirmed: bool,
    /// When the next drift run is due; none = never.
    pub drift_at: Option<Timestamp>,
}

/// What went wrong in an edition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trouble {
    /// Where.
    pub edition: Edition,
    /// Failed runs since the last success.
    pub failures: u32,
    /// What is to be done about it.
    pub remedy: Remedy,
}

/// Retry, then latch (R63).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// Once more at this instant.
    RetryAt(Timestamp),
    /// Nothing, until a new generation is served.
    Latched {
        /// The last known good has had its one run (R62).
        good_tried: bool,
    },
}

/// Why something runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunKind {
    /// To get where the assignment wants the machine.
    Arc,
    /// To stay there.
    Drift,
    /// To get back to the last release that succeeded; nobody is told (R62).
    LastGood,
}

impl RunKind {
    /// The word for it in `KURA_RUN` and in the log.
    pub fn word(self) -> &'static str {
        match self {
            Self::Arc => "arc",
            Self::Drift => "drift",
            Self::LastGood => "last-good",
        }
    }
}

/// A run in flight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Why.
    pub kind: RunKind,
    /// Of what.
    pub offer: Offer,
    /// Names the run: no two of a machine begin at the same instant.
    pub started_at: Timestamp,
    /// Its process group, once there is one.
    #[serde(default)]
    pub process: Option<ProcessMark>,
}

/// Tells a process group from a later one that happens to have its number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessMark {
    /// Number of the leader and of the group.
    pub pid: i32,
    /// When the leader started, in clock ticks after the boot.
    pub start_ticks: u64,
    /// Which boot.
    pub boot: String,
}

/// A reimaging.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rebuilt {
    /// The version baked into the image.
    pub version: String,
    /// The control plane knows.
    pub told: bool,
}

impl Memory {
    /// Of a machine that has never done anything.
    pub fn new(machine: MachineId) -> Self {
        Self {
            version: MEMORY_VERSION,
            machine,
            current: None,
            applied: None,
            trouble: None,
            good: None,
            run: None,
            last_run_at: None,
            reports: Vec::new(),
            rebuilt: None,
        }
    }

    /// The contents it may still need.
    pub fn digests(&self) -> Vec<&Digest> {
        let run = self.run.as_ref().map(|r| &r.offer);
        [self.current.as_ref(), self.good.as_ref(), run].into_iter().flatten().map(|offer| &offer.digest).collect()
    }

    /// The machine was reimaged: forgets what the old system proved (R152). False where it knows of this one already.
    pub fn reimage(&mut self, version: &str) -> bool {
        if self.rebuilt.as_ref().is_some_and(|known| known.version == version) {
            return false;
        }
        let last_run_at = self.last_run_at;
        let rebuilt = Some(Rebuilt { version: version.to_owned(), told: false });
        *self = Self { last_run_at, rebuilt, ..Self::new(self.machine) };
        true
    }

    /// What is served, by name.
    pub fn edition(&self) -> Option<Edition> {
        self.current.as_ref().map(|offer| offer.edition)
    }
}
