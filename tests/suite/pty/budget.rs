//! Bytes over the wire, on the demo and with the longest colours: an idle screen costs nothing, clocks and cursors little.

use std::time::Duration;

use super::driver::{Driver, Launch};

/// With nothing that ticks in sight.
const IDLE_MAX: usize = 0;

/// Per second, with every clock ticking on 80x24.
const CLOCKS_MAX: usize = 600;

/// Per move of the cursor in a list, and in a list with its detail below.
const MOVE_MAX: usize = 300;
const MOVE_WITH_DETAIL_MAX: usize = 1_200;

/// No output for so long means that what a key causes is over.
const QUIET: Duration = Duration::from_millis(250);

fn demo(arguments: &[&str]) -> Driver {
    let arguments: Vec<&str> = ["demo"].iter().chain(arguments).copied().collect();
    let mut driver = Launch::console(&arguments).env("COLORTERM", "truecolor").start();
    driver.wait_for("RUNNING");
    driver.settle(QUIET);
    driver
}

/// Presses a key and returns what it cost.
fn cost(driver: &mut Driver, key: &str) -> usize {
    let before = driver.bytes();
    driver.send(key);
    driver.wait_for_more(before);
    driver.settle(QUIET);
    driver.bytes() - before
}

#[test]
fn an_idle_screen_writes_nothing() {
    let mut driver = demo(&["--speed", "0.1"]);
    cost(&mut driver, "0");
    driver.wait_for("WHAT");
    assert_eq!(driver.bytes_during(Duration::from_secs(3)), IDLE_MAX);
}

#[test]
fn clocks_cost_little() {
    let mut driver = demo(&["--speed", "1", "--preset", "fleet"]);
    driver.send("2");
    driver.wait_for("SLOTS AND CLOCKS");
    driver.bytes_during(QUIET);
    let seconds = 5;
    let bytes = driver.bytes_during(Duration::from_secs(seconds));
    assert!(bytes > 0, "no clock ticks:\n{}", driver.text());
    // So many seconds of ours may hold one tick more.
    assert!(bytes <= CLOCKS_MAX * (seconds as usize + 1), "{bytes} bytes in {seconds} s:\n{}", driver.text());
}

#[test]
fn a_move_of_the_cursor_costs_little() {
    let mut driver = demo(&["--speed", "0.1"]);
    cost(&mut driver, "0");
    driver.wait_for("WHAT");
    cost(&mut driver, "k");
    for _ in 0..8 {
        let bytes = cost(&mut driver, "k");
        assert!((1..=MOVE_MAX).contains(&bytes), "{bytes} bytes:\n{}", driver.text());
    }
}

#[test]
fn a_move_of_the_cursor_with_its_detail_costs_little_more() {
    let mut driver = demo(&["--speed", "0.1"]);
    cost(&mut driver, "2");
    driver.wait_for("SLOTS AND CLOCKS");
    for _ in 0..8 {
        let bytes = cost(&mut driver, "j");
        assert!((1..=MOVE_WITH_DETAIL_MAX).contains(&bytes), "{bytes} bytes:\n{}", driver.text());
    }
}

#[test]
fn the_selection_is_seen_without_colours() {
    let mut driver = Launch::console(&["demo", "--speed", "0.1"]).env("NO_COLOR", "1").start();
    driver.wait_for("RUNNING");
    driver.settle(QUIET);
    let screen = driver.screen();
    let (rows, columns) = (screen.size().0.get(), screen.size().1.get());
    let cells = (0..rows).flat_map(|y| (0..columns).map(move |x| (y, x)));
    let cells: Vec<&vt100::Cell> = cells.filter_map(|(y, x)| screen.cell(y, x)).collect();
    assert!(cells.iter().any(|cell| cell.inverse()), "nothing is reversed");
    let coloured =
        |cell: &&&vt100::Cell| cell.fgcolor() != vt100::Color::Default || cell.bgcolor() != vt100::Color::Default;
    assert_eq!(cells.iter().filter(coloured).count(), 0);
}

#[test]
fn a_burst_of_changes_costs_thirty_frames_a_second_at_most() {
    let launch = Launch::console(&["demo", "--preset", "fresh", "--speed", "3600"]).knows_sync();
    let mut driver = launch.start();
    driver.wait_for("RUNNING");
    let seconds = 2;
    let before = driver.count("\x1b[?2026h");
    driver.bytes_during(Duration::from_secs(seconds));
    let frames = driver.count("\x1b[?2026h") - before;
    assert!((3..=31 * seconds as usize).contains(&frames), "{frames} frames in {seconds} s");
}
