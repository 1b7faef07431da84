//! One roll as its row shows it: where it stands, in which order it goes, and when it will be through.

use jiff::Timestamp;

use crate::domain::ids::RollId;
use crate::domain::roll::eta::{Eta, eta};
use crate::domain::roll::fleet_roll::{Progress, Roll, RollState};
use crate::domain::roll::order::order;
use crate::domain::roll::sight::FleetSight;

/// The rank of a roll that has ended.
const OVER: u8 = 4;

/// One roll.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RollRow {
    /// Identity.
    pub id: RollId,
    /// For people: its project and target.
    pub name: String,
    /// What it ships.
    pub revision: String,
    /// Where it is.
    pub state: RollState,
    /// Where it stands in its fleet.
    pub progress: Progress,
    /// Nodes that have the image.
    pub staged: usize,
    /// Every node in the order it goes.
    pub order: Vec<String>,
    /// Where the registry is, or was seen last.
    pub registry: Option<String>,
    /// Why nobody can pull from it.
    pub registry_trouble: Option<String>,
    /// Something is in its way, also while it waits for a person.
    pub is_blocked: bool,
    /// Since when it waits for a person.
    pub waits_since: Option<Timestamp>,
    /// When it began, or ended.
    pub at: Timestamp,
    /// When it will be through; none of one that has ended.
    pub eta: Option<Eta>,
}

impl RollRow {
    pub(super) fn of(roll: &Roll, fleet: Option<&FleetSight>, moment: Timestamp) -> Self {
        let selector = roll.spec.registry.as_ref().filter(|_| roll.is_live());
        let seen = fleet.zip(selector).and_then(|(fleet, registry)| fleet.registry_host(registry));
        let trouble = fleet.zip(selector).and_then(|(fleet, registry)| fleet.registry_trouble(registry));
        let registry = seen.or(roll.registry.as_deref());
        Self {
            id: roll.id,
            name: roll.name(),
            revision: roll.revision.clone(),
            state: roll.state(),
            progress: roll.progress(),
            staged: roll.nodes.values().filter(|node| node.staged.is_some()).count(),
            order: order(roll, registry).into_iter().map(str::to_owned).collect(),
            registry: registry.map(str::to_owned),
            registry_trouble: trouble.filter(|_| roll.registry.is_some()),
            is_blocked: roll.is_live() && roll.blocked.is_some(),
            waits_since: roll.gate.as_ref().map(|gate| gate.since),
            at: roll.ended.as_ref().map_or(roll.started_at, |ended| ended.at),
            eta: eta(roll, fleet, moment),
        }
    }

    /// What needs a person comes first, then what stands still, what moves, what soaks; then what is over.
    pub(super) fn rank(&self) -> u8 {
        match self.state {
            RollState::Awaiting => 0,
            RollState::Blocked => 1,
            RollState::Rolling => 2,
            RollState::Soaking => 3,
            _ => OVER,
        }
    }

    /// It has ended.
    pub(super) fn is_over(&self) -> bool {
        self.rank() == OVER
    }
}
