//! B3: the slot lease, when it begins and the only ways in which it ends.

use super::rig::{Rig, capped, environment, machine, ring};
use crate::domain::change::{Change, LeaseEnd};
use crate::domain::ids::{EnvironmentId, MachineId, RingId};
use crate::domain::input::{RingPatch, Verb};
use crate::domain::observed::Telemetry;
use crate::domain::span::Seconds;

fn line() -> Rig {
    let mut rig = Rig::line("oak", capped(1, 300, 5_400, 10), &["a", "b", "c"]);
    rig.start("v1");
    rig
}

fn ends(rig: &Rig) -> Vec<LeaseEnd> {
    let ends = rig.changes.iter().filter_map(|c| match c {
        Change::LeaseEnded { cause, .. } => Some(*cause),
        _ => None,
    });
    ends.collect()
}

#[test]
fn the_lease_begins_when_the_assignment_is_served() {
    // R18
    let mut rig = line();
    rig.at(60).tick();
    assert!(rig.holders().is_empty(), "neither election nor a tick grants");
    rig.at(61).poll("a");
    assert_eq!(rig.holders(), ["a"]);
    assert_eq!(rig.row("a").held_since, Some(rig.now));
}

#[test]
fn slots_are_counted_per_ring_and_environment() {
    // R19
    let mut rig = Rig::new();
    rig.environment("east", 10).environment("west", 10).ring("shared", capped(1, 0, 0, 10)).release("v1");
    rig.machine("e1", "east", "shared", 1).machine("w1", "west", "shared", 2).machine("e2", "east", "shared", 3);
    rig.start("v1");
    rig.converge("e1").converge("e2").at(60).tick();
    rig.fail("e1");
    rig.poll_all(&["e1", "w1"]);
    assert_eq!(rig.holders(), ["e1", "w1"]);
}

#[test]
fn free_is_cap_less_holders_less_settling() {
    // R20, R21, R24, R41
    let mut rig = Rig::line("oak", capped(2, 300, 0, 10), &["a", "b", "c", "d"]);
    rig.start("v1");
    rig.poll_all(&["a", "b", "c", "d"]);
    assert_eq!(rig.holders(), ["a", "b"]);
    assert_eq!(rig.slots("oak").free, 0);
    rig.ok("a");
    rig.poll_all(&["c", "d"]);
    let slots = rig.slots("oak");
    assert_eq!((slots.holding, slots.settling, slots.free), (1, 1, 0));
    rig.at(300).poll_all(&["c", "d"]);
    assert_eq!(rig.holders(), ["b", "c"]);
}

#[test]
fn success_ends_the_lease() {
    // R22
    let mut rig = line();
    rig.poll("a");
    rig.ok("a");
    assert_eq!(ends(&rig), [LeaseEnd::Success]);
    assert!(rig.holders().is_empty());
}

#[test]
fn pausing_the_machine_ends_the_lease() {
    // R22
    let mut rig = line();
    rig.poll("a");
    rig.pause(machine("a"));
    assert_eq!(ends(&rig), [LeaseEnd::Paused]);
    rig.poll_all(&["a", "b"]);
    assert_eq!(rig.holders(), ["b"]);
}

#[test]
fn supersede_reset_and_halt_end_the_lease() {
    // R22
    let mut rig = line();
    rig.poll("a");
    rig.start("v2");
    assert_eq!(ends(&rig), [LeaseEnd::Superseded]);
    rig.poll("a");
    rig.start("v2");
    assert_eq!(ends(&rig), [LeaseEnd::Reset]);
    rig.poll("a");
    let rollout = rig.rollout().id;
    rig.verb(Verb::Halt { rollout });
    assert_eq!(ends(&rig), [LeaseEnd::Halted]);
}

#[test]
fn uncapping_ends_the_lease_and_serves_on() {
    // R22, R125
    let mut rig = line();
    let had = rig.poll("a");
    rig.patch("oak", RingPatch { max_in_flight: Some(0), ..RingPatch::default() });
    assert_eq!(ends(&rig), [LeaseEnd::Uncapped]);
    assert_eq!(rig.poll_having("a", had), (had, false), "the run goes on");
    assert!(rig.poll("b").is_some() && rig.poll("c").is_some());
}

