//! B5: the settle window.

use super::rig::{Rig, capped, machine};
use crate::domain::ids::MachineId;
use crate::domain::input::RingPatch;
use crate::domain::span::Seconds;

fn settling_line() -> Rig {
    let mut rig = Rig::line("oak", capped(1, 300, 0, 10), &["a", "b"]);
    rig.start("v1");
    rig.converge("a");
    rig
}

#[test]
fn the_window_is_half_open() {
    // R40, R41, R47
    let mut rig = settling_line();
    let slots = rig.slots("oak");
    assert_eq!((slots.holding, slots.settling, slots.free), (0, 1, 0));
    assert_eq!(rig.at(299).poll("b"), None);
    assert!(rig.at(300).poll("b").is_some());
}

#[test]
fn later_successes_and_failures_never_re_arm_it() {
    // R42
    let mut rig = settling_line();
    rig.at(40).fail("a").at(80).ok("a").at(200).ok("a");
    assert_eq!(rig.at(299).poll("b"), None);
    assert!(rig.at(300).poll("b").is_some(), "the anchor is the first success");
}

#[test]
fn the_first_success_survives_a_reset() {
    // R43, R96
    let mut rig = settling_line();
    rig.at(400).start("v1");
    assert_eq!(rig.slots("oak").settling, 0, "no second soak");
    assert_eq!(rig.state("a"), "applied");
    assert!(rig.poll("b").is_some());
}

#[test]
fn raising_the_setting_re_opens_a_closed_window_without_touching_the_holder() {
    // R44
    let mut rig = Rig::line("oak", capped(2, 60, 0, 10), &["a", "b", "c"]);
    rig.start("v1");
    rig.converge("a").at(60).poll_all(&["b"]);
    rig.patch("oak", RingPatch { min_settle_seconds: Some(Seconds(600)), ..RingPatch::default() });
    assert_eq!(rig.slots("oak").settling, 1);
    assert_eq!(rig.holders(), ["b"]);
    assert_eq!(rig.poll("c"), None);
    assert!(rig.at(600).poll("c").is_some());
}

#[test]
fn a_flap_or_a_pause_keeps_the_slot_taken() {
    // R45, R111
    let mut rig = settling_line();
    rig.at(10).fail("a");
    assert_eq!(rig.slots("oak").free, 0);
    rig.pause(machine("a"));
    assert_eq!((rig.slots("oak").settling, rig.slots("oak").free), (1, 0));
    assert_eq!(rig.at(299).poll("b"), None);
    assert!(rig.at(300).poll("b").is_some());
}

#[test]
fn promotion_waits_for_every_window_also_without_a_cap() {
    // R46
    let mut rig = Rig::cluster(&RingPatch { min_settle_seconds: Some(Seconds(300)), ..RingPatch::default() });
    rig.start("v1");
    rig.converge("cp1").at(100).converge("cp2").at(399).tick();
    assert_eq!(rig.cursor(), "cp");
    assert!(rig.hold().unwrap().sentence.contains("cp2 settles"));
    rig.at(400).tick();
    assert_eq!(rig.cursor(), "workers");
}

#[test]
fn a_holder_inside_its_own_window_fills_one_slot() {
    // R172
    let mut rig = Rig::line("oak", capped(2, 1_000, 0, 10), &["a", "b", "c"]);
    rig.start("v1");
    rig.converge("a").fail("a");
    rig.patch("oak", RingPatch { max_in_flight: Some(3), ..RingPatch::default() });
    rig.poll("a");
    let slots = rig.slots("oak");
    assert_eq!((slots.holding, slots.settling, slots.free), (1, 0, 2));
}

#[test]
fn windows_belong_to_a_release() {
    // R175
    let mut rig = settling_line();
    rig.at(10).start("v2");
    assert_eq!(rig.slots("oak").settling, 0, "the displaced release occupies nothing");
    rig.at(20).start("v1");
    assert_eq!(rig.slots("oak").settling, 1, "the first success is found again");
    assert_eq!(rig.state("a"), "queued", "but nobody is done");
    assert!(rig.world.machines[&MachineId::named("a")].applied.is_none());
}
