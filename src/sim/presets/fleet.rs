//! Ten thousand machines: a wave that is elected in steps, and gateways that go a few at a time.

use super::super::agents::behaviour::Behaviour;
use super::super::fleet::{Brakes, Build, FleetBuilder, Seat, Tier};
use super::super::script::Cue;
use super::super::stage::Stage;
use super::cluster::{self, MARIA};
use super::preset::Preset;
use crate::control::ports::Clock;
use crate::domain::ids::RolloutId;
use crate::domain::release::Outcome;
use crate::domain::span::Seconds;

pub(super) const PRESET: Preset = Preset {
    name: "fleet",
    summary: "10,000 machines: a wave elected in steps, and a capped ring of gateways",
    past: Seconds(300),
    write,
};

/// Machines of the wave.
const EDGES: usize = 9_600;

/// Machines that go a few at a time.
const GATEWAYS: usize = 400;

/// Everybody polls once a minute, evenly spread.
const POLL: u64 = 60;

const WAVE: Brakes = Brakes {
    cap: 0,
    settle: Seconds(0),
    stall: Seconds(0),
    threshold: 400,
    ladder: &[(0, 2), (240, 5), (900, 12), (1_800, 25), (3_600, 50), (7_200, 100)],
};

const FEW_AT_A_TIME: Brakes =
    Brakes { cap: 8, settle: Seconds(120), stall: Seconds(3_600), threshold: 20, ladder: &[] };

const RELEASE: Build<'static> = Build {
    git_ref: "edge-2026.07",
    commit: "5d0be4f2a1764f0fb7a9c1d8e3f6b2c40a97e815",
    timeout: Seconds(1_800),
    notes: "kernel and container runtime of the edge",
    target_version: None,
};

fn write(stage: &mut Stage) {
    let mut fleet = FleetBuilder::default();
    fleet.tier(Tier { slug: "edge", name: "Edge sites", order: 10 });
    fleet.ring("edge-wave", WAVE);
    fleet.ring("edge-gateways", FEW_AT_A_TIME);
    for (hostname, ring) in names() {
        fleet.machine(Seat { hostname: &hostname, environment: "edge", ring, bucket: None });
    }
    fleet.release(RELEASE, &stage.outside().vault);
    let now = stage.clock().now();
    stage.script().add(now, Cue::Orders(fleet.orders()));
    let start = MARIA.starts(RolloutId::named("fleet"), cluster::release(RELEASE), "quarterly edge release");
    cluster::order(stage, 60, start);
    for ((hostname, _), n) in names().zip(0..) {
        cluster::behave(stage, &hostname, character(n));
        if n % 500 == 77 {
            stage.roster().with(|roster| roster.silence(cluster::machine(&hostname)));
        }
    }
}

fn names() -> impl Iterator<Item = (String, &'static str)> {
    let edges = (0..EDGES).map(|n| (format!("edge-{n:04}"), "edge-wave"));
    edges.chain((0..GATEWAYS).map(|n| (format!("gateway-{n:03}"), "edge-gateways")))
}

/// Nobody is quite like the other: applies take three to eleven minutes, one in a hundred fails once.
fn character(n: u64) -> Behaviour {
    let fails = n % 97 == 13;
    Behaviour {
        poll: Seconds(POLL),
        first_poll: Seconds(n * 37 % POLL),
        nudge: Seconds(n % 5),
        apply: Seconds(180 + n * 7_919 % 480),
        outcome: if fails { Outcome::Failed } else { Outcome::Success },
        heals_after: Some(1),
        retries: 1,
        ..Behaviour::default()
    }
}
