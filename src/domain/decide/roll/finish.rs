//! A step that was begun: what is still to be written for it, and whether it is over.

use jiff::Timestamp;

use super::super::super::kura::object::{ObjectKind, ObjectRef};
use super::super::super::kura::step::{Deed, Purpose, RollWork, Step};
use super::super::super::roll::change::{CordonEnd, RollChange};
use super::super::super::roll::fleet_roll::Roll;
use super::super::super::roll::green::{Green, judge};
use super::super::super::roll::manifest::{job, job_object, probe_object};
use super::super::super::roll::node::{NodeRoll, StepEnding, StepName};
use super::super::super::roll::sight::{FleetNode, FleetSight, JobEnd};
use super::super::super::span::Seconds;
use super::super::draft::Draft;
use super::begin::{ended, lifted};
use super::turn::Move;

/// A step that takes longer than this is told to be in the way.
pub(super) const SLOW_AFTER: Seconds = Seconds(60 * 60);

/// Whoever boots a node may go down before it: a boot that failed says nothing before its node could be seen to follow,
/// which a cluster takes 40 to 50 seconds to notice (F58).
pub(super) const GOES_DOWN_WITHIN: Seconds = Seconds(120);

/// What a node is told that somebody else has cordoned since the roll took it.
const CORDONED_SINCE: &str = "cordoned by somebody else since";

pub(super) fn finish(draft: &mut Draft<'_>, fleet: &FleetSight, roll: &Roll, node: &str, step: StepName) -> Move {
    if let Some(seen) = fleet.nodes.get(node) {
        mind(draft, seen, step);
    }
    let moved = match (step, fleet.nodes.get(node)) {
        // Whoever stages sees to it; what failed the last time is told until it is over.
        (StepName::Stage, _) => {
            let row = roll.nodes.get(node).and_then(|node| node.step(StepName::Stage));
            row.and_then(|row| row.detail.clone()).map_or(Move::Waits, Move::Held)
        }
        (StepName::Green, _) => green(draft, fleet, roll, node),
        (_, None) => Move::Held(format!("{node} is not there")),
        (StepName::Cordon, Some(seen)) => cordon(draft, roll, seen, true),
        (StepName::Uncordon, Some(seen)) => cordon(draft, roll, seen, false),
        // Our cordon is looked at until the boot: what runs on a node that was lifted would never end leaving (A11).
        (StepName::Drain, Some(seen)) if !seen.unschedulable => lifted(draft, node),
        (StepName::Drain, Some(_)) => drain(draft, fleet, roll, node),
        (StepName::Boot, Some(seen)) => boot(draft, fleet, roll, seen),
        (StepName::Verify, Some(seen)) => verify(draft, fleet, roll, seen),
    };
    match moved {
        Move::Waits if step != StepName::Green => slow(draft, roll, node, step),
        moved => moved,
    }
}

/// The ledger has what is ours and nothing else: a cordon that somebody else lifted, or set, since we took the node is
/// not ours to give back (A11).
fn mind(draft: &mut Draft<'_>, seen: &FleetNode, step: StepName) {
    let node = &seen.stamp.name;
    let lifted = matches!(step, StepName::Boot | StepName::Verify) && !seen.unschedulable;
    let how = if lifted { CordonEnd::Lifted } else { CordonEnd::Theirs };
    if (lifted || seen.is_theirs()) && draft.world().rolls.ledger.contains_key(node) {
        draft.note(RollChange::CordonEnded { node: node.clone(), how });
    }
}

fn slow(draft: &Draft<'_>, roll: &Roll, node: &str, step: StepName) -> Move {
    let since = roll.nodes.get(node).and_then(|node| node.step(step)).map(|row| row.started_at);
    match since.is_some_and(|since| draft.now >= SLOW_AFTER.after(since)) {
        true => Move::Held(format!("{node}: its {} takes more than {SLOW_AFTER}", step.word())),
        false => Move::Waits,
    }
}

