//! Machines: as shown, as added, as moved.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::body;
use super::place::Name;
use super::problem::Problem;
use crate::domain::fleet::{Machine, Pause};
use crate::domain::ids::{EnvironmentId, MachineId, ReleaseId, RingId};
use crate::domain::input::Verb;
use crate::domain::observed::Observed;
use crate::domain::world::World;

/// Where they are listed and added.
pub const PATH: &str = "/api/provisioning/machines/";

/// Fields that never change once the machine exists, or change by a verb or a report of their own.
const IMMUTABLE: [&str; 6] = ["uuid", "hostname", "paused", "pause", "version", "applied_release_uuid"];

/// A machine as shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MachineBody {
    /// Identity.
    pub uuid: MachineId,
    /// For people.
    pub hostname: String,
    /// Its Kubernetes node.
    pub node: String,
    /// Slug of its tier; null = out of scope (R12).
    pub environment: Option<String>,
    /// Its tier.
    pub environment_uuid: Option<EnvironmentId>,
    /// Slug of its ring; null = out of scope (R12).
    pub ring: Option<String>,
    /// Its ring.
    pub ring_uuid: Option<RingId>,
    /// Version its agent reported at the last rebuild.
    pub version: Option<String>,
    /// Skipped or not (R110).
    pub paused: bool,
    /// Who skips it, since when, why.
    pub pause: Option<Pause>,
    /// Has a slot.
    pub holds_slot: bool,
    /// Since when.
    pub held_since: Option<Timestamp>,
    /// What it converged on last.
    pub applied_release_uuid: Option<ReleaseId>,
    /// When.
    pub applied_at: Option<Timestamp>,
    /// Null = not known yet (R138).
    pub is_online: Option<bool>,
    /// Its last poll.
    pub last_seen_at: Option<Timestamp>,
}

impl MachineBody {
    /// The body of a machine at this moment.
    pub fn of(world: &World, observed: &Observed, machine: &Machine, now: Timestamp) -> Self {
        Self {
            uuid: machine.id,
            hostname: machine.hostname.clone(),
            node: machine.node.clone(),
            environment: machine.environment.map(|id| world.environment_slug(id).to_owned()),
            environment_uuid: machine.environment,
            ring: machine.ring.map(|id| world.ring_slug(id).to_owned()),
            ring_uuid: machine.ring,
            version: machine.version.clone(),
            paused: machine.paused.is_some(),
            pause: machine.paused.clone(),
            holds_slot: machine.lease.is_some(),
            held_since: machine.lease.as_ref().map(|lease| lease.granted_at),
            applied_release_uuid: machine.applied.map(|applied| applied.release),
            applied_at: machine.applied.map(|applied| applied.at),
            is_online: observed.is_online(machine.id, now),
            last_seen_at: observed.last_seen(machine.id),
        }
    }
}

/// A machine that joins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MachineNew {
    /// Unique.
    pub hostname: String,
    /// Its Kubernetes node; the hostname where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Its tier, by uuid or slug.
    #[serde(default)]
    pub environment: Option<Name>,
    /// Its ring, by uuid or slug.
    #[serde(default)]
    pub ring: Option<Name>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl MachineNew {
    /// The verb that adds it under this identity; 404 where its tier or ring is not known.
    pub fn verb(self, id: MachineId, world: &World) -> Result<Verb, Problem> {
        let environment = self.environment.map(|name| name.environment(world)).transpose()?;
        let ring = self.ring.map(|name| name.ring(world)).transpose()?;
        Ok(Verb::AddMachine { id, hostname: self.hostname, node: self.node, environment, ring, bucket: None })
    }
}

/// What may be changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MachinePatch {
    /// Its tier, by uuid or slug; null unassigns it.
    #[serde(deserialize_with = "body::nullable", skip_serializing_if = "Option::is_none")]
    pub environment: Option<Option<Name>>,
    /// Its ring, by uuid or slug; null unassigns it.
    #[serde(deserialize_with = "body::nullable", skip_serializing_if = "Option::is_none")]
    pub ring: Option<Option<Name>>,
    /// Its Kubernetes node.
    #[serde(deserialize_with = "body::sent", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub node: Option<String>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl MachinePatch {
    /// Reads a request; 400 naming the field where it would change what is immutable.
    pub fn parse(bytes: &[u8]) -> Result<Self, Problem> {
        body::refuse_fields(bytes, &IMMUTABLE, "cannot be changed by a PATCH")?;
        body::parse(bytes)
    }

    /// The verb; 404 where its tier or ring is not known.
    pub fn verb(self, machine: MachineId, world: &World) -> Result<Verb, Problem> {
        let environment = self.environment.map(|e| e.map(|name| name.environment(world)).transpose()).transpose()?;
        let ring = self.ring.map(|r| r.map(|name| name.ring(world)).transpose()).transpose()?;
        Ok(Verb::AssignMachine { machine, environment, ring, node: self.node })
    }
}
