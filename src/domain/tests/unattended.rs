//! B20 and B19: starters nobody watches, and a clock nobody can trust.

use super::rig::{Rig, capped};
use crate::domain::decide::next_unattended;
use crate::domain::hold::HoldKind;
use crate::domain::ids::{ReleaseId, RolloutId};
use crate::domain::input::{Input, Verb};

fn line() -> Rig {
    let mut rig = Rig::line("oak", capped(1, 0, 600, 1), &["a"]);
    rig.release("v3");
    rig
}

fn switches(rig: &mut Rig, auto_deploy: bool, track_config_tags: bool) {
    rig.verb(Verb::PatchAccount { auto_deploy: Some(auto_deploy), track_config_tags: Some(track_config_tags) });
}

fn commit(rig: &mut Rig, release: &str) {
    let id = RolloutId::named(&format!("of a commit of {release}"));
    rig.step(&Input::CommitArrived { id, release: ReleaseId::named(release) });
}

fn tag(rig: &mut Rig, release: &str) {
    rig.step(&Input::TagArrived { release: ReleaseId::named(release), made_at: None });
}

fn running(rig: &Rig) -> Option<&str> {
    rig.world.running().map(|r| rig.world.release_name(r.release))
}

#[test]
fn a_commit_starts_unprotected_where_nothing_runs() {
    // R7, R169
    let mut rig = line();
    commit(&mut rig, "v1");
    assert_eq!(running(&rig), None, "the switch is off");
    switches(&mut rig, true, false);
    commit(&mut rig, "v1");
    assert_eq!(running(&rig), Some("v1"));
    assert!(!rig.rollout().protected);
}

#[test]
fn a_commit_that_meets_a_rollout_is_dropped_for_good() {
    // R100, R169
    let mut rig = line();
    switches(&mut rig, true, false);
    rig.start("v1");
    commit(&mut rig, "v2");
    assert_eq!(running(&rig), Some("v1"));
    rig.converge("a").at(60).tick();
    rig.tick_until(600);
    assert_eq!(running(&rig), None);
}

#[test]
fn the_newest_tag_waits_and_starts_a_pass_after_the_completion() {
    // R100, R169, R180
    let mut rig = line();
    switches(&mut rig, false, true);
    rig.start("v1");
    tag(&mut rig, "v2");
    tag(&mut rig, "v3");
    assert_eq!(next_unattended(&rig.world), Some(ReleaseId::named("v3")));
    rig.converge("a").at(60).tick();
    assert_eq!((rig.rollout().status(), running(&rig)), ("completed", None), "not in the completing tick");
    rig.at(120).tick();
    assert_eq!(running(&rig), Some("v3"));
    rig.converge("a").at(180).tick();
    rig.tick_until(600);
    assert_eq!(running(&rig), None, "an older tag never follows");
}

#[test]
fn a_yanked_tag_or_one_that_does_not_match_is_passed_over() {
    // R169
    let mut rig = line();
    switches(&mut rig, false, true);
    rig.world.account.config_tag_pattern = Some("v[".replace('[', "*"));
    rig.release("rc1");
    tag(&mut rig, "v2");
    tag(&mut rig, "v3");
    tag(&mut rig, "rc1");
    rig.verb(Verb::Yank { release: ReleaseId::named("v3") });
    assert_eq!(next_unattended(&rig.world), Some(ReleaseId::named("v2")));
    switches(&mut rig, false, false);
    assert_eq!(next_unattended(&rig.world), None);
}

#[test]
fn a_commit_is_news_once_and_what_was_there_before_somebody_followed_is_not() {
    // R169
    let mut rig = line();
    let found = |rig: &mut Rig, release: &str| {
        let known = rig.world.releases.get(&ReleaseId::named(release)).unwrap();
        let (git_ref, commit) = (known.git_ref.clone(), known.commit.clone());
        rig.step(&Input::CommitFound { git_ref, commit });
    };
    found(&mut rig, "v1");
    assert_eq!(rig.world.seen_commit, None, "nobody follows");
    switches(&mut rig, true, false);
    found(&mut rig, "v1");
    commit(&mut rig, "v1");
    assert_eq!(running(&rig), None, "it was there before");
    commit(&mut rig, "v2");
    assert_eq!(running(&rig), Some("v2"));
    rig.converge("a").at(60).tick();
    rig.at(120).tick();
    let revision = rig.world.revision;
    commit(&mut rig, "v2");
    assert_eq!((running(&rig), rig.world.revision), (None, revision), "another process was here before");
    switches(&mut rig, false, false);
    assert_eq!(rig.world.seen_commit, None, "what arrives now is old once somebody follows again");
}

#[test]
fn a_tag_that_comes_to_light_because_a_newer_one_was_deleted_is_passed_over() {
    // R169
    let mut rig = line();
    switches(&mut rig, false, true);
    let arrives = |rig: &mut Rig, release: &str, second: i64| {
        let made_at = Some(jiff::Timestamp::from_second(second).unwrap());
        rig.step(&Input::TagArrived { release: ReleaseId::named(release), made_at });
    };
    arrives(&mut rig, "v2", 200);
    arrives(&mut rig, "v1", 100);
    assert_eq!(next_unattended(&rig.world), Some(ReleaseId::named("v2")));
    arrives(&mut rig, "v3", 200);
    assert_eq!(next_unattended(&rig.world), Some(ReleaseId::named("v3")), "as old as the newest is no older");
}

#[test]
fn nothing_stalls_or_promotes_on_a_suspect_clock() {
    // R168 (A21)
    let mut rig = line();
    rig.environment("later", 20).start("v1");
    rig.poll("a");
    rig.observed.clock_suspect = true;
    rig.at(7_200).tick();
    assert!(rig.halted("oak").is_none());
    let hold = rig.hold().unwrap();
    assert_eq!(hold.kind, HoldKind::Clock);
    assert!(hold.sentence.contains("clock"));
    rig.ok("a").at(7_260).tick();
    assert_eq!(rig.cursor(), "oak");
    rig.verb(Verb::AcceptClock);
    rig.observed.clock_suspect = false;
    rig.at(7_320).tick();
    assert_eq!(rig.cursor(), "later");
}
