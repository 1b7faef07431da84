//! Rendering: what a release becomes for one machine.

use std::future::Future;

use crate::domain::ids::MachineId;
use crate::domain::input::Rendered;
use crate::domain::release::Release;
use crate::domain::world::World;

/// Makes the content of a release for one machine, ahead of the decision that may serve it.
pub trait Renderer: Send + Sync + 'static {
    /// `Content` with a digest the Vault has, or `Missing` with the sorted names of what does not exist (R148).
    fn render(&self, world: &World, release: &Release, machine: MachineId) -> impl Future<Output = Rendered> + Send;
}

/// Serves every machine the content that was published with the release.
#[derive(Debug, Clone, Copy, Default)]
pub struct AsPublished;

impl Renderer for AsPublished {
    async fn render(&self, _world: &World, release: &Release, _machine: MachineId) -> Rendered {
        Rendered::Content(release.content.clone())
    }
}
