//! How long a window takes: every node its arc, its soak and a handoff, and what ticks may add (R10).

use super::check::{Check, Plan};
use crate::domain::fleet::Ring;
use crate::domain::lane::Lane;
use crate::domain::span::Seconds;
use crate::domain::world::World;

/// From a success to the next machine's start, where a nudge hands the slot over (R9).
const HANDOFF: Seconds = Seconds(10);

/// What waiting for a tick may add to each node and to each environment.
const TICK: Seconds = Seconds(60);

/// The shortest and the longest it takes where every apply takes `apply`, for whoever is on the path now.
pub fn window(world: &World, apply: Seconds) -> [Seconds; 2] {
    let mut spans = [0_u64; 2];
    for environment in world.path() {
        let lanes = world.lanes().of_environment(environment.id);
        let lanes = lanes.filter_map(|((_, ring), lane)| Some((world.rings.get(ring)?, lane)));
        // The rings of an environment work side by side: the slowest decides.
        let longest = lanes.map(|(ring, lane)| of_lane(ring, lane, apply)).max().unwrap_or_default();
        spans = [spans[0] + longest[0], spans[1] + longest[1] + TICK.0];
    }
    spans.map(Seconds)
}

fn of_lane(ring: &Ring, lane: &Lane, apply: Seconds) -> [u64; 2] {
    let members = u64::try_from(lane.members.len()).unwrap_or(u64::MAX);
    let turns = match u64::from(ring.settings.max_in_flight) {
        0 => members.min(1),
        cap => members.div_ceil(cap),
    };
    let turn = apply.0 + ring.settings.min_settle_seconds.0 + HANDOFF.0;
    [turns * turn, turns * (turn + TICK.0)]
}

/// The estimate for the deadline of the release, which no apply exceeds.
pub(super) fn estimate(world: &World, plan: &Plan<'_>) -> Option<Check> {
    let apply = world.releases.get(&plan.release)?.timeout_seconds;
    (!apply.is_off()).then(|| {
        let [shortest, longest] = window(world, apply);
        Check::pass("window", format!("if every apply takes all of its {apply}, it takes {shortest} to {longest}"))
    })
}
