//! Suspended and continued: the terminal is the shell's meanwhile, and the console's again afterwards.

use rustix::process::Signal;

use super::attached::{LOST, NOBODY, attached};
use super::driver::{Driver, Launch};

/// A shell with job control that runs the console, says when it is stopped, and continues it on a line of input.
fn under_a_shell() -> Driver {
    let console = format!("{} --api {NOBODY}", env!("CARGO_BIN_EXE_kura-console"));
    let script = format!("{console}; printf 'the shell again, '; stty -a | grep -o ' -*icanon'; read line; fg");
    let launch = Launch::program("/bin/bash", &["-mc", &script]).env("KURA_CONSOLE_TOKEN", "k_test");
    let mut driver = launch.start();
    driver.wait_for(LOST);
    driver
}

fn come_back(driver: &mut Driver) {
    let text = driver.wait_for("the shell again, ");
    assert!(driver.wait_for("icanon").contains(" icanon"), "the shell reads lines: {text}");
    assert!(!driver.screen().alternate_screen() && !driver.screen().hide_cursor());
    driver.send("\n");
    driver.wait_for(LOST);
    assert!(driver.screen().alternate_screen() && driver.screen().hide_cursor());
    driver.send("q");
    assert_eq!(driver.wait_exit().code, Some(0));
    assert!(driver.modes_as_before());
}

#[test]
fn by_a_key() {
    let mut driver = under_a_shell();
    driver.send("\x1a");
    come_back(&mut driver);
}

#[test]
fn by_a_signal() {
    let mut driver = under_a_shell();
    let children = format!("/proc/{0}/task/{0}/children", driver.pid());
    let child: i32 = std::fs::read_to_string(children).unwrap().trim().parse().unwrap();
    let child = rustix::process::Pid::from_raw(child).unwrap();
    rustix::process::kill_process(child, Signal::TSTP).unwrap();
    come_back(&mut driver);
}

#[test]
fn never_where_nobody_could_continue_it() {
    let mut driver = attached().start();
    driver.wait_for(LOST);
    driver.send("\x1a");
    driver.wait_for("not suspended");
    driver.send("q");
    assert_eq!(driver.wait_exit().code, Some(0));
}

#[test]
fn stopped_and_continued_from_outside_it_draws_everything_again() {
    let mut driver = attached().start();
    driver.wait_for(LOST);
    driver.signal(Signal::STOP);
    driver.wait_stopped();
    driver.wipe();
    driver.signal(Signal::CONT);
    driver.wait_for(LOST);
    driver.send("q");
    assert_eq!(driver.wait_exit().code, Some(0));
    assert!(driver.modes_as_before());
}
