//! The images of one mesh: one version of skew is the safety budget (K8).

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::estate::Estate;
use super::object::tag_of;
use super::tag::rank;
use super::workload::Pod;

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
pub fn meshes(estate: &Estate, pods: &BTreeMap<&str, Vec<&Pod>>) -> Vec<Mesh> {
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for server in estate.servers.values().filter(|server| server.spec.mesh) {
        let theirs = pods.get(server.instance_name.as_str()).into_iter().flatten();
        let tags = theirs.filter_map(|pod| pod.image.as_deref().map(tag_of));
        found.entry(&server.tenant).or_default().extend(tags);
    }
    found.retain(|_, tags| !tags.is_empty());
    found.into_iter().map(|(tenant, tags)| mesh(estate, tenant, tags)).collect()
}

fn mesh(estate: &Estate, tenant: &str, tags: BTreeSet<&str>) -> Mesh {
    let mut tags: Vec<String> = tags.into_iter().map(str::to_owned).collect();
    tags.sort_by_cached_key(|tag| rank(&estate.tags, tag));
    let warning = warning(estate, &tags);
    Mesh { tenant: tenant.to_owned(), tags, warning }
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
