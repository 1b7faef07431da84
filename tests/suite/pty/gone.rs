//! The terminal goes away, as when an ssh connection breaks: the console ends with it and does not spin (A24).

use std::time::Duration;

use super::attached::{LOST, NOBODY, attached};
use super::driver::{Driver, Launch};

const SOON: Duration = Duration::from_secs(2);

/// Processor time of a whole life; what starting it costs is in it.
const CPU_MAX: Duration = Duration::from_millis(500);

fn wrapped(script: &str) -> Driver {
    let script = script.replace("CONSOLE", &format!("{} --api {NOBODY}", env!("CARGO_BIN_EXE_kura-console")));
    let mut driver = Launch::program("/bin/sh", &["-c", &script]).env("KURA_CONSOLE_TOKEN", "k_test").start();
    driver.wait_for(LOST);
    driver
}

#[test]
fn with_the_usual_signal() {
    let mut driver = attached().start();
    driver.wait_for(LOST);
    driver.hang_up();
    let ended = driver.wait_exit();
    assert_eq!(ended.code, Some(129));
    assert!(ended.after < SOON && ended.cpu < CPU_MAX, "{ended:?}");
}

#[test]
fn with_the_signal_ignored_by_whoever_started_it() {
    let mut driver = wrapped("trap '' HUP; exec CONSOLE");
    driver.hang_up();
    let ended = driver.wait_exit();
    assert_eq!(ended.code, Some(129));
    assert!(ended.after < SOON && ended.cpu < CPU_MAX, "{ended:?}");
}

#[test]
fn with_no_signal_at_all() {
    // In a session of its own the terminal is not the console's controlling one, so nothing is sent to it.
    let mut driver = wrapped("trap '' HUP; setsid -w CONSOLE; echo $? >code; times >times");
    driver.hang_up();
    let ended = driver.wait_exit();
    assert!(ended.after < SOON, "{ended:?}");
    assert_eq!(std::fs::read_to_string(driver.home().join("code")).unwrap().trim(), "129");
    let times = std::fs::read_to_string(driver.home().join("times")).unwrap();
    let children: Vec<&str> = times.lines().nth(1).unwrap().split(' ').collect();
    assert!(children.iter().all(|time| time.starts_with("0m0.")), "{times}");
}
