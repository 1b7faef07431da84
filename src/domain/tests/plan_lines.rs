//! What a plan says first, and what it says of things that are easily overlooked: timers that ran out by the new value,
//! windows that open again, a cursor that loses its place, starters that begin by themselves.

use super::rig::{Rig, capped, environment, ladder, machine, ring};
use crate::domain::change::Level;
use crate::domain::fleet::Rung;
use crate::domain::ids::{EnvironmentId, MachineId, ReleaseId, RingId};
use crate::domain::input::{RingPatch, Verb};
use crate::domain::plan::{Plan, PlanKind, plan};
use crate::domain::span::Seconds;

/// One slot, held by a for two minutes; b and c wait.
fn held() -> Rig {
    let mut rig = Rig::line("oak", capped(1, 300, 3_600, 10), &["a", "b", "c"]);
    rig.start_protected("v1");
    rig.poll("a");
    rig.at(120);
    rig
}

fn planned(rig: &Rig, verb: &Verb) -> Plan {
    plan(verb, &rig.world, &rig.observed, "op-a", rig.now)
}

fn patch(patch: RingPatch) -> Verb {
    Verb::PatchRing { ring: RingId::named("oak"), patch }
}

fn stall(seconds: u64) -> Verb {
    patch(RingPatch { stall_timeout_seconds: Some(Seconds(seconds)), ..RingPatch::default() })
}

fn settle(seconds: u64) -> Verb {
    patch(RingPatch { min_settle_seconds: Some(Seconds(seconds)), ..RingPatch::default() })
}

fn order(environment: EnvironmentId, order: i64) -> Verb {
    Verb::PatchEnvironment { environment, name: None, promotion_order: Some(Some(order)), config_values: None }
}

fn says(plan: &Plan, kind: PlanKind, part: &str) -> bool {
    plan.lines.iter().any(|line| line.kind == kind && line.text.contains(part))
}

#[test]
fn what_cannot_be_taken_back_stands_first() {
    let rig = held();
    let remove = Verb::RemoveMachine { machine: MachineId::named("a") };
    let uncap = patch(RingPatch { max_in_flight: Some(0), ..RingPatch::default() });
    for (verb, text) in [
        (remove, "it is gone for good"),
        (uncap, "the ring has no cap any more"),
        (Verb::Yank { release: ReleaseId::named("v1") }, "a yank cannot be undone"),
    ] {
        let plan = planned(&rig, &verb);
        assert!(plan.ends_lease() && plan.lines[0].text.starts_with(text), "{plan:#?}");
        assert_eq!(plan.lines[0].kind, PlanKind::Warns);
    }
}

// R49
#[test]
fn a_stall_timeout_that_has_run_out_by_now_halts_the_ring() {
    let rig = held();
    let plan = planned(&rig, &stall(120));
    assert!(says(&plan, PlanKind::Warns, "the ring halts at the next tick: a held its slot for longer"), "{plan:#?}");
    assert!(!says(&planned(&rig, &stall(121)), PlanKind::Warns, "halts at the next tick"));
    let mut rig = held();
    rig.verb(stall(120));
    rig.tick();
    assert!(rig.halted("oak").is_some(), "as it was said");
    let plan = planned(&rig, &stall(60));
    assert!(says(&plan, PlanKind::Stays, "stays halted") && !says(&plan, PlanKind::Warns, "next tick"), "{plan:#?}");
    let off = planned(&held(), &stall(0));
    assert!(says(&off, PlanKind::Warns, "a holder that hangs or is gone halts nothing"), "{off:#?}");
}

// R44
#[test]
fn windows_that_open_again_or_close_are_named() {
    let mut rig = held();
    rig.ok("a");
    rig.at(120 + 300);
    let longer = planned(&rig, &settle(600));
    assert!(says(&longer, PlanKind::Warns, "closed windows open again and take their slots: a"), "{longer:#?}");
    let mut rig = held();
    rig.ok("a");
    rig.at(200);
    let shorter = planned(&rig, &settle(10));
    assert!(says(&shorter, PlanKind::Ends, "windows close at once: a"), "{shorter:#?}");
    assert!(says(&shorter, PlanKind::Starts, "b is next"), "{shorter:#?}");
    assert!(says(&planned(&rig, &settle(0)), PlanKind::Warns, "nobody soaks any more"));
}

// R178
#[test]
fn failures_that_are_counted_already_are_told() {
    let mut rig = held();
    rig.fail("a");
    let lower = patch(RingPatch { failure_count_threshold: Some(1), ..RingPatch::default() });
    let plan = planned(&rig, &lower);
    assert!(says(&plan, PlanKind::Warns, "1 failure counted already: the next one halts it"), "{plan:#?}");
    rig.verb(lower);
    assert_eq!(rig.halted("oak"), None, "as it was said");
}

