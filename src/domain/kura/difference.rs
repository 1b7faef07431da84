//! What is not the same in two readings. Maps share structure, so that what was not touched is hardly looked at.

use imbl::OrdMap;
use imbl::ordmap::DiffItem;

use super::workload::Pod;

/// Keys whose rows are not the same in both.
pub fn changed<'a, K: Ord + Clone, V: PartialEq>(
    before: &'a OrdMap<K, V>,
    after: &'a OrdMap<K, V>,
) -> impl Iterator<Item = K> + 'a {
    before.diff(after).map(|item| match item {
        DiffItem::Add(key, _) | DiffItem::Remove(key, _) | DiffItem::Update { new: (key, _), .. } => key.clone(),
    })
}

/// Pods that are not the same in both, as they were and as they are.
pub fn pods_changed<'a>(
    before: &'a OrdMap<String, Pod>,
    after: &'a OrdMap<String, Pod>,
) -> impl Iterator<Item = (Option<&'a Pod>, Option<&'a Pod>)> + 'a {
    before.diff(after).map(|item| match item {
        DiffItem::Add(_, pod) => (None, Some(pod)),
        DiffItem::Remove(_, pod) => (Some(pod), None),
        DiffItem::Update { old: (_, old), new: (_, new) } => (Some(old), Some(new)),
    })
}

/// The instances those pods belonged and belong to.
pub fn owners<'a>(pods: (Option<&'a Pod>, Option<&'a Pod>)) -> impl Iterator<Item = String> + 'a {
    [pods.0, pods.1].into_iter().flatten().filter_map(|pod| pod.instance.clone())
}
