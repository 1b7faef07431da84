//! B6: the stall timer halts a ring over its holder, and never skips.

use super::rig::{Rig, capped, environment, ring};
use crate::domain::input::RingPatch;
use crate::domain::observed::Telemetry;

fn held() -> Rig {
    let mut rig = Rig::line("oak", capped(1, 0, 3_600, 10), &["ash", "birch"]);
    rig.start("v1");
    rig.poll("ash");
    rig
}

#[test]
fn the_timer_starts_at_the_grant_and_fires_at_a_tick() {
    // R48, R49, R53
    let mut rig = held();
    rig.at(3_599).tick();
    assert!(rig.halted("oak").is_none());
    rig.at(3_700);
    assert!(rig.halted("oak").is_none(), "without a tick nothing is detected");
    rig.tick();
    let reason = rig.halted("oak").unwrap();
    assert!(reason.contains("ash") && reason.contains("offline") && reason.contains("1h 1m"), "{reason}");
}

#[test]
fn an_uncapped_ring_and_a_zero_timeout_never_stall() {
    // R48
    let mut rig = Rig::line("oak", RingPatch::default(), &["ash"]);
    rig.start("v1");
    rig.poll("ash");
    rig.at(1_000_000).tick();
    assert!(rig.halted("oak").is_none());
    let mut rig = Rig::line("oak", capped(1, 0, 0, 10), &["ash"]);
    rig.start("v1");
    rig.poll("ash");
    rig.at(1_000_000).tick();
    assert!(rig.halted("oak").is_none());
}

#[test]
fn a_slow_live_machine_halts_its_ring_too() {
    // R50, R51
    let mut rig = held();
    rig.at(1_000).fail("ash").at(3_550).poll("ash");
    rig.at(3_600).tick();
    let reason = rig.halted("oak").unwrap();
    assert!(reason.contains("ash") && !reason.contains("offline"), "{reason}");
}

#[test]
fn a_stall_frees_no_slot() {
    // R52
    let mut rig = held();
    rig.at(3_600).tick();
    assert_eq!(rig.holders(), ["ash"]);
    assert_eq!(rig.poll("birch"), None);
}

#[test]
fn time_under_a_pause_does_not_age_the_timer() {
    // R54, R174
    for level in [ring("oak"), environment("oak")] {
        let mut rig = held();
        rig.at(600).pause(level).at(90_000).tick();
        assert!(rig.halted("oak").is_none(), "not during the pause");
        rig.unpause(level).at(90_000 + 2_999).tick();
        assert!(rig.halted("oak").is_none(), "600 s before and 2,999 s after the pause");
        rig.at(90_000 + 3_000).tick();
        assert!(rig.halted("oak").is_some());
    }
}

#[test]
fn two_pauses_that_overlap_count_once() {
    // R54
    let mut rig = held();
    rig.at(100).pause(ring("oak")).at(200).pause(environment("oak"));
    rig.at(300).unpause(ring("oak")).at(400).unpause(environment("oak"));
    rig.at(3_899).tick();
    assert!(rig.halted("oak").is_none());
    rig.at(3_900).tick();
    assert!(rig.halted("oak").is_some());

    let mut rig = held();
    rig.at(100).pause(ring("oak")).at(200).pause(environment("oak"));
    rig.at(300).unpause(environment("oak")).at(400).unpause(ring("oak"));
    rig.at(3_899).tick();
    assert!(rig.halted("oak").is_none());
    rig.at(3_900).tick();
    assert!(rig.halted("oak").is_some());
}

#[test]
fn a_stall_that_ran_out_just_before_a_pause_halts_after_it() {
    // R174
    let mut rig = held();
    rig.at(3_600).pause(ring("oak")).at(7_200).tick();
    assert!(rig.halted("oak").is_none());
    rig.unpause(ring("oak")).tick();
    assert!(rig.halted("oak").is_some());
}

#[test]
fn the_timer_of_an_adopted_holder_counts_from_the_adoption() {
    // R174
    let mut rig = Rig::line("oak", RingPatch::default(), &["ash"]);
    rig.start("v1");
    rig.poll("ash");
    rig.at(5_000).patch("oak", capped(1, 0, 3_600, 10));
    rig.at(8_599).tick();
    assert!(rig.halted("oak").is_none());
    rig.at(8_600).tick();
    assert!(rig.halted("oak").is_some());
}

#[test]
fn a_telemetry_outage_does_not_stop_the_timer() {
    // R147
    let mut rig = held();
    rig.observed.telemetry = Telemetry::Unreadable;
    rig.at(3_600).tick();
    assert!(rig.halted("oak").is_some());
}

#[test]
fn no_progress_without_a_holder_is_no_stall() {
    // R56
    let mut rig = Rig::line("oak", capped(1, 0, 60, 10), &["ash"]);
    rig.start("v1");
    rig.at(100_000).tick();
    assert!(rig.halted("oak").is_none());
    assert_eq!(rig.hold(), None);
}

#[test]
fn of_several_holders_the_oldest_stalls_the_ring_and_is_named() {
    // R49
    let mut rig = Rig::line("oak", capped(2, 0, 3_600, 10), &["ash", "birch"]);
    rig.start("v1");
    rig.poll("birch");
    rig.at(1_800).poll("ash");
    rig.at(3_600).tick();
    let reason = rig.halted("oak").unwrap();
    assert!(reason.starts_with("birch has held its slot for 1h"), "{reason}");
}
