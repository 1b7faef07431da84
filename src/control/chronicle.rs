//! The log of the process about what it decided: facts that operators grep for.

use crate::domain::change::{Change, Entry};
use crate::domain::kura::change::KuraChange;
use crate::domain::kura::deployment::Closing;
use crate::domain::world::World;

/// One line for each deployment that a newer intent closed: which server, what it was, and what displaced it (K19).
/// `world` has the entries folded in.
pub(super) fn chronicle(world: &World, entries: &[Entry]) {
    for entry in entries {
        let Change::Kura(change) = &entry.change else { continue };
        let KuraChange::DeploymentClosed { server, deployment, closing: Closing::Superseded { by } } = &**change else {
            continue;
        };
        let Some(server) = world.kura.servers.get(server) else { continue };
        let tag = server.deployment(*deployment).map_or("(forgotten)", |row| row.image_tag.as_str());
        let (server, displaced_by, order_of) = (server.name(), by.as_str(), entry.by.as_str());
        tracing::info!(%server, %tag, %displaced_by, by = %order_of, "a deployment was superseded");
    }
}
