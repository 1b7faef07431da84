//! Verbs on machines: add, assign, remove; and the pause of a machine, a ring or an environment.

use uuid::Uuid;

use super::aim::{Aim, Aimed, Deed, nothing_to_change};
use super::names::Names;
use crate::adapters::remote::basic::stand_in;
use crate::domain::change::Level;
use crate::domain::ids::{EnvironmentId, MachineId, RingId};
use crate::domain::input::Verb;
use crate::domain::world::World;
use crate::wire::problem::Problem;

/// What can be paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// One machine. A pause skips it: its slot is given back and the next one starts.
    Machine,
    /// A ring in every environment. A pause holds it: slots and queue stay.
    Ring,
    /// An environment. A pause holds it: slots and queue stay.
    Environment,
}

/// A thing that can be paused.
#[derive(Debug, Clone, clap::Args)]
pub struct Paused {
    /// What kind of thing it is.
    #[arg(value_enum)]
    kind: Kind,
    /// Its host name, slug or uuid.
    name: String,
}

impl Paused {
    fn thing(&self) -> (stand_in::Kind, &str) {
        let kind = match self.kind {
            Kind::Machine => stand_in::Kind::Machine,
            Kind::Ring => stand_in::Kind::Ring,
            Kind::Environment => stand_in::Kind::Environment,
        };
        (kind, &self.name)
    }

    fn find(&self, world: &World) -> Result<(Level, Aimed), Problem> {
        let (kind, names) = match self.kind {
            Kind::Machine => ("machine", Names::machines(world)),
            Kind::Ring => ("ring", Names::rings(world)),
            Kind::Environment => ("environment", Names::environments(world)),
        };
        let known = names.find(&self.name)?;
        let level = match self.kind {
            Kind::Machine => Level::Machine(MachineId(known.uuid)),
            Kind::Ring => Level::Ring(RingId(known.uuid)),
            Kind::Environment => Level::Environment(EnvironmentId(known.uuid)),
        };
        Ok((level, Aimed { kind, name: known.name, uuid: Some(known.uuid) }))
    }
}

/// What to pause.
#[derive(Debug, Clone, clap::Args)]
pub struct Pause {
    #[command(flatten)]
    what: Paused,
}

/// What to let go on.
#[derive(Debug, Clone, clap::Args)]
pub struct Unpause {
    #[command(flatten)]
    what: Paused,
}

/// Where a machine belongs from now on.
#[derive(Debug, Clone, clap::Args)]
pub struct Assign {
    /// The machine, by host name or uuid.
    machine: String,
    /// Its environment, by slug or uuid.
    #[arg(long, value_name = "NAME")]
    environment: Option<String>,
    /// Its ring, by slug or uuid.
    #[arg(long, value_name = "NAME")]
    ring: Option<String>,
    /// No environment and no ring: it is out of scope, and nothing is served to it.
    #[arg(long, conflicts_with_all = ["environment", "ring"])]
    none: bool,
    /// Its Kubernetes node.
    #[arg(long, value_name = "NODE")]
    node: Option<String>,
}

/// A machine that joins.
#[derive(Debug, Clone, clap::Args)]
pub struct AddMachine {
    /// Its host name, unique in the account.
    hostname: String,
    /// Its Kubernetes node; the host name where it is left out.
    #[arg(long, value_name = "NODE")]
    node: Option<String>,
    /// Its environment, by slug or uuid.
    #[arg(long, value_name = "NAME")]
    environment: Option<String>,
    /// Its ring, by slug or uuid.
    #[arg(long, value_name = "NAME")]
    ring: Option<String>,
}

/// A machine that leaves.
#[derive(Debug, Clone, clap::Args)]
pub struct RemoveMachine {
    /// The machine, by host name or uuid.
    machine: String,
}

fn machine(world: &World, name: &str) -> Result<(MachineId, Aimed), Problem> {
    let known = Names::machines(world).find(name)?;
    Ok((MachineId(known.uuid), Aimed { kind: "machine", name: known.name, uuid: Some(known.uuid) }))
}

