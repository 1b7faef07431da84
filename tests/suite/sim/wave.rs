//! Ten thousand machines in a ring without a cap.

use kura_console::domain::rollout::Ending;
use kura_console::domain::span::Seconds;
use kura_console::sim::agents::behaviour::Behaviour;
use kura_console::sim::fleet::{Brakes, FleetBuilder, Seat, Tier};
use kura_console::sim::script::Cue;
use kura_console::sim::stage::Ties;

use super::bed::{V1, at, current, machine, run_to_the_end, stage, start, v1};

const MACHINES: u64 = 10_000;

#[test]
fn a_wave_of_ten_thousand_machines_completes() {
    // R8
    let mut stage = stage(1, Ties::Shuffled);
    let mut fleet = FleetBuilder::default();
    fleet.tier(Tier { slug: "edge", name: "edge", order: 1 });
    let open = Brakes { cap: 0, settle: Seconds(0), stall: Seconds(0), threshold: 10, ladder: &[] };
    fleet.ring("edge", open);
    for n in 0..MACHINES {
        let hostname = format!("edge-{n}");
        fleet.machine(Seat { hostname: &hostname, environment: "edge", ring: "edge", bucket: None });
        let behaviour = Behaviour { poll: Seconds(60), first_poll: Seconds(n % 60), ..Behaviour::default() };
        stage.roster().with(|roster| roster.enroll(at(0), machine(&hostname), behaviour));
    }
    fleet.release(V1, &stage.outside().vault);
    stage.script().add(at(0), Cue::Orders(fleet.orders()));
    start(&mut stage, 60);
    stage.advance_to(at(60)).unwrap();
    let ended = run_to_the_end(&mut stage, 1_800);
    assert!((660..=780).contains(&ended), "served at once, applied in 600 s, completed by the next tick: {ended}");
    assert_eq!(current(&stage).ending, Some(Ending::Completed));
    assert!(stage.world().machines.values().all(|m| m.is_done(v1())));
    assert_eq!(stage.refusals(), Vec::<String>::new());
}