// R70, R73, R75
#[test]
fn a_ladder_says_who_is_elected_now_and_later() {
    let mut rig = Rig::line("oak", ladder(&[(0, 1), (600, 100)]), &["a", "b", "c"]);
    rig.start_protected("v1");
    rig.tick();
    let rungs = |steps: &[(u64, u8)]| {
        let steps = steps.iter().map(|(after_seconds, pct)| Rung { after_seconds: *after_seconds, pct: *pct });
        patch(RingPatch { wave_ladder: Some(steps.collect()), ..RingPatch::default() })
    };
    let all = planned(&rig, &rungs(&[(0, 100)]));
    assert!(says(&all, PlanKind::Starts, "100 % are elected now, 3 of 3 machines instead of"), "{all:#?}");
    let later = planned(&rig, &rungs(&[(0, 1), (60, 80)]));
    assert!(says(&later, PlanKind::Starts, "80 % after 1m"), "{later:#?}");
    assert!(says(&later, PlanKind::Warns, "it tops out at 80 %"), "{later:#?}");
    rig.verb(rungs(&[(0, 100)]));
    let lower = planned(&rig, &rungs(&[(0, 1)]));
    assert!(says(&lower, PlanKind::Starts, "3 of 3 machines are elected now, as before"), "{lower:#?}");
}

// R77, R84
#[test]
fn an_environment_that_is_taken_from_under_the_cursor_is_told_to_be_passed() {
    let mut rig = Rig::cluster(&capped(1, 0, 3_600, 10));
    rig.start_protected("v1");
    rig.tick();
    let first = rig.world.cursor_environment(rig.rollout()).map(|environment| environment.id).unwrap();
    let slug = rig.cursor().to_owned();
    let hold = Verb::Pause(environment(&slug));
    assert!(says(&planned(&rig, &hold), PlanKind::Stays, "the cursor does not pass"));
    let plan = planned(&rig, &order(first, -5));
    assert!(says(&plan, PlanKind::Warns, "the cursor leaves it at the next tick"), "{plan:#?}");
    rig.verb(order(first, -5));
    rig.tick();
    assert_ne!(rig.cursor(), slug, "as it was said");
    let plan = planned(&rig, &hold);
    assert!(says(&plan, PlanKind::Stays, "the cursor is past it"), "{plan:#?}");
    let plan = planned(&rig, &order(first, -6));
    assert!(says(&plan, PlanKind::Stays, "stays where it is"), "{plan:#?}");
}

#[test]
fn a_skip_says_that_nothing_is_served_and_a_switch_what_it_starts() {
    let rig = held();
    assert!(says(&planned(&rig, &Verb::Pause(machine("b"))), PlanKind::Ends, "nothing is served to b until it joins"));
    assert!(says(&planned(&rig, &Verb::Pause(ring("oak"))), PlanKind::Ends, "nothing is served to its 3 machines"));
    let switch = |auto_deploy, track_config_tags| Verb::PatchAccount { auto_deploy, track_config_tags };
    let on = planned(&rig, &switch(Some(true), None));
    assert!(says(&on, PlanKind::Warns, "one that arrives while something runs is dropped for good"), "{on:#?}");
    let tags = planned(&rig, &switch(None, Some(true)));
    assert!(says(&tags, PlanKind::Warns, "no tag is followed until an owner sets a pattern"), "{tags:#?}");
}

// R33
#[test]
fn a_newcomer_is_promised_no_place_that_its_identity_decides() {
    let rig = held();
    let add = |bucket| Verb::AddMachine {
        id: MachineId::named("d"),
        hostname: "d".to_owned(),
        node: None,
        environment: Some(EnvironmentId::named("oak")),
        ring: Some(RingId::named("oak")),
        bucket,
    };
    let plan = planned(&rig, &add(None));
    assert!(says(&plan, PlanKind::Starts, "it joins the 2 machines in the queue of oak"), "{plan:#?}");
    assert!(!plan.lines.iter().any(|line| line.text.contains("number")), "{plan:#?}");
    let pinned = planned(&rig, &add(Some(99)));
    assert!(says(&pinned, PlanKind::Starts, "d is number 3 in the queue of oak"), "{pinned:#?}");
}

#[test]
fn the_end_of_a_hold_names_everybody_who_is_served_again() {
    let ring = Level::Ring(RingId::named("oak"));
    let mut rig = held();
    rig.verb(Verb::Pause(ring));
    let plan = planned(&rig, &Verb::Unpause(ring));
    assert!(says(&plan, PlanKind::Starts, "a is served again and goes on with its slot"), "{plan:#?}");

    let mut rig = Rig::line("oak", capped(0, 0, 0, 10), &["a", "b", "c"]);
    rig.start_protected("v1");
    rig.poll("a");
    rig.poll("b");
    rig.verb(Verb::Pause(ring));
    let plan = planned(&rig, &Verb::Unpause(ring));
    assert!(says(&plan, PlanKind::Starts, "a, b are served again and begin their runs anew"), "{plan:#?}");
}
