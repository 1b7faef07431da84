//! The holder of the seat is killed in the middle of what it does, and whoever is left goes on; once in each direction.

use super::super::e2e::plane::Plane;
use super::frozen::{CHAPTER, ticks};
use super::ground::Ground;
use super::judge::judge;
use super::load::{Fleet, Load};

/// What was acknowledged by whoever is dead now is done, once, and so is what nobody was told the end of.
fn kill_under_load(ground: &Ground) {
    let mut one = Plane::on(&ground.url);
    let first = ticks(&one, 1);
    let fleet = Fleet::lay(&one);
    let mut two = one.elsewhere();
    let load = Load::on(&fleet, &[&one, &two]);
    load.goes_on(CHAPTER);

    one.kill();
    let second = ticks(&two, 2);
    load.goes_on(CHAPTER);
    one.start_again();
    load.goes_on(CHAPTER);

    two.kill();
    let third = ticks(&one, 3);
    load.goes_on(CHAPTER);
    let story = load.end();
    let judged = judge(one.folder(), &ground.url, &story);
    assert_eq!((&judged.epochs, &judged.holders), (&vec![1, 2, 3], &vec![first, second, third]), "{judged:?}");
    assert!(judged.grants > 0 && story.reports > 0 && story.unsure.is_empty(), "{story:?}");
    assert!(story.acknowledged.len() >= 4 * CHAPTER, "{story:?}");
}

#[test]
fn whoever_is_killed_over_a_file_loses_and_repeats_nothing() {
    // R28, R93
    kill_under_load(&Ground::file());
}

#[test]
fn whoever_is_killed_over_a_cluster_loses_and_repeats_nothing() {
    // R28, R93
    if let Some(ground) = Ground::cluster("killed-load") {
        kill_under_load(&ground);
    }
}

#[test]
fn whoever_is_killed_over_a_database_loses_and_repeats_nothing() {
    // R28, R93
    if let Some(ground) = Ground::database() {
        kill_under_load(&ground);
    }
}
