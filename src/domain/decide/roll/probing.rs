//! Every rolled node is looked at each pass and probed at least every 120 s, until the end of the soak (F5, F7, F13).

use super::super::super::ids::RollId;
use super::super::super::kura::step::{Deed, Purpose, RollWork, Step};
use super::super::super::roll::change::RollChange;
use super::super::super::roll::due::{again_at, pod_of};
use super::super::super::roll::green::Prints;
use super::super::super::roll::manifest::{probe as manifest, probe_object};
use super::super::super::roll::node::{NodeRoll, Verdict};
use super::super::super::roll::probe::{Judged, START_DEADLINE, judge as judge_pod};
use super::super::super::roll::sight::{FleetPod, FleetSight};
use super::super::super::roll::spec::PROBE_IMAGE;
use super::super::draft::Draft;

/// What the probes that are out say by now, and what is to be seen of rolled nodes.
pub(super) fn judge(draft: &mut Draft<'_>, fleet: &FleetSight) {
    let prints = Prints::of(fleet);
    for (name, (id, node)) in &draft.world().rolls.watched(draft.now) {
        if let Some(pod) = pod_of(fleet, Some(*id), name, node.probed) {
            settle(draft, fleet, Some(*id), name, pod);
        }
        look(draft, &prints, *id, name, node);
    }
}

fn settle(draft: &mut Draft<'_>, fleet: &FleetSight, roll: Option<RollId>, name: &str, pod: &FleetPod) {
    let known = roll.and_then(|id| draft.world().rolls.roll(id));
    let start = known.map_or(START_DEADLINE, |roll| roll.spec.probe_start());
    if let Judged::As(verdict, reason) = judge_pod(pod, fleet.nodes.get(name), start, draft.now) {
        let (node, started_at) = (name.to_owned(), pod.began_at());
        draft.note(RollChange::Found { roll, node, verdict, reason, started_at, passive: false });
    }
}

/// Fingerprints are told as they are seen and as their number changes, not with each look.
fn look(draft: &mut Draft<'_>, prints: &Prints<'_>, id: RollId, name: &str, node: &NodeRoll) {
    let Some(reason) = node.back_since().and_then(|back| prints.on(name, back)) else { return };
    let known = node.findings.iter().rev().find(|finding| finding.passive);
    if known.is_none_or(|known| known.reason != reason) {
        let (node, verdict, started_at) = (name.to_owned(), Verdict::Broken, draft.now);
        draft.note(RollChange::Found { roll: Some(id), node, verdict, reason, started_at, passive: true });
    }
}

/// Makes the probes that are due: of rolled nodes, and those a person asked for.
pub(super) fn probe(draft: &mut Draft<'_>, fleet: &FleetSight) {
    for (name, (roll, node)) in draft.world().rolls.watched(draft.now) {
        let image = draft.world().rolls.roll(roll).map(|roll| roll.spec.probe_image.clone());
        if again_at(&node).is_none_or(|at| draft.now >= at) && fleet.nodes.get(&name).is_some() {
            send(draft, fleet, Some(roll), &name, node.probed, image.as_deref().unwrap_or(PROBE_IMAGE));
        }
    }
    for (name, asked) in draft.world().rolls.asked.clone() {
        match pod_of(fleet, None, &name, asked.number) {
            Some(pod) => settle(draft, fleet, None, &name, pod),
            None if fleet.nodes.get(&name).is_some() => {
                send(draft, fleet, None, &name, asked.number, PROBE_IMAGE);
            }
            None => {
                let (verdict, reason, started_at) = (Verdict::NotProven, format!("{name} is not there"), draft.now);
                draft.note(RollChange::Found { roll: None, node: name, verdict, reason, started_at, passive: false });
            }
        }
    }
}

fn send(draft: &mut Draft<'_>, fleet: &FleetSight, roll: Option<RollId>, node: &str, number: u64, image: &str) {
    if pod_of(fleet, roll, node, number).is_some() {
        return;
    }
    let deed = Deed::Apply { manifest: manifest(roll, node, number, image, draft.now), from: None, force: false };
    let purpose = Purpose::Roll { roll, node: node.to_owned(), work: RollWork::Probe };
    draft.step(Step { object: probe_object(roll, node, number), deed, purpose });
}
