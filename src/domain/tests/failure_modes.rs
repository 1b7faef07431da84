//! B18: every row of the table of failure modes is recognised, on the screen that opens first and on the machine.

use super::rig::{Rig, capped, environment, machine, ring};
use crate::domain::explain::Subject;
use crate::domain::failure_mode::{FailureMode as Mode, findings};
use crate::domain::ids::{MachineId, ReleaseId, RingId, RolloutId};
use crate::domain::input::{Input, Report, RingPatch, Verb};
use crate::domain::observed::{Node, RefusedStart, Telemetry};
use crate::domain::release::Outcome;

fn line() -> Rig {
    let mut rig = Rig::line("oak", capped(1, 300, 3_600, 1), &["ash", "birch", "cedar"]);
    rig.start_protected("v1");
    rig
}

/// The line with ash in its slot, everybody heard of a moment ago, and a tick just decided.
fn held() -> Rig {
    let mut rig = line();
    rig.poll_all(&["birch", "cedar"]).poll("ash");
    ticked(&mut rig);
    rig
}

fn ticked(rig: &mut Rig) {
    rig.tick();
    rig.observed.last_tick = Some(rig.now);
}

fn modes(rig: &Rig) -> Vec<Mode> {
    findings(&rig.world, &rig.observed, rig.now).into_iter().map(|f| f.mode).collect()
}

/// The worst finding is this one, and the rollout's explanation carries it with advice and verification.
fn first(rig: &Rig, mode: Mode, words: &[&str]) {
    let found = findings(&rig.world, &rig.observed, rig.now);
    assert_eq!(found.first().map(|f| f.mode), Some(mode), "{found:#?}");
    for word in words {
        assert!(found[0].sentence.contains(word), "{} in {}", word, found[0].sentence);
    }
    let said = rig.explain(Subject::Rollout);
    assert_eq!(said.failure_mode, Some(mode));
    assert!(!said.next.is_empty() && !said.verify.is_empty());
}

fn fails_in(rig: &mut Rig, name: &str, state: &str) {
    let edition = rig.poll(name).unwrap();
    rig.step(&Input::Report(Report {
        machine: MachineId::named(name),
        edition,
        outcome: Outcome::Failed,
        failed_state: Some(state.to_owned()),
        run: None,
        rebuilds: None,
    }));
}

fn node(rig: &mut Rig, name: &str, unschedulable: bool, version: &str) {
    let node = Node { ready: true, unschedulable, version: Some(version.to_owned()), holds_vip: false };
    rig.observed.nodes.insert(name.to_owned(), node);
}

#[test]
fn a_quiet_line_has_none() {
    // R170
    assert_eq!(modes(&held()), []);
}

#[test]
fn fm_1_holder_offline() {
    let mut rig = held();
    rig.at(600);
    ticked(&mut rig);
    first(&rig, Mode::HolderOffline, &["ash", "10m", "offline"]);
}

#[test]
fn fm_2_apply_failed() {
    let mut rig = held();
    fails_in(&mut rig, "ash", "install_packages");
    first(&rig, Mode::ApplyFailed, &["ash", "install_packages"]);
    assert!(rig.explain(Subject::Rollout).next.iter().all(|next| !next.to_lowercase().contains("retry")));
}

#[test]
fn fm_3_drain_blocked() {
    let mut rig = held();
    fails_in(&mut rig, "ash", "cordon_drain");
    first(&rig, Mode::DrainBlocked, &["ash", "cordon_drain"]);
}

#[test]
fn fm_4_health_gate_failed() {
    let mut rig = held();
    fails_in(&mut rig, "ash", "health_gate");
    first(&rig, Mode::HealthGateFailed, &["ash", "health_gate"]);
    assert!(rig.explain(Subject::Rollout).next.iter().any(|next| next.contains("stay cordoned")));
}