#[test]
fn a_run_goes_on_in_a_halted_ring_whose_cap_is_lifted() {
    // R66, R125
    let mut rig = line();
    let had = rig.poll("a");
    rig.at(5_400).tick();
    assert!(rig.halted("oak").is_some());
    rig.patch("oak", RingPatch { max_in_flight: Some(0), ..RingPatch::default() });
    assert_eq!(rig.poll_having("a", had), (had, false), "what was served stays served");
    assert_eq!(rig.poll("b"), None, "nobody joins");
}

#[test]
fn leaving_scope_ends_the_lease() {
    // R22
    let mut rig = line();
    rig.poll("a");
    rig.assign("a", None, Some("oak"));
    assert_eq!(ends(&rig), [LeaseEnd::Moved]);
    rig.poll("b");
    rig.verb(Verb::RemoveMachine { machine: MachineId::named("b") });
    assert_eq!(ends(&rig), [LeaseEnd::Removed]);
    rig.poll("c");
    rig.ring("elm", capped(1, 0, 0, 10)).assign("c", Some("oak"), Some("elm"));
    assert_eq!(ends(&rig), [LeaseEnd::Moved], "to another ring");
    rig.environment("pine", 10).poll("c");
    assert_eq!(rig.holders(), ["c"]);
    rig.assign("c", Some("pine"), Some("elm"));
    assert_eq!(ends(&rig), [LeaseEnd::Moved], "to another environment of the same ring");
    assert!(rig.holders().is_empty());
}

