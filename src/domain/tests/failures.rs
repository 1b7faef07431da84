//! B7 and B8: what counts, and what a halted ring means.

use super::rig::{Rig, capped, environment, machine, ring};
use crate::domain::ids::{MachineId, ReleaseId, RingId};
use crate::domain::input::{Edition, Input, Report, RingPatch};
use crate::domain::observed::Telemetry;
use crate::domain::release::Outcome;
use crate::domain::rollout::HaltCause;

fn failures(rig: &Rig) -> u32 {
    rig.rollout().failures.get(&RingId::named("oak")).copied().unwrap_or(0)
}

#[test]
fn failures_and_deadline_kills_count_and_withdrawn_runs_do_not() {
    // R57
    let mut rig = Rig::line("oak", capped(1, 0, 0, 10), &["a"]);
    rig.start("v1");
    rig.poll("a");
    rig.fail("a").result("a", Outcome::Timeout);
    assert_eq!(failures(&rig), 2);
    rig.result("a", Outcome::Canceled);
    assert_eq!(failures(&rig), 2);
    assert!(rig.changes.is_empty());
}

#[test]
fn one_flapping_machine_can_halt_the_ring() {
    // R58, R60
    let mut rig = Rig::line("oak", capped(1, 0, 0, 3), &["a", "b"]);
    rig.start("v1");
    rig.converge("a").poll("b");
    rig.fail("a").fail("a");
    assert!(rig.halted("oak").is_none());
    rig.fail("a");
    let reason = rig.halted("oak").unwrap();
    assert!(
        reason.contains('a') && reason.contains("drain") && reason.contains("failure 3, the threshold is 3"),
        "{reason}"
    );
    assert_eq!(rig.rollout().halted_rings[&RingId::named("oak")].cause, HaltCause::Threshold);
    assert_eq!(rig.holders(), ["b"]);
    assert_eq!(rig.row("a").failures, 3);
}

#[test]
fn counts_are_per_ring_and_generation() {
    // R59
    let mut rig = Rig::line("oak", capped(1, 0, 0, 3), &["a"]);
    rig.start("v1");
    rig.poll("a");
    rig.fail("a").fail("a");
    rig.start("v1");
    assert_eq!((failures(&rig), rig.row("a").failures), (0, 0));
    rig.poll("a");
    rig.fail("a").fail("a");
    assert!(rig.halted("oak").is_none());
    rig.start("v2");
    assert_eq!(failures(&rig), 0);
}

#[test]
fn a_report_that_is_sent_again_counts_once() {
    // R57
    let mut rig = Rig::line("oak", capped(1, 0, 0, 10), &["a"]);
    rig.start("v1");
    let edition = rig.poll("a").unwrap();
    let run = Some(rig.now);
    let told = |edition: Edition, outcome| {
        let failed_state = Some("drain".to_owned());
        Input::Report(Report { machine: MachineId::named("a"), edition, outcome, failed_state, run, rebuilds: None })
    };
    rig.step(&told(edition, Outcome::Failed));
    rig.step(&told(edition, Outcome::Failed));
    assert_eq!(failures(&rig), 1);
    assert!(rig.changes.is_empty());
}

#[test]
fn render_errors_do_not_count_and_never_halt() {
    // R61, R148
    let mut rig = Rig::line("oak", capped(1, 0, 60, 1), &["a"]);
    rig.break_render("a", "K8S_VIP");
    rig.start("v1");
    rig.poll("a");
    rig.at(600).tick();
    rig.poll("a");
    assert!(rig.changes.is_empty(), "a wait appends only when it changes");
    assert_eq!((failures(&rig), rig.halted("oak"), rig.state("a")), (0, None, "errored"));
}

#[test]
fn a_reset_bumps_the_generation_that_unlatches_an_agent() {
    // R63
    let mut rig = Rig::line("oak", capped(1, 0, 0, 1), &["a"]);
    rig.start("v1");
    let first = rig.poll("a").unwrap();
    rig.fail("a").start("v1");
    let (second, cancel) = rig.poll_having("a", Some(first));
    assert!(second.unwrap().generation > first.generation && cancel);
}

#[test]
fn a_halted_ring_admits_nobody_and_serves_its_holder() {
    // R64, R65, R66
    let mut rig = Rig::line("oak", capped(2, 0, 0, 1), &["a", "b", "c"]);
    rig.start("v1");
    rig.converge("a");
    let had = rig.poll("b");
    rig.fail("b");
    assert!(rig.halted("oak").is_some());
    assert_eq!(rig.poll_having("b", had), (had, false));
    assert!(rig.poll("a").is_some(), "done machines are served");
    assert_eq!(rig.poll("c"), None);
}

