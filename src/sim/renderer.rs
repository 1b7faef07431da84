//! Rendering in a simulated world: the content as it was published, unless something is said to be missing.

use std::collections::BTreeMap;

use super::shared::Shared;
use crate::control::render::Renderer;
use crate::domain::ids::MachineId;
use crate::domain::input::Rendered;
use crate::domain::release::Release;
use crate::domain::world::World;

/// Which machines cannot be rendered, and for want of what. Clones are the same renderer.
#[derive(Debug, Clone, Default)]
pub struct SimRenderer(Shared<BTreeMap<MachineId, Vec<String>>>);

impl SimRenderer {
    /// From now on this is missing for a machine.
    pub fn lose(&self, machine: MachineId, mut missing: Vec<String>) {
        missing.sort();
        self.0.with(|known| known.insert(machine, missing));
    }

    /// From now on nothing is missing for it.
    pub fn find(&self, machine: MachineId) {
        self.0.with(|known| known.remove(&machine));
    }
}

impl Renderer for SimRenderer {
    async fn render(&self, _world: &World, release: &Release, machine: MachineId) -> Rendered {
        match self.0.with(|known| known.get(&machine).cloned()) {
            Some(missing) => Rendered::Missing(missing),
            None => Rendered::Content(release.content.clone()),
        }
    }
}
