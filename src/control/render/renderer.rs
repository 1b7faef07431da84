//! What the desk asks for: the content of a release for one machine, and reports without secrets.

use std::future::Future;

use super::super::ports::ApplyResult;
use crate::domain::ids::MachineId;
use crate::domain::input::Rendered;
use crate::domain::release::Release;
use crate::domain::world::World;

/// Makes the content of a release for one machine, ahead of the decision that may serve it.
pub trait Renderer: Send + Sync + 'static {
    /// `Content` with a digest the Vault has, or `Missing` with the sorted names of what does not exist (R148).
    fn render(&self, world: &World, release: &Release, machine: MachineId) -> impl Future<Output = Rendered> + Send;

    /// What an agent reports, without any secret that was ever rendered: before it is decided, and before it is kept.
    fn conceal(&self, _world: &World, result: ApplyResult) -> impl Future<Output = ApplyResult> + Send {
        async move { result }
    }
}

/// Serves every machine the content that was published with the release.
#[derive(Debug, Clone, Copy, Default)]
pub struct AsPublished;

impl Renderer for AsPublished {
    async fn render(&self, _world: &World, release: &Release, _machine: MachineId) -> Rendered {
        Rendered::Content(release.content.clone())
    }
}
