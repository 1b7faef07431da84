//! Every "no" about fleet rolls: its kind, its sentence, the field it names and what to do instead.

use std::fmt;

use jiff::Timestamp;

use super::super::ids::RollId;
use super::super::refusal::RefusalKind;

/// Why the core says no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RollRefusal {
    /// No such roll.
    NoRoll(RollId),
    /// The cluster has no such node.
    NoNode(String),
    /// A text or number that cannot be one.
    BadField {
        /// Of the request.
        field: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// F58: nobody said how a node is booted.
    NoBoot,
    /// F53: a roll of this target goes on.
    Live {
        /// Its project and target.
        roll: String,
        /// Its revision.
        revision: String,
        /// Its state, as a word.
        state: &'static str,
        /// It waits at a gate, or only stages.
        displaceable: bool,
    },
    /// It has ended.
    Over {
        /// Its project and target.
        roll: String,
        /// How, as a word.
        state: &'static str,
    },
    /// No gate of this name waits.
    NotAwaiting {
        /// The roll.
        roll: String,
        /// Its revision.
        revision: String,
        /// The gate that was named.
        gate: String,
        /// The one that waits.
        waiting: Option<String>,
    },
    /// F54: it was shown otherwise.
    Outdated {
        /// The gate.
        gate: String,
        /// The revision that waits.
        revision: String,
        /// Since when.
        since: Timestamp,
        /// What it was given for.
        given: String,
    },
    /// F28: the canary would drain the registry's host first.
    RegistryIsCanary {
        /// The node.
        node: String,
    },
    /// F24, F56: more than one node at a time.
    TwoAtOnce {
        /// How many were asked for.
        concurrency: u32,
        /// Nodes of the fleet.
        nodes: usize,
        /// Members that may be down while a quorum is left.
        tolerated: usize,
    },
    /// F47: a workload is in no class, or in both.
    NotPartitioned {
        /// Which, and what is wrong with it.
        fault: String,
    },
    /// The ledger has no cordon of ours for it.
    NotOurs {
        /// The node.
        node: String,
    },
    /// The roll that cordoned it goes on.
    InTurn {
        /// The node.
        node: String,
        /// The roll.
        roll: String,
    },
    /// What the cluster looks like is not known well enough.
    Unseen {
        /// What cannot be read, and why.
        why: String,
    },
    /// A limit is reached.
    Full {
        /// Of what.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
}

impl RollRefusal {
    /// The family it belongs to.
    pub fn kind(&self) -> RefusalKind {
        match self {
            Self::BadField { .. } | Self::NoBoot => RefusalKind::Invalid,
            Self::NoRoll(_) | Self::NoNode(_) => RefusalKind::Missing,
            _ => RefusalKind::Conflict,
        }
    }

    /// The field of the request that is to blame.
    pub fn field(&self) -> Option<&'static str> {
        match self {
            Self::BadField { field, .. } => Some(field),
            Self::NoBoot => Some("boot"),
            Self::Live { .. } => Some("displace"),
            Self::NotAwaiting { .. } => Some("gate"),
            Self::Outdated { .. } => Some("revision"),
            Self::RegistryIsCanary { .. } => Some("canary"),
            Self::TwoAtOnce { .. } => Some("concurrency"),
            Self::NotPartitioned { .. } => Some("partition"),
            _ => None,
        }
    }

    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoRoll(_) => "no_roll",
            Self::NoNode(_) => "no_node",
            Self::BadField { .. } => "bad_field",
            Self::NoBoot => "no_boot",
            Self::Live { .. } => "roll_is_live",
            Self::Over { .. } => "roll_is_over",
            Self::NotAwaiting { .. } => "not_awaiting",
            Self::Outdated { .. } => "outdated_approval",
            Self::RegistryIsCanary { .. } => "registry_is_canary",
            Self::TwoAtOnce { .. } => "two_at_once",
            Self::NotPartitioned { .. } => "not_partitioned",
            Self::NotOurs { .. } => "not_ours",
            Self::InTurn { .. } => "in_turn",
            Self::Unseen { .. } => "unseen",
            Self::Full { .. } => "full",
        }
    }

    /// What to do instead, most useful first.
    pub fn hints(&self) -> &'static [&'static str] {
        match self {
            Self::NoRoll(_) => &["list them with GET /api/rolls/"],
            Self::NoNode(_) => &["list them with GET /api/nodes/"],
            Self::BadField { .. } => &["use what the field's description allows"],
            Self::NoBoot => &["say how a node of this target is booted: the pod spec of a Job its owner supplies"],
            Self::Live { displaceable: true, .. } => &["displace it with displace: true", "or decide its gate first"],
            Self::Live { .. } => &["wait until it is over, or abort it"],
            Self::Over { .. } => &["start another one"],
            Self::NotAwaiting { .. } => &["look again: the gate may be decided already"],
            Self::Outdated { .. } => &["look at what waits now, and approve that"],
            Self::RegistryIsCanary { .. } => &["take another node as the canary: the registry's host goes last"],
            Self::TwoAtOnce { .. } => &["leave concurrency at 1: two down and one that never comes back is no quorum"],
            Self::NotPartitioned { .. } => &["give each workload exactly one of the two labels"],
            Self::NotOurs { .. } => &["a cordon somebody else set is theirs to lift: kubectl uncordon"],
            Self::InTurn { .. } => &["abort the roll first"],
            Self::Unseen { .. } => &["mend the connection to the cluster, then try again"],
            Self::Full { .. } => &["wait until some are done"],
        }
    }
}

impl fmt::Display for RollRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRoll(id) => write!(f, "there is no roll {id}"),
            Self::NoNode(node) => write!(f, "the cluster has no node {node}"),
            Self::BadField { field, problem } => write!(f, "{field} {problem}"),
            Self::NoBoot => f.write_str("nobody said how a node is booted"),
            Self::Live { roll, revision, state, displaceable } => {
                let why = if *displaceable { "" } else { ", and a node of it is in turn or done" };
                write!(f, "a roll of {roll} with revision {revision} is {state} already{why}")
            }
            Self::Over { roll, state } => write!(f, "the roll of {roll} is {state}"),
            Self::NotAwaiting { roll, revision, gate, waiting: Some(waiting) } => {
                write!(f, "the roll of {roll}, revision {revision}, waits at its {waiting} gate, not at {gate}")
            }
            Self::NotAwaiting { roll, revision, gate, waiting: None } => {
                write!(f, "the roll of {roll}, revision {revision}, does not wait at its {gate} gate")
            }
            Self::Outdated { gate, revision, since, given } => {
                write!(f, "the {gate} gate waits with revision {revision} since {since}, this was given for {given}")
            }
            Self::RegistryIsCanary { node } => write!(f, "{node} hosts the registry and cannot be the canary"),
            Self::TwoAtOnce { concurrency, nodes, tolerated } => write!(
                f,
                "{concurrency} of {nodes} nodes at once and one that never comes back is more than the {tolerated} that \
                 may be down"
            ),
            Self::NotPartitioned { fault } => f.write_str(fault),
            Self::NotOurs { node } => write!(f, "no roll left {node} cordoned"),
            Self::InTurn { node, roll } => write!(f, "{node} is cordoned for the roll of {roll}, which goes on"),
            Self::Unseen { why } => write!(f, "the fleet cannot be judged: {why}"),
            Self::Full { what, limit } => write!(f, "there are {limit} {what} already, which is the limit"),
        }
    }
}
