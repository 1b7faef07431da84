//! What the core is asked to decide. An input says who asks what, never what changed.

use std::collections::BTreeSet;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::change::{Cause, Change, Entry, Level};
use super::fleet::{ConfigValues, Rung};
use super::ids::{EnvironmentId, Generation, MachineId, ReleaseId, RingId, RolloutId, SecretVersion};
use super::keys::request_of;
use super::kura::object::ObjectRef;
use super::kura::step::Ran;
use super::kura::verb::KuraVerb;
use super::release::{Contract, Digest, Outcome};
use super::roll::verb::RollVerb;
use super::span::Seconds;
use super::world::World;

/// Everything that can happen to a World.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// The reconciler's pass over the whole world (R89).
    Tick {
        /// Identity of the rollout, if an unattended starter begins one in this pass (R180).
        fresh: RolloutId,
    },
    /// An agent asks for its assignment (R17).
    Poll(Poll),
    /// An agent says how a run ended.
    Report(Report),
    /// An agent says that its machine was reimaged (R152).
    Rebuilt {
        /// Which machine.
        machine: MachineId,
        /// Version baked into its image.
        version: Option<String>,
    },
    /// A commit arrived on the configured ref: built, and started if the account wants that and nothing runs (R169).
    CommitArrived {
        /// Identity of the rollout, if one comes of it.
        id: RolloutId,
        /// What was built from it.
        release: ReleaseId,
    },
    /// Somebody began to follow a branch: the commit it leads to now is where new ones are told from old ones (R169).
    CommitFound {
        /// Name of the branch.
        git_ref: String,
        /// In full.
        commit: String,
    },
    /// A tag arrived; the sequencer starts the newest one that matches once nothing runs (R169).
    TagArrived {
        /// What was built from it.
        release: ReleaseId,
        /// When the tag was made, where that is known: one that is older than the newest is passed over.
        made_at: Option<Timestamp>,
    },
    /// Steps were carried out, or the cluster looks otherwise than before.
    Seen {
        /// What came of steps; empty where nothing was done.
        ran: Vec<Ran>,
        /// Objects that were written to since the last tick.
        tried: BTreeSet<ObjectRef>,
    },
    /// A person acts.
    Verb(Order),
    /// A process wants the reconciler's seat.
    TakeSeat {
        /// Its name.
        holder: String,
        /// Agents reach it.
        agents: bool,
    },
}

/// A release in a generation: what an assignment is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edition {
    /// What.
    pub release: ReleaseId,
    /// In which generation it was served.
    pub generation: Generation,
}

/// What the shell could render for a machine and the running release before it asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rendered {
    /// The Vault has it under this digest.
    Content(Digest),
    /// Variables or secrets that do not exist, sorted.
    Missing(Vec<String>),
    /// Nothing runs, so nothing was rendered.
    Nothing,
}

/// A poll: heartbeat, and the moment at which a lease is granted (R18).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Poll {
    /// Who asks.
    pub machine: MachineId,
    /// What it says it has or runs.
    pub have: Option<Edition>,
    /// For the release that `release` names.
    pub rendered: Rendered,
    /// The release `rendered` was made for; a poll that was outrun by a start is asked to come again.
    pub release: Option<ReleaseId>,
}

/// How a run ended, as far as decisions need it; the rest of the report goes to the Results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Whose run.
    pub machine: MachineId,
    /// What ran.
    pub edition: Edition,
    /// How it ended.
    pub outcome: Outcome,
    /// Id of the first failing state.
    pub failed_state: Option<String>,
    /// When the run began by the agent's clock: tells a repeated report from a new one.
    pub run: Option<Timestamp>,
    /// How often the machine had been reimaged when it was served, as the assignment told; none = the agent does not say.
    pub rebuilds: Option<u32>,
}

/// A verb with the person who gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// What to do.
    pub verb: Verb,
    /// Who says so.
    pub by: String,
    /// Why.
    pub reason: Option<String>,
    /// Its idempotency key.
    pub key: Option<String>,
}

impl Order {
    /// What makes its changes happen.
    pub fn cause(&self) -> Cause {
        let (reason, key) = (self.reason.clone(), self.key.clone());
        let request = key.as_ref().map(|_| request_of(self));
        Cause::Verb { name: self.verb.name().to_owned(), reason, key, request }
    }
}

