//! A reason for which a human is needed: its kinds in the order of their urgency, and their rows in the table of
//! failure modes.

use jiff::Timestamp;

use super::facts::Node;
use super::glyph::Glyph;
use super::snapshot::Snapshot;
use super::theme::Role;
use crate::domain::failure_mode::{FailureMode, Finding, findings};
use crate::domain::ids::MachineId;

/// The kinds, most urgent first: what makes the rest of the list unreliable, what stands still, nodes that were left
/// behind, what no timer will notice, then what a person did and can undo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NeedKind {
    /// The control plane does not answer.
    Silent,
    /// Nobody ticks: no promotion, no stall detection (R53, R88).
    NoTick,
    /// Whoever ticks hears no agent: nobody can be served or heard (R54).
    NoAgents,
    /// Results cannot be read (R142-R147).
    Blind,
    /// What is seen of the cluster of the Kura servers cannot be relied on (K27).
    Unseen,
    /// A node is not Ready and has every pod of some servers (I8).
    NodeDead,
    /// A Kura server served, and does not now.
    Down,
    /// The runtime of a node makes no containers (F13, F60).
    RuntimeBroken,
    /// A fleet roll failed: nobody starts another one by itself (F55).
    RollFailed,
    /// Something is in the way of a fleet roll.
    RollBlocked,
    /// A gate of a fleet roll waits for a person (F41).
    Gate,
    /// A brake stopped a ring.
    RingHalted,
    /// The rollout was stopped.
    RolloutHalted,
    /// A run failed.
    Failed,
    /// A deployment failed; no timer tries it again (K12).
    Undeployed,
    /// Another manager writes a field back, so nothing is applied any more (K28).
    WrittenBack,
    /// An object of a server cannot be written.
    Unwritten,
    /// A holder is not heard of.
    HolderOffline,
    /// A holder uses up the last fifth of its time.
    HolderLate,
    /// A render failed (R148).
    Errored,
    /// A deployment waits and waits (K30).
    Stuck,
    /// Releases flow, a server does not follow (K20).
    LeftBehind,
    /// A live object was edited by hand and keeps its revision, so nothing heals it by itself (K24).
    Edited,
    /// Done, but its node takes no pods (R161).
    Cordoned,
    /// A roll that has ended left a node cordoned: it is ours to give back.
    LeftCordoned,
    /// Taken out of its arc, so its node may be cordoned (R92, R113).
    Interrupted,
    /// The head of a queue is not heard of and holds no slot, so no timer will fire (R55).
    HeadOffline,
    /// The clock jumped: nothing stalls or promotes until a person accepts it (R168).
    Clock,
    /// An operator holds an update, and pods stay on the old image (I7).
    Held,
    /// A pod cannot be scheduled, because its volume is tied to one node (I6).
    Pinned,
    /// A mesh has more than one version of skew (K8).
    Skew,
    /// A gateway waits for a finalizer that nobody takes off (K44).
    GatewayStuck,
    /// An instance that no server claims (K45).
    Orphan,
    /// A person holds an environment or a ring.
    Paused,
    /// Paused before it applied, so the cursor stays (R79).
    Skipped,
    /// No machine that could be waited for (R80).
    Empty,
    /// A ladder ends below 100 (R73).
    Ladder,
    /// A lease in an environment that was promoted keeps the rollout open (R86).
    Straggler,
    /// Several machines at once, because nobody set a cap (R8).
    NotCapped,
    /// A start was turned away by a protected rollout (R91).
    Refused,
    /// Reimaged after the rollout was over: it runs an old version (R152).
    Reimaged,
    /// A gateway that nobody uses and nobody collected (K43).
    GatewayUnused,
}

