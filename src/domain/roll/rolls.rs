//! Every fact about fleet rolls of one account: the rolls, the ledger of cordons, and what is known of runtimes.

use std::collections::BTreeMap;

use imbl::{OrdMap, Vector};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::ids::RollId;
use super::fleet_roll::Roll;
use super::node::{Finding, NodeRoll, StepName};
use super::sight::FleetNode;
use super::totals::Totals;

/// Rolls that have ended which the World keeps; older ones are read from the journal, `control/past/rolls.rs` (F57).
pub const ROLLS_KEPT: usize = 20;

/// Rolls that may go on at the same time, each of another target.
pub const LIVE_MAX: usize = 20;

/// Nodes of which the last finding is kept; those looked at longest ago are forgotten first.
pub const FINDINGS_MAX: usize = 2_000;

/// Probes a person asked for that may wait.
pub const ASKED_MAX: usize = 50;

/// A cordon of ours: it is ours to give back, and nobody else's is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cordon {
    /// The roll that took it.
    #[schemars(with = "String")]
    pub roll: RollId,
    /// When.
    pub at: Timestamp,
    /// Who asked to give it back.
    #[serde(default)]
    pub asked_by: Option<String>,
}

/// A probe a person asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedProbe {
    /// Who.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// Its number among those asked for.
    pub number: u64,
}

/// Everything about fleet rolls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rolls {
    /// Those that go on and the last ones that ended, oldest first.
    pub rolls: Vector<Roll>,
    /// Rolls there ever were.
    pub started: u64,
    /// Cordons of ours by node.
    pub ledger: OrdMap<String, Cordon>,
    /// The last finding per node.
    pub findings: OrdMap<String, Finding>,
    /// Probes that were asked for, by node.
    pub asked: OrdMap<String, AskedProbe>,
    /// Probes that ever were.
    pub asked_ever: u64,
    /// What is counted.
    pub totals: Totals,
}

impl Rolls {
    /// Nothing was ever said about a roll.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// One of those that are kept.
    pub fn roll(&self, id: RollId) -> Option<&Roll> {
        self.rolls.iter().rev().find(|roll| roll.id == id)
    }

    /// The one of a target that goes on.
    pub fn live(&self, project: &str, target: &str) -> Option<&Roll> {
        self.rolls.iter().find(|roll| roll.is_live() && roll.project == project && roll.target == target)
    }

    /// The one node that is in turn, over all rolls: the mutex (F23).
    pub fn in_turn(&self) -> Option<(&Roll, &str)> {
        self.rolls.iter().find_map(|roll| Some((roll, roll.in_turn()?)))
    }

    /// Rolled nodes that are looked at, with the roll that does: the last one that touched them. While that takes a node
    /// through its steps nobody looks, whatever an earlier one would make of it.
    pub fn watched(&self, now: Timestamp) -> OrdMap<String, (RollId, NodeRoll)> {
        let mut last: BTreeMap<&str, (Timestamp, &Roll, &NodeRoll)> = BTreeMap::new();
        for (roll, (name, node)) in self.rolls.iter().flat_map(|roll| roll.nodes.iter().map(move |node| (roll, node))) {
            let Some(touched) = node.step(StepName::Cordon).map(|row| row.started_at) else { continue };
            if last.get(name.as_str()).is_none_or(|(known, ..)| *known <= touched) {
                last.insert(name, (touched, roll, node));
            }
        }
        let looked_at =
            last.into_iter().filter(|(_, (_, roll, node))| node.back_since().is_some() && roll.is_watching(now));
        looked_at.map(|(name, (_, roll, node))| (name.to_owned(), (roll.id, node.clone()))).collect()
    }

    /// Its cordon is not ours: somebody else is known to have set it, or it is in no book of ours (A11).
    pub fn is_foreign(&self, seen: &FleetNode) -> bool {
        seen.is_theirs() || (seen.unschedulable && !self.ledger.contains_key(&seen.stamp.name))
    }

    /// What people call a roll.
    pub fn name(&self, id: RollId) -> String {
        self.roll(id).map_or_else(|| "(gone)".to_owned(), Roll::name)
    }
}
