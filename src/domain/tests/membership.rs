//! Machines that join, move, leave and come back from a reimage.

use super::rig::{Rig, capped};
use crate::domain::change::{Change, LeaseEnd, Level};
use crate::domain::ids::{EnvironmentId, MachineId, RingId};
use crate::domain::input::{Input, Report, RingPatch, Verb};
use crate::domain::refusal::Refusal;
use crate::domain::release::Outcome;
use crate::domain::verdict::Reply;

fn add(id: &str, hostname: &str) -> Verb {
    Verb::AddMachine {
        id: MachineId::named(id),
        hostname: hostname.to_owned(),
        node: None,
        environment: Some(EnvironmentId::named("oak")),
        ring: Some(RingId::named("oak")),
        bucket: None,
    }
}

#[test]
fn a_deleted_holder_frees_its_slot_and_its_name() {
    // R22 (A10)
    let mut rig = Rig::line("oak", capped(1, 0, 3_600, 1), &["a", "b"]);
    rig.start("v1");
    rig.poll("a");
    rig.at(60).verb(Verb::RemoveMachine { machine: MachineId::named("a") });
    assert!(matches!(rig.changes[0], Change::LeaseEnded { cause: LeaseEnd::Removed, .. }));
    assert!(rig.poll("b").is_some());
    rig.verb(add("another uuid", "a"));
    let row = rig.row("a");
    assert_eq!((row.state.word(), row.holds_slot), ("queued", false));
}

#[test]
fn a_host_name_is_used_once() {
    // R22
    let mut rig = Rig::line("oak", RingPatch::default(), &["a"]);
    assert!(matches!(rig.refused(add("x", "a")), Refusal::Duplicate { field: "hostname", .. }));
    assert!(matches!(rig.refused(add("x", "no good")), Refusal::BadName { field: "hostname", .. }));
}

#[test]
fn a_place_must_exist() {
    // R12
    let mut rig = Rig::line("oak", RingPatch::default(), &["a"]);
    let nowhere = Verb::AssignMachine {
        machine: MachineId::named("a"),
        environment: None,
        ring: Some(Some(RingId::named("nowhere"))),
        node: None,
    };
    assert!(matches!(rig.refused(nowhere), Refusal::NoRing(_)));
}

#[test]
fn a_rebuild_forgets_every_proof() {
    // R152, R153, R173
    let mut rig = Rig::line("oak", capped(1, 300, 0, 1), &["a", "b"]);
    rig.start("v1");
    rig.converge("a");
    let rebuilt = Input::Rebuilt { machine: MachineId::named("a"), version: Some("v1.30".to_owned()) };
    assert_eq!(rig.step(&rebuilt), Reply::Done);
    assert_eq!(rig.state("a"), "queued");
    assert_eq!(rig.slots("oak").settling, 0, "its window is gone with its first success");
    rig.at(10).converge("a");
    assert_eq!(rig.at(309).poll("b"), None, "the new system soaks again");
    assert!(rig.at(310).poll("b").is_some());
}

#[test]
fn what_ran_before_a_rebuild_and_is_told_after_it_proves_nothing() {
    // R153 (A08)
    let mut rig = Rig::line("oak", RingPatch::default(), &["a"]);
    rig.start("v1");
    rig.poll("a");
    rig.at(30).step(&Input::Rebuilt { machine: MachineId::named("a"), version: None });
    rig.ok("a");
    assert!(rig.changes.is_empty() && rig.state("a") != "applied", "nothing was served to the new system yet");
    rig.at(40).converge("a");
    assert_eq!(rig.state("a"), "applied", "its own run");
}

#[test]
fn a_report_of_an_earlier_system_proves_nothing_even_while_the_new_one_is_served() {
    // R153 (A08)
    let mut rig = Rig::line("oak", capped(1, 0, 0, 1), &["a"]);
    rig.start("v1");
    let edition = rig.poll("a").unwrap();
    let machine = MachineId::named("a");
    let told = |rebuilds, outcome| {
        let failed_state = (outcome == Outcome::Failed).then(|| "drain".to_owned());
        Input::Report(Report { machine, edition, outcome, failed_state, run: None, rebuilds })
    };
    rig.at(30).step(&Input::Rebuilt { machine, version: None });
    assert_eq!(rig.at(40).poll("a"), Some(edition), "the new system is served the same");
    for outcome in [Outcome::Success, Outcome::Failed] {
        rig.at(50).step(&told(Some(0), outcome));
        assert!(rig.changes.is_empty() && rig.halted("oak").is_none(), "{outcome:?} of the old system");
    }
    rig.at(60).step(&told(Some(1), Outcome::Success));
    assert_eq!(rig.state("a"), "applied", "the new system's own run");
}

#[test]
fn the_new_systems_own_run_counts_though_it_was_withdrawn_since() {
    // R153, R176
    let mut rig = Rig::line("oak", capped(1, 0, 0, 1), &["a"]);
    rig.start("v1");
    rig.step(&Input::Rebuilt { machine: MachineId::named("a"), version: None });
    let edition = rig.poll("a").unwrap();
    rig.pause(Level::Machine(MachineId::named("a")));
    let (machine, outcome) = (MachineId::named("a"), Outcome::Success);
    let report = Report { machine, edition, outcome, failed_state: None, run: None, rebuilds: Some(1) };
    rig.step(&Input::Report(report));
    assert!(rig.world.machines[&machine].is_done(edition.release), "it had finished before it heard of it");
}

#[test]
fn a_rebuilt_holder_starts_over_in_the_queue() {
    // R152
    let mut rig = Rig::line("oak", capped(1, 0, 0, 1), &["a", "b"]);
    rig.start("v1");
    rig.poll("a");
    rig.step(&Input::Rebuilt { machine: MachineId::named("a"), version: None });
    assert!(matches!(rig.changes[0], Change::LeaseEnded { cause: LeaseEnd::Rebuilt, .. }));
    assert_eq!(rig.queue(), ["a", "b"]);
}

#[test]
fn a_move_between_rings_queues_in_the_new_one() {
    // R22, R34
    let mut rig = Rig::line("oak", RingPatch::default(), &["a", "b"]);
    rig.ring("elm", capped(1, 0, 0, 1)).start("v1");
    rig.poll_all(&["a", "b"]);
    rig.assign("a", Some("oak"), Some("elm"));
    assert_eq!(rig.state("a"), "queued");
    rig.poll("a");
    assert_eq!(rig.holders(), ["a"]);
}

#[test]
fn what_is_not_there_is_told() {
    // R12
    let mut rig = Rig::line("oak", RingPatch::default(), &[]);
    let gone = MachineId::named("gone");
    assert!(matches!(rig.refused(Verb::RemoveMachine { machine: gone }), Refusal::NoMachine(_)));
    assert!(matches!(
        rig.step(&Input::Rebuilt { machine: gone, version: None }),
        Reply::Refused(Refusal::NoMachine(_))
    ));
}
