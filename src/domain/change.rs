//! Facts that are kept: what the journal stores, what every reader folds.
//!
//! A change says what became true, never what was asked. Stored changes must load for ever, so variants and fields
//! are only ever added, and new fields carry a default.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::audit::Link;
use super::fleet::{Account, ConfigValues, Environment, Machine, Pause, RenderError, Ring, RingSettings};
use super::ids::{EnvironmentId, Epoch, Generation, MachineId, ReleaseId, Revision, RingId, RolloutId, SecretVersion};
use super::kura::change::KuraChange;
use super::release::{Digest, Outcome, Release, Yank};
use super::roll::change::RollChange;
use super::rollout::{Cursor, Ending, RingHalt};

/// A pausable thing; the three levels differ in what a pause does to a lease (R104-R109).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// A skip: the lease ends, the queue moves on.
    Machine(MachineId),
    /// A hold: leases and queue stay.
    Ring(RingId),
    /// A hold of a whole tier.
    Environment(EnvironmentId),
}

/// Why a lease ended; each cause is told apart in the log (R22).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaseEnd {
    /// The machine reported success.
    Success,
    /// The operator paused the machine: the only skip (R110).
    Paused,
    /// Another rollout took the account's slot.
    Superseded,
    /// The rollout was reset.
    Reset,
    /// The ring's cap was set to 0.
    Uncapped,
    /// The rollout was halted, or its release yanked.
    Halted,
    /// The machine was unassigned or moved to another ring or environment.
    Moved,
    /// The machine was deleted.
    Removed,
    /// The machine was rebuilt; nothing of the old arc is left (R152).
    Rebuilt,
}

