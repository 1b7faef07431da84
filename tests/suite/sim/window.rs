//! A protected window of three control-plane nodes and three workers, from the start to its end.

use std::collections::BTreeSet;

use kura_console::domain::change::Change;
use kura_console::domain::rollout::Ending;
use kura_console::domain::span::Seconds;
use kura_console::sim::agents::behaviour::Behaviour;
use kura_console::sim::fleet::Brakes;
use kura_console::sim::stage::{Stage, Ties};

use super::bed::{assert_sound, at, cluster, current, fullest_lane, history, run_to_the_end, seconds, stage, start};

const STARTED: u64 = 120;

fn window(seed: u64, ties: Ties) -> Stage {
    let mut stage = stage(seed, ties);
    cluster(&mut stage, (3, 3), Brakes::SERIAL, &Behaviour { drift: Seconds(1_200), ..Behaviour::default() });
    start(&mut stage, STARTED);
    stage.advance_to(at(STARTED)).unwrap();
    stage
}

#[test]
fn three_and_three_nodes_take_ninety_minutes_within_the_slack() {
    // R10
    for (seed, ties) in [(1, Ties::InOrder), (2, Ties::Shuffled), (3, Ties::Shuffled)] {
        let mut stage = window(seed, ties);
        let took = run_to_the_end(&mut stage, 3 * 3_600) - STARTED;
        let (sum, slack) = (6 * (600 + 300 + 10), 6 * 60 + 2 * 60);
        assert!((5_400..=sum + slack).contains(&took), "{took} s");
        assert_eq!(current(&stage).ending, Some(Ending::Completed));
        assert!(current(&stage).protected);
        assert_sound(&stage);
    }
}

#[test]
fn one_node_at_a_time_at_every_instant() {
    // R21
    let mut stage = window(4, Ties::Shuffled);
    run_to_the_end(&mut stage, 3 * 3_600);
    let steps = history(&stage);
    assert!(steps.iter().all(|step| fullest_lane(&step.after, step.at) <= 1));
    assert!(steps.iter().any(|step| fullest_lane(&step.after, step.at) == 1));
    let served: BTreeSet<_> = steps.iter().flat_map(|step| &step.changes).filter_map(granted).collect();
    assert_eq!(served.len(), 6);
}

#[test]
fn the_control_plane_is_through_before_the_first_worker_is_served() {
    // R77, R46
    let mut stage = window(5, Ties::Shuffled);
    run_to_the_end(&mut stage, 3 * 3_600);
    let world = stage.world();
    let mut grants: Vec<(u64, String)> = Vec::new();
    for step in history(&stage) {
        let granted = step.changes.iter().filter_map(granted);
        grants.extend(granted.map(|machine| (seconds(step.at), world.hostname(machine).to_owned())));
    }
    let tiers: Vec<bool> = grants.iter().map(|(_, name)| name.starts_with("cp")).collect();
    assert_eq!(tiers, [true, true, true, false, false, false]);
    let (last_of_cp, first_worker) = (grants[2].0, grants[3].0);
    assert!(first_worker >= last_of_cp + 600 + 300, "a worker was served while the control plane settled");
}

fn granted(change: &Change) -> Option<kura_console::domain::ids::MachineId> {
    match change {
        Change::LeaseGranted { machine, .. } => Some(*machine),
        _ => None,
    }
}