fn environment(world: &World, name: Option<&String>) -> Result<Option<EnvironmentId>, Problem> {
    name.map(|name| Names::environments(world).find(name).map(|known| EnvironmentId(known.uuid))).transpose()
}

fn ring(world: &World, name: Option<&String>) -> Result<Option<RingId>, Problem> {
    name.map(|name| Names::rings(world).find(name).map(|known| RingId(known.uuid))).transpose()
}

impl Aim for Pause {
    fn verb(&self) -> &'static str {
        "pause"
    }

    fn is_stop(&self) -> bool {
        // R110: the pause of a machine starts the next one.
        self.what.kind != Kind::Machine
    }

    fn blind(&self) -> Option<(Deed, Aimed)> {
        let name = self.what.name.as_str();
        let (level, aimed) = match self.what.kind {
            Kind::Machine => return None,
            Kind::Ring => Aimed::by_uuid("ring", name).map(|(id, aimed)| (Level::Ring(RingId(id)), aimed))?,
            Kind::Environment => {
                Aimed::by_uuid("environment", name).map(|(id, aimed)| (Level::Environment(EnvironmentId(id)), aimed))?
            }
        };
        Some((Deed::Verb(Box::new(Verb::Pause(level))), aimed))
    }

    fn thing(&self) -> Option<(stand_in::Kind, &str)> {
        Some(self.what.thing())
    }

    fn aim(&self, world: &World) -> Result<(Deed, Aimed), Problem> {
        let (level, aimed) = self.what.find(world)?;
        Ok((Deed::Verb(Box::new(Verb::Pause(level))), aimed))
    }
}

impl Aim for Unpause {
    fn verb(&self) -> &'static str {
        "unpause"
    }

    fn thing(&self) -> Option<(stand_in::Kind, &str)> {
        Some(self.what.thing())
    }

    fn aim(&self, world: &World) -> Result<(Deed, Aimed), Problem> {
        let (level, aimed) = self.what.find(world)?;
        Ok((Deed::Verb(Box::new(Verb::Unpause(level))), aimed))
    }
}

impl Aim for Assign {
    fn verb(&self) -> &'static str {
        "assign"
    }

    fn check(&self) -> Result<(), Problem> {
        let says_something = self.none || self.environment.is_some() || self.ring.is_some() || self.node.is_some();
        if says_something { Ok(()) } else { Err(nothing_to_change("--environment, --ring, --none and --node")) }
    }

    fn aim(&self, world: &World) -> Result<(Deed, Aimed), Problem> {
        let (machine, aimed) = machine(world, &self.machine)?;
        let (environment, ring) = match self.none {
            true => (Some(None), Some(None)),
            false => {
                (environment(world, self.environment.as_ref())?.map(Some), ring(world, self.ring.as_ref())?.map(Some))
            }
        };
        let verb = Verb::AssignMachine { machine, environment, ring, node: self.node.clone() };
        Ok((Deed::Verb(Box::new(verb)), aimed))
    }
}

impl Aim for AddMachine {
    fn verb(&self) -> &'static str {
        "add-machine"
    }

    fn aim(&self, world: &World) -> Result<(Deed, Aimed), Problem> {
        let (environment, ring) = (environment(world, self.environment.as_ref())?, ring(world, self.ring.as_ref())?);
        let (id, hostname, node) = (MachineId(Uuid::nil()), self.hostname.clone(), self.node.clone());
        let aimed = Aimed { kind: "machine", name: hostname.clone(), uuid: None };
        Ok((Deed::Verb(Box::new(Verb::AddMachine { id, hostname, node, environment, ring, bucket: None })), aimed))
    }
}

impl Aim for RemoveMachine {
    fn verb(&self) -> &'static str {
        "remove-machine"
    }

    fn aim(&self, world: &World) -> Result<(Deed, Aimed), Problem> {
        let (machine, aimed) = machine(world, &self.machine)?;
        Ok((Deed::Verb(Box::new(Verb::RemoveMachine { machine })), aimed))
    }
}
