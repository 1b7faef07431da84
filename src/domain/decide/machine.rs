//! Machines: joining, moving, leaving. A lease never outlives its machine's place in scope (R22).

use super::super::change::{Change, LeaseEnd};
use super::super::fleet::Machine;
use super::super::ids::{EnvironmentId, MachineId, RingId};
use super::super::input::Verb;
use super::super::refusal::Refusal;
use super::super::verdict::Reply;
use super::super::world::{MACHINES_MAX, World};
use super::draft::Draft;
use super::text::check_name;

pub(super) fn add(draft: &mut Draft<'_>, verb: &Verb) -> Reply {
    let Verb::AddMachine { id, hostname, node, environment, ring, bucket } = verb else { return Reply::Done };
    let checked =
        check_add(draft.world(), *id, hostname, *environment, *ring).and_then(|()| check_node(node.as_deref()));
    if let Err(refusal) = checked {
        return Reply::Refused(refusal);
    }
    let mut machine = Machine::new(*id, hostname);
    machine.node = node.clone().unwrap_or_else(|| hostname.clone());
    machine.environment = *environment;
    machine.ring = *ring;
    machine.bucket = *bucket;
    draft.push(Change::MachineAdded { machine: Box::new(machine) });
    Reply::Machine(*id)
}

fn check_add(
    world: &World,
    id: MachineId,
    hostname: &str,
    environment: Option<EnvironmentId>,
    ring: Option<RingId>,
) -> Result<(), Refusal> {
    check_name("hostname", hostname)?;
    check_place(world, environment, ring)?;
    if world.machines.contains_key(&id) || world.hostnames.contains_key(hostname) {
        return Err(Refusal::Duplicate { field: "hostname", value: hostname.to_owned() });
    }
    if world.machines.len() >= MACHINES_MAX {
        return Err(Refusal::Full { what: "machines", limit: MACHINES_MAX });
    }
    Ok(())
}

/// Kubernetes names its nodes as DNS does, so nothing else is the name of one.
fn check_node(node: Option<&str>) -> Result<(), Refusal> {
    node.map_or(Ok(()), |node| check_name("node", node))
}

fn check_place(world: &World, environment: Option<EnvironmentId>, ring: Option<RingId>) -> Result<(), Refusal> {
    if let Some(id) = environment.filter(|id| !world.environments.contains_key(id)) {
        return Err(Refusal::NoEnvironment(id));
    }
    match ring.filter(|id| !world.rings.contains_key(id)) {
        Some(id) => Err(Refusal::NoRing(id)),
        None => Ok(()),
    }
}

pub(super) fn assign(draft: &mut Draft<'_>, verb: &Verb) -> Reply {
    let Verb::AssignMachine { machine: id, environment, ring, node } = verb else { return Reply::Done };
    let Some(machine) = draft.world().machines.get(id) else { return Reply::Refused(Refusal::NoMachine(*id)) };
    let before = (machine.environment, machine.ring, machine.node.clone());
    let after = (
        environment.unwrap_or(machine.environment),
        ring.unwrap_or(machine.ring),
        node.clone().unwrap_or_else(|| machine.node.clone()),
    );
    let checked = check_place(draft.world(), after.0, after.1).and_then(|()| check_node(node.as_deref()));
    if let Err(refusal) = checked {
        return Reply::Refused(refusal);
    }
    if before == after {
        return Reply::Done;
    }
    if (before.0, before.1) != (after.0, after.1) {
        draft.end_lease(*id, LeaseEnd::Moved);
    }
    let (environment, ring, node) = after;
    draft.push(Change::MachineAssigned { machine: *id, environment, ring, node });
    Reply::Done
}

pub(super) fn remove(draft: &mut Draft<'_>, id: MachineId) -> Reply {
    if !draft.world().machines.contains_key(&id) {
        return Reply::Refused(Refusal::NoMachine(id));
    }
    draft.end_lease(id, LeaseEnd::Removed);
    draft.push(Change::MachineRemoved { machine: id });
    Reply::Done
}
