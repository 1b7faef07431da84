//! Runtime tags and their one order: which released version is newer than which (K8).

use std::cmp::Ordering;

use imbl::Vector;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A released Kura version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RuntimeTag {
    /// Its image tag.
    pub tag: String,
    /// When it was released here.
    pub released_at: Timestamp,
}

/// Where a tag stands. Two tags of equal rank are the same version, neither newer than the other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    /// Its version, or the greatest released before it where it is none itself.
    version: Option<Version>,
    /// 0 for a version; else its place in the order of release, from 1.
    above: usize,
}

/// A semantic version; build metadata has no say (semver.org, 11).
#[derive(Debug, Clone, PartialEq, Eq)]
struct Version {
    core: [u64; 3],
    pre: Vec<Identifier>,
}

/// A part of a pre-release: numbers come before words.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Identifier {
    Number(u64),
    Word(String),
}

impl Version {
    /// None where the tag is no version, such as `sha-5e77e0ec60c9`. A leading `v` is passed over.
    fn parse(tag: &str) -> Option<Self> {
        let bare = tag.strip_prefix('v').unwrap_or(tag);
        let bare = bare.split_once('+').map_or(bare, |(version, _)| version);
        let (core, pre) = bare.split_once('-').map_or((bare, None), |(core, pre)| (core, Some(pre)));
        let numbers: Vec<u64> = core.split('.').map(number).collect::<Option<_>>()?;
        let pre = pre.map_or(Some(Vec::new()), |pre| pre.split('.').map(identifier).collect::<Option<_>>())?;
        Some(Self { core: numbers.try_into().ok()?, pre })
    }
}

