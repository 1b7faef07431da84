//! Runtime tags as shown: what is released, what servers are brought to, and how many are there (K8).

use std::cmp::Reverse;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::kura::estate::Estate;
use crate::domain::kura::server::Server;
use crate::domain::kura::tag::{RuntimeTag, rank};

/// Where they are listed and released.
pub const PATH: &str = "/api/kura/runtime-tags/";

/// A released version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TagBody {
    /// Its image tag.
    pub tag: String,
    /// When it was released here.
    pub released_at: Timestamp,
    /// Servers are brought to it: it is the newest.
    pub is_target: bool,
    /// Servers that serve it.
    pub serving: usize,
    /// Open deployments that lead to it.
    pub deploying: usize,
}

impl TagBody {
    /// The body of one.
    pub fn of(estate: &Estate, released: &RuntimeTag) -> Self {
        let tag = released.tag.as_str();
        let staying = || estate.servers.values().filter(|server| !server.status.is_leaving());
        let serves = |server: &&Server| server.current_image_tag.as_deref() == Some(tag);
        let heads = |server: &&Server| server.open().is_some_and(|row| row.image_tag == tag);
        Self {
            tag: tag.to_owned(),
            released_at: released.released_at,
            is_target: estate.target() == Some(tag),
            serving: staying().filter(serves).count(),
            deploying: staying().filter(heads).count(),
        }
    }

    /// Those after the tag `after`, the newest version first; none where that tag is not known.
    pub fn page(estate: &Estate, after: Option<&str>, limit: usize) -> Vec<Self> {
        let mut tags: Vec<(usize, &RuntimeTag)> = estate.tags.iter().enumerate().collect();
        tags.sort_by_cached_key(|(place, known)| Reverse((rank(&estate.tags, &known.tag), *place)));
        let from = after.map_or(Some(0), |after| tags.iter().position(|(_, known)| known.tag == after).map(|n| n + 1));
        let rest = from.and_then(|from| tags.get(from..)).unwrap_or_default();
        rest.iter().take(limit).map(|(_, known)| Self::of(estate, known)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_comes_first_and_pages_follow_each_other() {
        // K8
        let at = Timestamp::from_second(1_800_000_000).unwrap();
        let tags = ["0.9.0", "0.10.0", "0.9.1"].map(|tag| RuntimeTag { tag: tag.to_owned(), released_at: at });
        let estate = Estate { tags: tags.into_iter().collect(), ..Estate::default() };
        let told =
            |after, limit| TagBody::page(&estate, after, limit).into_iter().map(|body| body.tag).collect::<Vec<_>>();
        assert_eq!(told(None, 10), ["0.10.0", "0.9.1", "0.9.0"]);
        assert_eq!((told(None, 1), told(Some("0.10.0"), 1)), (vec!["0.10.0".to_owned()], vec!["0.9.1".to_owned()]));
        assert!(told(Some("0.9.0"), 10).is_empty() && told(Some("0.1.0"), 10).is_empty());
        assert_eq!(TagBody::page(&estate, None, 10).iter().filter(|body| body.is_target).count(), 1);
    }
}
