//! Checks of the promotion path and of the machines on it.

use jiff::Timestamp;

use super::check::Check;
use crate::domain::fleet::{Environment, Machine};
use crate::domain::observed::Observed;
use crate::domain::world::World;

pub(super) fn all(world: &World) -> Vec<Check> {
    let path = world.path();
    let mut checks = vec![order(&path)];
    checks.extend(path.windows(2).filter_map(tie));
    checks.extend(path.iter().filter_map(|environment| empty(world, environment)));
    checks.extend(path.iter().filter_map(|environment| paused(environment)));
    checks
}

/// Names the whole path: what is lower goes first, what stands between is promoted in the middle of the window (R87).
fn order(path: &[&Environment]) -> Check {
    let names: Vec<&str> = path.iter().map(|environment| environment.slug.as_str()).collect();
    match names.len() {
        0 => Check::fail("path", "no environment is in the promotion path", "give one a promotion_order"),
        1 | 2 => Check::pass("path", format!("the path is {}", names.join(" -> "))),
        _ => Check::warn(
            "path",
            format!("the path is {}", names.join(" -> ")),
            "a cluster is two adjacent environments: check what goes before and between them",
        ),
    }
}

///
fn tie(pair: &[&Environment]) -> Option<Check> {
    let [first, second] = pair else { return None };
    (first.promotion_order == second.promotion_order).then(|| {
        let sentence = format!("{} and {} have the same promotion_order: they go by slug", first.slug, second.slug);
        Check::warn("path-tie", sentence, "give each an order of its own")
    })
}

/// R80.
fn empty(world: &World, environment: &Environment) -> Option<Check> {
    world.lanes().of_environment(environment.id).next().is_none().then(|| {
        let sentence = format!("{} has no machines: the cursor would wait there for ever", environment.slug);
        Check::fail("empty", sentence, "add machines, or take it out of the path")
    })
}

fn paused(environment: &Environment) -> Option<Check> {
    let pause = environment.paused.as_ref()?;
    let sentence = format!("{} is paused by {}: the cursor would stop there", environment.slug, pause.by);
    Some(Check::warn("paused", sentence, "unpause it before the window"))
}

/// Members that are paused, offline, or assigned by half (R12, R79).
pub(super) fn members(world: &World, observed: &Observed, now: Timestamp) -> Vec<Check> {
    let paused = named(world, |m| m.place().is_some() && m.paused.is_some());
    let offline = named(world, |m| m.place().is_some() && observed.is_online(m.id, now) == Some(false));
    let half = named(world, |m| m.environment.is_some() != m.ring.is_some());
    let checks = [
        (paused, "paused-members", "paused: it would hold the cursor", "unpause it, or unassign its environment"),
        (offline, "offline-members", "offline: the queue would stop at it", "bring it back, or pause it"),
        (half, "half-assigned", "assigned to only one of environment and ring: out of scope", "assign both"),
    ];
    checks
        .into_iter()
        .filter_map(|(names, id, what, hint)| Some(Check::warn(id, format!("{}: {what}", names?), hint)))
        .collect()
}

/// Up to three host names and a count; none where nobody matches.
fn named(world: &World, matches: impl Fn(&Machine) -> bool) -> Option<String> {
    let names: Vec<&str> = world.machines.values().filter(|m| matches(m)).map(|m| m.hostname.as_str()).collect();
    match names.len() {
        0 => None,
        1..=3 => Some(names.join(", ")),
        n => Some(format!("{} and {} more", names[..3].join(", "), n - 3)),
    }
}
