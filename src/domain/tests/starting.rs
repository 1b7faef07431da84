//! B11: starting, superseding, protecting, resetting.

use super::rig::{Rig, capped, environment, machine, ring};
use crate::domain::change::Change;
use crate::domain::ids::{MachineId, ReleaseId, RolloutId};
use crate::domain::input::{Intent, Verb};
use crate::domain::refusal::Refusal;
use crate::domain::verdict::Reply;

fn line() -> Rig {
    Rig::line("oak", capped(1, 0, 0, 1), &["a", "b", "c"])
}

fn start(name: &str, release: &str, protected: Option<bool>, force: bool, intent: Option<Intent>) -> Verb {
    Verb::Start { id: RolloutId::named(name), release: ReleaseId::named(release), protected, force, intent }
}

#[test]
fn an_account_has_one_running_rollout() {
    // R90, R91, R92
    let mut rig = line();
    rig.start("v1");
    rig.poll("a");
    rig.start("v2");
    let running: Vec<_> = rig.world.rollouts.iter().map(|r| r.status()).collect();
    assert_eq!(running, ["superseded", "running"]);
    assert!(rig.holders().is_empty());
    assert_eq!(rig.state("a"), "queued");
    assert!(rig.poll("a").is_some());
}

#[test]
fn a_protected_rollout_is_superseded_by_force_only() {
    // R91
    let mut rig = line();
    rig.start_protected("v1");
    rig.poll("a");
    let refusal = rig.refused(start("x", "v2", None, false, None));
    assert!(refusal.to_string().contains("protected") && refusal.to_string().contains("force"));
    assert_eq!(rig.holders(), ["a"]);
    rig.verb(start("x", "v2", Some(true), true, None));
    assert_eq!(rig.rollout().release, ReleaseId::named("v2"));
}

#[test]
fn the_same_release_resets_in_place_also_when_protected() {
    // R93, R94, R95, R99
    let mut rig = line();
    rig.start_protected("v1");
    let id = rig.rollout().id;
    let had = rig.poll("a");
    rig.fail("a");
    assert!(rig.halted("oak").is_some());
    assert_eq!(rig.verb(start("x", "v1", None, false, None)), Reply::Reset(id));
    assert!(rig.halted("oak").is_none() && rig.holders().is_empty());
    assert!(rig.rollout().failures.is_empty());
    let (served, cancel) = rig.poll_having("a", had);
    assert!(served != had && cancel, "the run in flight is cancelled");
}

#[test]
fn intent_guards_a_start_against_becoming_a_reset_and_back() {
    // R93
    let mut rig = line();
    let reset = start("x", "v1", None, false, Some(Intent::Reset));
    assert!(matches!(rig.refused(reset.clone()), Refusal::WouldStart { .. }));
    rig.verb(start("r", "v1", None, false, Some(Intent::Start)));
    rig.poll("a");
    assert!(matches!(rig.refused(start("y", "v1", None, false, Some(Intent::Start))), Refusal::WouldReset { .. }));
    assert_eq!(rig.holders(), ["a"]);
    rig.verb(reset);
    assert!(rig.holders().is_empty());
    let other = start("z", "v2", None, false, Some(Intent::Reset));
    assert!(matches!(rig.refused(other.clone()), Refusal::WouldStart { .. }));
    rig.verb(start("r", "v1", Some(true), false, None));
    assert!(matches!(rig.refused(other), Refusal::WouldStart { .. }), "whether what runs is protected or not");
}

#[test]
fn a_reset_keeps_proofs_and_pauses() {
    // R96
    let mut rig = line();
    rig.start("v1");
    rig.converge("a").pause(machine("b")).pause(ring("oak")).pause(environment("oak"));
    rig.start("v1");
    assert_eq!((rig.state("a"), rig.state("b")), ("applied", "paused"));
    assert!(rig.world.rings.values().all(|r| r.paused.is_some()));
    assert!(rig.world.environments.values().all(|e| e.paused.is_some()));
}

#[test]
fn earlier_failures_do_not_colour_rows_after_a_reset() {
    // R97
    let mut rig = line();
    rig.start("v1");
    rig.poll("a");
    rig.fail("a");
    assert_eq!(rig.state("a"), "failed");
    rig.start("v1");
    assert_eq!(rig.state("a"), "queued");
    rig.at(60).tick();
    assert!(rig.halted("oak").is_none());
}

#[test]
fn a_reset_clears_the_errored_mark() {
    // R173
    let mut rig = line();
    rig.break_render("a", "K8S_VIP").start("v1");
    rig.poll("a");
    assert_eq!(rig.state("a"), "errored");
    rig.start("v1");
    assert_eq!(rig.state("a"), "queued");
    rig.poll("a");
    assert_eq!(rig.state("a"), "errored", "what is still missing is marked again");
}

#[test]
fn protection_is_sticky_across_a_reset_unless_given() {
    // R98
    let mut rig = line();
    rig.start_protected("v1");
    rig.verb(start("x", "v1", None, false, None));
    assert!(rig.rollout().protected);
    rig.verb(start("x", "v1", Some(false), false, None));
    assert!(!rig.rollout().protected);
    rig.start("v2");
    assert!(!rig.rollout().protected, "a new rollout is unprotected unless asked");
}

#[test]
fn after_the_end_the_same_release_is_a_new_rollout_that_passes_over_the_done() {
    // R99
    let mut rig = line();
    rig.start("v1");
    let first = rig.rollout().id;
    rig.converge("a").poll("b");
    rig.verb(Verb::Halt { rollout: first });
    let again = rig.start("v1");
    assert!(matches!(again, Reply::Started(id) if id != first));
    assert_eq!((rig.state("a"), rig.state("b")), ("applied", "queued"));
    assert_eq!(rig.queue(), ["b", "c"], "same buckets");
}

#[test]
fn a_yanked_or_unknown_release_cannot_be_started() {
    // R102
    let mut rig = line();
    rig.verb(Verb::Yank { release: ReleaseId::named("v1") });
    assert!(matches!(rig.refused(start("x", "v1", None, true, None)), Refusal::Yanked { .. }));
    assert!(matches!(rig.refused(start("x", "v9", None, true, None)), Refusal::NoRelease(_)));
}

#[test]
fn three_starts_in_a_row_serve_the_last_one_only() {
    // R92, R101 (A03)
    let mut rig = line();
    rig.release("v3").start("v1");
    rig.poll("a");
    rig.start("v2");
    rig.start("v3");
    let statuses: Vec<_> = rig.world.rollouts.iter().map(|r| r.status()).collect();
    assert_eq!(statuses, ["superseded", "superseded", "running"]);
    assert_eq!(rig.poll("a").map(|e| e.release), Some(ReleaseId::named("v3")));
}

#[test]
fn the_last_rollouts_are_kept_and_no_more() {
    // R90
    let mut rig = line();
    for n in 0..30 {
        rig.start(if n % 2 == 0 { "v1" } else { "v2" });
    }
    assert_eq!(rig.world.rollouts.len(), crate::domain::world::ROLLOUTS_KEPT);
    assert!(rig.rollout().is_running());
    assert!(rig.changes.iter().any(|c| matches!(c, Change::RolloutStarted { .. })));
    assert!(rig.world.machines.contains_key(&MachineId::named("a")));
}
