//! The images of one mesh: one version of skew is the safety budget (K8).

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::estate::Estate;
use super::object::tag_of;
use super::sight::Sight;
use super::tag::rank;

/// What runs in the mesh of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mesh {
    /// Whose.
    pub tenant: String,
    /// Image tags of its pods, oldest first; those that cannot be ranked come first.
    pub tags: Vec<String>,
    /// More than two, or two that are no neighbours among the released ones.
    pub warning: Option<String>,
}

/// Every tenant's mesh with at least one pod.
pub fn meshes(estate: &Estate, sight: &Sight) -> Vec<Mesh> {
    let tenants: BTreeSet<&String> = estate.servers.values().map(|server| &server.tenant).collect();
    tenants.into_iter().filter_map(|tenant| mesh(estate, sight, tenant)).collect()
}

fn mesh(estate: &Estate, sight: &Sight, tenant: &str) -> Option<Mesh> {
    let servers = estate.servers.values().filter(|server| server.tenant == tenant && server.spec.mesh);
    let pods = servers.flat_map(|server| sight.pods_of(&server.instance_name));
    let tags: BTreeSet<&str> = pods.filter_map(|pod| pod.image.as_deref().map(tag_of)).collect();
    let mut tags: Vec<String> = tags.into_iter().map(str::to_owned).collect();
    tags.sort_by_cached_key(|tag| rank(&estate.tags, tag));
    let warning = warning(estate, &tags);
    (!tags.is_empty()).then(|| Mesh { tenant: tenant.to_owned(), tags, warning })
}

fn warning(estate: &Estate, tags: &[String]) -> Option<String> {
    match tags {
        [] | [_] => None,
        [old, new] => (!are_neighbours(estate, old, new)).then(|| format!("{old} and {new} are no neighbours")),
        many => Some(format!("{} versions at once: {}", many.len(), many.join(", "))),
    }
}

/// Nothing released lies between the two.
fn are_neighbours(estate: &Estate, old: &str, new: &str) -> bool {
    let (Some(low), Some(high)) = (rank(&estate.tags, old), rank(&estate.tags, new)) else { return false };
    let between = |tag: &str| rank(&estate.tags, tag).is_some_and(|rank| low < rank && rank < high);
    !estate.tags.iter().any(|known| between(&known.tag))
}
