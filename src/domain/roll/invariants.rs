//! What must never be true of fleet rolls, whatever happened: checked after every change in tests and simulations.

use super::super::change::Change;
use super::super::kura::step::{Deed, Purpose, RollWork, Step};
use super::change::RollChange;
use super::fleet_roll::Roll;
use super::node::StepName;
use super::order::remaining;
use super::rolls::Rolls;

/// Every broken invariant of the rolls, in words.
pub fn broken(rolls: &Rolls, faults: &mut Vec<String>) {
    let in_turn = rolls.rolls.iter().filter(|roll| roll.in_turn().is_some()).count();
    if in_turn > 1 {
        faults.push(format!("F23: {in_turn} nodes are in turn"));
    }
    for roll in rolls.rolls.iter().filter(|roll| roll.is_live()) {
        let touched = |(_, node): &(&String, &super::node::NodeRoll)| {
            node.step(StepName::Cordon).is_some() && !node.is_past(StepName::Green)
        };
        let open = roll.nodes.iter().filter(touched).count();
        if open > 1 {
            faults.push(format!("F23: {open} nodes of {} are between their cordon and green", roll.name()));
        }
        if roll.gate.is_some() && roll.in_turn().is_some() {
            faults.push(format!("F20: {} waits at a gate with a node in turn", roll.name()));
        }
        let twins = rolls.rolls.iter().filter(|other| other.is_live() && other.name() == roll.name()).count();
        if twins > 1 {
            faults.push(format!("F53: {twins} rolls of {} go on", roll.name()));
        }
    }
}

/// Every broken invariant of the step from one state to the next by `changes`.
pub fn broken_step(before: &Rolls, after: &Rolls, changes: &[Change], faults: &mut Vec<String>) {
    for old in before.rolls.iter().filter(|roll| !roll.is_live()) {
        let Some(new) = after.roll(old.id) else { continue };
        if (&new.ended, &new.turns, &new.approvals) != (&old.ended, &old.turns, &old.approvals) {
            faults.push(format!("F35: {} had ended and changed", old.name()));
        }
    }
    for old in before.rolls.iter() {
        let (Some(gate), Some(new)) = (&old.gate, after.roll(old.id)) else { continue };
        if new.gate.as_ref().is_some_and(|now| now.gate == gate.gate && now.since != gate.since) {
            faults.push(format!("F39: {} waits anew at a gate it waited at", old.name()));
        }
    }
    let facts = changes.iter().filter_map(|change| match change {
        Change::Roll(change) => Some(&**change),
        _ => None,
    });
    for fact in facts {
        let RollChange::StepBegan { roll, node, step: StepName::Cordon, .. } = fact else { continue };
        after.roll(*roll).into_iter().for_each(|roll| registry_is_last(roll, node, faults));
    }
}

/// F28: whoever hosts the registry is cordoned when nobody else is left, and everybody else is staged.
fn registry_is_last(roll: &Roll, node: &str, faults: &mut Vec<String>) {
    if roll.registry.as_deref() != Some(node) {
        return;
    }
    let left = remaining(roll, Some(node)).len();
    let unstaged = roll.nodes.iter().any(|(name, other)| name != node && other.staged.is_none());
    if left > 0 || unstaged {
        faults.push(format!("F28: {node} hosts the registry and was cordoned before {left} others"));
    }
}

/// Every write that must not be made on these facts.
pub fn broken_writes(rolls: &Rolls, steps: &[Step]) -> Vec<String> {
    steps.iter().filter_map(|step| broken_write(rolls, step)).collect()
}

fn broken_write(rolls: &Rolls, step: &Step) -> Option<String> {
    let Purpose::Roll { roll, node, work } = &step.purpose else { return None };
    let touches = matches!(work, RollWork::Step(_));
    let live = roll.and_then(|id| rolls.roll(id)).is_some_and(Roll::is_live);
    match &step.deed {
        Deed::Cordon { unschedulable: false, .. } if !rolls.ledger.contains_key(node) => {
            Some(format!("A11: {node} is given back and the ledger does not have it"))
        }
        _ if touches && !live => Some(format!("F60: {node} is touched for a roll that has ended")),
        Deed::Evict { .. } | Deed::Cordon { unschedulable: true, .. } => {
            let turn = rolls.in_turn().map(|(_, node)| node);
            (turn != Some(node.as_str())).then(|| format!("F50: {node} is touched and not in turn"))
        }
        _ => None,
    }
}
