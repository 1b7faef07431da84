//! Why the cursor stands still: each kind with its sentence, and their order (R139-R141).

use super::rig::{Rig, capped, environment, ladder, machine, ring};
use crate::domain::hold::{Hold, HoldKind};
use crate::domain::input::{Input, RingPatch};
use crate::domain::observed::Telemetry;

/// The hold is of this kind and its sentence has these words.
fn holds(rig: &Rig, kind: HoldKind, words: &[&str]) {
    let Hold { kind: found, sentence, .. } = rig.hold().unwrap();
    assert_eq!(found, kind, "{sentence}");
    words.iter().for_each(|word| assert!(sentence.contains(word), "{word} in {sentence}"));
}

fn seat(rig: &mut Rig, holder: &str, agents: bool) {
    rig.step(&Input::TakeSeat { holder: holder.to_owned(), agents });
}

/// Settings of a ring that elects half, settles for long and halts at once.
fn brakes(threshold: u32) -> RingPatch {
    RingPatch { wave_ladder: ladder(&[(0, 50)]).wave_ladder, ..capped(4, 600, 0, threshold) }
}

#[test]
fn of_all_reasons_the_first_in_a_fixed_order_is_given() {
    // R139, R140, R141
    let mut rig = Rig::line("oak", brakes(1), &["a", "b", "c"]);
    rig.machine("d", "oak", "oak", 80).environment("later", 20).start("v1");
    rig.converge("a").poll("b");
    rig.fail("b").pause(machine("c")).pause(ring("oak")).pause(environment("oak"));
    seat(&mut rig, "console", false);
    rig.observed.clock_suspect = true;
    rig.observed.telemetry = Telemetry::Unreadable;
    holds(&rig, HoldKind::Telemetry, &["telemetry", "main database"]);
    rig.observed.telemetry = Telemetry::Readable;
    holds(&rig, HoldKind::Clock, &["clock", "accepts"]);
    rig.observed.clock_suspect = false;
    holds(&rig, HoldKind::NoAgents, &["no agent endpoint", "console"]);
    seat(&mut rig, "server", true);
    holds(&rig, HoldKind::PausedEnvironment, &["environment oak is paused by op-a"]);
    rig.unpause(environment("oak"));
    holds(&rig, HoldKind::PausedRing, &["ring oak is paused by op-a"]);
    rig.unpause(ring("oak"));
    holds(&rig, HoldKind::Halted, &["ring oak is halted", "b failed in drain"]);
    rig.patch("oak", brakes(10));
    rig.start("v1");
    rig.poll("b");
    rig.fail("b");
    holds(&rig, HoldKind::Failing, &["b failed"]);
    rig.ok("b");
    holds(&rig, HoldKind::PausedBeforeApply, &["c was paused before applying", "oak"]);
    rig.unpause(machine("c")).converge("c");
    holds(&rig, HoldKind::Ladder, &["oak", "50 %"]);
    rig.patch("oak", ladder(&[(0, 100)]));
    holds(&rig, HoldKind::Settle, &["settles for another 10m"]);
    rig.at(600);
    assert_eq!(rig.hold(), None, "it simply works");
    rig.converge("d").at(1_200).tick();
    assert_eq!(rig.cursor(), "later");
}

#[test]
fn a_halt_goes_before_nothing_gateable_and_that_has_two_causes() {
    // R139, R141, R80
    let mut rig = Rig::line("oak", capped(1, 0, 0, 1), &["a", "b"]);
    rig.start("v1");
    rig.poll("a");
    rig.fail("a").pause(machine("a")).pause(machine("b"));
    holds(&rig, HoldKind::Halted, &["a failed"]);
    rig.start("v1");
    holds(&rig, HoldKind::NothingGateable, &["oak", "every machine in it is paused"]);
    rig.assign("a", None, None).assign("b", None, None);
    holds(&rig, HoldKind::NothingGateable, &["oak", "no machines"]);
}

#[test]
fn machines_that_cannot_be_rendered_are_named_with_what_is_missing() {
    // R139, R148
    let mut rig = Rig::line("oak", capped(3, 0, 0, 10), &["a", "b", "c"]);
    rig.break_render("a", "K8S_VIP").break_render("b", "K8S_DRAIN_TOKEN").start("v1");
    rig.poll_all(&["a", "b", "c"]);
    holds(&rig, HoldKind::Failing, &["a, b cannot be rendered", "K8S_DRAIN_TOKEN, K8S_VIP missing"]);
    rig.fail("c");
    holds(&rig, HoldKind::Failing, &["c failed", "a, b cannot be rendered", "K8S_VIP"]);
}

#[test]
fn a_paused_ring_holds_only_while_members_are_unfinished() {
    // R140, R108
    let mut rig = Rig::line("oak", capped(1, 0, 0, 10), &["a"]);
    rig.environment("later", 20).start("v1");
    rig.pause(ring("oak"));
    holds(&rig, HoldKind::PausedRing, &["oak"]);
    rig.unpause(ring("oak")).converge("a").pause(ring("oak"));
    assert_eq!(rig.hold(), None);
    rig.at(60).tick();
    assert_eq!(rig.cursor(), "later");
}

#[test]
fn a_ladder_that_was_lowered_names_only_whom_nobody_elected() {
    // R73, R75
    let mut rig = Rig::line("oak", RingPatch { max_in_flight: Some(9), ..ladder(&[(0, 100)]) }, &["a", "b"]);
    rig.start("v1");
    rig.patch("oak", ladder(&[(0, 1)]));
    assert_eq!(rig.hold(), None, "both were elected before");
    rig.machine("z", "oak", "oak", 99);
    assert_eq!(rig.hold(), None, "so is who comes later in this generation");
    rig.start("v1");
    holds(&rig, HoldKind::Ladder, &["oak", "1 %"]);
}

#[test]
fn nothing_ages_and_nothing_promotes_while_no_agent_endpoint_is_up() {
    // R54
    let mut rig = Rig::line("oak", capped(1, 0, 3_600, 10), &["a", "b"]);
    rig.environment("later", 20).start("v1");
    rig.poll("a");
    rig.at(600);
    seat(&mut rig, "console", false);
    rig.at(90_000).tick();
    rig.observed.last_tick = Some(rig.now);
    assert!(rig.halted("oak").is_none());
    assert_eq!(rig.row("a").is_online, None, "nobody can be heard, so nobody is called offline");
    assert!(rig.explain(crate::domain::explain::Subject::Rollout).next[0].contains("--agent-listen"));
    seat(&mut rig, "other console", false);
    rig.at(100_000);
    seat(&mut rig, "server", true);
    rig.at(100_000 + 2_999).tick();
    assert!(rig.halted("oak").is_none(), "600 s before and 2,999 s after the silence");
    rig.at(100_000 + 3_000).tick();
    assert!(rig.halted("oak").is_some());
}

#[test]
fn a_silence_and_a_pause_that_overlap_count_once() {
    // R54
    for pause_ends_first in [true, false] {
        let mut rig = Rig::line("oak", capped(1, 0, 3_600, 10), &["a"]);
        rig.start("v1");
        rig.poll("a");
        rig.at(100).pause(ring("oak")).at(200);
        seat(&mut rig, "console", false);
        rig.at(300);
        if pause_ends_first {
            rig.unpause(ring("oak")).at(400);
            seat(&mut rig, "server", true);
        } else {
            seat(&mut rig, "server", true);
            rig.at(400).unpause(ring("oak"));
        }
        rig.at(3_899).tick();
        assert!(rig.halted("oak").is_none());
        rig.at(3_900).tick();
        assert!(rig.halted("oak").is_some());
    }
}
