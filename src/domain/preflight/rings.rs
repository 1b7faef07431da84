//! Checks of the rings that have members in the path: are they serial, and do their clocks fit the release.

use std::collections::{BTreeMap, BTreeSet};

use super::check::{Check, Plan};
use crate::domain::fleet::{Ring, Rung};
use crate::domain::ids::{EnvironmentId, RingId};
use crate::domain::span::Seconds;
use crate::domain::world::World;

pub(super) fn all(world: &World, plan: &Plan<'_>) -> Vec<Check> {
    let timeout = world.releases.get(&plan.release).map(|release| release.timeout_seconds).unwrap_or_default();
    let mut checks = Vec::new();
    for (ring, tiers) in used(world) {
        let Some(ring) = world.rings.get(&ring) else { continue };
        checks.push(serial(ring));
        checks.push(settle(ring));
        checks.push(clocks(ring, timeout));
        checks.extend(lottery(world, ring));
        checks.extend(shared(world, ring, &tiers));
    }
    checks
}

/// Rings with members in the path, with the environments they are in.
fn used(world: &World) -> BTreeMap<RingId, BTreeSet<EnvironmentId>> {
    let path: BTreeSet<EnvironmentId> = world.path().iter().map(|environment| environment.id).collect();
    let mut used: BTreeMap<RingId, BTreeSet<EnvironmentId>> = BTreeMap::new();
    for ((environment, ring), _) in world.lanes().iter().filter(|((e, _), _)| path.contains(e)) {
        used.entry(*ring).or_default().insert(*environment);
    }
    used
}

/// Cap 1, threshold 1, everybody electable at once (R5, R6, R87).
fn serial(ring: &Ring) -> Check {
    let settings = &ring.settings;
    let mut odd = Vec::new();
    if settings.max_in_flight != 1 {
        odd.push(match settings.max_in_flight {
            0 => "is not capped".to_owned(),
            n => format!("admits {n} at once"),
        });
    }
    if settings.failure_count_threshold != 1 {
        odd.push(format!("halts at {} failures", settings.failure_count_threshold));
    }
    if settings.wave_ladder != [Rung { after_seconds: 0, pct: 100 }] {
        odd.push("has a ladder, a second brake beside the cap".to_owned());
    }
    let hint = "set max_in_flight 1, failure_count_threshold 1 and wave_ladder [{0, 100}]";
    match (odd.is_empty(), settings.max_in_flight) {
        (true, _) => Check::pass("serial", format!("{} is serial", ring.slug)),
        (false, 0) => Check::fail("serial", format!("{} {}", ring.slug, odd.join(", ")), hint),
        (false, _) => Check::warn("serial", format!("{} {}", ring.slug, odd.join(", ")), hint),
    }
}

/// R2.
fn settle(ring: &Ring) -> Check {
    let settle = ring.settings.min_settle_seconds;
    match settle.0 {
        120..=300 => Check::pass("settle", format!("{} settles for {settle}", ring.slug)),
        _ => Check::warn("settle", format!("{} settles for {settle}", ring.slug), "120 to 300 seconds are usual"),
    }
}

/// 0 < the release's deadline < the ring's stall timeout (R3, B18 D7).
fn clocks(ring: &Ring, timeout: Seconds) -> Check {
    let stall = ring.settings.stall_timeout_seconds;
    let hint = "set the release's timeout above the slowest arc, and stall_timeout_seconds above that and a reboot";
    if stall.is_off() {
        return Check::warn("clocks", format!("{} has no stall timeout: it may wait for ever", ring.slug), hint);
    }
    if timeout.is_off() {
        return Check::warn("clocks", "the release has no deadline for an apply".to_owned(), hint);
    }
    match timeout < stall {
        true => Check::pass("clocks", format!("{}: deadline {timeout}, stall after {stall}", ring.slug)),
        false => {
            Check::fail("clocks", format!("{} halts after {stall}, before the deadline of {timeout}", ring.slug), hint)
        }
    }
}

/// A low first step elects nobody in a small ring, more often than people think (R74).
fn lottery(world: &World, ring: &Ring) -> Option<Check> {
    let members: usize =
        world.lanes().iter().filter(|((_, id), _)| *id == ring.id).map(|(_, lane)| lane.members.len()).sum();
    let first = ring.settings.wave_ladder.iter().find(|rung| rung.pct < 100)?;
    let chance = nobody_elected(members, first.pct);
    (chance >= 5).then(|| {
        Check::warn(
            "ladder",
            format!(
                "at {} % {} elects nobody with a chance of {chance} %: it has {members} machines",
                first.pct, ring.slug
            ),
            "begin the ladder higher, or leave it to the cap",
        )
    })
}

/// Chance in per cent that a step of `pct` elects none of `members` machines.
pub(super) fn nobody_elected(members: usize, pct: u8) -> u8 {
    let miss = f64::from(100 - pct.min(100)) / 100.0;
    let chance = miss.powi(i32::try_from(members).unwrap_or(i32::MAX)) * 100.0;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    {
        chance.round() as u8
    }
}

/// A halt covers the ring in all its environments, a cap each of them on its own.
fn shared(world: &World, ring: &Ring, tiers: &BTreeSet<EnvironmentId>) -> Option<Check> {
    let names: Vec<&str> = tiers.iter().map(|tier| world.environment_slug(*tier)).collect();
    (names.len() > 1).then(|| {
        let sentence =
            format!("{} is shared by {}: its cap holds in each, a halt in all", ring.slug, names.join(" and "));
        Check::warn("shared-ring", sentence, "give each tier a ring of its own")
    })
}

#[cfg(test)]
mod tests {
    use super::nobody_elected;

    #[test]
    fn small_rings_often_elect_nobody() {
        // R74
        assert_eq!([3, 5, 8].map(|members| nobody_elected(members, 20)), [51, 33, 17]);
    }
}
