//! Pods that are not Ready roll together: deleted once per image change, and never a Ready one (K35-K40).

use super::super::super::ids::ServerId;
use super::super::super::kura::change::KuraChange;
use super::super::super::kura::object::{ObjectKind, ObjectRef, tag_of};
use super::super::super::kura::server::{PodMark, Roll, Server};
use super::super::super::kura::sight::{PodDeleter, Sight};
use super::super::super::kura::step::{Deed, Purpose, Step};
use super::super::super::kura::workload::{PausedBy, Pod, StatefulSet};
use super::super::draft::Draft;
use super::pass::since;

/// How many pods that took the place of one of a set are deleted after it, each for having come back on an old image.
const AGAIN_MAX: u32 = 3;

pub(super) fn roll(draft: &mut Draft<'_>, sight: &Sight, server: &Server) {
    if !sight.sets.is_fresh(draft.now) || !sight.pods.is_fresh(draft.now) {
        return;
    }
    let Some(set) = sight.sets.get(&server.instance_name).filter(|set| !set.stamp.is_leaving()) else { return };
    // K36: only once the template carries it; K38: skipped, and not marked as done.
    let Some(template) = set.image.as_deref().map(tag_of) else { return };
    if set.paused_by() == Some(PausedBy::Operator) {
        return;
    }
    let told = draft.told();
    fix(draft, sight, server, template);
    let is_ours = |roll: &Roll| roll.fixed && roll.image == template && sight.deleter == PodDeleter::Ours;
    let fixed = &*since(draft, server, told);
    if let Some(roll) = fixed.roll.as_ref().filter(|roll| is_ours(roll)) {
        mark_who_came_back(draft, sight, set, server.id, roll);
    }
    let marked = &*since(draft, fixed, told);
    if let Some(roll) = marked.roll.as_ref().filter(|roll| is_ours(roll)) {
        delete(draft, sight, server.id, roll);
    }
}

/// The set is fixed when the change is observed. Whoever is seen for the first time has changed nothing (K40).
fn fix(draft: &mut Draft<'_>, sight: &Sight, server: &Server, template: &str) {
    let pods = match &server.roll {
        Some(roll) if roll.image == template && roll.fixed => return,
        None => Vec::new(),
        // The template lags behind what was applied.
        Some(roll) if !roll.fixed && roll.image != template => return,
        Some(_) => sight.pods_of(&server.instance_name).filter(|pod| is_due(pod, template)).map(mark).collect(),
    };
    let image = template.to_owned();
    draft.tell(KuraChange::RollFixed { server: server.id, image, pods });
}

fn mark(pod: &Pod) -> PodMark {
    PodMark { name: pod.stamp.name.clone(), uid: pod.stamp.uid.clone(), done: false, again: 0 }
}

/// The set is one of places. Who took a place of it on an old image is due as well, once; not before it would come back
/// on the new one, and not for ever: something may keep all its pods on another image.
fn mark_who_came_back(draft: &mut Draft<'_>, sight: &Sight, set: &StatefulSet, server: ServerId, roll: &Roll) {
    let anew = |known: &PodMark| {
        let pod = sight.pods.get(&known.name).filter(|pod| pod.stamp.uid != known.uid && !pod.stamp.is_leaving())?;
        let is_owed =
            known.again < AGAIN_MAX && is_due(pod, &roll.image) && comes_back_new(sight, set, pod, &roll.image);
        is_owed.then(|| PodMark { again: known.again + 1, ..mark(pod) })
    };
    if roll.pods.iter().any(|known| anew(known).is_some()) {
        let pods = roll.pods.iter().map(|known| anew(known).unwrap_or_else(|| known.clone())).collect();
        draft.tell(KuraChange::RollFixed { server, image: roll.image.clone(), pods });
    }
}

/// Whether a pod that goes now comes back on the new image. Of a set whose strategy is bare, as many of the lowest places
/// are made of the old template as pods of it are left: all others on it, and the pod itself where no node has it, since
/// then it is gone before anybody counts.
fn comes_back_new(sight: &Sight, set: &StatefulSet, pod: &Pod, image: &str) -> bool {
    let is_old = |other: &&Pod| other.stamp.name != pod.stamp.name && other.image.as_deref().map(tag_of) != Some(image);
    let left = sight.pods_of(&set.stamp.name).filter(is_old).count() + usize::from(pod.node.is_none());
    let ordinal = pod.stamp.name.rsplit('-').next().and_then(|ordinal| ordinal.parse::<usize>().ok());
    !set.is_bare || ordinal.is_some_and(|ordinal| ordinal >= left)
}

/// Not Ready, and not on the new image (K35, K37).
fn is_due(pod: &Pod, image: &str) -> bool {
    !pod.ready && pod.image.as_deref().map(tag_of) != Some(image)
}

fn delete(draft: &mut Draft<'_>, sight: &Sight, server: ServerId, roll: &Roll) {
    for pod in to_delete(sight, roll) {
        draft.step(Step {
            object: pod_of(pod),
            deed: Deed::Delete { from: pod.stamp.version() },
            purpose: Purpose::NotReady { server, image: roll.image.clone() },
        });
    }
}

/// What is marked, still there and still as it was when it was marked.
fn to_delete<'a>(sight: &'a Sight, roll: &'a Roll) -> impl Iterator<Item = &'a Pod> {
    let marked = roll.pods.iter().filter(|mark| !mark.done);
    let there = marked.filter_map(|mark| sight.pods.get(&mark.name).filter(|pod| pod.stamp.uid == mark.uid));
    there.filter(|pod| !pod.stamp.is_leaving() && is_due(pod, &roll.image))
}

fn pod_of(pod: &Pod) -> ObjectRef {
    ObjectRef::new(ObjectKind::Pod, &pod.stamp.name)
}
