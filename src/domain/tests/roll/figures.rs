//! What is counted, and when a series is there.

use super::rig::{Rig, id, spec};
use crate::domain::roll::fleet_roll::RollState;
use crate::domain::roll::spec::RollSpec;
use crate::domain::roll::totals::{BOUNDS, Histogram};
use crate::domain::roll::verb::RollVerb;
use crate::domain::span::Seconds;
use crate::domain::world::World;

fn waits(rig: &Rig) -> (u64, u64) {
    let all = rig.world.rolls.totals.gates.values();
    all.fold((0, 0), |(count, sum), one| (count + one.count, sum + one.sum))
}

#[test]
fn a_wait_is_observed_once_on_the_edge_whatever_happens_before_and_after() {
    // F36, F38, F39, F52
    let mut rig = Rig::at_gate(3);
    (0..10).for_each(|_| rig.tick());
    assert_eq!(waits(&rig), (0, 0), "nothing while it waits");
    let stored = serde_json::to_value(&rig.world).unwrap();
    let since = rig.roll().gate.as_ref().unwrap().since;
    rig.world = serde_json::from_value::<World>(stored).unwrap();
    assert_eq!(rig.roll().gate.as_ref().unwrap().since, since, "a restart waits on from where it was");
    rig.approve("r", "x", None);
    assert_eq!(waits(&rig), (1, 600));
    (0..10).for_each(|_| rig.tick());
    assert_eq!(waits(&rig), (1, 600), "deciding again observes nothing (F35)");
}

#[test]
fn a_wait_that_an_abort_ends_was_waited_as_well() {
    // F38
    let mut rig = Rig::at_gate(2);
    rig.pass_time(90);
    rig.verb(RollVerb::Abort { roll: id("r") });
    assert_eq!(waits(&rig), (1, 90));
    rig.verb(RollVerb::Abort { roll: id("r") });
    assert_eq!(waits(&rig), (1, 90));
}

#[test]
fn steps_of_a_roll_are_observed_when_it_has_ended_and_never_again() {
    // F35, F57
    let mut rig = Rig::at_gate(3);
    rig.approve("r", "x", None);
    rig.until(|rig| rig.state() == RollState::Soaking);
    assert!(rig.world.rolls.totals.steps.is_empty(), "soaking is not an end");
    rig.until(|rig| !rig.roll().is_live());
    let steps = rig.world.rolls.totals.steps.clone();
    let of = |step: &str| steps.keys().filter(|(_, _, name, _)| name == step).count();
    assert_eq!((of("roll-node"), of("green")), (3, 3));
    assert!(steps.values().all(|one| one.count == 1));
    (0..10).for_each(|_| rig.tick());
    assert_eq!(rig.world.rolls.totals.steps, steps);
}

#[test]
fn targets_of_one_project_are_counted_apart() {
    // F40
    let mut rig = Rig::of(4);
    let one = |node: &str| RollSpec { canary: Some(node.to_owned()), nodes: Vec::new(), ..spec(1) };
    rig.start_at("a", "r", "x", one("wk-1"), false);
    rig.start_at("b", "s", "x", one("wk-2"), false);
    rig.until(|rig| rig.world.rolls.rolls.iter().all(|roll| roll.gate.is_some()));
    rig.approve("r", "x", None);
    let keys: Vec<&str> = rig.world.rolls.totals.gates.keys().map(|(_, target, _)| target.as_str()).collect();
    assert_eq!(keys, ["a"]);
    assert!(rig.world.rolls.roll(id("s")).unwrap().gate.is_some());
}

#[test]
fn the_canary_counts_where_the_fleet_names_it() {
    // F32, F33
    let rig = Rig::at_gate(6);
    let progress = rig.roll().progress();
    assert_eq!((progress.completed, progress.total, progress.phase.as_deref()), (0, 5, Some("gate")));
    let mut rig = Rig::of(5);
    rig.start("r", "x", RollSpec { nodes: (1..=5).map(|n| format!("wk-{n}")).collect(), ..spec(5) });
    rig.until(|rig| rig.roll().gate.is_some());
    let progress = rig.roll().progress();
    assert_eq!((progress.completed, progress.total), (1, 5));
}

#[test]
fn a_histogram_counts_each_span_in_one_bucket() {
    let mut histogram = Histogram::default();
    [0, 10, 11, 840, 1_000_000].into_iter().for_each(|span| histogram.observe(Seconds(span)));
    assert_eq!((histogram.count, histogram.sum), (5, 1_000_861));
    assert_eq!(histogram.buckets.iter().sum::<u64>(), 4, "one is above the last bound");
    assert_eq!(histogram.buckets[0], 2);
    assert_eq!(histogram.buckets[BOUNDS.iter().position(|bound| *bound == 900).unwrap()], 1);
}
