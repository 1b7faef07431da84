//! What survives: a killed agent, a control plane that goes away, a machine that is reimaged.

use kura_console::domain::release::Outcome;
use rustix::process::Signal;

use super::desk::{Call, Desk, assignment};
use super::node::{Node, is_alive};

const PATIENT: &str = r#"echo "$$" >"$NOTES"; read -r _ <"$GO""#;

#[test]
fn a_killed_agent_stops_what_it_left_and_starts_the_arc_anew() {
    // R27
    let (desk, upgrade) = (Desk::open(), assignment("upgrade", 1));
    desk.serve(upgrade.clone());
    let mut node = Node::started(&desk, PATIENT, &[("--retries", "0")]);
    let orphan = node.note();
    node.kill();
    assert!(is_alive(&orphan) && node.memory().run.is_some());
    node.start();
    node.says("the run of an agent that is gone still goes on");
    let heir = node.note();
    assert!(!is_alive(&orphan) && orphan != heir);
    node.go();
    let report = desk.report();
    assert_eq!((report.outcome, report.generation), (Outcome::Success, 1));
    desk.serve(None);
    desk.poll_with(None);
    let memory = node.memory();
    assert!(memory.run.is_none() && memory.reports.is_empty(), "the run that was cut off is not reported");
}

#[test]
fn a_killed_agent_does_not_go_on_with_what_was_withdrawn_meanwhile() {
    let desk = Desk::open();
    desk.serve(assignment("upgrade", 1));
    let mut node = Node::started(&desk, PATIENT, &[]);
    let orphan = node.note();
    node.kill();
    desk.serve(None);
    node.start();
    node.says("the control plane serves nothing");
    assert!(!is_alive(&orphan));
    desk.serve(assignment("fix", 2));
    node.note();
    node.go();
    assert_eq!(desk.report().generation, 2);
}

#[test]
fn reports_wait_for_the_control_plane_through_a_restart_of_both() {
    let mut desk = Desk::open();
    desk.serve(assignment("upgrade", 1));
    let mut node = Node::started(&desk, PATIENT, &[]);
    node.note();
    desk.close();
    node.says("the control plane cannot be reached");
    node.go();
    node.says("success");
    node.signal(Signal::TERM);
    let left = node.left();
    assert!(left.status.success() && left.log.contains("1 reports wait"), "{}", left.log);
    let kept = node.memory().reports;
    assert_eq!(kept.len(), 1);
    desk.reopen();
    node.start();
    assert_eq!(desk.report(), kept[0]);
}

#[test]
fn a_run_goes_on_while_the_control_plane_is_away() {
    // R25
    let mut desk = Desk::open();
    desk.serve(assignment("upgrade", 1));
    let mut node = Node::started(&desk, PATIENT, &[]);
    let pid = node.note();
    desk.close();
    node.says("the control plane cannot be reached");
    desk.reopen();
    node.says("the control plane answers again");
    assert!(is_alive(&pid));
    node.go();
    assert_eq!(desk.report().outcome, Outcome::Success);
}

#[test]
fn a_report_is_sent_again_until_it_is_taken_or_refused_for_good() {
    let desk = Desk::open();
    desk.serve(assignment("upgrade", 1));
    desk.rebuff(&[500]);
    let node = Node::started(&desk, "true", &[]);
    assert_eq!(desk.report().generation, 1);
    desk.rebuff(&[422]);
    desk.serve(assignment("fix", 2));
    let words = node.says("is given up");
    assert!(words.contains("not this one (HTTP 422)"), "{words}");
    desk.serve(assignment("more", 3));
    assert_eq!(desk.report().generation, 3);
}

#[test]
fn a_rebuild_is_told_once_and_before_the_first_poll() {
    // R152
    let desk = Desk::open();
    desk.serve(assignment("upgrade", 1));
    let mut node = Node::started(&desk, "true", &[("--rebuilt", "v1.30.2")]);
    let first = desk.next("a rebuild", |call| match call {
        Call::Rebuilt(body) => Some(body),
        other => panic!("before the rebuild came {other:?}"),
    });
    assert_eq!(first.baked_version.as_deref(), Some("v1.30.2"));
    assert_eq!(desk.report().outcome, Outcome::Success);
    desk.next("a poll that is held", |call| matches!(call, Call::Poll { wait: 25, .. }).then_some(()));
    node.kill();
    node.start();
    let next = desk.next("a poll", Some);
    assert!(matches!(next, Call::Poll { have: Some(_), wait: 0, .. }), "{next:?}");
}
