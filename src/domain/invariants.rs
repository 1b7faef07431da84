//! What must never be true of a world, whatever happened to it: checked after every change in tests and simulations.

use std::collections::BTreeMap;

use imbl::OrdMap;
use jiff::Timestamp;

use super::change::Change;
use super::fleet::Machine;
use super::ids::MachineId;
use super::lane::Lanes;
use super::rows::LaneView;
use super::world::World;

/// Every broken invariant of a world, in words; empty = sound.
pub fn broken(world: &World) -> Vec<String> {
    let mut faults = Vec::new();
    one_running_rollout(world, &mut faults);
    indexes_agree(world, &mut faults);
    for machine in world.machines.values() {
        lease_is_sound(world, machine, &mut faults);
    }
    super::roll::invariants::broken(&world.rolls, &mut faults);
    faults
}

/// Every broken invariant of the step from one world to the next by `changes`.
pub fn broken_step(before: &World, after: &World, changes: &[Change], now: Timestamp) -> Vec<String> {
    let mut faults = broken(after);
    grants_respect_the_cap(before, after, changes, now, &mut faults);
    halts_stay(before, after, &mut faults);
    cursor_stays_or_advances(before, after, changes, &mut faults);
    first_successes_stay(before, after, changes, &mut faults);
    super::roll::invariants::broken_step(&before.rolls, &after.rolls, changes, &mut faults);
    faults
}

/// R90: and it is the last one.
fn one_running_rollout(world: &World, faults: &mut Vec<String>) {
    let running: Vec<usize> =
        world.rollouts.iter().enumerate().filter(|(_, r)| r.is_running()).map(|(n, _)| n).collect();
    if running.len() > 1 || running.first().is_some_and(|n| n + 1 != world.rollouts.len()) {
        faults.push(format!("R90: rollouts {running:?} of {} are running", world.rollouts.len()));
    }
}

/// The indexes are what they would be if they were built from nothing.
fn indexes_agree(world: &World, faults: &mut Vec<String>) {
    if world.lanes != Lanes::of(world.subject(), world.machines.values()) {
        faults.push("the lanes are not those of the machines".to_owned());
    }
    let names: OrdMap<String, MachineId> = world.machines.values().map(|m| (m.hostname.clone(), m.id)).collect();
    if world.hostnames != names {
        faults.push("the host names are not those of the machines".to_owned());
    }
}

/// A lease lives only in a capped ring of an open environment, with a machine that is neither paused nor done, under
/// the running rollout (R18, R22, R136).
fn lease_is_sound(world: &World, machine: &Machine, faults: &mut Vec<String>) {
    let Some(lease) = &machine.lease else { return };
    let name = &machine.hostname;
    let Some(rollout) = world.running().filter(|r| r.id == lease.rollout) else {
        faults.push(format!("R22: {name} holds a lease of a rollout that is not running"));
        return;
    };
    let Some((environment, ring)) = machine.place() else {
        faults.push(format!("R22: {name} holds a lease out of scope"));
        return;
    };
    if !world.rings.get(&ring).is_some_and(super::fleet::Ring::is_capped) {
        faults.push(format!("R18: {name} holds a lease in an uncapped ring"));
    }
    if !world.is_open(rollout, environment) {
        faults.push(format!("R13: {name} holds a lease in a closed environment"));
    }
    if machine.paused.is_some() || machine.is_done(rollout.release) {
        faults.push(format!("R136: {name} holds a lease and is paused or done"));
    }
}

/// R21, R24: a grant never fills more slots than there are. A cap that was lowered or turned on under live runs may
/// be exceeded by the holders it found (R29, R30), never by a new one.
fn grants_respect_the_cap(before: &World, after: &World, changes: &[Change], now: Timestamp, faults: &mut Vec<String>) {
    let capping = |ring| changes.iter().any(|c| matches!(c, Change::RingChanged { ring: r, .. } if *r == ring));
    let granted = changes.iter().filter_map(|change| match change {
        Change::LeaseGranted { machine, .. } => after.machines.get(machine)?.place(),
        _ => None,
    });
    let lanes: BTreeMap<_, usize> = granted.fold(BTreeMap::new(), |mut lanes, key| {
        *lanes.entry(key).or_default() += 1;
        lanes
    });
    for (key, granted) in lanes {
        let Some(view) = after.running().and_then(|r| LaneView::of(after, r, key, now)) else { continue };
        let slots = view.slots(now);
        let cap = usize::try_from(slots.cap).unwrap_or(usize::MAX);
        if !capping(key.1) && slots.holding + slots.settling > cap {
            faults
                .push(format!("R21: {granted} granted, {} hold and {} settle of {cap}", slots.holding, slots.settling));
        }
        if before.running().is_some_and(|r| r.halted_rings.contains_key(&key.1)) && !capping(key.1) {
            faults.push("R66: a halted ring granted a slot".to_owned());
        }
    }
}

/// R67, R68: a halt goes away with its generation only, and its first reason stays.
fn halts_stay(before: &World, after: &World, faults: &mut Vec<String>) {
    for old in &before.rollouts {
        let Some(new) = after.rollout(old.id).filter(|r| r.generation == old.generation) else { continue };
        for (ring, halt) in &old.halted_rings {
            if new.halted_rings.get(ring) != Some(halt) {
                faults.push(format!("R67: the halt of {} changed", after.ring_slug(*ring)));
            }
        }
    }
}

/// R81, R82: one step forward at the most, and never back within a generation.
fn cursor_stays_or_advances(before: &World, after: &World, changes: &[Change], faults: &mut Vec<String>) {
    let steps = changes.iter().filter(|c| matches!(c, Change::CursorMoved { .. })).count();
    if steps > 1 {
        faults.push(format!("R81: the cursor moved {steps} times at once"));
    }
    let Some(old) = before.running() else { return };
    let Some(new) = after.rollout(old.id).filter(|r| r.generation == old.generation) else { return };
    if new.cursor < old.cursor {
        faults.push("R82: the cursor moved back".to_owned());
    }
}

/// R42: the anchor of a window never moves, but for a rebuild or a removal.
fn first_successes_stay(before: &World, after: &World, changes: &[Change], faults: &mut Vec<String>) {
    for change in changes {
        let Change::ResultReported { machine, release, .. } = change else { continue };
        let Some(old) = before.machines.get(machine).and_then(|m| m.first_success.get(release)) else { continue };
        let new = after.machines.get(machine).and_then(|m| m.first_success.get(release));
        if new.is_some_and(|new| new != old) {
            faults.push(format!("R42: the first success of {} moved", after.hostname(*machine)));
        }
    }
}
