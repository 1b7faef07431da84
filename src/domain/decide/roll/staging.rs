//! Stages run ahead, a few at a time, and touch nothing but images (F15-F19, F22).

use super::super::super::ids::RollId;
use super::super::super::kura::object::ObjectRef;
use super::super::super::kura::step::{Deed, Purpose, RollWork, Step};
use super::super::super::roll::change::RollChange;
use super::super::super::roll::fleet_roll::Roll;
use super::super::super::roll::manifest::{stage as manifest, stage_object};
use super::super::super::roll::node::{STAGE_AGAIN_AFTER, StepEnding, StepName, StepState};
use super::super::super::roll::order::remaining;
use super::super::super::roll::probe::{Pulled, judge_stage};
use super::super::super::roll::sight::{FleetPod, FleetSight};
use super::super::draft::Draft;

/// Judges the stages that run, and begins others.
pub(super) fn stage(draft: &mut Draft<'_>, fleet: &FleetSight, id: RollId, may_begin: bool) {
    let Some(roll) = draft.world().rolls.roll(id).cloned() else { return };
    for node in running(&roll) {
        judge(draft, fleet, &roll, &node);
    }
    if may_begin {
        begin_others(draft, fleet, id);
    }
}

/// Sees to it that each stage that runs has its pod.
pub(super) fn send(draft: &mut Draft<'_>, fleet: &FleetSight, id: RollId) {
    let Some(roll) = draft.world().rolls.roll(id).filter(|roll| roll.is_live()).cloned() else { return };
    for node in running(&roll) {
        ensure(draft, fleet, &roll, &node);
    }
}

/// Nodes whose stage runs, in the order they are to go.
fn running(roll: &Roll) -> Vec<String> {
    let runs = |node: &&str| roll.nodes.get(*node).and_then(|node| node.step(StepName::Stage));
    let all = roll.spec.all_nodes().into_iter();
    let running = all.filter(|node| runs(node).is_some_and(|row| row.state == StepState::Running));
    running.map(str::to_owned).collect()
}

/// The pod of the stage that runs on a node.
fn pod_of<'a>(fleet: &'a FleetSight, object: &ObjectRef) -> Option<&'a FleetPod> {
    fleet.own_pod(&object.name)
}

fn judge(draft: &mut Draft<'_>, fleet: &FleetSight, roll: &Roll, node: &str) {
    let Some(pod) = pod_of(fleet, &stage_object(roll, node)) else { return };
    let ending = match judge_stage(pod, &roll.image) {
        Pulled::Open => return,
        Pulled::As(digest) => StepEnding::Staged { digest },
        Pulled::Failed(why) => StepEnding::Failed { why },
    };
    draft.note(RollChange::StepEnded { roll: roll.id, node: node.to_owned(), step: StepName::Stage, ending });
}

/// Those who go first are staged first. One that failed waits for its own turn, and is no failure of the roll (F19).
fn begin_others(draft: &mut Draft<'_>, fleet: &FleetSight, id: RollId) {
    let Some(roll) = draft.world().rolls.roll(id).cloned() else { return };
    let limit = usize::try_from(roll.spec.stage_parallelism).unwrap_or(usize::MAX);
    let free = limit.saturating_sub(running(&roll).len());
    let fresh = |node: &&str| roll.nodes.get(*node).is_some_and(|node| node.step(StepName::Stage).is_none());
    let there = |node: &&str| fleet.nodes.get(node).is_some_and(|node| node.ready);
    let waiting = remaining(&roll, roll.registry.as_deref()).into_iter().filter(fresh).filter(there);
    for node in waiting.take(free).map(str::to_owned).collect::<Vec<_>>() {
        begin(draft, id, &node);
    }
}

/// A stage begins, for the first time or once more.
pub(super) fn begin(draft: &mut Draft<'_>, id: RollId, node: &str) {
    let (node, step) = (node.to_owned(), StepName::Stage);
    draft.note(RollChange::StepBegan { roll: id, node, step, boot_id: None, unschedulable: None });
}

/// A stage that failed in a node's own turn may begin again.
pub(super) fn is_due_again(draft: &Draft<'_>, roll: &Roll, node: &str) -> bool {
    let row = roll.nodes.get(node).and_then(|node| node.step(StepName::Stage));
    let ended = row.filter(|row| row.state == StepState::Failed).and_then(|row| row.ended_at);
    ended.is_none_or(|ended| draft.now >= STAGE_AGAIN_AFTER.after(ended))
}

fn ensure(draft: &mut Draft<'_>, fleet: &FleetSight, roll: &Roll, node: &str) {
    let object = stage_object(roll, node);
    if pod_of(fleet, &object).is_some() {
        return;
    }
    let deed = Deed::Apply { manifest: manifest(roll, node), from: None, force: false };
    let work = RollWork::Step(StepName::Stage);
    draft.step(Step { object, deed, purpose: Purpose::Roll { roll: Some(roll.id), node: node.to_owned(), work } });
}
