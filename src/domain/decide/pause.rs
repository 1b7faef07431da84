//! Pause on three levels: a machine's is a skip, a ring's or an environment's a hold (R104-R113).

use super::super::change::{Change, LeaseEnd, Level};
use super::super::fleet::Pause;
use super::super::input::Order;
use super::super::refusal::Refusal;
use super::super::verdict::Reply;
use super::super::world::World;
use super::draft::Draft;

/// Holds a thing. Doing it twice is doing it once: who was first, and since when, stays.
pub(super) fn pause(draft: &mut Draft<'_>, level: Level, order: &Order) -> Reply {
    match current(draft.world(), level) {
        Err(refusal) => return Reply::Refused(refusal),
        Ok(Some(_)) => return Reply::Done,
        Ok(None) => {}
    }
    if let Level::Machine(machine) = level {
        draft.end_lease(machine, LeaseEnd::Paused);
    }
    let pause = Pause { at: draft.now, by: order.by.clone(), reason: order.reason.clone() };
    draft.push(Change::Paused { what: level, pause });
    Reply::Done
}

/// Ends the hold. A machine rejoins at its bucket; a ring or environment goes on where it stood.
pub(super) fn unpause(draft: &mut Draft<'_>, level: Level) -> Reply {
    match current(draft.world(), level) {
        Err(refusal) => Reply::Refused(refusal),
        Ok(None) => Reply::Done,
        Ok(Some(_)) => {
            draft.push(Change::Unpaused { what: level });
            Reply::Done
        }
    }
}

fn current(world: &World, level: Level) -> Result<Option<&Pause>, Refusal> {
    match level {
        Level::Machine(id) => world.machines.get(&id).map(|m| m.paused.as_ref()).ok_or(Refusal::NoMachine(id)),
        Level::Ring(id) => world.rings.get(&id).map(|r| r.paused.as_ref()).ok_or(Refusal::NoRing(id)),
        Level::Environment(id) => {
            world.environments.get(&id).map(|e| e.paused.as_ref()).ok_or(Refusal::NoEnvironment(id))
        }
    }
}
