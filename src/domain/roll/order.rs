//! Who goes next: the canary, then the order that was asked for, and the registry's host last of all (F28).

use super::fleet_roll::Roll;
use super::sight::FleetSight;

/// Nodes whose turn has not come, in the order they would go now. Decided anew before each pick: the registry moves.
pub fn remaining<'a>(roll: &'a Roll, registry: Option<&str>) -> Vec<&'a str> {
    let waiting: Vec<&str> = roll.spec.all_nodes().into_iter().filter(|node| !roll.had_turn(node)).collect();
    let is_last = |node: &&str| Some(*node) == registry && roll.spec.canary.as_deref() != Some(*node);
    let (last, mut first): (Vec<&str>, Vec<&str>) = waiting.into_iter().partition(is_last);
    first.extend(last);
    first
}

/// Every node: those whose turn came, in that order, then the others.
pub fn order<'a>(roll: &'a Roll, registry: Option<&str>) -> Vec<&'a str> {
    let had = roll.turns.iter().map(|turn| turn.node.as_str());
    had.chain(remaining(roll, registry)).collect()
}

/// Why a node may not be touched now for the sake of the registry; none = it may.
pub fn registry_forbids(roll: &Roll, node: &str, fleet: &FleetSight) -> Option<String> {
    let registry = roll.spec.registry.as_ref()?;
    // A fleet whose registry was never seen has none.
    if let Some(trouble) = fleet.registry_trouble(registry).filter(|_| roll.registry.is_some()) {
        return Some(format!("the registry is {trouble}: nobody could pull after a drain"));
    }
    if fleet.registry_host(registry) != Some(node) {
        return None;
    }
    if roll.spec.canary.as_deref() == Some(node) {
        return Some(format!("{node} hosts the registry now and cannot be the canary"));
    }
    let unstaged = |other: &&&str| roll.nodes.get(**other).is_some_and(|other| other.staged.is_none());
    let others: Vec<&str> = roll.spec.all_nodes().into_iter().filter(|other| *other != node).collect();
    let first = others.iter().find(unstaged)?;
    Some(format!("{node} hosts the registry and {first} is not staged yet"))
}