fn work(draft: &mut Draft<'_>, roll: &Roll, node: &str, step: StepName, object: ObjectRef, deed: Deed) {
    let (roll, node, work) = (Some(roll.id), node.to_owned(), RollWork::Step(step));
    draft.step(Step { object, deed, purpose: Purpose::Roll { roll, node, work } });
}

/// The bit is as it should be, or is written under the version that is seen.
fn cordon(draft: &mut Draft<'_>, roll: &Roll, seen: &FleetNode, unschedulable: bool) -> Move {
    let (node, step) = (seen.stamp.name.as_str(), if unschedulable { StepName::Cordon } else { StepName::Uncordon });
    if seen.unschedulable != unschedulable {
        // Nobody else's cordon is ever lifted: without an entry of the ledger it is not ours (A11).
        if !unschedulable && !draft.world().rolls.ledger.contains_key(node) {
            ended(draft, roll, node, step, StepEnding::Skipped { why: CORDONED_SINCE.to_owned() });
            return Move::On;
        }
        let deed = Deed::Cordon { from: seen.stamp.version(), unschedulable };
        work(draft, roll, node, step, ObjectRef::new(ObjectKind::Node, node), deed);
        return Move::Waits;
    }
    ended(draft, roll, node, step, StepEnding::Done);
    if !unschedulable && draft.world().rolls.ledger.contains_key(node) {
        draft.note(RollChange::CordonEnded { node: node.to_owned(), how: CordonEnd::GivenBack });
    }
    Move::On
}

/// Whatever can go goes; a budget that says no is asked and passed over (F26).
fn drain(draft: &mut Draft<'_>, fleet: &FleetSight, roll: &Roll, node: &str) -> Move {
    let here =
        |pod: &&super::super::super::roll::sight::FleetPod| pod.node.as_deref() == Some(node) && pod.is_drained();
    let left: Vec<_> = fleet.pods.rows.values().filter(here).collect();
    if left.is_empty() {
        ended(draft, roll, node, StepName::Drain, StepEnding::Done);
        return Move::On;
    }
    for pod in left.into_iter().filter(|pod| !pod.stamp.is_leaving()) {
        let deed = Deed::Evict { from: pod.stamp.version(), insist: true };
        work(draft, roll, node, StepName::Drain, pod.object(), deed);
    }
    Move::Waits
}

/// The Job of a step ended, runs, or is to be made.
fn run_job(draft: &mut Draft<'_>, fleet: &FleetSight, roll: &Roll, node: &str, step: StepName) -> Option<JobEnd> {
    let supplied = if step == StepName::Boot { roll.spec.boot.as_ref() } else { roll.spec.verify.as_ref() };
    let Some(supplied) = supplied else { return Some(JobEnd::Complete) };
    let object = job_object(roll, node, step);
    match fleet.jobs.get(&object.name) {
        Some(known) => known.ended.clone(),
        None => {
            let deed = Deed::Apply { manifest: job(roll, node, step, supplied), from: None, force: false };
            work(draft, roll, node, step, object, deed);
            None
        }
    }
}

/// Until its Job is there the node may be given to others any moment, however often the Job was tried to be made (A11).
/// One that boots by itself meanwhile has not booted what is rolled: the Job is made all the same.
fn boot(draft: &mut Draft<'_>, fleet: &FleetSight, roll: &Roll, seen: &FleetNode) -> Move {
    let node = seen.stamp.name.as_str();
    let is_made = fleet.jobs.get(&job_object(roll, node, StepName::Boot).name).is_some();
    if !is_made && !seen.unschedulable {
        return lifted(draft, node);
    }
    let booted = is_another_boot(roll, seen);
    match run_job(draft, fleet, roll, node, StepName::Boot) {
        None => Move::Waits,
        // Whoever boots a node often goes down with it: a Job that ended so says nothing, the node does once it is back.
        Some(JobEnd::Failed { message, .. }) if !seen.ready && !booted => {
            Move::Held(format!("{node} is not Ready and its boot says {message}: how it comes back decides"))
        }
        Some(JobEnd::Failed { message, at }) if !booted && may_go_down(at, draft.now) => Move::Held(format!(
            "{node} is Ready and its boot says {message}: it fails unless the node goes down within {GOES_DOWN_WITHIN}"
        )),
        Some(JobEnd::Failed { message, .. }) if !booted => fails(draft, roll, node, StepName::Boot, &message),
        Some(_) => {
            ended(draft, roll, node, StepName::Boot, StepEnding::Done);
            Move::On
        }
    }
}

