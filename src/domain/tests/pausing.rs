//! B12: pause on three levels, a row of the table each.

use super::rig::{Rig, capped, environment, machine, ring};
use crate::domain::input::Verb;
use crate::domain::refusal::Refusal;

fn held() -> Rig {
    let mut rig = Rig::line("oak", capped(1, 0, 3_600, 10), &["a", "b", "c"]);
    rig.start("v1");
    rig.poll("a");
    rig
}

#[test]
fn served() {
    // R104
    for (level, others) in [(machine("a"), true), (ring("oak"), false), (environment("oak"), false)] {
        let mut rig = held();
        rig.pause(level);
        assert_eq!(rig.poll("a"), None);
        assert_eq!(rig.poll("b").is_some(), others, "{level:?}");
    }
}

#[test]
fn lease() {
    // R105
    for (level, holders) in [(machine("a"), vec![]), (ring("oak"), vec!["a"]), (environment("oak"), vec!["a"])] {
        let mut rig = held();
        rig.pause(level);
        assert_eq!(rig.holders(), holders, "{level:?}");
    }
}

#[test]
fn run_in_flight() {
    // R106
    for level in [machine("a"), ring("oak"), environment("oak")] {
        let mut rig = held();
        let had = rig.poll("a");
        rig.pause(level);
        assert_eq!(rig.poll_having("a", had), (None, true), "{level:?}");
    }
}

#[test]
fn queue() {
    // R107
    let mut rig = held();
    rig.pause(machine("a"));
    assert_eq!(rig.queue(), ["b", "c"]);
    for level in [ring("oak"), environment("oak")] {
        let mut rig = held();
        rig.pause(level);
        assert_eq!(rig.queue(), ["b", "c"], "order intact");
        assert_eq!(rig.state("a"), "pending", "R129: rows keep their states");
    }
}

#[test]
fn cursor() {
    // R108
    for level in [machine("a"), ring("oak"), environment("oak")] {
        let mut rig = held();
        rig.environment("later", 20).pause(level).tick_until(600);
        assert_eq!(rig.cursor(), "oak", "{level:?}");
        if level != machine("a") {
            assert!(rig.hold().unwrap().sentence.contains("paused"), "{level:?}");
        }
    }
}

#[test]
fn unpause() {
    // R109
    let mut rig = held();
    rig.pause(machine("a")).poll("b");
    rig.unpause(machine("a"));
    assert_eq!(rig.poll("a"), None, "rejoins at its bucket, under the cap");
    assert_eq!(rig.queue(), ["a", "c"]);
    for level in [ring("oak"), environment("oak")] {
        let mut rig = held();
        let had = rig.poll("a");
        rig.pause(level).at(50_000).unpause(level);
        assert_eq!(rig.poll("a"), had, "the holder is served again");
        assert_eq!(rig.holders(), ["a"]);
        rig.tick();
        assert!(rig.halted("oak").is_none(), "the stall timer did not age");
    }
}

#[test]
fn a_later_tier_paused_early_stops_the_cursor_when_it_arrives() {
    // R112
    let mut rig = Rig::cluster(&capped(1, 0, 0, 10));
    rig.pause(environment("workers")).start("v1");
    rig.converge("cp1").converge("cp2").at(60).tick();
    assert_eq!(rig.cursor(), "workers");
    assert!(rig.hold().unwrap().sentence.contains("workers is paused by op-a"));
    assert_eq!(rig.poll("w1"), None);
}

#[test]
fn pausing_twice_is_pausing_once() {
    // R104
    let mut rig = held();
    rig.pause(ring("oak"));
    let first = rig.world.rings.values().next().unwrap().paused.clone();
    rig.at(100).pause(ring("oak"));
    assert!(rig.changes.is_empty());
    assert_eq!(rig.world.rings.values().next().unwrap().paused, first);
    rig.unpause(ring("oak")).unpause(ring("oak"));
    assert!(rig.changes.is_empty());
}

#[test]
fn what_does_not_exist_cannot_be_paused() {
    // R104
    let mut rig = held();
    assert!(matches!(rig.refused(Verb::Pause(machine("nobody"))), Refusal::NoMachine(_)));
    assert!(matches!(rig.refused(Verb::Unpause(ring("nobody"))), Refusal::NoRing(_)));
    assert!(matches!(rig.refused(Verb::Pause(environment("nobody"))), Refusal::NoEnvironment(_)));
}

#[test]
fn a_pause_that_may_leave_a_cordon_says_so() {
    // R113
    use crate::domain::explain::Subject;
    use crate::domain::ids::{MachineId, RingId};
    for (level, subject) in [
        (machine("a"), Subject::Machine(MachineId::named("a"))),
        (ring("oak"), Subject::Ring(RingId::named("oak"))),
        (environment("oak"), Subject::Rollout),
    ] {
        let mut rig = held();
        rig.pause(level);
        let said = rig.explain(subject);
        assert!(said.next.iter().any(|next| next.contains("cordon")), "{said:?}");
    }
}
