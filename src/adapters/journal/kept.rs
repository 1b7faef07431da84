//! Worlds as journals keep them: whose fold they are of, how they become bytes, and what is believed of them.

use super::row::corrupt;
use crate::control::ports::JournalError;
use crate::domain::ids::Revision;
use crate::domain::world::World;

/// Snapshots an account keeps: the newest, and one to fall back to.
pub const SNAPSHOTS_KEPT: i64 = 2;

/// Version of `World::apply` and of the stored World. A snapshot of another version is left alone and the entries are
/// folded anew, so raise this whenever the same entries come to mean another world.
pub const FOLD_VERSION: i64 = 4;

/// A world as bytes.
pub fn body(attempt: &'static str, world: &World) -> Result<Vec<u8>, JournalError> {
    serde_json::to_vec(world).map_err(|unwritable| JournalError::Store { attempt, source: Box::new(unwritable) })
}

/// The same beside whatever else the process does: a large world takes a while.
pub async fn body_beside(attempt: &'static str, world: World) -> Result<Vec<u8>, JournalError> {
    let written = tokio::task::spawn_blocking(move || body(attempt, &world)).await;
    written.map_err(|stopped| JournalError::Store { attempt, source: Box::new(stopped) })?
}

/// A world, or why it cannot be read.
pub fn world(body: &[u8]) -> Result<World, String> {
    serde_json::from_slice(body).map_err(|error| error.to_string())
}

/// The same beside whatever else the process does, of the revision it was kept for.
pub async fn world_beside(revision: Revision, body: Vec<u8>) -> Result<World, String> {
    match tokio::task::spawn_blocking(move || world(&body)).await {
        Ok(Ok(world)) if world.revision == revision => Ok(world),
        Ok(Ok(world)) => Err(format!("it says it is of revision {}", world.revision)),
        Ok(Err(problem)) => Err(problem),
        Err(stopped) => Err(stopped.to_string()),
    }
}

/// The world that everything which is still an entry builds on: there is no other, so it has to be there and of the
/// revision before the oldest of them.
pub fn base_at(place: Revision, base: Option<Result<World, String>>) -> Result<World, JournalError> {
    match base {
        Some(Ok(world)) if world.revision == place => Ok(world),
        Some(Ok(world)) => Err(corrupt(place, format!("the world before it is of {}", world.revision))),
        Some(Err(problem)) => Err(corrupt(place, format!("the world up to it: {problem}"))),
        None => Err(corrupt(place, "it is archived, and the world up to it is not kept")),
    }
}
