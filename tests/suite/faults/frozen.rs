//! A holder of the seat that is stopped for longer than a seat lasts, and then goes on where it was.

use super::super::e2e::plane::Plane;
use super::ground::Ground;
use super::judge::judge;
use super::load::{Fleet, Load, STARTS_EVERY};

/// Verbs that are done in each chapter.
pub(super) const CHAPTER: usize = 24;

/// Who ticks in this epoch, once it does.
pub(super) fn ticks(plane: &Plane, epoch: u64) -> String {
    let ticking =
        plane.get_until("/api/seat", "its ticks", |seat| seat["epoch"] == epoch && !seat["last_tick"].is_null());
    ticking["holder"].as_str().expect("a holder").to_owned()
}

/// Nobody may tick, and nothing may be promised, that the journal does not take: whoever was away too long finds that out,
/// steps down, and is good for the seat again without being started again.
fn freeze_and_thaw(ground: &Ground) {
    let one = Plane::on(&ground.url);
    let first = ticks(&one, 1);
    let fleet = Fleet::lay(&one);
    let mut two = one.elsewhere();
    let load = Load::on(&fleet, &[&two]);
    load.goes_on(CHAPTER);

    ground.freeze(&one);
    let asleep = Load::on(&fleet.again(), &[&one]);
    let second = ticks(&two, 2);
    assert_ne!(first, second);
    load.goes_on(STARTS_EVERY + CHAPTER);

    one.thaw();
    one.says("the seat is given up");
    let seat = one.get_until("/api/seat", "the seat of the other one", |seat| seat["epoch"] == 2);
    assert_eq!(seat["holder"], *second, "whoever thaws does not take it away");
    asleep.goes_on(CHAPTER);
    load.goes_on(CHAPTER);
    let mut story = load.end();

    two.kill();
    assert_eq!(ticks(&one, 3), first, "it stands again without being started again");
    asleep.goes_on(CHAPTER);
    story.add(asleep.end());

    let judged = judge(one.folder(), &ground.url, &story);
    let lived = (vec![1, 2, 3], vec![first.clone(), second.clone(), first]);
    assert_eq!((&judged.epochs, &judged.holders), (&lived.0, &lived.1), "{judged:?}");
    assert_eq!(judged.ticked.get(&2), Some(&second), "{judged:?}");
    assert!(judged.grants > 0 && story.reports > 0 && story.acknowledged.len() >= 5 * CHAPTER, "{story:?}");
}

#[test]
fn a_holder_that_thaws_is_deposed_in_a_file_and_good_for_the_seat_again() {
    // R28
    freeze_and_thaw(&Ground::file());
}

#[test]
fn a_holder_that_thaws_is_deposed_in_a_database_and_good_for_the_seat_again() {
    // R28
    if let Some(ground) = Ground::database() {
        freeze_and_thaw(&ground);
    }
}

#[test]
fn a_holder_that_thaws_is_deposed_in_a_cluster_and_good_for_the_seat_again() {
    // R28
    if let Some(ground) = Ground::cluster("frozen") {
        freeze_and_thaw(&ground);
    }
}
