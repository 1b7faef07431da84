//! The driver itself, on programs whose behaviour is beyond doubt.

use std::time::Duration;

use rustix::process::Signal;

use super::driver::Launch;

#[test]
fn shows_what_a_program_writes_and_types_what_it_reads() {
    let mut driver =
        Launch::program("/bin/sh", &["-c", "stty -echo; printf 'name? '; read name; echo hello $name"]).start();
    driver.wait_for("name?");
    driver.send("kura\n");
    driver.wait_for("hello kura");
    let ended = driver.wait_exit();
    assert_eq!(ended.code, Some(0));
    assert_eq!(driver.count("hello"), 1);
}

#[test]
fn sees_sizes_modes_and_signals() {
    let mut driver = Launch::program("/bin/sh", &["-c", "stty raw -echo; stty size; read line"]).size(40, 10).start();
    driver.wait_for("10 40");
    assert!(!driver.modes_as_before());
    driver.signal(Signal::TERM);
    assert_eq!(driver.wait_exit().signal, Some(Signal::TERM.as_raw()));
}

#[test]
fn counts_no_bytes_of_a_silent_program() {
    let mut driver = Launch::program("/bin/sh", &["-c", "printf ready; read line"]).start();
    driver.wait_for("ready");
    assert_eq!(driver.bytes_during(Duration::from_millis(50)), 0);
    assert_eq!(driver.bytes(), "ready".len());
}

#[test]
fn hangs_up() {
    let program = "trap 'exit 7' HUP; trap 'printf resized' WINCH; printf ready; while :; do read line; done";
    let mut driver = Launch::program("/bin/sh", &["-c", program]).start();
    driver.wait_for("ready");
    driver.hang_up();
    assert_eq!(driver.wait_exit().code, Some(7));
}

#[test]
fn answers_for_a_terminal_that_knows_synchronized_output() {
    let ask =
        "stty raw -echo; printf '\\033[?2026$p'; dd bs=1 count=11 2>/dev/null | od -An -c; printf over; read line";
    let mut driver = Launch::program("/bin/sh", &["-c", ask]).knows_sync().start();
    assert!(driver.wait_for("over").contains("2   0   2   6   ;   2   $   y"));
}

#[test]
fn sees_a_stop_and_a_clean_screen() {
    let program = "printf one; read line; clear; printf two; kill -STOP $$; printf three";
    let mut driver = Launch::program("/bin/sh", &["-c", program]).env("TERM", "xterm").start();
    driver.wait_for("one");
    driver.send("\n");
    driver.wait_gone("one");
    driver.wait_stopped();
    driver.wait_for("two");
    driver.signal(Signal::CONT);
    driver.wait_for("three");
    assert!(driver.cpu() < Duration::from_secs(1));
    assert_eq!(std::fs::read_dir(driver.home()).unwrap().count(), 0);
}

#[test]
fn runs_the_console_itself() {
    let mut driver = Launch::console(&["--version"]).start();
    assert_eq!(driver.wait_exit().code, Some(0));
    assert!(driver.text().starts_with("kura-console "));
}
