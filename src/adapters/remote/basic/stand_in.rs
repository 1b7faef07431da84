//! Something that is not told of, but was named by its whole uuid: it stands in a sketched world under that, so that
//! verbs can be aimed at it.

use jiff::Timestamp;
use uuid::Uuid;

use super::row::{NOT_TOLD, nameless};
use super::sketch::Sketch;
use crate::domain::change::{Cause, Change, Entry};
use crate::domain::fleet::{ConfigValues, Environment, Machine, Ring, RingSettings};
use crate::domain::ids::{EnvironmentId, MachineId, ReleaseId, RingId};

/// The kinds of things that can be named so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A machine.
    Machine,
    /// A ring.
    Ring,
    /// An environment.
    Environment,
    /// A release.
    Release,
}

impl Sketch {
    /// Knows a thing of this kind, if `text` is a whole uuid of one that is not told of.
    pub fn know(&mut self, kind: Kind, text: &str) {
        let Ok(id) = Uuid::try_parse(text) else { return };
        let world = &self.world;
        let (name, config_values) = (id.to_string(), ConfigValues::new());
        let change = match kind {
            Kind::Machine if !world.machines.contains_key(&MachineId(id)) => {
                Change::MachineAdded { machine: Box::new(Machine::new(MachineId(id), &name)) }
            }
            Kind::Ring if !world.rings.contains_key(&RingId(id)) => {
                let settings = RingSettings::named(&name);
                Change::RingCreated { ring: Ring { id: RingId(id), slug: name, settings, paused: None } }
            }
            Kind::Environment if !world.environments.contains_key(&EnvironmentId(id)) => {
                let (id, slug, promotion_order) = (EnvironmentId(id), name.clone(), None);
                let environment = Environment { id, name, slug, promotion_order, config_values, paused: None };
                Change::EnvironmentCreated { environment }
            }
            Kind::Release if !world.releases.contains_key(&ReleaseId(id)) => {
                Change::ReleasePublished { release: nameless(ReleaseId(id), &name, Timestamp::UNIX_EPOCH) }
            }
            _ => return,
        };
        let (revision, by) = (world.revision + 1, NOT_TOLD.to_owned());
        self.world.apply(&Entry { revision, at: Timestamp::UNIX_EPOCH, by, cause: Cause::Tick, change });
    }
}
