//! B14 and B15: the account's switches, and rings judged by the state a request would leave behind.

use super::rig::{Rig, capped, ladder};
use crate::domain::ids::RingId;
use crate::domain::input::{RingPatch, Verb};
use crate::domain::refusal::Refusal;
use crate::domain::span::Seconds;

fn patch(patch: RingPatch) -> Verb {
    Verb::PatchRing { ring: RingId::named("oak"), patch }
}

fn stall(seconds: u64) -> RingPatch {
    RingPatch { stall_timeout_seconds: Some(Seconds(seconds)), ..RingPatch::default() }
}

#[test]
fn a_stall_timeout_needs_a_cap_in_the_resulting_state() {
    // R123, R124
    let mut rig = Rig::line("oak", RingPatch::default(), &[]);
    assert_eq!(rig.refused(patch(stall(5_400))).field(), Some("max_in_flight"));
    rig.verb(patch(RingPatch { max_in_flight: Some(1), ..stall(5_400) }));
    rig.verb(patch(stall(6_000)));
}

#[test]
fn uncapping_is_never_refused_and_leaves_the_timeout_inert() {
    // R125, R126, R127
    let mut rig = Rig::line("oak", capped(1, 0, 5_400, 1), &[]);
    let both = RingPatch { max_in_flight: Some(0), ..stall(5_400) };
    assert!(matches!(rig.refused(patch(both)), Refusal::StallWithoutCap));
    rig.verb(patch(RingPatch { max_in_flight: Some(0), ..RingPatch::default() }));
    assert_eq!(rig.world.rings[&RingId::named("oak")].settings.stall_timeout_seconds, Seconds(5_400));
    rig.verb(patch(RingPatch { failure_count_threshold: Some(2), ..RingPatch::default() }));
    rig.verb(patch(stall(0)));
}

#[test]
fn the_threshold_is_at_least_one() {
    // R5
    let mut rig = Rig::line("oak", RingPatch::default(), &[]);
    let zero = RingPatch { failure_count_threshold: Some(0), ..RingPatch::default() };
    assert_eq!(rig.refused(patch(zero)).field(), Some("failure_count_threshold"));
}

#[test]
fn a_ladder_ascends_and_never_shrinks() {
    // R6, R76
    let mut rig = Rig::line("oak", RingPatch::default(), &[]);
    for bad in [&[][..], &[(0, 0)], &[(0, 101)], &[(60, 10), (60, 20)], &[(60, 10), (0, 20)], &[(0, 50), (60, 40)]] {
        assert_eq!(rig.refused(patch(ladder(bad))).field(), Some("wave_ladder"), "{bad:?}");
    }
    rig.verb(patch(ladder(&[(0, 10), (600, 10), (900, 100)])));
}

#[test]
fn a_failed_patch_changes_no_field() {
    // R128
    let mut rig = Rig::line("oak", capped(1, 60, 0, 3), &[]);
    let mixed = RingPatch { max_in_flight: Some(4), failure_count_threshold: Some(0), ..RingPatch::default() };
    rig.refused(patch(mixed));
    assert_eq!(rig.world.rings[&RingId::named("oak")].settings.max_in_flight, 1);
}

#[test]
fn a_patch_that_changes_nothing_appends_nothing() {
    // R128
    let mut rig = Rig::line("oak", capped(1, 60, 0, 3), &[]);
    rig.verb(patch(capped(1, 60, 0, 3)));
    assert!(rig.changes.is_empty());
}

#[test]
fn the_ladder_elects_by_bucket_and_time() {
    // R70, R71, R72
    let mut rig = Rig::line("oak", RingPatch { max_in_flight: Some(9), ..ladder(&[(0, 2), (600, 100)]) }, &["a", "b"]);
    rig.start("v1");
    assert_eq!((rig.state("a"), rig.state("b")), ("queued", "waiting"));
    assert_eq!((rig.poll("a").is_some(), rig.poll("b")), (true, None));
    rig.at(600);
    assert!(rig.poll("b").is_some());
}

#[test]
fn election_never_shrinks_within_a_generation() {
    // R75
    let mut rig = Rig::line("oak", RingPatch { max_in_flight: Some(9), ..ladder(&[(0, 100)]) }, &["a", "b", "c"]);
    rig.start("v1");
    rig.patch("oak", ladder(&[(0, 2), (600, 3)]));
    assert_eq!((rig.state("b"), rig.state("c")), ("queued", "queued"));
    assert!(rig.poll("c").is_some());
    rig.start("v1");
    assert_eq!((rig.state("a"), rig.state("b")), ("queued", "waiting"), "a new generation elects anew");
}

#[test]
fn a_ladder_that_tops_out_below_100_holds_the_cursor() {
    // R73
    let mut rig = Rig::line("oak", RingPatch { max_in_flight: Some(9), ..ladder(&[(0, 2)]) }, &["a", "b"]);
    rig.start("v1");
    rig.converge("a").at(60).tick();
    let hold = rig.hold().unwrap();
    assert!(hold.sentence.contains("ladder") && hold.sentence.contains('2'), "{hold:?}");
    assert_eq!(rig.rollout().status(), "running");
}

#[test]
fn only_two_switches_of_the_account_are_written() {
    // R119
    let mut rig = Rig::new();
    rig.verb(Verb::PatchAccount { auto_deploy: Some(true), track_config_tags: None });
    assert!(rig.world.account.auto_deploy && !rig.world.account.track_config_tags);
    rig.verb(Verb::PatchAccount { auto_deploy: Some(true), track_config_tags: None });
    assert!(rig.changes.is_empty());
}

#[test]
fn slugs_are_unique_and_sound() {
    // R128
    let mut rig = Rig::line("oak", RingPatch::default(), &[]);
    let ring = |id: &str, slug: &str| Verb::CreateRing {
        id: RingId::named(id),
        slug: slug.to_owned(),
        settings: RingPatch::default(),
    };
    assert!(matches!(rig.refused(ring("x", "oak")), Refusal::Duplicate { field: "slug", .. }));
    for bad in ["", "a b", "a/b", "ünder", &"x".repeat(101), "a\u{1b}[31m"] {
        assert!(matches!(rig.refused(ring("x", bad)), Refusal::BadName { field: "slug", .. }), "{bad:?}");
    }
}

#[test]
fn a_ladder_counts_from_the_opening_of_its_environment() {
    // R70
    let mut rig = Rig::cluster(&RingPatch::default());
    rig.patch("workers", ladder(&[(0, 4), (600, 100)]));
    rig.start("v1");
    rig.converge("cp1").converge("cp2").at(700).tick();
    assert_eq!(rig.cursor(), "workers");
    assert!(rig.poll("w1").is_some());
    assert_eq!(rig.at(1_299).poll("w2"), None, "elected by a ladder that counts from the start");
    assert!(rig.at(1_300).poll("w2").is_some());
}
