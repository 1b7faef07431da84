//! How runs end before they are over: at the deadline, because they were withdrawn, because somebody wants to leave.

use std::time::Duration;

use kura_console::domain::release::Outcome;
use kura_console::domain::span::Seconds;
use rustix::process::Signal;

use super::desk::{Desk, assignment};
use super::node::{Node, is_alive};

/// Says its process group and waits for a word that may never come, with a child that has to go with it.
const PATIENT: &str = r#"sleep 300 & echo "$$ $!" >"$NOTES"; read -r _ <"$GO""#;

/// The same, deaf to TERM.
const STUBBORN: &str = r#"trap '' TERM; sleep 300 & echo "$$ $!" >"$NOTES"; wait"#;

fn assert_gone(note: &str) {
    for pid in note.split(' ') {
        assert!(!is_alive(pid), "process {pid} is still there");
    }
}

#[test]
fn a_run_past_its_deadline_is_killed_with_all_its_children() {
    // R4, R57
    let (desk, mut upgrade) = (Desk::open(), assignment("upgrade", 1));
    upgrade.timeout_seconds = Seconds(1);
    desk.serve(upgrade);
    let node = Node::started(&desk, STUBBORN, &[("--retries", "0"), ("--grace-seconds", "0")]);
    let group = node.note();
    let report = desk.report();
    assert_eq!(report.outcome, Outcome::Timeout);
    assert_eq!(report.failed_states[0].comment, "stopped at its deadline of 1s");
    let took = report.finished_at.duration_since(report.started_at);
    assert!(took.as_millis() >= 1_000, "{took:?}");
    assert_gone(&group);
}

#[test]
#[allow(clippy::disallowed_methods)]
fn a_withdrawn_run_is_stopped_within_a_second() {
    // R95, R104
    let (desk, upgrade) = (Desk::open(), assignment("upgrade", 1));
    desk.serve(upgrade.clone());
    let node = Node::started(&desk, PATIENT, &[("--retries", "0")]);
    let group = node.note();
    desk.poll_with(Some(&upgrade));
    let begun = std::time::Instant::now();
    desk.serve(None);
    assert_eq!(desk.report().outcome, Outcome::Canceled);
    assert!(begun.elapsed() < Duration::from_secs(1), "it took {:?}", begun.elapsed());
    assert_gone(&group);
    desk.serve(upgrade);
    assert_ne!(node.note(), group, "served again it does its arc again");
}

#[test]
fn another_generation_withdraws_the_run_of_the_one_before() {
    // R95
    let desk = Desk::open();
    desk.serve(assignment("upgrade", 1));
    let mut node = Node::started(&desk, PATIENT, &[]);
    let group = node.note();
    desk.serve(assignment("upgrade", 2));
    let canceled = desk.report();
    assert_eq!((canceled.outcome, canceled.generation), (Outcome::Canceled, 1));
    assert_gone(&group);
    node.note();
    node.go();
    let done = desk.report();
    assert_eq!((done.outcome, done.generation), (Outcome::Success, 2));
}

#[test]
fn an_agent_that_is_asked_to_leave_finishes_its_run() {
    let desk = Desk::open();
    desk.serve(assignment("upgrade", 1));
    let mut node = Node::started(&desk, PATIENT, &[]);
    node.note();
    node.signal(Signal::TERM);
    node.says("leaving once the run in flight is over");
    node.go();
    assert_eq!(desk.report().outcome, Outcome::Success);
    let left = node.left();
    assert!(left.status.success(), "{}", left.log);
    assert_eq!(node.memory().reports, []);
}

#[test]
fn a_leaving_agent_still_hears_that_its_run_was_withdrawn() {
    let desk = Desk::open();
    desk.serve(assignment("upgrade", 1));
    let mut node = Node::started(&desk, PATIENT, &[]);
    let group = node.note();
    node.signal(Signal::TERM);
    node.says("leaving once the run in flight is over");
    desk.serve(None);
    assert_eq!(desk.report().outcome, Outcome::Canceled);
    assert!(node.left().status.success());
    assert_gone(&group);
}

#[test]
fn a_second_signal_stops_the_run() {
    let desk = Desk::open();
    desk.serve(assignment("upgrade", 1));
    let mut node = Node::started(&desk, PATIENT, &[]);
    let group = node.note();
    node.signal(Signal::INT);
    node.says("leaving once the run in flight is over");
    node.signal(Signal::INT);
    assert_eq!(desk.report().outcome, Outcome::Canceled);
    assert!(node.left().status.success());
    assert_gone(&group);
}