fn may_go_down(failed: Option<Timestamp>, now: Timestamp) -> bool {
    failed.is_some_and(|at| now < GOES_DOWN_WITHIN.after(at))
}

fn is_another_boot(roll: &Roll, seen: &FleetNode) -> bool {
    let before = roll.nodes.get(&seen.stamp.name).and_then(|node| node.boot_id.as_ref());
    before.is_some() && seen.boot_id.is_some() && seen.boot_id.as_ref() != before
}

/// It is back: Ready, on another boot, and the owner's check says so.
fn verify(draft: &mut Draft<'_>, fleet: &FleetSight, roll: &Roll, seen: &FleetNode) -> Move {
    let node = seen.stamp.name.as_str();
    let unknown = seen.boot_id.is_none() || roll.nodes.get(node).is_some_and(|node| node.boot_id.is_none());
    if !seen.ready || !(unknown || is_another_boot(roll, seen)) {
        return Move::Waits;
    }
    match run_job(draft, fleet, roll, node, StepName::Verify) {
        None => Move::Waits,
        Some(JobEnd::Complete) => {
            ended(draft, roll, node, StepName::Verify, StepEnding::Done);
            Move::On
        }
        Some(JobEnd::Failed { message, .. }) => fails(draft, roll, node, StepName::Verify, &message),
    }
}

/// A step that failed ends the roll: its node stays cordoned, and a person gives it back.
pub(super) fn fails(draft: &mut Draft<'_>, roll: &Roll, node: &str, step: StepName, why: &str) -> Move {
    ended(draft, roll, node, step, StepEnding::Failed { why: why.to_owned() });
    Move::Fails(format!("{node}: its {} failed: {why}", step.word()))
}

/// Proven green, held, or too long on the way (F8, F11).
fn green(draft: &mut Draft<'_>, fleet: &FleetSight, roll: &Roll, name: &str) -> Move {
    let Some(node) = roll.nodes.get(name) else { return Move::Waits };
    let began = node.step(StepName::Green).map(|row| row.started_at);
    let deadline = roll.spec.green_deadline();
    let due = began.map(|began| deadline.after(roll.spec.settle(name).after(began)));
    let tried = |due| was_tried(roll, name, node, due) || fleet.nodes.get(name).is_none();
    let late = due.is_some_and(|due| draft.now >= due && tried(due));
    match judge(roll, name, node, fleet, draft.now) {
        Green::Proven => {
            ended(draft, roll, name, StepName::Green, StepEnding::Done);
            Move::On
        }
        Green::Waits(why) | Green::Held(why) | Green::Broken(why) if late => {
            ended(draft, roll, name, StepName::Green, StepEnding::Failed { why: why.clone() });
            Move::Fails(format!("{why}; {name} did not become green within {deadline}"))
        }
        Green::Waits(_) => Move::Waits,
        Green::Held(why) | Green::Broken(why) => Move::Held(why),
    }
}

/// A probe was judged about then, or could not be made: a node nobody looked at, since no control plane ran, is not late.
fn was_tried(roll: &Roll, name: &str, node: &NodeRoll, due: Timestamp) -> bool {
    let judged = node.findings.iter().rev().find(|finding| !finding.passive).map(|finding| finding.at);
    let refused = || roll.troubles.contains_key(&probe_object(Some(roll.id), name, node.probed).to_string());
    judged.is_some_and(|judged| roll.spec.probed_within().after(judged) >= due) || refused()
}
