//! The plan of a verb as it is told before the verb is given, and what moved since.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::domain::ids::{MachineId, Revision};
use crate::domain::input::Verb;
use crate::domain::plan::{EndedLease, Moved, Plan, PlanKind, Thing};
use crate::domain::span::Seconds;
use crate::domain::world::World;

/// The answer to a verb that was sent with `?dry_run=true`: what would follow. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanBody {
    /// Always true; an answer without it did something.
    pub dry_run: bool,
    /// Name of the verb, as in the journal.
    pub verb: String,
    /// The revision it was made from; send it as `If-Match: "REVISION"` to have this and nothing else carried out.
    pub revision: Revision,
    /// In the order they matter.
    pub lines: Vec<LineBody>,
    /// Slots that would be given back.
    pub leases_ended: Vec<LeaseBody>,
    /// Runs that would be cancelled; the nodes of these machines may stay cordoned.
    pub runs_cancelled: Vec<MachineName>,
    /// Machines that would start at their next poll, and would not without this.
    pub starts_next: Vec<MachineName>,
    /// Objects that would be written to the cluster, as they would be sent and in that order: of a fleet roll, of a probe
    /// and of a node that is given back. Names and times are those of the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<Value>,
    /// What the plan is about: a change of one of these after `revision` is answered with 412.
    pub names: Vec<ThingBody>,
}

/// One consequence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LineBody {
    /// `ends`, `starts`, `stays` or `warns`.
    pub kind: LineKind,
    /// One sentence without a full stop.
    pub text: String,
}

/// What a consequence is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LineKind {
    /// A slot or a run ends.
    Ends,
    /// Something begins.
    Starts,
    /// Something stays as it is, or does not happen.
    Stays,
    /// Something to look after.
    Warns,
}

impl From<PlanKind> for LineKind {
    fn from(kind: PlanKind) -> Self {
        match kind {
            PlanKind::Ends => Self::Ends,
            PlanKind::Starts => Self::Starts,
            PlanKind::Stays => Self::Stays,
            PlanKind::Warns => Self::Warns,
        }
    }
}

/// A slot that would be given back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeaseBody {
    /// Whose.
    pub uuid: MachineId,
    /// For people.
    pub hostname: String,
    /// Slug of the ring whose slot it is; null where the machine has none any more.
    pub ring: Option<String>,
    /// How long it has been held.
    pub held_seconds: Seconds,
}

/// A machine by both of its names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MachineName {
    /// Identity.
    pub uuid: MachineId,
    /// For people.
    pub hostname: String,
}

/// One thing of an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThingBody {
    /// `account`, `environment`, `ring`, `machine`, `release` or `rollout`.
    pub kind: String,
    /// Identity; null for the account.
    pub uuid: Option<Uuid>,
    /// For people.
    pub name: String,
}

impl ThingBody {
    fn of(thing: Thing, name: String) -> Self {
        let (kind, uuid) = match thing {
            Thing::Account => ("account", None),
            Thing::Environment(id) => ("environment", Some(id.0)),
            Thing::Ring(id) => ("ring", Some(id.0)),
            Thing::Machine(id) => ("machine", Some(id.0)),
            Thing::Release(id) => ("release", Some(id.0)),
            Thing::Rollout(id) => ("rollout", Some(id.0)),
            Thing::Server(id) => ("server", Some(id.0)),
            Thing::Roll(id) => ("roll", Some(id.0)),
        };
        Self { kind: kind.to_owned(), uuid, name }
    }
}

/// A thing that changed after the revision somebody looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MovedBody {
    /// Which.
    #[serde(flatten)]
    pub thing: ThingBody,
    /// The revision of its last change.
    pub revision: Revision,
    /// When that was.
    pub at: Timestamp,
    /// Who stands behind it.
    pub by: String,
    /// What happened, in a few words.
    pub what: String,
}

impl From<&Moved> for MovedBody {
    fn from(moved: &Moved) -> Self {
        Self {
            thing: ThingBody::of(moved.thing, moved.name.clone()),
            revision: moved.revision,
            at: moved.at,
            by: moved.by.clone(),
            what: moved.what.to_owned(),
        }
    }
}

impl PlanBody {
    /// The body of a plan that is not refused; `world` is the one it was made on.
    pub fn of(verb: &Verb, plan: &Plan, world: &World) -> Self {
        let hostname = |uuid: &MachineId| match verb {
            // It joins by this verb, so the world does not know it yet.
            Verb::AddMachine { id, hostname, .. } if id == uuid => hostname.clone(),
            _ => world.hostname(*uuid).to_owned(),
        };
        let machine = |uuid: &MachineId| MachineName { uuid: *uuid, hostname: hostname(uuid) };
        let lines = plan.lines.iter().map(|line| LineBody { kind: line.kind.into(), text: line.text.clone() });
        Self {
            dry_run: true,
            verb: verb.name().to_owned(),
            revision: plan.revision,
            lines: lines.collect(),
            leases_ended: plan.ended.iter().map(|lease| lease_body(lease, world)).collect(),
            runs_cancelled: plan.cancelled.iter().map(machine).collect(),
            starts_next: plan.starts.iter().map(machine).collect(),
            writes: plan.writes.clone(),
            names: plan.names.iter().map(|thing| ThingBody::of(*thing, thing.name(world))).collect(),
        }
    }
}

impl PlanBody {
    /// The plan of leaving the seat, which is no verb of the core; the process does not stand for it for `left_for`.
    pub fn leaving(revision: Revision, left_for: Seconds) -> Self {
        let line = |kind, text: String| LineBody { kind, text };
        let lines = vec![
            line(LineKind::Ends, "this process no longer ticks".to_owned()),
            line(LineKind::Starts, "another process that stands for the seat takes it and ticks".to_owned()),
            line(
                LineKind::Warns,
                format!(
                    "where none stands, nothing promotes and no stall is noticed for {left_for}; then it stands again"
                ),
            ),
            line(LineKind::Stays, "slots, queues and runs in flight stay; polls and verbs go on".to_owned()),
        ];
        let (leases_ended, runs_cancelled, starts_next, writes, names) = Default::default();
        let verb = "leave-seat".to_owned();
        Self { dry_run: true, verb, revision, lines, leases_ended, runs_cancelled, starts_next, writes, names }
    }
}

fn lease_body(lease: &EndedLease, world: &World) -> LeaseBody {
    let ring = world.machines.get(&lease.machine).and_then(|machine| machine.ring);
    LeaseBody {
        uuid: lease.machine,
        hostname: world.hostname(lease.machine).to_owned(),
        ring: ring.map(|id| world.ring_slug(id).to_owned()),
        held_seconds: lease.held,
    }
}
