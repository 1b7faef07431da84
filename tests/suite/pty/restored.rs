//! However the console ends, the terminal is as it was, and it is given back exactly once (A24).

use std::time::Duration;

use rustix::process::Signal;

use super::attached::{LOST, attached};
use super::driver::{Driver, Ended};

/// What is promised.
const SOON: Duration = Duration::from_secs(2);

fn assert_restored(driver: &mut Driver) {
    assert!(driver.modes_as_before(), "the terminal's modes differ");
    assert_eq!(driver.count("\x1b[?1049h"), 1);
    assert_eq!(driver.count("\x1b[?1049l"), 1, "given back exactly once");
    assert_eq!(driver.count("\x1b[?2004l"), 1);
    let screen = driver.screen();
    assert!(!screen.alternate_screen() && !screen.hide_cursor() && !screen.bracketed_paste());
}

fn ended_by(signal: Signal) -> Ended {
    let mut driver = attached().start();
    driver.wait_for(LOST);
    driver.signal(signal);
    let ended = driver.wait_exit();
    assert_restored(&mut driver);
    ended
}

#[test]
fn after_leaving() {
    for keys in ["q", "\x03"] {
        let mut driver = attached().start();
        driver.wait_for(LOST);
        driver.send(keys);
        let ended = driver.wait_exit();
        assert_eq!(ended.code, Some(0));
        assert_restored(&mut driver);
    }
}

#[test]
fn after_signals_that_end_it() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130), (Signal::QUIT, 131)] {
        let ended = ended_by(signal);
        assert_eq!(ended.code, Some(code), "{signal:?}");
        assert!(ended.after < SOON, "{ended:?}");
    }
}

#[test]
fn after_a_signal_in_the_very_first_moment() {
    let mut driver = attached().start();
    driver.wait_until("the screen", super::driver::PATIENCE, vt100::Screen::alternate_screen);
    driver.signal(Signal::TERM);
    assert_eq!(driver.wait_exit().code, Some(143));
    assert_restored(&mut driver);
}

#[test]
fn after_a_signal_while_the_terminal_takes_no_bytes() {
    let mut driver = attached().start();
    driver.wait_for(LOST);
    driver.stall();
    driver.signal(Signal::TERM);
    let ended = driver.wait_exit();
    assert_eq!(ended.code, Some(143));
    assert!(ended.after < SOON, "{ended:?}");
    assert!(driver.modes_as_before());
}