/// What happens around a holder that must not touch it, by name.
type Disturbance = (&'static str, fn(&mut Rig));

#[test]
fn nothing_else_takes_a_slot() {
    // R23, R25, R26
    let around: &[Disturbance] = &[
        ("another joins", |r| {
            r.machine("z", "oak", "oak", 0).poll("z");
        }),
        ("another is unpaused", |r| {
            r.pause(machine("b")).unpause(machine("b")).poll("b");
        }),
        ("another drifts", |r| {
            r.fail("d");
        }),
        ("a window re-opens", |r| {
            r.patch("oak", RingPatch { min_settle_seconds: Some(Seconds(9_000)), ..RingPatch::default() });
        }),
        ("the ring halts", |r| {
            r.patch("oak", RingPatch { failure_count_threshold: Some(1), ..RingPatch::default() });
            r.fail("d");
            assert!(r.halted("oak").is_some());
        }),
        ("the cap is patched", |r| {
            r.patch("oak", RingPatch { max_in_flight: Some(3), ..RingPatch::default() });
        }),
        ("telemetry is lost", |r| r.observed.telemetry = Telemetry::Unreadable),
        ("the holder fails", |r| {
            r.fail("a");
        }),
        ("the holder times out", |r| {
            r.result("a", crate::domain::release::Outcome::Timeout);
        }),
        ("the holder reports a cancelled run", |r| {
            r.result("a", crate::domain::release::Outcome::Canceled);
        }),
        ("the holder is silent for a day", |r| {
            r.at(80_000).tick();
        }),
        ("the ring is paused and unpaused", |r| {
            r.pause(ring("oak")).unpause(ring("oak"));
        }),
        ("the environment is paused", |r| {
            r.pause(environment("oak"));
        }),
    ];
    for (name, disturb) in around {
        let mut rig = Rig::line("oak", capped(1, 0, 0, 10), &["d", "a", "b"]);
        rig.start("v1");
        rig.converge("d");
        rig.poll("a");
        let lease = rig.world.machines[&MachineId::named("a")].lease.clone();
        disturb(&mut rig);
        let after = &rig.world.machines[&MachineId::named("a")].lease;
        assert_eq!(after.as_ref().map(|l| l.granted_at), lease.map(|l| l.granted_at), "{name}");
    }
}

#[test]
fn a_returning_holder_finishes_its_arc_in_a_halted_ring() {
    // R27, R66
    let mut rig = line();
    let had = rig.poll("a");
    rig.at(5_400).tick();
    assert!(rig.halted("oak").is_some());
    assert_eq!(rig.poll_having("a", had), (had, false));
    rig.ok("a");
    assert_eq!(rig.state("a"), "applied");
    assert!(rig.halted("oak").is_some(), "the ring stays halted");
    rig.at(6_000);
    assert_eq!(rig.poll("b"), None);
}

#[test]
fn turning_a_cap_on_adopts_what_is_in_flight() {
    // R29
    let mut rig = Rig::line("oak", RingPatch::default(), &["a", "b", "c", "d"]);
    rig.start("v1");
    rig.poll_all(&["a", "b", "c"]);
    rig.ok("a");
    rig.at(50).patch("oak", capped(1, 0, 5_400, 10));
    assert_eq!(rig.holders(), ["b", "c"], "served and not done");
    assert_eq!(rig.row("b").held_since, Some(rig.now));
    assert_eq!(rig.poll("d"), None);
    rig.ok("b");
    assert_eq!(rig.poll("d"), None, "one holder fills the one slot");
    rig.ok("c");
    assert!(rig.poll("d").is_some());
}

#[test]
fn a_cap_adopts_nobody_in_an_environment_that_was_closed_meanwhile() {
    // R13, R29
    let mut rig = Rig::line("oak", RingPatch::default(), &["a", "b"]);
    rig.start("v1");
    rig.poll_all(&["a", "b"]);
    rig.verb(Verb::PatchEnvironment {
        environment: EnvironmentId::named("oak"),
        name: None,
        promotion_order: Some(Some(1_000)),
        config_values: None,
    });
    assert_eq!(rig.poll("a"), None, "the cursor has not come to it");
    rig.at(50).patch("oak", capped(1, 0, 5_400, 10));
    assert_eq!(rig.holders(), Vec::<String>::new());
}

#[test]
fn lowering_the_cap_evicts_nobody() {
    // R30
    let mut rig = Rig::line("oak", capped(2, 0, 0, 10), &["a", "b", "c"]);
    rig.start("v1");
    rig.poll_all(&["a", "b"]);
    rig.patch("oak", RingPatch { max_in_flight: Some(1), ..RingPatch::default() });
    assert_eq!(rig.holders(), ["a", "b"]);
    rig.ok("a");
    assert_eq!(rig.poll("c"), None);
    rig.ok("b");
    assert!(rig.poll("c").is_some());
}

#[test]
fn a_run_that_is_served_no_more_is_cancelled() {
    // R25, R104
    let mut rig = line();
    let had = rig.poll("a");
    assert_eq!(rig.poll_having("a", had), (had, false));
    rig.pause(ring("oak"));
    assert_eq!(rig.poll_having("a", had), (None, true));
    rig.unpause(ring("oak"));
    assert_eq!(rig.poll_having("a", had), (had, false));
    assert_eq!(rig.rollout().halted_rings.get(&RingId::named("oak")), None);
}

#[test]
fn a_new_node_name_is_no_move() {
    // R22, R23
    let mut rig = line();
    let had = rig.poll("a");
    rig.verb(Verb::AssignMachine {
        machine: MachineId::named("a"),
        environment: None,
        ring: Some(Some(RingId::named("oak"))),
        node: Some("node-7".to_owned()),
    });
    assert_eq!(rig.holders(), ["a"]);
    assert_eq!(rig.poll_having("a", had), (had, false));
}

#[test]
fn a_cap_adopts_nobody_who_was_served_before_the_reset() {
    // R29
    let mut rig = Rig::line("oak", RingPatch::default(), &["a", "b", "c"]);
    rig.start("v1");
    rig.poll_all(&["a", "b"]);
    rig.start("v1");
    rig.poll("b");
    rig.patch("oak", capped(1, 0, 5_400, 10));
    assert_eq!(rig.holders(), ["b"], "a was not served in this generation");
}
