//! Upkeep: what goes on beside the turns, so that no request waits for it. Snapshots and the flush of presence.

use std::sync::Arc;
use std::time::Duration;

use super::door::Door;
use super::host::Host;
use super::ports::{Clock, Journal, Presence};
use super::stop::Stop;
use super::trouble::sentence;
use crate::domain::ids::{AccountId, Revision};
use crate::domain::world::World;

/// Entries between two snapshots.
pub const SNAPSHOT_EVERY: Revision = 1_000;

/// How often presence is flushed.
pub const FLUSH_EVERY: Duration = Duration::from_secs(30);

/// Keeps a snapshot every `SNAPSHOT_EVERY` entries, and one of the last world when the loop has come to its end.
pub(super) async fn run_snapshots<H: Host>(host: Arc<H>, account: AccountId, door: Door) {
    if door.ready().await.is_err() {
        return;
    }
    let mut published = door.published();
    // The door must not keep the loop alive whose end is waited for here.
    drop(door);
    let mut kept = published.borrow().world.revision;
    while published.wait_for(|p| p.world.revision.abs_diff(kept) >= SNAPSHOT_EVERY).await.is_ok() {
        let world = Arc::clone(&published.borrow().world);
        // A snapshot that failed costs time at the next load; the next one is the retry.
        keep(host.as_ref(), account, &world).await;
        kept = world.revision;
    }
    let last = Arc::clone(&published.borrow().world);
    if last.revision != kept {
        keep(host.as_ref(), account, &last).await;
    }
}

async fn keep<H: Host>(host: &H, account: AccountId, world: &World) {
    if let Err(error) = host.journal().snapshot(account, world).await {
        tracing::warn!(%account, why = %sentence(&error), "a snapshot could not be kept");
    }
}

/// Flushes presence every `FLUSH_EVERY`, and once more at the end.
pub(super) async fn run_flush<H: Host>(host: Arc<H>, stop: Stop) {
    while !stop.is_asked() {
        tokio::select! {
            biased;
            () = stop.asked() => {}
            () = host.clock().sleep(FLUSH_EVERY) => {}
        }
        if let Err(error) = host.presence().flush().await {
            tracing::warn!(why = %sentence(&error), "presence could not be flushed");
        }
    }
}
