//! What was rendered before, for one release at a time: a poll that changes nothing compares its inputs and is done.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::prepared::Selection;
use super::values::{Facts, merged};
use crate::domain::fleet::{ConfigValues, Machine};
use crate::domain::ids::{MachineId, Revision};
use crate::domain::input::Rendered;
use crate::domain::lane::LaneKey;
use crate::domain::release::{Digest, Release};
use crate::domain::world::World;

/// What is the same for every machine of a lane, and what came of it.
#[derive(Debug)]
pub(super) struct Inputs {
    release: Digest,
    environment: (String, ConfigValues),
    ring: (String, ConfigValues),
    /// Of the last secret that was set.
    secrets: Revision,
    /// Values of the ring over those of the environment.
    pub(super) vars: ConfigValues,
    outcomes: Mutex<BTreeMap<Key, Rendered>>,
}

/// What tells one outcome from another where the inputs are the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) selection: Selection,
    /// What of the machine was looked up, each field by its name.
    pub(super) looked_up: Vec<(String, String)>,
}

impl Inputs {
    fn of(world: &World, release: &Release, key: LaneKey) -> Option<Self> {
        let (environment, ring) = (world.environments.get(&key.0)?, world.rings.get(&key.1)?);
        Some(Self {
            release: release.content.clone(),
            environment: (environment.slug.clone(), environment.config_values.clone()),
            ring: (ring.slug.clone(), ring.settings.config_values.clone()),
            secrets: world.secrets_revision,
            vars: merged(&environment.config_values, &ring.settings.config_values),
            outcomes: Mutex::default(),
        })
    }

    fn is_of(&self, world: &World, release: &Release, key: LaneKey) -> bool {
        let (Some(environment), Some(ring)) = (world.environments.get(&key.0), world.rings.get(&key.1)) else {
            return false;
        };
        self.release == release.content
            && self.secrets == world.secrets_revision
            && self.environment.1 == environment.config_values
            && self.ring.1 == ring.settings.config_values
            && self.environment.0 == environment.slug
            && self.ring.0 == ring.slug
    }

    /// What a template may look up of a machine.
    pub(super) fn facts(&self, machine: &Machine) -> Facts {
        Facts {
            hostname: machine.hostname.clone(),
            uuid: machine.id.to_string(),
            node: machine.node.clone(),
            environment: self.environment.0.clone(),
            ring: self.ring.0.clone(),
        }
    }

    pub(super) fn outcome(&self, key: &Key) -> Option<Rendered> {
        lock(&self.outcomes).get(key).cloned()
    }

    pub(super) fn keep(&self, key: Key, outcome: &Rendered) {
        lock(&self.outcomes).insert(key, outcome.clone());
    }
}

/// What was rendered for a machine.
#[derive(Debug)]
struct Known {
    inputs: Arc<Inputs>,
    hostname: String,
    node: String,
    outcome: Rendered,
}

/// The cache of one account. Holds what belongs to one release; as many machines as the world has.
#[derive(Debug, Default)]
pub(super) struct Cache(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    release: Option<Digest>,
    lanes: BTreeMap<LaneKey, Arc<Inputs>>,
    machines: BTreeMap<MachineId, Known>,
}

impl Cache {
    /// What came of it the last time, where nothing it depends on has changed.
    pub(super) fn known(&self, world: &World, release: &Release, machine: &Machine, key: LaneKey) -> Option<Rendered> {
        let kept = lock(&self.0);
        let known = kept.machines.get(&machine.id)?;
        let is_same = known.hostname == machine.hostname
            && known.node == machine.node
            && kept.lanes.get(&key).is_some_and(|inputs| Arc::ptr_eq(inputs, &known.inputs))
            && known.inputs.is_of(world, release, key);
        is_same.then(|| known.outcome.clone())
    }

    /// The inputs of a lane as they are now; those of another release are forgotten.
    pub(super) fn inputs(&self, world: &World, release: &Release, key: LaneKey) -> Option<Arc<Inputs>> {
        let mut kept = lock(&self.0);
        if kept.release.as_ref() != Some(&release.content) {
            *kept = Kept { release: Some(release.content.clone()), ..Kept::default() };
        }
        if let Some(known) = kept.lanes.get(&key).filter(|known| known.is_of(world, release, key)) {
            return Some(Arc::clone(known));
        }
        let inputs = Arc::new(Inputs::of(world, release, key)?);
        kept.lanes.insert(key, Arc::clone(&inputs));
        Some(inputs)
    }

    /// What came of it, for the next time; not where its inputs have been replaced meanwhile.
    pub(super) fn keep(&self, machine: &Machine, key: LaneKey, inputs: &Arc<Inputs>, outcome: &Rendered) {
        let mut kept = lock(&self.0);
        if kept.lanes.get(&key).is_some_and(|current| Arc::ptr_eq(current, inputs)) {
            let (hostname, node) = (machine.hostname.clone(), machine.node.clone());
            let known = Known { inputs: Arc::clone(inputs), hostname, node, outcome: outcome.clone() };
            kept.machines.insert(machine.id, known);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