#[test]
fn fm_5_a_converged_machine_flaps() {
    let mut rig = held();
    rig.ok("ash").at(300).poll("birch");
    ticked(&mut rig);
    rig.fail("ash");
    first(&rig, Mode::ConvergedFlaps, &["ash"]);
}

#[test]
fn fm_6_queue_churn() {
    let mut rig = held();
    rig.at(10).pause(machine("cedar")).unpause(machine("cedar")).machine("dogwood", "oak", "oak", 0);
    rig.poll("dogwood");
    first(&rig, Mode::QueueChurn, &["grew by 2", "ash"]);
}

#[test]
fn fm_7_superseded_in_mid_queue() {
    let mut rig = held();
    let forced = Verb::Start {
        id: RolloutId::named("r2"),
        release: ReleaseId::named("v2"),
        protected: None,
        force: true,
        intent: None,
    };
    rig.at(10).verb(forced);
    first(&rig, Mode::Superseded, &["op-a displaced v1", "ash"]);
    rig.converge("ash");
    assert!(!modes(&rig).contains(&Mode::Superseded), "a success clears the mark");
}

#[test]
fn fm_8_holder_paused() {
    let mut rig = held();
    rig.pause(machine("ash"));
    first(&rig, Mode::HolderPaused, &["ash", "op-a", "held a slot"]);
}

#[test]
fn fm_9_line_paused() {
    for level in [ring("oak"), environment("oak")] {
        let mut rig = held();
        rig.pause(level);
        first(&rig, Mode::LinePaused, &["oak is paused by op-a"]);
    }
}

#[test]
fn fm_10_settling() {
    let mut rig = held();
    rig.ok("ash").at(60);
    first(&rig, Mode::Settling, &["ash settles for another 4m"]);
}

#[test]
fn fm_11_telemetry_out() {
    let mut rig = held();
    rig.observed.telemetry = Telemetry::Unreadable;
    first(&rig, Mode::TelemetryOut, &["telemetry"]);
    assert!(rig.explain(Subject::Rollout).next.iter().any(|next| next.contains("do not reset")));
}

#[test]
fn fm_12_render_error_at_the_head() {
    let mut rig = line();
    rig.break_render("ash", "K8S_VIP").poll_all(&["ash", "birch", "cedar"]);
    first(&rig, Mode::RenderError, &["ash", "K8S_VIP"]);
}

#[test]
fn fm_13_nothing_gateable() {
    let mut rig = Rig::line("oak", capped(1, 0, 0, 1), &[]);
    rig.start("v1");
    first(&rig, Mode::NothingGateable, &["oak", "no machines"]);
}

#[test]
fn fm_14_a_dead_machine_was_skipped() {
    let mut rig = held();
    rig.at(600).pause(machine("ash"));
    rig.poll_all(&["birch", "cedar"]);
    ticked(&mut rig);
    first(&rig, Mode::DeadMachine, &["ash", "offline", "cursor"]);
    rig.assign("ash", None, Some("oak"));
    assert!(!modes(&rig).contains(&Mode::DeadMachine));
}

#[test]
fn fm_15_reimaged() {
    let mut rig = held();
    rig.ok("ash").at(300);
    ticked(&mut rig);
    rig.poll_all(&["birch", "cedar"]);
    rig.step(&Input::Rebuilt { machine: MachineId::named("ash"), version: Some("v1.30".to_owned()) });
    assert!(modes(&rig).contains(&Mode::Reimaged));
    let said = rig.explain(Subject::Machine(MachineId::named("ash")));
    assert_eq!(said.failure_mode, Some(Mode::Reimaged));
}

#[test]
fn d1_head_offline_and_never_served() {
    // R55
    let mut rig = line();
    rig.at(9_000).poll_all(&["birch", "cedar"]);
    ticked(&mut rig);
    first(&rig, Mode::HeadOffline, &["ash", "no timer"]);
}