fn number(text: &str) -> Option<u64> {
    let canonical = text == "0" || !text.starts_with('0');
    (canonical && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

fn identifier(text: &str) -> Option<Identifier> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    match number(text) {
        Some(number) => Some(Identifier::Number(number)),
        None if !text.is_empty() && text.bytes().all(allowed) => Some(Identifier::Word(text.to_owned())),
        None => None,
    }
}

impl Ord for Version {
    /// A pre-release comes before its version.
    fn cmp(&self, other: &Self) -> Ordering {
        let finished = |version: &Self| version.pre.is_empty();
        let by_pre = || finished(self).cmp(&finished(other)).then_with(|| self.pre.cmp(&other.pre));
        self.core.cmp(&other.core).then_with(by_pre)
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Where a tag stands among those released, in order of release. None = nobody can tell: a tag that is no version and
/// was not released here.
pub fn rank(released: &Vector<RuntimeTag>, tag: &str) -> Option<Rank> {
    if let Some(version) = Version::parse(tag) {
        return Some(Rank { version: Some(version), above: 0 });
    }
    let place = released.iter().position(|one| one.tag == tag)?;
    let before = released.iter().take(place).filter_map(|one| Version::parse(&one.tag));
    Some(Rank { version: before.max(), above: place + 1 })
}

/// `tag` is provably newer than `other`.
pub fn is_newer(released: &Vector<RuntimeTag>, tag: &str, other: &str) -> bool {
    let ranks = (rank(released, tag), rank(released, other));
    matches!(ranks, (Some(a), Some(b)) if a > b)
}

/// Which tag can be forgotten: the one released longest ago that nobody uses and without which all others keep their
/// order, in which a version may carry those above it that are none (K8).
pub fn forgettable(released: &Vector<RuntimeTag>, used: impl Fn(&str) -> bool) -> usize {
    let versions = |released: &Vector<RuntimeTag>| -> Vec<Option<Version>> {
        released.iter().map(|one| rank(released, &one.tag).and_then(|rank| rank.version)).collect()
    };
    let all = versions(released);
    let is_idle = |place: &usize| {
        let (mut others, mut kept) = (released.clone(), all.clone());
        let gone = others.remove(*place);
        kept.remove(*place);
        !used(&gone.tag) && versions(&others) == kept
    };
    (0..released.len()).find(is_idle).unwrap_or(0)
}

/// The newest released tag: what servers are brought to (K8). Of equal ones the one released last.
pub fn newest(released: &Vector<RuntimeTag>) -> Option<&RuntimeTag> {
    released.iter().max_by_key(|one| rank(released, &one.tag))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn released(tags: &[&str]) -> Vector<RuntimeTag> {
        let at = |second: usize| Timestamp::from_second(i64::try_from(second).unwrap()).unwrap();
        tags.iter().enumerate().map(|(n, tag)| RuntimeTag { tag: (*tag).to_owned(), released_at: at(n) }).collect()
    }

    #[test]
    fn versions_go_by_precedence_whenever_they_were_released() {
        // K8
        let tags = released(&["0.9.0", "0.10.0-rc.2", "0.10.0", "0.10.0-rc.10", "0.9.9", "0.10.0-alpha"]);
        let ascending = ["0.9.0", "0.9.9", "0.10.0-alpha", "0.10.0-rc.2", "0.10.0-rc.10", "0.10.0"];
        for pair in ascending.windows(2) {
            assert!(is_newer(&tags, pair[1], pair[0]) && !is_newer(&tags, pair[0], pair[1]), "{pair:?}");
        }
        assert_eq!(newest(&tags).unwrap().tag, "0.10.0");
    }

    #[test]
    fn a_tag_that_is_no_version_stands_right_above_the_greatest_version_before_it() {
        // K8
        let tags = released(&["0.10.15", "0.9.1", "sha-aaa", "sha-bbb", "0.10.16"]);
        let ascending = ["0.9.1", "0.10.15", "sha-aaa", "sha-bbb", "0.10.16"];
        assert!(ascending.windows(2).all(|pair| is_newer(&tags, pair[1], pair[0])));
        assert_eq!(newest(&released(&["0.10.15", "sha-aaa"])).unwrap().tag, "sha-aaa");
        assert_eq!(rank(&tags, "sha-unknown"), None, "nobody can say where it stands");
        assert!(!is_newer(&tags, "0.10.16", "sha-unknown") && !is_newer(&tags, "sha-unknown", "0.1.0"));
    }

    #[test]
    fn what_is_forgotten_moves_nothing_else() {
        // K8
        let tags = released(&["9.0.0", "sha-a", "1.0.0", "sha-b"]);
        assert_eq!(forgettable(&tags, |_| false), 1, "9.0.0 carries the two that are no versions");
        assert_eq!(forgettable(&tags, |tag| tag == "sha-a"), 2, "and what somebody runs keeps its place");
        let mut fewer = tags.clone();
        fewer.remove(1);
        assert_eq!(newest(&fewer).unwrap().tag, newest(&tags).unwrap().tag);
        assert_eq!(forgettable(&released(&["1.0.0", "1.1.0"]), |_| false), 0);
    }

    #[test]
    fn the_same_version_in_other_clothes_is_not_newer() {
        let tags = released(&["1.0.0", "v1.0.0", "1.0.0+build.2"]);
        assert!(!is_newer(&tags, "v1.0.0", "1.0.0") && !is_newer(&tags, "1.0.0", "1.0.0+build.2"));
        assert_eq!(newest(&tags).unwrap().tag, "1.0.0+build.2", "but of these the last one is the target");
        let no_versions = ["1.0", "1.0.0.0", "01.0.0", "1.0.0-", "1.0.0-a..b", "99999999999999999999.0.0", ""];
        assert!(no_versions.iter().all(|tag| Version::parse(tag).is_none()));
    }

    proptest! {
        #[test]
        fn the_order_is_total_and_never_runs_in_a_circle(
            tags in prop::collection::vec("(v?[0-2]\\.[0-2]\\.[0-2](-rc\\.[0-9])?|sha-[a-c])", 1..8),
        ) {
            // K8
            let mut distinct: Vec<&str> = Vec::new();
            for tag in &tags {
                if !distinct.contains(&tag.as_str()) {
                    distinct.push(tag);
                }
            }
            let released = released(&distinct);
            let mut sorted = distinct.clone();
            sorted.sort_by_key(|tag| rank(&released, tag));
            for (n, low) in sorted.iter().enumerate() {
                prop_assert!(rank(&released, low).is_some());
                prop_assert!(sorted[n + 1..].iter().all(|high| !is_newer(&released, low, high)));
            }
            let newest = &newest(&released).unwrap().tag;
            prop_assert!(distinct.iter().all(|tag| !is_newer(&released, tag, newest)));
        }
    }
}
