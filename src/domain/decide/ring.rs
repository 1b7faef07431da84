//! Rings: their brakes, judged by the state a request would leave behind (B15), and what turning the cap does.

use super::super::change::{Change, LeaseEnd};
use super::super::fleet::{Machine, Ring, RingSettings, Rung};
use super::super::ids::{MachineId, RingId};
use super::super::input::RingPatch;
use super::super::lane::LaneKey;
use super::super::refusal::Refusal;
use super::super::release::Digest;
use super::super::rollout::Rollout;
use super::super::rows::LaneView;
use super::super::span::Seconds;
use super::super::verdict::Reply;
use super::super::world::{CATALOG_MAX, World};
use super::draft::Draft;
use super::text::{check_label, check_slug, check_span};

pub(super) fn create(draft: &mut Draft<'_>, id: RingId, slug: &str, patch: &RingPatch) -> Reply {
    match check_create(draft.world(), slug, patch) {
        Err(refusal) => Reply::Refused(refusal),
        Ok(settings) => {
            let ring = Ring { id, slug: slug.to_owned(), settings, paused: None };
            draft.push(Change::RingCreated { ring });
            Reply::Ring(id)
        }
    }
}

fn check_create(world: &World, slug: &str, patch: &RingPatch) -> Result<RingSettings, Refusal> {
    check_slug(slug)?;
    if world.rings.values().any(|r| r.slug == slug) {
        return Err(Refusal::Duplicate { field: "slug", value: slug.to_owned() });
    }
    if world.rings.len() >= CATALOG_MAX {
        return Err(Refusal::Full { what: "rings", limit: CATALOG_MAX });
    }
    patched(&RingSettings::named(slug), patch)
}

/// All or nothing: a refused patch changes no field (R128).
pub(super) fn patch(draft: &mut Draft<'_>, id: RingId, patch: &RingPatch) -> Reply {
    let Some(ring) = draft.world().rings.get(&id) else { return Reply::Refused(Refusal::NoRing(id)) };
    let before = ring.settings.clone();
    match patched(&before, patch) {
        Err(refusal) => Reply::Refused(refusal),
        Ok(settings) if settings == before => Reply::Done,
        Ok(settings) => {
            let capped = settings.max_in_flight > 0;
            let elected = elected(draft, id);
            draft.push(Change::RingChanged { ring: id, settings });
            keep_elected(draft, id, elected);
            match (before.max_in_flight > 0, capped) {
                (true, false) => uncap(draft, id),
                (false, true) => adopt(draft, id),
                _ => {}
            }
            Reply::Done
        }
    }
}

/// The settings a patch would leave behind, if they are sound (R5, R76, R123-R127).
fn patched(before: &RingSettings, patch: &RingPatch) -> Result<RingSettings, Refusal> {
    let after = RingSettings {
        name: patch.name.clone().unwrap_or_else(|| before.name.clone()),
        max_in_flight: patch.max_in_flight.unwrap_or(before.max_in_flight),
        min_settle_seconds: patch.min_settle_seconds.unwrap_or(before.min_settle_seconds),
        stall_timeout_seconds: patch.stall_timeout_seconds.unwrap_or(before.stall_timeout_seconds),
        failure_count_threshold: patch.failure_count_threshold.unwrap_or(before.failure_count_threshold),
        wave_ladder: patch.wave_ladder.clone().unwrap_or_else(|| before.wave_ladder.clone()),
        config_values: patch.config_values.clone().unwrap_or_else(|| before.config_values.clone()),
    };
    check_label("name", &after.name)?;
    check_span("min_settle_seconds", after.min_settle_seconds)?;
    check_span("stall_timeout_seconds", after.stall_timeout_seconds)?;
    if patch.stall_timeout_seconds.is_some_and(|s| !s.is_off()) && after.max_in_flight == 0 {
        return Err(Refusal::StallWithoutCap);
    }
    if after.failure_count_threshold == 0 {
        return Err(Refusal::ThresholdBelowOne);
    }
    check_ladder(&after.wave_ladder)?;
    Ok(after)
}

fn check_ladder(ladder: &[Rung]) -> Result<(), Refusal> {
    let fault = |problem: &str| Err(Refusal::Ladder { problem: problem.to_owned() });
    if ladder.is_empty() {
        return fault("must have at least one step");
    }
    if ladder.iter().any(|rung| rung.pct == 0 || rung.pct > 100) {
        return fault("has a pct outside 1..100");
    }
    if ladder.iter().any(|rung| check_span("wave_ladder", Seconds(rung.after_seconds)).is_err()) {
        return fault("has a step later than ten years");
    }
    if ladder.windows(2).any(|pair| pair[0].after_seconds >= pair[1].after_seconds) {
        return fault("must have after_seconds in ascending order");
    }
    if ladder.windows(2).any(|pair| pair[0].pct > pair[1].pct) {
        return fault("must not lower pct from one step to the next");
    }
    Ok(())
}

/// How far each open lane of a ring is elected.
fn elected(draft: &Draft<'_>, ring: RingId) -> Vec<(LaneKey, u8)> {
    let world = draft.world();
    let Some(rollout) = world.running() else { return Vec::new() };
    let keys = world.lanes().iter().map(|(key, _)| *key).filter(|(_, id)| *id == ring);
    keys.filter_map(|key| Some((key, LaneView::of(world, rollout, key, draft.now)?.elected))).collect()
}

/// Election never shrinks within a generation: a lowered ladder leaves the elected elected (R75).
fn keep_elected(draft: &mut Draft<'_>, ring: RingId, before: Vec<(LaneKey, u8)>) {
    let after = elected(draft, ring);
    let Some(rollout) = draft.world().running().map(|r| r.id) else { return };
    for (key, pct) in before {
        if after.iter().any(|(other, now)| *other == key && *now < pct) {
            let (environment, ring) = key;
            draft.push(Change::ElectionKept { rollout, environment, ring, pct });
        }
    }
}

/// The release valve: every lease of the ring ends, the runs go on without one (R125).
fn uncap(draft: &mut Draft<'_>, ring: RingId) {
    for machine in holders(draft.world(), ring) {
        draft.push(Change::LeaseEnded { machine, cause: LeaseEnd::Uncapped });
    }
}

/// A cap under a running wave makes everybody who was served and is not done a holder (R29), but nobody whose
/// environment was closed by a later place in the path, which withdrew the run (R13).
fn adopt(draft: &mut Draft<'_>, ring: RingId) {
    let Some(rollout) = draft.world().running().cloned() else { return };
    for (machine, content) in in_flight(draft.world(), &rollout, ring) {
        draft.push(Change::LeaseGranted { machine, rollout: rollout.id, content });
    }
}

fn holders(world: &World, ring: RingId) -> Vec<MachineId> {
    let lanes = world.lanes().iter().filter(|((_, r), _)| *r == ring);
    lanes.flat_map(|(_, lane)| lane.holders.iter().copied()).collect()
}

fn in_flight(world: &World, rollout: &Rollout, ring: RingId) -> Vec<(MachineId, Digest)> {
    let running = |m: &&Machine| m.paused.is_none() && m.lease.is_none() && !m.is_done(rollout.release);
    let lanes = world.lanes().iter().filter(|((environment, r), _)| *r == ring && world.is_open(rollout, *environment));
    lanes
        .flat_map(|(_, lane)| lane.served.iter())
        .filter_map(|id| world.machines.get(id).filter(running))
        .filter_map(|m| Some((m.id, m.served.as_ref()?.content.clone())))
        .collect()
}
