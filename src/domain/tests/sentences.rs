//! `explain`: each subject says what it waits for, on whom, since when, and the next verb.

use super::rig::{Rig, capped, environment, machine};
use crate::domain::explain::Subject;
use crate::domain::ids::{MachineId, RingId};
use crate::domain::input::{RingPatch, Verb};

fn machine_of(name: &str) -> Subject {
    Subject::Machine(MachineId::named(name))
}

const ROLLOUT: Subject = Subject::Rollout;

fn oak() -> Subject {
    Subject::Ring(RingId::named("oak"))
}

fn line() -> Rig {
    Rig::line("oak", capped(1, 300, 3_600, 1), &["a", "b", "c"])
}

#[test]
fn a_holder_is_named_with_its_time_and_its_halt() {
    // R49, R141
    let mut rig = line();
    rig.start("v1");
    rig.poll("a");
    rig.at(60).tick().at(100).poll("a");
    let said = rig.explain(ROLLOUT);
    assert_eq!(said.sentence, "a has held its slot for 1m 40s, oak halts in 58m 20s, 2 queued behind it");
    assert_eq!(said.on.as_deref(), Some("a"));
    assert_eq!(rig.explain(oak()).sentence, said.sentence);
    let queued = rig.explain(machine_of("c"));
    assert_eq!(queued.sentence, "c is number 2 in the queue; the slot is held by a");
    rig.at(1_000);
    let unattended = rig.explain(ROLLOUT).sentence;
    assert!(unattended.contains("nobody has ticked for 15m 40s"), "{unattended}");
    let said = rig.explain(machine_of("a"));
    assert!(said.sentence.contains("offline for 15m") && said.next[1].contains("pause"), "{said:?}");
}

#[test]
fn a_window_says_when_it_ends() {
    // R141
    let mut rig = line();
    rig.start("v1");
    rig.converge("a").at(60);
    assert_eq!(rig.explain(ROLLOUT).sentence, "a settles for another 4m");
    assert_eq!(rig.explain(oak()).sentence, "a settles for another 4m, then the next machine gets its slot");
    assert_eq!(
        rig.explain(machine_of("b")).sentence,
        "b is number 1 in the queue; the slot is kept for the settling a"
    );
    assert_eq!(rig.explain(machine_of("a")).sentence, "a is done and settles for another 4m");
}

#[test]
fn a_halt_names_the_machine_and_the_failing_state() {
    // R64, R141
    let mut rig = line();
    rig.start("v1");
    rig.poll("a");
    rig.fail("a");
    let said = rig.explain(ROLLOUT);
    assert!(said.sentence.starts_with("ring oak is halted: a failed in drain"), "{said:?}");
    assert!(rig.explain(oak()).sentence.contains("a failed in drain"));
    assert!(rig.explain(machine_of("a")).sentence.contains("keeps its slot"));
    assert!(said.next.iter().any(|n| n.contains("reset")));
}

#[test]
fn pauses_name_who() {
    // R141 (A17)
    let mut rig = line();
    rig.start("v1");
    rig.poll("a");
    rig.pause(environment("oak"));
    for subject in [ROLLOUT, oak()] {
        assert_eq!(rig.explain(subject).sentence, "environment oak is paused by op-a");
    }
    rig.unpause(environment("oak")).pause(machine("a"));
    let said = rig.explain(machine_of("a"));
    assert!(said.sentence.contains("paused by op-a") && said.sentence.contains("cursor"), "{said:?}");
}

#[test]
fn an_error_names_what_is_missing() {
    // R148
    let mut rig = line();
    rig.break_render("a", "K8S_VIP").start("v1");
    rig.poll("a");
    for subject in [ROLLOUT, machine_of("a")] {
        let said = rig.explain(subject);
        assert!(said.sentence.contains('a') && !said.sentence.is_empty(), "{said:?}");
    }
    assert!(rig.explain(oak()).sentence.contains("K8S_VIP"));
    assert_eq!(rig.explain(machine_of("a")).on.as_deref(), Some("K8S_VIP"));
}

#[test]
fn the_end_is_told_with_its_reason() {
    // R85, R115
    let mut rig = line();
    assert!(rig.explain(ROLLOUT).sentence.contains("no rollout"));
    rig.start("v1");
    let rollout = rig.rollout().id;
    rig.verb(Verb::Halt { rollout });
    assert_eq!(rig.explain(ROLLOUT).sentence, "v1 is halted: halted by op-a");
    assert!(rig.explain(machine_of("a")).sentence.contains("no running rollout"));
}

#[test]
fn an_uncapped_ring_says_so() {
    // R8
    let mut rig = Rig::line("oak", RingPatch::default(), &["a", "b"]);
    rig.start("v1");
    rig.converge("a");
    assert!(rig.explain(oak()).sentence.contains("not capped: 1 of 2"));
}

#[test]
fn a_machine_out_of_scope_says_what_it_lacks() {
    // R12
    let mut rig = line();
    rig.assign("a", None, Some("oak")).start("v1");
    assert!(rig.explain(machine_of("a")).sentence.contains("no environment"));
}

#[test]
fn a_ring_is_explained_by_its_oldest_holder() {
    // R49, R141
    let mut rig = Rig::line("oak", capped(2, 300, 3_600, 1), &["a", "b", "c"]);
    rig.start("v1");
    rig.poll("b");
    rig.at(100).poll("a");
    let said = rig.explain(oak());
    assert_eq!(said.on.as_deref(), Some("b"), "it is the one that stalls first: {said:?}");
    assert!(said.sentence.starts_with("b has held its slot for 1m 40s"), "{said:?}");
}
