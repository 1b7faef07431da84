//! What rolls that have ended left out of service: as good as down, so that nobody else goes meanwhile (F24).

use super::super::super::roll::fleet_roll::Roll;
use super::super::super::roll::manifest::job_object;
use super::super::super::roll::node::{StepName, StepState};
use super::super::super::roll::rolls::Rolls;
use super::super::super::roll::sight::FleetSight;

/// Why a node may not be touched because of what ended rolls left behind; none = it may.
pub(super) fn forbids(rolls: &Rolls, fleet: &FleetSight, node: &str) -> Option<String> {
    if let Some((other, roll)) = under_way(rolls, fleet).next() {
        let name = roll.name();
        return Some(format!("{other} is being booted for a roll of {name} that is over: {node} waits for its end"));
    }
    if rolls.ledger.get(node).is_some_and(|cordon| cordon.asked_by.is_some()) {
        return Some(format!("{node} is being given back"));
    }
    let is_left = |other: &&String| {
        let over =
            rolls.ledger.get(*other).and_then(|cordon| rolls.roll(cordon.roll)).is_none_or(|roll| !roll.is_live());
        let cordoned = fleet.nodes.get(other).is_some_and(|seen| seen.unschedulable);
        other.as_str() != node && over && cordoned
    };
    let other = rolls.ledger.keys().find(is_left)?;
    Some(format!("{other} is still cordoned for a roll that is over: give it back, or let it go first"))
}

/// A boot that was begun there for a roll which has ended goes on: it is let to its end, and until then the node is
/// neither given back nor touched.
pub(super) fn is_booting(rolls: &Rolls, fleet: &FleetSight, node: &str) -> bool {
    under_way(rolls, fleet).any(|(other, _)| other == node)
}

fn under_way<'a>(rolls: &'a Rolls, fleet: &'a FleetSight) -> impl Iterator<Item = (&'a str, &'a Roll)> {
    let over = rolls.rolls.iter().filter(|roll| !roll.is_live());
    over.flat_map(|roll| roll.nodes.iter().map(move |(name, node)| (roll, name, node))).filter_map(
        |(roll, name, node)| {
            node.step(StepName::Boot).filter(|row| row.state == StepState::Running)?;
            let job = fleet.jobs.get(&job_object(roll, name, StepName::Boot).name)?;
            job.ended.is_none().then_some((name.as_str(), roll))
        },
    )
}