/// What a start without further words may turn out to be (R93).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Intent {
    /// A new rollout.
    Start,
    /// The running rollout, again from the lowest environment.
    Reset,
}

/// Fields of a ring that a request wants changed; none = as it is. Wire types check ranges, `decide` the post-state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RingPatch {
    /// For people.
    pub name: Option<String>,
    /// 0 releases every lease of the ring (R125).
    pub max_in_flight: Option<u32>,
    /// R44.
    pub min_settle_seconds: Option<Seconds>,
    /// Above 0 only on a ring that ends up capped (R123).
    pub stall_timeout_seconds: Option<Seconds>,
    /// At least 1 (R5).
    pub failure_count_threshold: Option<u32>,
    /// R76.
    pub wave_ladder: Option<Vec<Rung>>,
    /// Replaces all values.
    pub config_values: Option<ConfigValues>,
}

/// What a person can do. New identities arrive in the verb, so that deciding it twice gives the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    /// Flip the account's switches (R119).
    PatchAccount {
        /// Unattended starts on new commits.
        auto_deploy: Option<bool>,
        /// Unattended starts on new tags.
        track_config_tags: Option<bool>,
    },
    /// What only an owner configures (R119).
    ConfigureAccount {
        /// Glob of the tags that are followed; the inner none follows none.
        config_tag_pattern: Option<Option<String>>,
    },
    /// Make a tier.
    CreateEnvironment {
        /// Its identity.
        id: EnvironmentId,
        /// Unique.
        slug: String,
        /// For people.
        name: String,
        /// Place in the path.
        promotion_order: Option<i64>,
        /// For rendering.
        config_values: ConfigValues,
    },
    /// Change a tier; the inner option of the order takes it out of the path (R77).
    PatchEnvironment {
        /// Which.
        environment: EnvironmentId,
        /// For people.
        name: Option<String>,
        /// Place in the path.
        promotion_order: Option<Option<i64>>,
        /// Replaces all values.
        config_values: Option<ConfigValues>,
    },
    /// Make a ring.
    CreateRing {
        /// Its identity.
        id: RingId,
        /// Unique, immutable.
        slug: String,
        /// What differs from the defaults (R8).
        settings: RingPatch,
    },
    /// Change a ring's brakes (B15).
    PatchRing {
        /// Which.
        ring: RingId,
        /// What.
        patch: RingPatch,
    },
    /// Hold a machine, ring or environment (B12).
    Pause(Level),
    /// End the hold.
    Unpause(Level),
    /// Let a machine join.
    AddMachine {
        /// Its identity.
        id: MachineId,
        /// Unique among the machines of the account.
        hostname: String,
        /// Its Kubernetes node; the hostname where it is left out.
        node: Option<String>,
        /// Its tier.
        environment: Option<EnvironmentId>,
        /// Its ring.
        ring: Option<RingId>,
        /// Pins its place in every queue; scenarios only.
        bucket: Option<u8>,
    },
    /// Change a machine's place; an inner none unassigns.
    AssignMachine {
        /// Which.
        machine: MachineId,
        /// Its tier.
        environment: Option<Option<EnvironmentId>>,
        /// Its ring.
        ring: Option<Option<RingId>>,
        /// Its Kubernetes node.
        node: Option<String>,
    },
    /// Take a machine away for good.
    RemoveMachine {
        /// Which.
        machine: MachineId,
    },
    /// Publish what was built from git (R4).
    PublishRelease {
        /// Its identity.
        id: ReleaseId,
        /// What was asked for.
        git_ref: String,
        /// What it resolved to.
        commit: String,
        /// Runs it.
        engine: String,
        /// Per apply; 0 = none.
        timeout_seconds: Seconds,
        /// In the operator's words.
        notes: String,
        /// The Kubernetes version its states aim at.
        target_version: Option<String>,
        /// Where the Vault keeps it.
        content: Digest,
        /// What reading its content found.
        contract: Contract,
    },
    /// A secret was given a value, which is in the Vault already.
    SetSecret {
        /// Which.
        name: String,
        /// Where the Vault keeps the value.
        version: SecretVersion,
    },
    /// Withdraw a release (R116).
    Yank {
        /// Which.
        release: ReleaseId,
    },
    /// Start a release, or reset the rollout that runs it (R90-R103).
    Start {
        /// Identity of the rollout, if a new one comes of it.
        id: RolloutId,
        /// What to ship.
        release: ReleaseId,
        /// None keeps what a reset finds, and means unprotected for a new rollout (R98).
        protected: Option<bool>,
        /// Supersede a protected rollout (R91).
        force: bool,
        /// Refuse if the other would happen (R93).
        intent: Option<Intent>,
    },
    /// A person says that the clock is right again (R168).
    AcceptClock,
    /// Stop a rollout; its holders' runs are cancelled (R115).
    Halt {
        /// Which.
        rollout: RolloutId,
    },
    /// Something about Kura servers.
    Kura(KuraVerb),
    /// Something about fleet rolls.
    Roll(RollVerb),
}

