//! The fleet as configured: account settings, environments, rings and machines.

use std::collections::BTreeMap;

use imbl::OrdMap;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::change::LeaseEnd;
use super::ids::{EnvironmentId, Generation, MachineId, ReleaseId, RingId, RolloutId};
use super::release::{Digest, Outcome};
use super::span::Seconds;

/// Values that a release may refer to by name; never secrets.
pub type ConfigValues = BTreeMap<String, serde_json::Value>;

/// What an operator may switch for the whole account (R7, R119).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Account {
    /// Start every new commit on the configured ref while nothing runs (R169).
    pub auto_deploy: bool,
    /// Start the newest tag that matches the pattern while nothing runs (R169).
    pub track_config_tags: bool,
    /// Glob for the tags that are followed; read-only here (R119).
    pub config_tag_pattern: Option<String>,
}

/// Switches as they were before somebody turned one of them off: what a window puts back when it is over (R121).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchedOff {
    /// When the first of them was turned off.
    pub at: Timestamp,
    /// By whom.
    pub by: String,
    /// It was on.
    pub auto_deploy: bool,
    /// It was on.
    pub track_config_tags: bool,
}

impl SwitchedOff {
    /// Switches that were on and are off in `account`, by their names in the API.
    pub fn missing(&self, account: &Account) -> Vec<&'static str> {
        [
            ("auto_deploy", self.auto_deploy && !account.auto_deploy),
            ("track_config_tags", self.track_config_tags && !account.track_config_tags),
        ]
        .into_iter()
        .filter_map(|(name, missing)| missing.then_some(name))
        .collect()
    }
}

/// Who stopped something, when and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pause {
    /// Since when.
    pub at: Timestamp,
    /// The person who paused it.
    pub by: String,
    /// In that person's words.
    pub reason: Option<String>,
}

/// A tier of machines. The cursor walks the tiers by `(promotion_order, slug)` (R77).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// Identity.
    pub id: EnvironmentId,
    /// For people.
    pub name: String,
    /// Immutable, unique in the account.
    pub slug: String,
    /// Place in the promotion path, low to high; none = out of the path (R77).
    pub promotion_order: Option<i64>,
    /// Values for rendering.
    #[serde(default)]
    pub config_values: ConfigValues,
    /// Set while the whole tier is held (R104-R109).
    pub paused: Option<Pause>,
}

/// One step of a wave ladder: from `after_seconds` on, `pct` per cent of the buckets are elected (R70).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rung {
    /// Seconds since the environment opened.
    pub after_seconds: u64,
    /// 1..=100.
    pub pct: u8,
}

/// What serialises a ring; every zero switches its brake off (R1-R8).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RingSettings {
    /// For people.
    pub name: String,
    /// Open slots per (ring, environment); 0 = no cap (R1).
    pub max_in_flight: u32,
    /// How long a first success keeps occupying its slot (R2, R40).
    pub min_settle_seconds: Seconds,
    /// How long a lease may be held before the ring halts; 0 = for ever (R3, R49).
    pub stall_timeout_seconds: Seconds,
    /// Counted failures that halt the ring; at least 1 (R5).
    pub failure_count_threshold: u32,
    /// Time-based election; never empty (R6, R76).
    pub wave_ladder: Vec<Rung>,
    /// Values for rendering.
    #[serde(default)]
    pub config_values: ConfigValues,
}

impl RingSettings {
    /// The defaults: a ring that converges its whole wave at once (R8).
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            max_in_flight: 0,
            min_settle_seconds: Seconds(0),
            stall_timeout_seconds: Seconds(0),
            failure_count_threshold: 10,
            wave_ladder: vec![Rung { after_seconds: 0, pct: 100 }],
            config_values: ConfigValues::new(),
        }
    }
}

/// A partition of machines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ring {
    /// Identity.
    pub id: RingId,
    /// Immutable, unique in the account (R128).
    pub slug: String,
    /// The brakes.
    pub settings: RingSettings,
    /// Set while the ring is held (R104-R109).
    pub paused: Option<Pause>,
}

impl Ring {
    /// True where leases are granted at all (R18).
    pub fn is_capped(&self) -> bool {
        self.settings.max_in_flight > 0
    }
}

/// A slot, recorded when an assignment was served to a machine of a capped ring (R18).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The rollout it belongs to.
    pub rollout: RolloutId,
    /// When the assignment was served, or when a cap adopted the machine (R29, R174).
    pub granted_at: Timestamp,
    /// Seconds spent under a ring or environment pause that is over; they do not age the stall timer (R54).
    pub frozen: Seconds,
    /// The content rendered at the grant; the holder keeps it (R17).
    pub content: Digest,
}

/// Proof that a machine converged on a release (R79, R130).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// The release of the last success.
    pub release: ReleaseId,
    /// When it was reported.
    pub at: Timestamp,
}

