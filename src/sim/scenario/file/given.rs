//! `given`: the world as it is at the start.

use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;

use super::kura_given::{GatewayGiven, InstanceGiven, PodGiven, ServerGiven};
use super::moment::Moment;
use super::name::Name;
use super::place::Placed;
use crate::domain::release::Outcome;

/// The world at the start. What is left out has the defaults of the rules.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Given {
    /// The account's switches.
    pub account: AccountGiven,
    /// Tiers.
    pub environments: Vec<Placed<EnvironmentGiven>>,
    /// Rings.
    pub rings: Vec<Placed<RingGiven>>,
    /// Machines, in the order in which they poll.
    pub machines: Vec<Placed<MachineGiven>>,
    /// Releases.
    pub releases: Vec<Placed<ReleaseGiven>>,
    /// A rollout that is under way, or over.
    pub rollout: Option<Placed<RolloutGiven>>,
    /// What answers by itself.
    pub agents: Agents,
    /// The control plane's processes; left out = one server that does everything.
    pub processes: Option<Vec<Placed<ProcessGiven>>>,
    /// Nodes of the cluster; none = no cluster is connected.
    pub nodes: Vec<Placed<NodeGiven>>,
    /// Released Kura versions, in order of release.
    pub runtime_tags: Vec<Name>,
    /// Kura servers.
    pub servers: Vec<Placed<ServerGiven>>,
    /// Instances beside those of the servers, and more about those.
    pub instances: Vec<Placed<InstanceGiven>>,
    /// Gateways.
    pub gateways: Vec<Placed<GatewayGiven>>,
    /// Pods by name.
    pub pods: Vec<Placed<PodGiven>>,
    /// The registry of the fleet.
    pub registry: Option<Placed<RegistryGiven>>,
    /// How long steps of fleet rolls take that answer by themselves.
    pub pace: PaceGiven,
}

/// The registry.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegistryGiven {
    /// Where its one pod runs.
    pub node: String,
}

/// How long steps of fleet rolls take, in seconds.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PaceGiven {
    /// A pull (60).
    pub stage_seconds: Option<u64>,
    /// A drain (30).
    pub drain_seconds: Option<u64>,
    /// A boot (120).
    pub boot_seconds: Option<u64>,
    /// The owner's check (10).
    pub verify_seconds: Option<u64>,
    /// Until the container of a probe runs (2).
    pub probe_seconds: Option<u64>,
}

/// The account's switches.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AccountGiven {
    /// Start every new commit while nothing runs.
    pub auto_deploy: bool,
    /// Start the newest matching tag while nothing runs.
    pub track_config_tags: bool,
    /// Glob of the tags that are followed.
    pub config_tag_pattern: Option<String>,
}

/// A tier.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentGiven {
    /// Its id.
    pub slug: String,
    /// Its place in the path; left out or null = out of the path.
    #[serde(default)]
    pub promotion_order: Option<i64>,
    /// Held.
    #[serde(default)]
    pub paused: bool,
    /// Values for rendering.
    #[serde(default)]
    pub config_values: BTreeMap<String, Value>,
}

/// A ring.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RingGiven {
    /// Its id.
    pub slug: String,
    /// 0 = no cap.
    #[serde(default)]
    pub max_in_flight: u32,
    /// How long a first success keeps its slot.
    #[serde(default)]
    pub min_settle_seconds: u64,
    /// How long a slot may be held; 0 = for ever.
    #[serde(default)]
    pub stall_timeout_seconds: u64,
    /// Counted failures that halt it.
    #[serde(default = "ten")]
    pub failure_count_threshold: u32,
    /// Time-based election; left out = everybody at once.
    #[serde(default)]
    pub wave_ladder: Option<Vec<RungGiven>>,
    /// Held.
    #[serde(default)]
    pub paused: bool,
}

fn ten() -> u32 {
    10
}

/// A step of a ladder.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RungGiven {
    /// Seconds since the environment opened.
    pub after_seconds: u64,
    /// 1..=100.
    pub pct: u8,
}

/// A machine.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MachineGiven {
    /// Its id.
    pub id: String,
    /// Its host name; the id where it is left out.
    #[serde(default)]
    pub hostname: Option<String>,
    /// Its tier; without one it is out of scope.
    #[serde(default)]
    pub environment: Option<String>,
    /// Its ring; without one it is out of scope.
    #[serde(default)]
    pub ring: Option<String>,
    /// Stands for the hash of every release, 0..=99.
    #[serde(default)]
    #[schemars(range(max = 99))]
    pub bucket: Option<u8>,
    /// Skipped.
    #[serde(default)]
    pub paused: bool,
    /// Its Kubernetes node; the host name where it is left out.
    #[serde(default)]
    pub node: Option<String>,
    /// The version of its image.
    #[serde(default)]
    pub version: Option<String>,
    /// The release it converged on.
    #[serde(default)]
    pub applied: Option<String>,
    /// When it first succeeded on that release, or on the rollout's where nothing is applied.
    #[serde(default)]
    pub first_success: Option<Moment>,
    /// What differs from the agents of all machines.
    #[serde(default)]
    pub agent: Option<Agents>,
}

