//! A plan: one verb decided on a world that is thrown away, and what is to be said about the difference.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;

use super::super::change::Change;
use super::super::decide::decide;
use super::super::ids::{MachineId, Revision};
use super::super::input::{Input, Order, Verb};
use super::super::kura::verb::KuraVerb;
use super::super::observed::Observed;
use super::super::refusal::Refusal;
use super::super::span::Seconds;
use super::super::verdict::Reply;
use super::super::world::World;
use super::rehearsal::Rehearsal;
use super::thing::{Thing, touched};

/// What a line of a plan is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanKind {
    /// A slot or a run ends.
    Ends,
    /// Something begins.
    Starts,
    /// Something stays as it is, or does not happen.
    Stays,
    /// Something to look after.
    Warns,
}

/// One consequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanLine {
    /// What it is about.
    pub kind: PlanKind,
    /// One sentence without a full stop.
    pub text: String,
}

/// A slot that would be given back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedLease {
    /// Whose.
    pub machine: MachineId,
    /// How long it has been held.
    pub held: Seconds,
}

/// Everything that would follow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// The revision it was made from.
    pub revision: Revision,
    /// In the order they matter.
    pub lines: Vec<PlanLine>,
    /// The core would refuse.
    pub refused: Option<Refusal>,
    /// Slots that would be given back, by machine.
    pub ended: Vec<EndedLease>,
    /// Machines whose run would be cancelled: their nodes may stay cordoned.
    pub cancelled: Vec<MachineId>,
    /// Machines that would be served at their next poll, and would not be without this.
    pub starts: Vec<MachineId>,
    /// Objects that would be written to the cluster, in order, where a verb leads to nothing but what can be said before.
    pub writes: Vec<Value>,
    /// Things it is about: one of these that changed meanwhile makes it a plan of yesterday.
    pub names: BTreeSet<Thing>,
}

impl Plan {
    /// A machine would lose its slot.
    pub fn ends_lease(&self) -> bool {
        !self.ended.is_empty()
    }
}

/// Rehearses a verb.
pub fn plan(verb: &Verb, world: &World, observed: &Observed, by: &str, now: Timestamp) -> Plan {
    // A plan is read before anybody is asked why, so it is not refused for want of a reason (K44).
    let needs_reason = matches!(verb, Verb::Kura(KuraVerb::StripFinalizer { .. } | KuraVerb::AcceptCluster { .. }));
    let reason = needs_reason.then(|| "not asked for yet".to_owned());
    let input = Input::Verb(Order { verb: verb.clone(), by: by.to_owned(), reason, key: None });
    let verdict = decide(world, observed, &input, now);
    let mut plan = Plan { revision: world.revision, ..Plan::default() };
    plan.names.extend(Thing::of(verb, world));
    if let Reply::Refused(refusal) = verdict.reply {
        plan.refused = Some(refusal);
        return plan;
    }
    let mut after = World::clone(world);
    for entry in input.author(&after, "").entries(world, &verdict.changes, now) {
        after.apply(&entry);
    }
    plan.ended = ended(&verdict.changes, world, now);
    // What it makes is new, so nobody else can have touched it; what it starts is looked at below.
    plan.names.extend(verdict.changes.iter().flat_map(touched).filter(|thing| is_known(*thing, world)));
    let mut rehearsal = Rehearsal { before: world, after: &after, observed, now, plan };
    rehearsal.tell(verb, &verdict.reply, verdict.changes.is_empty());
    let mut plan = rehearsal.plan;
    plan.names.extend(plan.cancelled.iter().chain(&plan.starts).map(|id| Thing::Machine(*id)));
    plan
}

fn ended(changes: &[Change], before: &World, now: Timestamp) -> Vec<EndedLease> {
    let of = |machine: &MachineId| {
        let lease = before.machines.get(machine).and_then(|machine| machine.lease.as_ref());
        EndedLease { machine: *machine, held: lease.map(|l| Seconds::between(l.granted_at, now)).unwrap_or_default() }
    };
    let ends = changes.iter().filter_map(|change| match change {
        Change::LeaseEnded { machine, .. } => Some(of(machine)),
        _ => None,
    });
    ends.collect()
}

fn is_known(thing: Thing, world: &World) -> bool {
    match thing {
        Thing::Account => true,
        Thing::Environment(id) => world.environments.contains_key(&id),
        Thing::Ring(id) => world.rings.contains_key(&id),
        Thing::Machine(id) => world.machines.contains_key(&id),
        Thing::Release(id) => world.releases.contains_key(&id),
        Thing::Rollout(id) => world.rollout(id).is_some(),
        Thing::Server(id) => world.kura.servers.contains_key(&id),
        Thing::Roll(id) => world.rolls.roll(id).is_some(),
    }
}