/// One fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Change {
    /// The account's switches.
    AccountChanged {
        /// All of them, as they are now.
        account: Account,
    },
    /// A new tier.
    EnvironmentCreated {
        /// As created.
        environment: Environment,
    },
    /// A tier was renamed, moved in the path, or given other values.
    EnvironmentChanged {
        /// Which.
        environment: EnvironmentId,
        /// Its name from now on.
        name: String,
        /// Its place from now on.
        promotion_order: Option<i64>,
        /// Its values from now on.
        config_values: ConfigValues,
    },
    /// A new ring.
    RingCreated {
        /// As created.
        ring: Ring,
    },
    /// A ring's brakes, all of them, as they are now.
    RingChanged {
        /// Which.
        ring: RingId,
        /// From now on.
        settings: RingSettings,
    },
    /// A machine, ring or environment was held.
    Paused {
        /// Which.
        what: Level,
        /// Who, when, why.
        pause: Pause,
    },
    /// The hold is over.
    Unpaused {
        /// Which.
        what: Level,
    },
    /// A machine joined.
    MachineAdded {
        /// As added.
        machine: Box<Machine>,
    },
    /// A machine changed its tier, ring or node.
    MachineAssigned {
        /// Which.
        machine: MachineId,
        /// Its tier from now on.
        environment: Option<EnvironmentId>,
        /// Its ring from now on.
        ring: Option<RingId>,
        /// Its Kubernetes node from now on.
        node: String,
    },
    /// A machine left for good.
    MachineRemoved {
        /// Which.
        machine: MachineId,
    },
    /// A machine came back from a reimage with nothing of its past (R153).
    MachineRebuilt {
        /// Which.
        machine: MachineId,
        /// Baked into its image.
        version: Option<String>,
    },
    /// A release came into being.
    ReleasePublished {
        /// As built.
        release: Release,
    },
    /// A release was withdrawn (R116).
    ReleaseYanked {
        /// Which.
        release: ReleaseId,
        /// Who, when, why.
        yank: Yank,
    },
    /// A rollout took the account's slot.
    RolloutStarted {
        /// Identity.
        rollout: RolloutId,
        /// What it ships.
        release: ReleaseId,
        /// Refuses to be superseded without force.
        protected: bool,
        /// Of its first assignments.
        generation: Generation,
    },
    /// The running rollout began again in place (R94).
    RolloutReset {
        /// Which.
        rollout: RolloutId,
        /// From now on.
        protected: bool,
        /// Of its assignments from now on.
        generation: Generation,
    },
    /// The rollout gave the account's slot back.
    RolloutEnded {
        /// Which.
        rollout: RolloutId,
        /// How.
        ending: Ending,
    },
    /// The cursor came to stand on an environment, which thereby opened (R77, R81).
    CursorMoved {
        /// Of which rollout.
        rollout: RolloutId,
        /// Where it stands.
        cursor: Cursor,
        /// The environment that opened.
        environment: EnvironmentId,
    },
    /// A ring stopped admitting (R64).
    RingHalted {
        /// In which rollout.
        rollout: RolloutId,
        /// Which.
        ring: RingId,
        /// Cause, machine, sentence.
        halt: RingHalt,
    },
    /// A ladder was lowered: who was elected stays elected (R75).
    ElectionKept {
        /// In which rollout.
        rollout: RolloutId,
        /// In which environment.
        environment: EnvironmentId,
        /// In which ring.
        ring: RingId,
        /// Buckets below this were elected.
        pct: u8,
    },
    /// A slot was taken, at the moment its assignment was served (R18), or by adoption (R29).
    LeaseGranted {
        /// Whose.
        machine: MachineId,
        /// Of which rollout.
        rollout: RolloutId,
        /// The content that is kept for it.
        content: Digest,
    },
    /// A slot was given back.
    LeaseEnded {
        /// Whose.
        machine: MachineId,
        /// Why.
        cause: LeaseEnd,
    },
    /// A machine of an uncapped ring was served for the first time in this generation (R17).
    AssignmentServed {
        /// Whose.
        machine: MachineId,
        /// Of the assignment.
        generation: Generation,
        /// The content that is kept for it.
        content: Digest,
    },
    /// A machine reported a result that changes what is known of it.
    ResultReported {
        /// Whose.
        machine: MachineId,
        /// Which release ran.
        release: ReleaseId,
        /// In which generation it was served.
        generation: Generation,
        /// How it ended; never `canceled`.
        outcome: Outcome,
        /// Id of the first failing state.
        failed_state: Option<String>,
        /// When the run began by the agent's clock: tells a repeated report from a new one.
        #[serde(default)]
        run: Option<Timestamp>,
    },
    /// A failure was counted against a ring's threshold (R57).
    FailureCounted {
        /// In which rollout.
        rollout: RolloutId,
        /// Against which ring.
        ring: RingId,
        /// Whose failure.
        machine: MachineId,
    },
    /// No assignment could be rendered for a machine (R148).
    RenderFailed {
        /// Whose.
        machine: MachineId,
        /// What is missing.
        error: RenderError,
    },
    /// It can be rendered again.
    RenderRecovered {
        /// Whose.
        machine: MachineId,
    },
    /// A tag arrived that an unattended start may pick (R169).
    TagArrived {
        /// What was built from it.
        release: ReleaseId,
        /// When the tag was made, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        made_at: Option<Timestamp>,
    },
    /// A person accepted the time as it is (R168).
    ClockAccepted,
    /// A secret got a value, which is kept elsewhere.
    SecretSet {
        /// Which.
        name: String,
        /// Where the Vault keeps the value.
        version: SecretVersion,
    },
    /// The commit that the followed branch leads to was seen: it is started now or never (R169).
    CommitSeen {
        /// Name of the branch.
        git_ref: String,
        /// In full.
        commit: String,
    },
    /// The reconciler's seat changed hands.
    SeatTaken {
        /// Which process holds it.
        holder: String,
        /// One more than the last.
        epoch: Epoch,
        /// Agents reach a process of this holder; without that nobody's timer may age.
        #[serde(default = "yes", skip_serializing_if = "is_yes")]
        agents: bool,
    },
    /// A verb was decided, done or refused: a link of the audit's chain.
    Audited {
        /// It.
        link: Box<Link>,
    },
    /// A fact about Kura servers.
    Kura(Box<KuraChange>),
    /// A fact about fleet rolls.
    Roll(Box<RollChange>),
}

/// Holders of old serve agents.
fn yes() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the signature serde asks for
fn is_yes(agents: &bool) -> bool {
    *agents
}

/// What made a change happen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Cause {
    /// The reconciler's pass.
    Tick,
    /// An agent asked.
    Poll,
    /// An agent answered.
    Report,
    /// A person acted.
    Verb {
        /// Its name in the command table.
        name: String,
        /// Why, in the person's words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The idempotency key it came with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        /// What was asked for under that key, as `keys::request_of` tells requests apart.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<String>,
    },
    /// The seat changed hands.
    Seat,
    /// Something arrived in the configured repository.
    Repository,
    /// Something was seen of the cluster, or done to it.
    Seen,
}

impl Entry {
    /// True for a link of the audit.
    pub fn is_audit(&self) -> bool {
        matches!(self.change, Change::Audited { .. })
    }
}

/// A change at its place in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its place: one more than the entry before it.
    pub revision: Revision,
    /// When it was decided.
    pub at: Timestamp,
    /// The person, agent or process it was decided for.
    pub by: String,
    /// What made it happen.
    pub cause: Cause,
    /// The fact.
    pub change: Change,
}
