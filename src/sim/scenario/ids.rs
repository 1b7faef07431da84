//! What the file calls things, by their uuids: bodies of scenarios speak of the ids of the file.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::domain::ids::{EnvironmentId, MachineId, ReleaseId, RingId, RollId, RolloutId, ServerId};

/// Ids of the file by the uuids made of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Ids {
    names: BTreeMap<Uuid, String>,
    /// Machines in the order in which they poll.
    pub(super) machines: Vec<MachineId>,
}

impl Ids {
    pub(super) fn environment(&mut self, id: &str) -> EnvironmentId {
        let known = EnvironmentId::named(id);
        self.know(known.0, id);
        known
    }

    pub(super) fn ring(&mut self, id: &str) -> RingId {
        let known = RingId::named(id);
        self.know(known.0, id);
        known
    }

    pub(super) fn machine(&mut self, id: &str) -> MachineId {
        let known = MachineId::named(id);
        if !self.names.contains_key(&known.0) {
            self.machines.push(known);
        }
        self.know(known.0, id);
        known
    }

    pub(super) fn release(&mut self, id: &str) -> ReleaseId {
        let known = ReleaseId::named(id);
        self.know(known.0, id);
        known
    }

    pub(super) fn rollout(&mut self, id: &str) -> RolloutId {
        let known = RolloutId::named(id);
        self.know(known.0, id);
        known
    }

    pub(super) fn server(&mut self, id: &str) -> ServerId {
        let known = ServerId::named(id);
        self.know(known.0, id);
        known
    }

    pub(super) fn roll(&mut self, id: &str) -> RollId {
        let known = RollId::named(id);
        self.know(known.0, id);
        known
    }

    /// A roll that took the place of one the file calls `id`.
    pub(super) fn roll_as(&mut self, roll: RollId, id: &str) {
        self.know(roll.0, id);
    }

    /// What the file calls the thing with this uuid.
    pub(super) fn name(&self, uuid: Uuid) -> Option<&str> {
        self.names.get(&uuid).map(String::as_str)
    }

    /// The same for a uuid in a body.
    pub(super) fn name_of(&self, uuid: &str) -> Option<&str> {
        self.name(uuid.parse().ok()?)
    }

    fn know(&mut self, uuid: Uuid, id: &str) {
        self.names.entry(uuid).or_insert_with(|| id.to_owned());
    }
}