impl Verb {
    /// True for the verbs that only ever stop something. They are never held up by what changed meanwhile; pausing a
    /// machine is none of them, since it starts the next one (R110).
    pub fn is_stop(&self) -> bool {
        match self {
            Self::Halt { .. } | Self::Pause(Level::Ring(_) | Level::Environment(_)) => true,
            Self::Roll(verb) => verb.is_stop(),
            _ => false,
        }
    }

    /// Its name in the command table, the audit and the journal.
    pub fn name(&self) -> &'static str {
        match self {
            Self::PatchAccount { .. } => "patch-account",
            Self::ConfigureAccount { .. } => "configure-account",
            Self::CreateEnvironment { .. } => "create-environment",
            Self::PatchEnvironment { .. } => "patch-environment",
            Self::CreateRing { .. } => "create-ring",
            Self::PatchRing { .. } => "patch-ring",
            Self::Pause(Level::Machine(_)) => "pause-machine",
            Self::Pause(Level::Ring(_)) => "pause-ring",
            Self::Pause(Level::Environment(_)) => "pause-environment",
            Self::Unpause(Level::Machine(_)) => "unpause-machine",
            Self::Unpause(Level::Ring(_)) => "unpause-ring",
            Self::Unpause(Level::Environment(_)) => "unpause-environment",
            Self::AddMachine { .. } => "add-machine",
            Self::AssignMachine { .. } => "assign-machine",
            Self::RemoveMachine { .. } => "remove-machine",
            Self::PublishRelease { .. } => "publish-release",
            Self::SetSecret { .. } => "set-secret",
            Self::Yank { .. } => "yank",
            Self::Start { .. } => "start",
            Self::AcceptClock => "accept-clock",
            Self::Halt { .. } => "halt",
            Self::Kura(verb) => verb.name(),
            Self::Roll(verb) => verb.name(),
        }
    }
}

/// For whom a change is made, and what made it happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    /// The person, agent or process.
    pub by: String,
    /// What made it happen.
    pub cause: Cause,
}

impl Input {
    /// Who stands behind this input; `process` is the name of the process that decides it.
    pub fn author(&self, world: &World, process: &str) -> Author {
        let agent = |machine: &MachineId| world.hostname(*machine).to_owned();
        let (by, cause) = match self {
            Self::Tick { .. } => (process.to_owned(), Cause::Tick),
            Self::Seen { .. } => (process.to_owned(), Cause::Seen),
            Self::Poll(poll) => (agent(&poll.machine), Cause::Poll),
            Self::Report(report) => (agent(&report.machine), Cause::Report),
            Self::Rebuilt { machine, .. } => (agent(machine), Cause::Report),
            Self::TakeSeat { holder, .. } => (holder.clone(), Cause::Seat),
            Self::CommitArrived { .. } | Self::CommitFound { .. } | Self::TagArrived { .. } => {
                ("repository".to_owned(), Cause::Repository)
            }
            Self::Verb(order) => (order.by.clone(), order.cause()),
        };
        Author { by, cause }
    }

    /// True for the inputs only the holder of the seat may have decided; their changes carry its epoch.
    pub fn needs_seat(&self) -> bool {
        matches!(self, Self::Tick { .. } | Self::Seen { .. })
    }
}

impl Author {
    /// The entries that put `changes` after the last one of `world`.
    pub fn entries(&self, world: &World, changes: &[Change], now: Timestamp) -> Vec<Entry> {
        let place = |(n, change): (u64, &Change)| Entry {
            revision: world.revision + 1 + n,
            at: now,
            by: self.by.clone(),
            cause: self.cause.clone(),
            change: change.clone(),
        };
        (0..).zip(changes).map(place).collect()
    }
}
