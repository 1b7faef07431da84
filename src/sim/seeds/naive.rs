//! The rules read as they are written, machine by machine, without the core's indexes: what its answers are held against.

use jiff::Timestamp;

use crate::domain::bucket::bucket;
use crate::domain::fleet::{Environment, Machine};
use crate::domain::ids::{EnvironmentId, MachineId, RingId};
use crate::domain::input::Edition;
use crate::domain::rollout::{Cursor, Rollout};
use crate::domain::span::Seconds;
use crate::domain::world::World;

/// Place of an environment in the path (R77).
pub(super) fn place(environment: &Environment) -> Option<Cursor> {
    environment.promotion_order.map(|order| Cursor { order, slug: environment.slug.clone() })
}

/// At or before the cursor (R13).
pub(super) fn is_open(world: &World, rollout: &Rollout, environment: EnvironmentId) -> bool {
    let place = world.environments.get(&environment).and_then(place);
    matches!((place, &rollout.cursor), (Some(place), Some(cursor)) if place <= *cursor)
}

/// Held on any level (R104-R109).
pub(super) fn is_held(world: &World, machine: &Machine) -> bool {
    let ring = machine.ring.and_then(|id| world.rings.get(&id));
    let environment = machine.environment.and_then(|id| world.environments.get(&id));
    machine.paused.is_some()
        || ring.is_some_and(|ring| ring.paused.is_some())
        || environment.is_some_and(|environment| environment.paused.is_some())
}

/// Everybody in one (environment, ring).
pub(super) fn members(world: &World, (environment, ring): (EnvironmentId, RingId)) -> impl Iterator<Item = &Machine> {
    world.machines.values().filter(move |m| m.environment == Some(environment) && m.ring == Some(ring))
}

/// Slots that are taken: leases, and open settle windows of machines without one (R20, R41, R172).
pub(super) fn taken(world: &World, rollout: &Rollout, key: (EnvironmentId, RingId), now: Timestamp) -> usize {
    members(world, key).filter(|m| m.lease.is_some() || is_settling(world, rollout, m, now)).count()
}

/// Inside its settle window on this release (R40, R47).
pub(super) fn is_settling(world: &World, rollout: &Rollout, machine: &Machine, now: Timestamp) -> bool {
    let settle = machine.ring.and_then(|id| world.rings.get(&id)).map(|ring| ring.settings.min_settle_seconds);
    let first = machine.first_success.get(&rollout.release);
    settle.zip(first).is_some_and(|(settle, first)| now < settle.after(*first))
}

/// Elected by the ladder of its ring (R70, R71), or before the ladder was lowered (R75).
pub(super) fn is_elected(world: &World, rollout: &Rollout, machine: &Machine, now: Timestamp) -> bool {
    let Some((environment, ring)) = machine.place() else { return false };
    let Some(settings) = world.rings.get(&ring).map(|ring| &ring.settings) else { return false };
    let opened = rollout.opened.get(&environment).copied().unwrap_or(rollout.reset_at.unwrap_or(rollout.started_at));
    let age = Seconds::between(opened, now).0;
    let reached = settings.wave_ladder.iter().filter(|rung| rung.after_seconds <= age).map(|rung| rung.pct).max();
    let kept = rollout.elected.get(&(environment, ring)).copied();
    rank(rollout, machine).0 < reached.max(kept).unwrap_or(0)
}

/// Place in the queue: bucket, then uuid (R31, R33).
pub(super) fn rank(rollout: &Rollout, machine: &Machine) -> (u8, MachineId) {
    (machine.bucket.unwrap_or_else(|| bucket(rollout.release, machine.id)), machine.id)
}

/// Why this machine may not be served this, if it may not (R11-R17).
pub(super) fn unservable(world: &World, machine: MachineId, edition: Edition) -> Option<String> {
    let Some(rollout) = world.running() else { return Some("R11: nothing runs".to_owned()) };
    let name = world.hostname(machine);
    if (rollout.release, rollout.generation) != (edition.release, edition.generation) {
        return Some(format!("R17: {name} is served another release or generation than the running one"));
    }
    let Some(machine) = world.machines.get(&machine) else { return Some("R12: the machine is gone".to_owned()) };
    let Some((environment, ring)) = machine.place() else { return Some(format!("R12: {name} is out of scope")) };
    if !is_open(world, rollout, environment) {
        return Some(format!("R13: the environment of {name} is closed"));
    }
    if is_held(world, machine) {
        return Some(format!("R17: {name}, its ring or its environment is paused"));
    }
    let capped = world.rings.get(&ring).is_some_and(|ring| ring.settings.max_in_flight > 0);
    let served = machine.served.as_ref().is_some_and(|served| served.generation == rollout.generation);
    let entitled = machine.is_done(rollout.release) || if capped { machine.lease.is_some() } else { served };
    (!entitled).then(|| format!("R17: {name} is neither done nor holds a slot nor was served before"))
}

/// Why the cursor may not leave the environment it stands on, if it may not (R78).
pub(super) fn unpassable(world: &World, rollout: &Rollout, now: Timestamp) -> Option<String> {
    let cursor = rollout.cursor.as_ref()?;
    let environment = world.environments.values().find(|e| place(e).as_ref() == Some(cursor))?;
    let slug = &environment.slug;
    let inside = || world.machines.values().filter(|m| m.environment == Some(environment.id) && m.ring.is_some());
    let halted = |m: &Machine| m.ring.is_some_and(|ring| rollout.halted_rings.contains_key(&ring));
    if environment.paused.is_some() {
        return Some(format!("R78: {slug} is paused"));
    }
    if !inside().any(|m| m.paused.is_none()) {
        return Some(format!("R80: {slug} has no unpaused member"));
    }
    let why = |m: &Machine| {
        let name = &m.hostname;
        if halted(m) {
            Some(format!("R69: the ring of {name} is halted"))
        } else if m.paused.is_none() && !m.is_done(rollout.release) {
            Some(format!("R78: {name} is not done"))
        } else if m.paused.is_some() && !m.first_success.contains_key(&rollout.release) {
            Some(format!("R79: {name} was paused before it applied"))
        } else if is_settling(world, rollout, m, now) {
            Some(format!("R46: {name} settles"))
        } else {
            None
        }
    };
    inside().find_map(why)
}