impl NeedKind {
    /// Its shape, its word and its colour: three ways to tell it from the others.
    pub fn look(self) -> (Glyph, &'static str, Role) {
        match self {
            Self::Silent => (Glyph::Warning, "API LOST", Role::Halted),
            Self::NoTick => (Glyph::Warning, "NO TICK", Role::Halted),
            Self::NoAgents => (Glyph::Warning, "NO AGENTS", Role::Halted),
            Self::Blind => (Glyph::Warning, "BLIND", Role::Halted),
            Self::RingHalted | Self::RolloutHalted => (Glyph::Halted, "HALTED", Role::Halted),
            Self::Failed => (Glyph::Failed, "FAILED", Role::Failed),
            Self::HolderOffline | Self::HeadOffline => (Glyph::Offline, "OFFLINE", Role::Warning),
            Self::HolderLate => (Glyph::Warning, "LATE", Role::Warning),
            Self::Errored => (Glyph::Errored, "ERRORED", Role::Failed),
            Self::Cordoned => (Glyph::Warning, "CORDONED", Role::Warning),
            Self::Interrupted => (Glyph::Warning, "INTERRUPTED", Role::Warning),
            Self::Clock => (Glyph::Warning, "CLOCK", Role::Halted),
            Self::Paused => (Glyph::Paused, "PAUSED", Role::Paused),
            Self::Skipped => (Glyph::Paused, "SKIPPED", Role::Paused),
            Self::Empty => (Glyph::Warning, "EMPTY", Role::Warning),
            Self::Ladder => (Glyph::Warning, "LADDER", Role::Warning),
            Self::Straggler => (Glyph::Warning, "STRAGGLER", Role::Warning),
            Self::NotCapped => (Glyph::Warning, "NO CAP", Role::Warning),
            Self::Refused => (Glyph::Warning, "REFUSED", Role::Warning),
            Self::Reimaged => (Glyph::Warning, "REIMAGED", Role::Warning),
            Self::Unseen => (Glyph::Warning, "UNSEEN", Role::Halted),
            Self::NodeDead => (Glyph::Offline, "NODE DEAD", Role::Failed),
            Self::Down => (Glyph::Failed, "DOWN", Role::Failed),
            Self::Undeployed => (Glyph::Failed, "FAILED", Role::Failed),
            Self::WrittenBack => (Glyph::Halted, "FOUGHT OVER", Role::Halted),
            Self::Unwritten => (Glyph::Errored, "UNWRITTEN", Role::Failed),
            Self::Stuck => (Glyph::Halted, "STUCK", Role::Warning),
            Self::Edited => (Glyph::Warning, "EDITED", Role::Warning),
            Self::LeftBehind => (Glyph::Warning, "LEFT BEHIND", Role::Warning),
            Self::Held => (Glyph::Paused, "HELD", Role::Paused),
            Self::Pinned => (Glyph::Warning, "PINNED", Role::Warning),
            Self::Skew => (Glyph::Warning, "SKEW", Role::Warning),
            Self::GatewayStuck | Self::GatewayUnused => (Glyph::Warning, "GATEWAY", Role::Warning),
            Self::Orphan => (Glyph::Warning, "ORPHAN", Role::Warning),
            Self::RuntimeBroken => (Glyph::Failed, "BROKEN", Role::Failed),
            Self::RollFailed => (Glyph::Failed, "ROLL FAILED", Role::Failed),
            Self::RollBlocked => (Glyph::Halted, "BLOCKED", Role::Halted),
            Self::Gate => (Glyph::Warning, "GATE", Role::Warning),
            Self::LeftCordoned => (Glyph::Warning, "CORDONED", Role::Warning),
        }
    }

    /// The rows of the table of failure modes it can be.
    fn modes(self) -> &'static [FailureMode] {
        use FailureMode as M;
        match self {
            Self::NoTick => &[M::NoTicks],
            Self::Blind => &[M::TelemetryOut],
            Self::RingHalted | Self::Failed => &[
                M::ResetWithoutFix,
                M::StallBelowDeadline,
                M::DrainBlocked,
                M::HealthGateFailed,
                M::ApplyFailed,
                M::ConvergedFlaps,
                M::HolderOffline,
            ],
            Self::HolderOffline => &[M::HolderOffline],
            Self::Errored => &[M::RenderError],
            Self::Cordoned => &[M::AppliedButCordoned],
            Self::Interrupted => &[M::Superseded],
            Self::HeadOffline => &[M::HeadOffline],
            Self::Paused => &[M::LinePaused],
            Self::Skipped => &[M::DeadMachine, M::HolderPaused, M::TierShut],
            Self::Empty => &[M::NothingGateable],
            Self::NotCapped => &[M::NotCapped],
            Self::Refused => &[M::StartRefused],
            Self::Reimaged => &[M::Reimaged],
            _ => &[],
        }
    }
}

/// One reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// Its kind.
    pub kind: NeedKind,
    /// Whose row it is.
    pub node: Option<Node>,
    /// What it is about, in a word.
    pub name: String,
    /// What is wrong, without any time in it.
    pub text: String,
    /// Since when.
    pub since: Option<Timestamp>,
    /// When the ring halts over it.
    pub until: Option<Timestamp>,
}

/// The row of the table of failure modes a need is, at a moment. A halted ring is that of the machine it halted over.
pub(super) fn recognised(picture: &Snapshot, need: (NeedKind, Option<Node>), moment: Timestamp) -> Option<Finding> {
    let (kind, node) = need;
    let mut found = findings(&picture.world, &picture.observed, moment);
    found.retain(|finding| kind.modes().contains(&finding.mode) && concerns(finding, kind, node));
    let blamed = blamed(picture, kind, node).and_then(|id| found.iter().position(|f| f.machine == Some(id)));
    (!found.is_empty()).then(|| found.swap_remove(blamed.unwrap_or(0)))
}

fn concerns(finding: &Finding, kind: NeedKind, node: Option<Node>) -> bool {
    match node {
        // A supersede is one row of the table, whoever of those it interrupted is looked at.
        Some(Node::Machine(_)) if kind == NeedKind::Interrupted => true,
        Some(Node::Machine(id)) => finding.machine == Some(id),
        Some(Node::Lane((_, ring))) => finding.ring == Some(ring),
        Some(Node::Ring(ring)) => finding.ring == Some(ring),
        Some(Node::Environment(_) | Node::Spare) => finding.ring.is_none(),
        Some(Node::Kura(_) | Node::Roll(_) | Node::Host(_)) => false,
        None => true,
    }
}

fn blamed(picture: &Snapshot, kind: NeedKind, node: Option<Node>) -> Option<MachineId> {
    match (kind, node) {
        (NeedKind::RingHalted, Some(Node::Lane((_, ring)))) => {
            picture.world.current()?.halted_rings.get(&ring).map(|halt| halt.machine)
        }
        _ => None,
    }
}