/// A release.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReleaseGiven {
    /// Its id.
    pub id: String,
    /// Deadline of one apply; 0 = none.
    #[serde(default)]
    pub timeout_seconds: u64,
    /// The Kubernetes version it aims at.
    #[serde(default)]
    pub target_version: Option<String>,
    /// Withdrawn.
    #[serde(default)]
    pub yanked: bool,
}

/// A rollout that is under way at the start, or over.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RolloutGiven {
    /// Its id; r1 where it is left out.
    #[serde(default)]
    pub id: Option<String>,
    /// What it ships.
    pub release: Placed<String>,
    /// Where it is.
    #[serde(default)]
    pub status: StatusWord,
    /// Superseded by force only.
    #[serde(default)]
    pub protected: bool,
    /// The environment it stands on; the lowest where it is left out.
    #[serde(default)]
    pub cursor: Option<Placed<String>>,
    /// Slots that are held.
    #[serde(default)]
    pub leases: Vec<LeaseGiven>,
    /// Halted rings, with the reason.
    #[serde(default)]
    pub halted: BTreeMap<String, String>,
    /// Counted failures of rings.
    #[serde(default)]
    pub failures: BTreeMap<String, u32>,
}

/// Where a rollout is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StatusWord {
    /// It runs.
    #[default]
    Running,
    /// Every environment is behind it.
    Completed,
    /// It was halted.
    Halted,
    /// It was displaced.
    Superseded,
}

/// A slot that is held.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeaseGiven {
    /// Whose.
    pub machine: Placed<String>,
    /// Since when; the start where it is left out.
    #[serde(default)]
    pub granted: Moment,
}

/// A node of the cluster.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeGiven {
    /// Its name.
    pub name: String,
    /// Its kubelet says so.
    #[serde(default = "yes")]
    pub ready: bool,
    /// Cordoned.
    #[serde(default)]
    pub unschedulable: bool,
    /// Its labels.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Version of its kubelet.
    #[serde(default)]
    pub version: Option<String>,
    /// When it booted.
    #[serde(default)]
    pub boot: Option<Moment>,
}

fn yes() -> bool {
    true
}

/// A process of the control plane.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProcessGiven {
    /// Its id; `spawn` names it by `process` instead.
    pub id: Option<String>,
    /// A server, or a console with an embedded control plane.
    pub kind: ProcessKind,
    /// The journal it stands on; there is one, `main`.
    pub journal: String,
    /// It stands for the reconciler's seat; the first one in the file holds it from the start.
    pub seat: bool,
    /// The cluster it looks at, `main`; null = none.
    pub cluster: Option<String>,
    /// Agents reach it.
    pub agents: bool,
}

impl Default for ProcessGiven {
    fn default() -> Self {
        let main = || "main".to_owned();
        let (kind, cluster) = (ProcessKind::Server, Some(main()));
        Self { id: None, kind, journal: main(), seat: true, cluster, agents: true }
    }
}

/// What a process is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProcessKind {
    /// A control plane.
    #[default]
    Server,
    /// A console with an embedded control plane.
    Console,
}

/// The bare word `none`, or the habits of agents.
#[derive(Debug, Clone)]
pub enum Agents {
    /// Nothing answers by itself.
    None,
    /// They do.
    Automatic(Habits),
}

impl Default for Agents {
    fn default() -> Self {
        Self::Automatic(Habits::default())
    }
}

/// How agents behave; what is left out is as for all machines, or the default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Habits {
    /// Between two polls (10).
    pub poll_seconds: Option<u64>,
    /// The first poll (0s).
    pub first_poll: Option<Moment>,
    /// From a nudge to the poll it causes (0).
    pub nudge_seconds: Option<u64>,
    /// From an assignment to its result (600).
    pub apply_seconds: Option<u64>,
    /// How runs end (success).
    pub outcome: Option<OutcomeWord>,
    /// Further runs after a failed one (0).
    pub retries: Option<u32>,
    /// From a failed run to the next (60).
    pub retry_seconds: Option<u64>,
    /// From a success to the next drift run; 0 = none (0).
    pub drift_seconds: Option<u64>,
}

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutcomeWord {
    /// Converged.
    Success,
    /// A state failed.
    Failed,
    /// Killed at the deadline.
    Timeout,
    /// Withdrawn while it ran.
    Canceled,
}

impl From<OutcomeWord> for Outcome {
    fn from(word: OutcomeWord) -> Self {
        match word {
            OutcomeWord::Success => Self::Success,
            OutcomeWord::Failed => Self::Failed,
            OutcomeWord::Timeout => Self::Timeout,
            OutcomeWord::Canceled => Self::Canceled,
        }
    }
}

impl<'de> Deserialize<'de> for Agents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AgentsVisitor)
    }
}

struct AgentsVisitor;

impl<'de> Visitor<'de> for AgentsVisitor {
    type Value = Agents;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the word none or a mapping of habits")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Agents, E> {
        match word {
            "none" => Ok(Agents::None),
            _ => Err(E::invalid_value(serde::de::Unexpected::Str(word), &self)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Agents, A::Error> {
        Habits::deserialize(MapAccessDeserializer::new(map)).map(Agents::Automatic)
    }
}

impl JsonSchema for Agents {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Agents".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let habits = generator.subschema_for::<Habits>();
        json_schema!({ "anyOf": [{ "const": "none" }, habits] })
    }
}