#[test]
fn only_a_new_generation_clears_a_halt() {
    // R67, R94
    let mut rig = Rig::line("oak", capped(1, 0, 0, 1), &["a", "b"]);
    rig.start("v1");
    rig.poll("a");
    rig.fail("a").ok("a").tick_until(600);
    assert!(rig.halted("oak").is_some(), "a later success clears nothing");
    assert_eq!(rig.poll("b"), None);
    rig.start("v1");
    assert!(rig.halted("oak").is_none());
    assert!(rig.poll("b").is_some());
}

#[test]
fn the_first_reason_wins() {
    // R68
    let mut rig = Rig::line("oak", capped(2, 0, 600, 1), &["a", "b"]);
    rig.start("v1");
    rig.poll_all(&["a", "b"]);
    rig.fail("a");
    let first = rig.halted("oak").unwrap().to_owned();
    rig.fail("b").at(700).tick();
    assert_eq!(rig.halted("oak").unwrap(), first);
}

#[test]
fn a_halted_ring_blocks_promotion_where_it_has_members() {
    // R69
    let mut rig = Rig::cluster(&capped(1, 0, 0, 1));
    rig.ring("spare", capped(1, 0, 0, 1));
    rig.start("v1");
    rig.poll("cp1");
    rig.fail("cp1").ok("cp1").converge_after_reset();
    assert_eq!(rig.cursor(), "workers");
}

impl Rig {
    /// Shows that the halt held the cursor, then resets and finishes the tier.
    fn converge_after_reset(&mut self) {
        self.at(60).tick();
        assert_eq!(self.cursor(), "cp");
        assert!(self.hold().unwrap().sentence.contains("halted"));
        self.start("v1");
        self.converge("cp2").at(120).tick();
    }
}

#[test]
fn results_of_another_release_or_generation_prove_nothing() {
    // R175
    let mut rig = Rig::line("oak", capped(1, 0, 0, 1), &["a"]);
    rig.start("v1");
    let old = rig.poll("a").unwrap();
    rig.start("v1");
    rig.poll("a");
    rig.result_of("a", old.release, Outcome::Success, Some(old.generation));
    assert_eq!((rig.holders(), rig.state("a")), (vec!["a".to_owned()], "pending"));
    rig.result_of("a", old.release, Outcome::Failed, Some(old.generation));
    assert_eq!(failures(&rig), 0);
    rig.result_of("a", ReleaseId::named("v2"), Outcome::Success, None);
    assert_eq!(rig.state("a"), "pending");
}

#[test]
fn a_failure_under_a_pause_does_not_count() {
    // R176
    for level in [machine("a"), ring("oak"), environment("oak")] {
        let mut rig = Rig::line("oak", capped(1, 0, 0, 1), &["a", "b"]);
        rig.start("v1");
        rig.poll("a");
        rig.pause(level).fail("a");
        assert_eq!(failures(&rig), 0, "{level:?}");
        assert!(rig.halted("oak").is_none());
    }
}

#[test]
fn lowering_the_threshold_halts_at_the_next_failure() {
    // R178
    let mut rig = Rig::line("oak", capped(1, 0, 0, 10), &["a"]);
    rig.start("v1");
    rig.poll("a");
    rig.fail("a").fail("a");
    rig.patch("oak", RingPatch { failure_count_threshold: Some(1), ..RingPatch::default() });
    rig.at(60).tick();
    assert!(rig.halted("oak").is_none());
    rig.fail("a");
    assert!(rig.halted("oak").is_some());
}

#[test]
fn an_outage_serves_holders_and_grants_nothing() {
    // R142, R143, R144, R145, R146
    let mut rig = Rig::line("oak", capped(1, 0, 0, 1), &["a", "b"]);
    rig.start("v1");
    let had = rig.poll("a");
    rig.observed.telemetry = Telemetry::Unreadable;
    assert_eq!(rig.poll_having("a", had), (had, false));
    rig.ok("a");
    assert!(rig.holders().is_empty(), "a success still frees the slot");
    assert_eq!(rig.poll("b"), None);
    assert!(rig.hold().unwrap().sentence.contains("telemetry"));
    assert!(rig.poll("a").is_some(), "a done machine is served");
    rig.observed.telemetry = Telemetry::Readable;
    assert!(rig.poll("b").is_some(), "recovery needs no reset");
}
