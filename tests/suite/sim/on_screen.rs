//! The demo as a person meets it: it opens on its world, it moves, it takes orders, it ends.

use crate::pty::driver::{Launch, PATIENCE};

#[test]
fn the_demo_opens_in_the_middle_of_a_window_moves_and_is_left_with_one_key() {
    let mut driver = Launch::console(&["demo"]).size(110, 36).start();
    let first = driver.wait_for("oak-w3");
    driver.wait_until("another screen", PATIENCE, |screen| screen.contents() != first);
    driver.send("q");
    assert_eq!(driver.wait_exit().code, Some(0));
}

#[test]
fn every_preset_opens_on_its_own_world() {
    for (name, seen) in [("fresh", "oak-cp"), ("halted", "oak-w1"), ("superseded", "hotfix-ntp-17"), ("fleet", "edge")]
    {
        let mut driver = Launch::console(&["demo", "--preset", name, "--speed", "1"]).size(110, 36).start();
        let screen = driver.wait_for(seen);
        assert!(screen.contains("live"), "{name}:\n{screen}");
        assert!(driver.count("Starting the demo") > 0, "{name}: the screen was not there before the past was over");
        driver.send("q");
        assert_eq!(driver.wait_exit().code, Some(0), "{name}");
    }
}

#[test]
fn a_row_of_the_table_opens_with_one_command() {
    let mut driver = Launch::console(&["demo", "--preset", "fm-03"]).size(80, 24).start();
    let screen = driver.wait_for("THEN VERIFY");
    assert!(screen.contains("fix the workload: relax its budget") && screen.contains("FM-3"), "{screen}");
    driver.send("q");
    assert_eq!(driver.wait_exit().code, Some(0));
}
