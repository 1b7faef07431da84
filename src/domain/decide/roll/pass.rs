//! The reconciler's pass over the rolls: look, stage, go on with the node in turn, probe whoever is back, tidy up.

use std::collections::BTreeSet;

use super::super::super::ids::RollId;
use super::super::super::kura::object::ObjectRef;
use super::super::super::kura::step::{Purpose, Ran, STEPS_PER_PASS};
use super::super::super::observed::Observed;
use super::super::super::roll::change::RollChange;
use super::super::super::roll::sight::FleetSight;
use super::super::draft::Draft;
use super::{forgive, probing, ran, staging, tidy, turn};

/// A tick.
pub(in super::super) fn ticked(draft: &mut Draft<'_>, observed: &Observed) {
    if draft.world().rolls.is_empty() {
        return;
    }
    let before = draft.step_count();
    if let Some(sight) = &observed.cluster {
        tend(draft, &sight.fleet, true);
    }
    draft.limit_steps(before + STEPS_PER_PASS);
}

/// Steps were carried out, or the fleet looks otherwise: a mere look ends steps and begins none, so that nobody is
/// cordoned or booted because somebody looked. What was tried since the tick is not tried again before the next one.
pub(in super::super) fn seen(
    draft: &mut Draft<'_>,
    observed: &Observed,
    outcomes: &[Ran],
    tried: &BTreeSet<ObjectRef>,
) {
    if draft.world().rolls.is_empty() {
        return;
    }
    let before = draft.step_count();
    outcomes.iter().for_each(|one| ran::record(draft, one));
    let may_begin = outcomes.iter().any(|one| matches!(one.step.purpose, Purpose::Roll { .. }));
    if let Some(sight) = &observed.cluster {
        tend(draft, &sight.fleet, may_begin);
    }
    let again = |object: &ObjectRef| tried.contains(object) || outcomes.iter().any(|one| one.step.object == *object);
    draft.drop_steps(|step| matches!(step.purpose, Purpose::Roll { .. }) && again(&step.object));
    draft.limit_steps(before + STEPS_PER_PASS);
}

/// Every roll. Nothing is decided on a reading that is not fresh.
fn tend(draft: &mut Draft<'_>, fleet: &FleetSight, may_begin: bool) {
    if !fleet.is_fresh(draft.now) {
        return;
    }
    let first = draft.step_count();
    probing::judge(draft, fleet);
    for id in draft.world().rolls.rolls.iter().map(|roll| roll.id).collect::<Vec<RollId>>() {
        if draft.world().rolls.roll(id).is_some_and(|roll| roll.is_live()) {
            look_for_registry(draft, fleet, id);
            staging::stage(draft, fleet, id, may_begin);
            turn::go_on(draft, fleet, id, may_begin);
            staging::send(draft, fleet, id);
        }
    }
    probing::probe(draft, fleet);
    tidy::adopt(draft, fleet);
    tidy::ledger(draft, fleet);
    tidy::leftovers(draft, fleet);
    forgive::forgive(draft, first);
}

/// Where the registry is, as it changes. One that is gone stays known by where it was last, so that its loss is told and
/// not taken for a fleet without one (F28).
fn look_for_registry(draft: &mut Draft<'_>, fleet: &FleetSight, id: RollId) {
    let Some(roll) = draft.world().rolls.roll(id) else { return };
    let found = roll.spec.registry.as_ref().and_then(|registry| fleet.registry_host(registry)).map(str::to_owned);
    if found.is_some() && found != roll.registry {
        draft.note(RollChange::RegistrySeen { roll: id, node: found });
    }
}