#[test]
fn d2_nobody_ticks() {
    // R53, R88, R171
    let mut rig = held();
    rig.at(90).poll_all(&["ash", "birch", "cedar"]);
    assert_eq!(modes(&rig), []);
    rig.at(91);
    first(&rig, Mode::NoTicks, &["1m 31s"]);
}

#[test]
fn d3_a_skip_keeps_the_later_tier_shut() {
    // R151
    let mut rig = Rig::cluster(&capped(1, 0, 0, 1));
    rig.pause(machine("cp1")).start("v1");
    rig.poll_all(&["cp1", "cp2", "w1", "w2"]);
    first(&rig, Mode::TierShut, &["cp1", "later environments"]);
}

#[test]
fn d4_applied_but_cordoned() {
    // R161
    let mut rig = held();
    rig.ok("ash").at(300);
    rig.poll("birch");
    ticked(&mut rig);
    node(&mut rig, "ash", false, "v1.31");
    assert_eq!(modes(&rig), []);
    node(&mut rig, "ash", true, "v1.31");
    first(&rig, Mode::AppliedButCordoned, &["ash", "cordoned"]);
}

#[test]
fn d5_not_capped() {
    let mut rig = Rig::line("oak", RingPatch::default(), &["ash", "birch"]);
    rig.start("v1");
    rig.poll("ash");
    assert_eq!(modes(&rig), []);
    rig.poll("birch");
    first(&rig, Mode::NotCapped, &["oak", "2 machines"]);
}

#[test]
fn d6_start_refused() {
    // R91
    let mut rig = held();
    let refused = RefusedStart { at: rig.now, by: "ci-bot".to_owned(), release: ReleaseId::named("v2") };
    rig.observed.refused_start = Some(refused);
    first(&rig, Mode::StartRefused, &["ci-bot", "v2", "op-a"]);
    let said = rig.explain(Subject::Rollout);
    assert!(said.sentence.contains("ci-bot"), "advice to force stands beside the refused start only: {said:?}");
    for healthy in [Subject::Ring(RingId::named("oak")), Subject::Machine(MachineId::named("ash"))] {
        assert!(rig.explain(healthy).next.iter().all(|next| !next.contains("force")));
    }
    rig.fail("ash");
    first(&rig, Mode::DrainBlocked, &["ash"]);
}

#[test]
fn sentence_and_advice_are_about_the_same_thing() {
    // R170
    let mut rig = Rig::line("oak", capped(2, 0, 0, 9), &["ash", "birch", "cedar"]);
    rig.start("v1");
    rig.pause(machine("cedar")).poll_all(&["ash", "birch", "cedar"]);
    assert!(rig.explain(Subject::Rollout).sentence.contains("cedar"));
    rig.at(600).poll_all(&["birch", "cedar"]);
    ticked(&mut rig);
    let said = rig.explain(Subject::Rollout);
    assert_eq!(said.failure_mode, Some(Mode::HolderOffline));
    assert!(said.sentence.contains("ash") && !said.sentence.contains("cedar"), "{said:?}");
}

#[test]
fn d7_stall_below_the_deadline() {
    let mut rig = Rig::line("oak", capped(1, 0, 600, 1), &["ash", "birch"]);
    rig.start("v1");
    rig.poll("ash");
    rig.at(600).poll_all(&["ash", "birch"]);
    ticked(&mut rig);
    assert!(rig.halted("oak").is_some());
    first(&rig, Mode::StallBelowDeadline, &["ash", "10m", "30m"]);
}

#[test]
fn d8_reset_without_a_fix() {
    let mut rig = held();
    fails_in(&mut rig, "ash", "cordon_drain");
    rig.start("v1");
    fails_in(&mut rig, "ash", "cordon_drain");
    first(&rig, Mode::ResetWithoutFix, &["ash", "cordon_drain", "again"]);
    rig.start("v1");
    fails_in(&mut rig, "ash", "health_gate");
    first(&rig, Mode::HealthGateFailed, &["ash"]);
}
