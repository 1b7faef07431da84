//! Counters that are kept in the world, so that no restart sets them back (K19, K41).

use super::gauges::Labels;
use crate::domain::kura::server::{Server, ServerStatus};
use crate::domain::world::World;

/// Every counter of the world with what it means; an exporter puts `_total` behind the name.
pub const COUNTERS: [(&str, &str); 2] = [
    ("superseded_deployments", "Deployments of a server that a newer intent closed, by their tag"),
    ("not_ready_pod_deletions", "Pods of an instance that were not Ready and deleted for an image, by that image"),
];

/// One number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// One of `COUNTERS`.
    pub name: &'static str,
    /// Of what.
    pub labels: Labels,
    /// How many.
    pub value: u64,
}

/// Every counter of a world; `name_of` says what a server is called. What is destroyed has none any more.
pub fn counts(world: &World, name_of: impl Fn(&Server) -> String) -> Vec<Count> {
    let [(superseded, _), (deleted, _)] = COUNTERS;
    let staying = world.kura.servers.values().filter(|server| server.status != ServerStatus::Destroyed);
    staying
        .flat_map(|server| {
            let closed = server.superseded_total.iter().map(|(tag, value)| {
                let labels = vec![("server", name_of(server)), ("tag", tag.clone())];
                Count { name: superseded, labels, value: *value }
            });
            let rolled = server.deleted_total.iter().map(|(image, value)| {
                let labels = vec![("instance", server.instance_name.clone()), ("image", image.clone())];
                Count { name: deleted, labels, value: *value }
            });
            closed.chain(rolled).collect::<Vec<_>>()
        })
        .collect()
}
