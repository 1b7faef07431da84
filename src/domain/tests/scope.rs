//! B1 and B2: defaults, and who is served.

use super::rig::{Rig, capped, environment, machine, ring};
use crate::domain::change::Change;
use crate::domain::fleet::{RingSettings, Rung};
use crate::domain::ids::{ReleaseId, RingId};
use crate::domain::input::RingPatch;
use crate::domain::span::Seconds;
use crate::domain::world::World;

#[test]
fn defaults_switch_every_brake_off() {
    // R1, R2, R3, R5, R6, R7
    let settings = RingSettings::named("x");
    assert_eq!(settings.max_in_flight, 0);
    assert_eq!(settings.min_settle_seconds, Seconds(0));
    assert_eq!(settings.stall_timeout_seconds, Seconds(0));
    assert_eq!(settings.failure_count_threshold, 10);
    assert_eq!(settings.wave_ladder, [Rung { after_seconds: 0, pct: 100 }]);
    assert!(!World::default().account.auto_deploy && !World::default().account.track_config_tags);
}

#[test]
fn an_unmodified_ring_converges_at_once() {
    // R8
    let mut rig = Rig::line("oak", RingPatch::default(), &["a", "b", "c"]);
    rig.start("v1");
    assert!(["a", "b", "c"].iter().all(|m| rig.poll(m).is_some()));
    assert!(rig.holders().is_empty());
    assert!(rig.rows().iter().all(|row| row.state.word() == "pending"));
}

#[test]
fn a_deadline_travels_with_the_release_and_is_never_edited() {
    // R4
    let mut rig = Rig::line("oak", RingPatch::default(), &["a"]);
    assert_eq!(rig.world.releases[&ReleaseId::named("v1")].timeout_seconds, Seconds(1_800));
    rig.start("v1");
    rig.poll("a");
    assert!(rig.changes.iter().all(|c| !matches!(c, Change::ReleasePublished { .. })));
}

#[test]
fn only_a_running_rollout_serves() {
    // R11
    let mut rig = Rig::line("oak", capped(1, 0, 0, 10), &["a"]);
    assert_eq!(rig.poll("a"), None);
    rig.start("v1");
    assert!(rig.poll("a").is_some());
    rig.ok("a").at(60).tick();
    assert_eq!(rig.rollout().status(), "completed");
    assert_eq!(rig.poll("a"), None);
}

#[test]
fn both_an_environment_and_a_ring_make_scope() {
    // R12
    let mut rig = Rig::line("oak", RingPatch::default(), &["a", "b", "c"]);
    rig.assign("a", None, Some("oak")).assign("b", Some("oak"), None);
    rig.start("v1");
    assert_eq!((rig.poll("a"), rig.poll("b")), (None, None));
    assert!(rig.poll("c").is_some());
    assert_eq!(rig.rows().len(), 1);
}

#[test]
fn later_environments_are_not_served_and_promoted_ones_stay_served() {
    // R13, R14, R16, R83
    let mut rig = Rig::cluster(&capped(2, 0, 0, 10));
    rig.start("v1");
    assert_eq!(rig.poll("w1"), None);
    rig.converge("cp1").converge("cp2").at(60).tick();
    assert_eq!(rig.cursor(), "workers");
    assert!(rig.poll("w1").is_some());
    // done: served again, without a slot
    assert!(rig.poll("cp1").is_some());
    assert_eq!(rig.holders(), ["w1"]);
    // a flap in the promoted environment converges beside the active holder
    rig.fail("cp1");
    assert!(rig.poll("cp1").is_some());
    assert_eq!(rig.holders(), ["cp1", "w1"]);
}

#[test]
fn a_done_machine_is_served_without_slot_accounting() {
    // R16
    let mut rig = Rig::line("oak", capped(1, 0, 0, 10), &["a", "b"]);
    rig.start("v1");
    rig.converge("a");
    rig.poll("b");
    assert!(rig.poll("a").is_some());
    assert!(rig.changes.is_empty());
    assert_eq!(rig.holders(), ["b"]);
}

#[test]
fn pauses_come_before_everything_else_in_the_serve_order() {
    // R17
    for level in [machine("a"), ring("oak"), environment("oak")] {
        let mut rig = Rig::line("oak", capped(1, 0, 0, 10), &["a"]);
        rig.start("v1");
        rig.converge("a");
        rig.pause(level);
        assert_eq!(rig.poll("a"), None, "{level:?}");
        rig.unpause(level);
        assert!(rig.poll("a").is_some(), "{level:?}");
    }
}

#[test]
fn a_holder_keeps_the_content_of_its_grant() {
    // R17
    let mut rig = Rig::line("oak", capped(1, 0, 0, 10), &["a"]);
    rig.start("v1");
    rig.poll("a");
    rig.break_render("a", "K8S_VIP");
    assert!(rig.poll("a").is_some());
    let row = rig.row("a");
    assert_eq!((row.state.word(), row.holds_slot), ("errored", true));
    assert_eq!(row.render_error, Some(vec!["K8S_VIP".to_owned()]));
    rig.mend_render("a");
    rig.poll("a");
    assert_eq!(rig.state("a"), "pending");
}

#[test]
fn an_uncapped_ring_serves_again_what_it_served_before() {
    // R17, R66
    let mut rig = Rig::line("oak", RingPatch { failure_count_threshold: Some(1), ..RingPatch::default() }, &["a", "b"]);
    rig.start("v1");
    rig.poll("a");
    rig.fail("a");
    assert!(rig.rollout().halted_rings.contains_key(&RingId::named("oak")));
    assert!(rig.poll("a").is_some(), "served already");
    assert_eq!(rig.poll("b"), None, "not served yet");
}

#[test]
fn a_release_is_fleet_wide_content_and_nobody_checks_whom_it_concerns() {
    // R15
    let mut rig = Rig::cluster(&RingPatch::default());
    rig.environment("office", 1).ring("printers", RingPatch::default()).machine("printer", "office", "printers", 5);
    rig.start("v1");
    assert!(rig.poll("printer").is_some());
}

#[test]
fn the_fixed_clocks_are_what_the_runbook_says() {
    // R9
    assert!(crate::domain::observed::POLL_AFTER <= Seconds(60));
    assert_eq!(crate::domain::observed::OFFLINE_AFTER, Seconds(180));
}

#[test]
fn what_an_uncapped_ring_served_before_a_reset_it_admits_anew() {
    // R17, R63, R66
    let mut rig = Rig::line("oak", RingPatch { failure_count_threshold: Some(1), ..RingPatch::default() }, &["a", "b"]);
    rig.start("v1");
    rig.poll_all(&["a", "b"]);
    rig.start("v1");
    rig.poll("b");
    rig.fail("b");
    assert!(rig.halted("oak").is_some());
    assert_eq!(rig.poll("a"), None, "served in the generation before, and the ring is halted in this one");
}
