//! Nothing of ours is left behind: pods and Jobs that have served go, whatever became of their roll; and the ledger says
//! what is.

use std::collections::BTreeSet;

use super::super::super::ids::RollId;
use super::super::super::kura::object::{FIELD_MANAGER, ObjectKind, ObjectRef, Stamp};
use super::super::super::kura::step::{Deed, Purpose, RollWork, Step};
use super::super::super::roll::change::{CordonEnd, RollChange};
use super::super::super::roll::manifest::{ASKED, ROLL_LABEL, job_object, probe_object, roll_of, stage_object};
use super::super::super::roll::node::{StepName, StepState};
use super::super::super::roll::rolls::Rolls;
use super::super::super::roll::sight::FleetSight;
use super::super::draft::Draft;
use super::leftover;

/// Cordons a person wants given back are, under the version that is seen; those that are none any more are struck off.
pub(super) fn ledger(draft: &mut Draft<'_>, fleet: &FleetSight) {
    for (node, cordon) in draft.world().rolls.ledger.clone() {
        if is_in_turn(draft, &node) {
            continue;
        }
        let Some(seen) = fleet.nodes.get(&node) else {
            draft.note(RollChange::CordonEnded { node, how: CordonEnd::Gone });
            continue;
        };
        let asked = cordon.asked_by.is_some();
        if seen.is_theirs() {
            draft.note(RollChange::CordonEnded { node, how: CordonEnd::Theirs });
        } else if !seen.unschedulable {
            let how = if asked { CordonEnd::GivenBack } else { CordonEnd::Lifted };
            draft.note(RollChange::CordonEnded { node, how });
        } else if asked && !leftover::is_booting(&draft.world().rolls, fleet, &node) {
            let deed = Deed::Cordon { from: seen.stamp.version(), unschedulable: false };
            let object = ObjectRef::new(ObjectKind::Node, &node);
            let purpose = Purpose::Roll { roll: Some(cordon.roll), node, work: RollWork::GiveBack };
            draft.step(Step { object, deed, purpose });
        }
    }
}

/// A cordon whose write was on its way when its roll ended, and which took effect only then: it is ours all the same.
pub(super) fn adopt(draft: &mut Draft<'_>, fleet: &FleetSight) {
    let rolls = &draft.world().rolls;
    let ended = rolls
        .rolls
        .iter()
        .filter(|roll| !roll.is_live())
        .flat_map(|roll| roll.nodes.keys().map(move |node| (roll, node)));
    let late = ended.filter(|(roll, name)| {
        let begun = roll.nodes.get(*name).and_then(|node| node.step(StepName::Cordon));
        let ours = fleet.nodes.get(name).is_some_and(|seen| seen.cordoned_by.as_deref() == Some(FIELD_MANAGER));
        begun.is_some_and(|row| !row.is_over()) && ours && !rolls.ledger.contains_key(*name)
    });
    let late: Vec<(RollId, String)> = late.map(|(roll, name)| (roll.id, name.clone())).collect();
    for (roll, node) in late {
        if !is_in_turn(draft, &node) && !draft.world().rolls.ledger.contains_key(&node) {
            draft.note(RollChange::CordonTaken { roll, node });
        }
    }
}

fn is_in_turn(draft: &Draft<'_>, node: &str) -> bool {
    draft.world().rolls.in_turn().is_some_and(|(_, known)| known == node)
}

/// Objects of rolls this account knows that nobody waits for any more. A Job that still runs is let to its end: a boot
/// that is cut short is worse than one too many. Those that have ended stay as long as their roll goes on: under a name
/// that is taken, no process which froze over making one can make it a second time.
pub(super) fn leftovers(draft: &mut Draft<'_>, fleet: &FleetSight) {
    let wanted = wanted(draft);
    let rolls = &draft.world().rolls;
    let ours = |stamp: &Stamp| is_of(rolls, stamp) && !stamp.is_leaving() && !wanted.contains(&stamp.name);
    let pods = fleet.own_pods().filter(|pod| pod.owner.is_none() && ours(&pod.stamp));
    let pods = pods.map(|pod| (pod.object(), pod.stamp.clone(), pod.node.clone().unwrap_or_default()));
    let jobs = fleet.jobs.rows.values().filter(|job| job.ended.is_some() && ours(&job.stamp));
    let jobs = jobs.map(|job| (ObjectRef::new(ObjectKind::Job, &job.stamp.name), job.stamp.clone(), String::new()));
    let left: Vec<(ObjectRef, Stamp, String)> = pods.chain(jobs).collect();
    for (object, stamp, node) in left {
        let purpose = Purpose::Roll { roll: roll_of(&stamp), node, work: RollWork::Tidy };
        draft.step(Step { object, deed: Deed::Delete { from: stamp.version() }, purpose });
    }
}

fn is_of(rolls: &Rolls, stamp: &Stamp) -> bool {
    let asked = stamp.label(ROLL_LABEL) == Some(ASKED) && rolls.asked_ever > 0;
    asked || roll_of(stamp).is_some_and(|id| rolls.roll(id).is_some())
}

/// Names of objects somebody waits for: stages that run, Jobs of rolls that go on, probes that are out.
fn wanted(draft: &Draft<'_>) -> BTreeSet<String> {
    let rolls = &draft.world().rolls;
    let mut wanted = BTreeSet::new();
    for roll in rolls.rolls.iter().filter(|roll| roll.is_live()) {
        for (name, node) in &roll.nodes {
            if node.step(StepName::Stage).is_some_and(|row| row.state == StepState::Running) {
                wanted.insert(stage_object(roll, name).name);
            }
            let jobs = [StepName::Boot, StepName::Verify].into_iter().filter(|step| node.step(*step).is_some());
            wanted.extend(jobs.map(|step| job_object(roll, name, step).name));
        }
    }
    let watched = rolls.watched(draft.now);
    wanted.extend(watched.iter().map(|(name, (roll, node))| probe_object(Some(*roll), name, node.probed).name));
    wanted.extend(rolls.asked.iter().map(|(name, asked)| probe_object(None, name, asked.number).name));
    wanted
}
