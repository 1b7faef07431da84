//! The reconciler's pass: stalls first, then at most one promotion or the completion (R89); where nothing runs, the
//! tag that waits.

use jiff::Timestamp;

use super::super::change::Change;
use super::super::fleet::Lease;
use super::super::hold::hold;
use super::super::ids::{EnvironmentId, MachineId, RolloutId};
use super::super::lane::LaneKey;
use super::super::observed::Observed;
use super::super::rollout::{Cursor, Ending, HaltCause, RingHalt, Rollout};
use super::super::span::Seconds;
use super::super::verdict::Reply;
use super::super::world::{World, place};
use super::draft::Draft;
use super::start::open_lowest;
use super::unattended::sequence;

pub(super) fn tick(draft: &mut Draft<'_>, observed: &Observed, fresh: RolloutId) -> Reply {
    let Some(rollout) = draft.world().running().map(|r| r.id) else { return sequence(draft, fresh) };
    if observed.clock_suspect || draft.world().seat.deaf_since.is_some() {
        return Reply::Done; // R168: no stall and no promotion on a clock nobody can trust, nor where nobody can report
    }
    halt_stalled_rings(draft, observed, rollout);
    advance(draft, observed, rollout);
    Reply::Done
}

/// A holder that held its slot too long halts its ring; nothing is skipped, no slot is freed (R49, R52).
fn halt_stalled_rings(draft: &mut Draft<'_>, observed: &Observed, rollout: RolloutId) {
    let keys: Vec<LaneKey> = draft.world().lanes().iter().map(|(key, _)| *key).collect();
    for key in keys {
        if let Some(halt) = stalled(draft.world(), observed, key, draft.now) {
            draft.push(Change::RingHalted { rollout, ring: key.1, halt });
        }
    }
}

/// The halt a lane is due for: not while it is paused (R174), not twice (R68), not without a timeout (R48).
fn stalled(world: &World, observed: &Observed, key: LaneKey, now: Timestamp) -> Option<RingHalt> {
    let ring = world.rings.get(&key.1)?;
    let environment = world.environments.get(&key.0)?;
    let timeout = ring.settings.stall_timeout_seconds;
    let timed = !timeout.is_off() && ring.is_capped() && ring.paused.is_none() && environment.paused.is_none();
    if !timed || world.running()?.halted_rings.contains_key(&key.1) {
        return None;
    }
    let holders = world.lane(key)?.holders.iter();
    let leases = holders.filter_map(|id| Some((*id, world.machines.get(id)?.lease.as_ref()?)));
    let (machine, lease) = leases.max_by_key(|(_, lease)| world.stall_age(key, lease, now))?;
    (world.stall_age(key, lease, now) >= timeout).then(|| RingHalt {
        cause: HaltCause::Stall,
        machine,
        reason: stall_sentence(world, observed, machine, lease, now),
        at: now,
    })
}

fn stall_sentence(world: &World, observed: &Observed, machine: MachineId, lease: &Lease, now: Timestamp) -> String {
    let held = Seconds::between(lease.granted_at, now);
    let name = world.hostname(machine);
    match (observed.is_online(machine, now), observed.last_seen(machine)) {
        (Some(false), Some(seen)) => {
            format!("{name} has held its slot for {held} and is offline for {}", Seconds::between(seen, now))
        }
        (Some(false), None) => format!("{name} has held its slot for {held} and is offline"),
        _ => format!("{name} has held its slot for {held} without an end"),
    }
}

/// One step of the cursor per tick: to the first environment, to the next, or past the last (R81, R85).
fn advance(draft: &mut Draft<'_>, observed: &Observed, id: RolloutId) {
    let Some(rollout) = draft.world().rollout(id).cloned() else { return };
    let Some(cursor) = rollout.cursor.clone() else { return open_lowest(draft, id) };
    if !may_pass(draft.world(), observed, &rollout, draft.now) {
        return;
    }
    match next_environment(draft.world(), &cursor) {
        Some((environment, cursor)) => draft.push(Change::CursorMoved { rollout: id, cursor, environment }),
        None if holds_anywhere(draft.world()) => {}
        None => draft.push(Change::RolloutEnded { rollout: id, ending: Ending::Completed }),
    }
}

/// Nothing holds the cursor, and every unpaused member of its environment is done (R78). An environment that was
/// taken out of the path holds nobody back.
fn may_pass(world: &World, observed: &Observed, rollout: &Rollout, now: Timestamp) -> bool {
    if hold(world, observed, rollout, now).is_some() {
        return false;
    }
    let Some(environment) = world.cursor_environment(rollout) else { return true };
    let mut lanes = world.lanes().of_environment(environment.id);
    lanes.all(|(_, lane)| lane.unfinished.is_empty())
}

/// The environment after the cursor: orders ascend, equal ones go by slug (R77).
fn next_environment(world: &World, cursor: &Cursor) -> Option<(EnvironmentId, Cursor)> {
    let mut path = world.path().into_iter().filter_map(|e| Some((e.id, place(e)?)));
    path.find(|(_, place)| place > cursor)
}

/// A live lease anywhere blocks the completion, which would withdraw an assignment in mid-drain (R86).
pub(in super::super) fn holds_anywhere(world: &World) -> bool {
    world.lanes().iter().any(|(_, lane)| !lane.holders.is_empty())
}
