//! A control plane whose way to its journal is slow, cut, silent, or loses answers, while another one is near.

use std::time::Duration;

use super::super::e2e::plane::Plane;
use super::frozen::{CHAPTER, ticks};
use super::ground::Ground;
use super::judge::judge;
use super::load::{Fleet, Load};

/// What each piece takes on a slow wire; an append is many of them.
const SLOW: Duration = Duration::from_millis(40);

/// Whatever the wire does, whoever is near goes on, and whoever is far goes on once it carries again, in the same process.
/// A wire that swallows everything costs it the seat, by its own clock, before anybody else takes it.
fn far_and_near(ground: &Ground) {
    let (wire, far) = ground.wire();
    let one = Plane::on(&far);
    let first = ticks(&one, 1);
    let fleet = Fleet::lay(&one);
    let mut two = one.elsewhere_on(&ground.url);
    let (at_one, at_two) = (Load::on(&fleet.again(), &[&one]), Load::on(&fleet, &[&two]));
    at_one.goes_on(CHAPTER);

    wire.go_silent();
    one.says("the seat is given up");
    let second = ticks(&two, 2);
    at_two.goes_on(CHAPTER);
    wire.mend();
    at_one.goes_on(CHAPTER);

    wire.cut();
    at_two.goes_on(CHAPTER);
    wire.mend();
    at_one.goes_on(CHAPTER);
    wire.swallow_answers();
    at_two.goes_on(CHAPTER);
    wire.mend();
    at_one.goes_on(CHAPTER);
    // Whoever is slow loses to whoever is fast, again and again, and says that it is busy; so the other one rests.
    let mut story = at_two.end();
    wire.slow_down(SLOW);
    at_one.goes_on(CHAPTER / 2);
    wire.mend();

    two.kill();
    assert_eq!(ticks(&one, 3), first, "whoever was far away is good for the seat again");
    at_one.goes_on(CHAPTER);
    story.add(at_one.end());
    let judged = judge(one.folder(), &ground.url, &story);
    assert_eq!((judged.epochs, judged.holders), (vec![1, 2, 3], vec![first.clone(), second.clone(), first]));
    assert!(story.troubles > 0, "the wire was never missed");
    assert!(judged.grants > 0 && story.reports > 0 && story.acknowledged.len() >= 7 * CHAPTER, "{story:?}");
}

#[test]
fn a_wire_to_the_database_that_fails_in_every_way_costs_nothing_but_time() {
    if let Some(ground) = Ground::database() {
        far_and_near(&ground);
    }
}

#[test]
fn a_wire_to_the_api_server_that_fails_in_every_way_costs_nothing_but_time() {
    if let Some(ground) = Ground::cluster("wires") {
        far_and_near(&ground);
    }
}