/// The last result that was filed for the current release of a machine (R130, R131).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastResult {
    /// Which release ran.
    pub release: ReleaseId,
    /// Which generation it was served in.
    pub generation: Generation,
    /// How it ended; never `canceled` (R57).
    pub outcome: Outcome,
    /// When it was reported.
    pub at: Timestamp,
    /// Id of the first failing state, where one was named.
    pub failed_state: Option<String>,
    /// It failed in the same state before the last reset: nothing was fixed in between (B18 D8).
    #[serde(default)]
    pub repeats: bool,
}

/// An arc that was withdrawn before it succeeded: its node may be left cordoned (R92, R113).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interruption {
    /// When the lease ended.
    pub at: Timestamp,
    /// Why.
    pub cause: LeaseEnd,
    /// Of which release.
    pub release: ReleaseId,
}

/// A render that failed: no assignment could be made (R132, R148).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenderError {
    /// The generation it was rendered for; a reset clears the mark (R173).
    pub generation: Generation,
    /// Names of the variables and secrets that are missing, sorted.
    pub missing: Vec<String>,
    /// When it was first seen.
    pub at: Timestamp,
}

/// The uncapped counterpart of a lease: served in this generation, so served again (R17).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Served {
    /// Generation of the assignment.
    pub generation: Generation,
    /// The content rendered for it.
    pub content: Digest,
    /// When.
    pub at: Timestamp,
}

/// Counted failures of one machine in one generation (R58).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failures {
    /// A reset starts again at zero (R59).
    pub generation: Generation,
    /// How many.
    pub count: u32,
}

/// How many runs of a machine are remembered, so that a report that is sent again counts once.
pub const RUNS_REMEMBERED: usize = 8;

/// A machine and everything the control plane remembers of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Identity; a machine that returns with another one inherits nothing.
    pub id: MachineId,
    /// For people.
    pub hostname: String,
    /// Name of its Kubernetes node.
    pub node: String,
    /// Its tier; none = out of scope (R12).
    pub environment: Option<EnvironmentId>,
    /// Its ring; none = out of scope (R12).
    pub ring: Option<RingId>,
    /// Stands for the hash of every release, where a scenario pins it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bucket: Option<u8>,
    /// Version its agent reported at the last rebuild, where known.
    #[serde(default)]
    pub version: Option<String>,
    /// Set while the operator skips it (R104-R110).
    pub paused: Option<Pause>,
    /// The slot it holds.
    pub lease: Option<Lease>,
    /// Set once it was served in an uncapped ring.
    pub served: Option<Served>,
    /// The release it has converged on.
    pub applied: Option<Applied>,
    /// When it first succeeded on each release; anchors the settle window for good (R40, R42, R43).
    #[serde(default)]
    pub first_success: OrdMap<ReleaseId, Timestamp>,
    /// The last counted result.
    pub last_result: Option<LastResult>,
    /// The last failed render.
    pub render_error: Option<RenderError>,
    /// The arc it was taken out of, until it succeeds again.
    #[serde(default)]
    pub interrupted: Option<Interruption>,
    /// When it was reimaged, until it succeeds again (R152).
    #[serde(default)]
    pub rebuilt_at: Option<Timestamp>,
    /// How often it was reimaged: tells the runs of one system from those of the next (R153). Zero is not written, so
    /// that what was sealed before there was such a number still has the same text.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rebuilds: u32,
    /// When it last came into a queue other than by a start: it joined, moved, was unpaused or flapped (B18 row 6).
    #[serde(default)]
    pub joined_at: Option<Timestamp>,
    /// Counted failures of the last generation that had one.
    #[serde(default)]
    pub failures: Option<Failures>,
    /// When its last reported runs began, by its own clock.
    #[serde(default)]
    pub recent_runs: Vec<Timestamp>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Machine {
    /// A new machine that has proven nothing.
    pub fn new(id: MachineId, hostname: &str) -> Self {
        Self {
            id,
            hostname: hostname.to_owned(),
            node: hostname.to_owned(),
            environment: None,
            ring: None,
            bucket: None,
            version: None,
            paused: None,
            lease: None,
            served: None,
            applied: None,
            first_success: OrdMap::new(),
            last_result: None,
            render_error: None,
            interrupted: None,
            rebuilt_at: None,
            rebuilds: 0,
            joined_at: None,
            failures: None,
            recent_runs: Vec::new(),
        }
    }

    /// Done = the applied marker is this release and the latest result for it is a success (R130).
    pub fn is_done(&self, release: ReleaseId) -> bool {
        self.applied.is_some_and(|a| a.release == release)
            && self.last_result.as_ref().is_none_or(|r| r.release != release || r.outcome == Outcome::Success)
    }

    /// Both the tier and the ring, without which a machine is out of scope (R12).
    pub fn place(&self) -> Option<(EnvironmentId, RingId)> {
        Some((self.environment?, self.ring?))
    }
}
