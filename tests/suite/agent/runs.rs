//! What runs: an arc with everything a command needs, drift, the last known good, and nothing where nothing is to do.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use kura_console::domain::release::Outcome;
use kura_console::wire::agent::{FailedStateBody, LOG_TAIL_MAX};

use super::desk::{Call, Desk, assignment};
use super::node::{Node, machine};

fn mode(path: impl AsRef<Path>) -> u32 {
    std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

#[test]
fn a_success_is_reported_with_what_the_command_says() {
    let exec = r#"
        printf '%s\n' "$KURA_RELEASE $KURA_GENERATION $KURA_MACHINE $KURA_RUN" >"$NOTES"
        printf '%s\n' "$KURA_CONTENT $(cat "$KURA_CONTENT")" >"$NOTES"
        echo "token: ${KURA_CONSOLE_AGENT_TOKEN:-none}"
        echo to stderr >&2
        echo '{"changed_count": 3, "failed_states": []}' >"$KURA_RESULT""#;
    let (desk, upgrade) = (Desk::open(), assignment("upgrade", 7));
    desk.serve(upgrade.clone());
    let node = Node::started(&desk, exec, &[]);
    let first = desk.next("a poll", Some);
    assert_eq!(first, Call::Poll { have: None, wait: 0, machine: machine().to_string() });
    assert_eq!(node.note(), format!("{} 7 {} arc", upgrade.release_uuid, machine()));
    let content = node.note();
    let (path, text) = content.split_once(' ').expect("a path and a text");
    assert_eq!((text, mode(path)), ("states of upgrade", 0o600));
    let report = desk.report();
    assert_eq!((report.release_uuid, report.generation), (upgrade.release_uuid, 7));
    assert_eq!((report.outcome, report.changed_count), (Outcome::Success, 3));
    assert_eq!(report.log_tail, "token: none\nto stderr\n");
    assert!(report.started_at <= report.finished_at);
    let held = desk.next("a poll that may be held", |call| match call {
        Call::Poll { have, wait: 25, .. } => Some(have),
        _ => None,
    });
    assert_eq!(held, Some(upgrade.edition()));
    assert_eq!((mode(node.state_path()), mode(node.folder.path().join("state.json.d"))), (0o600, 0o700));
}

#[test]
fn a_failure_is_retried_and_then_latched() {
    // R57, R63
    let exec = r#"echo "generation $KURA_GENERATION" >"$NOTES"
        echo '{"failed_states": [{"id": "drain", "comment": "a budget forbids it"}]}' >"$KURA_RESULT"; exit 7"#;
    let (desk, upgrade) = (Desk::open(), assignment("upgrade", 1));
    desk.serve(upgrade.clone());
    let node = Node::started(&desk, exec, &[("--retries", "1"), ("--retry-seconds", "0")]);
    let drain =
        FailedStateBody { id: "drain".to_owned(), name: String::new(), comment: "a budget forbids it".to_owned() };
    let (first, second) = (desk.report(), desk.report());
    assert!(first.started_at < second.started_at);
    for report in [first, second] {
        assert_eq!((report.outcome, report.failed_states), (Outcome::Failed, vec![drain.clone()]));
    }
    node.says("latched");
    desk.serve(None);
    desk.poll_with(None);
    desk.serve(upgrade.clone());
    desk.poll_with(Some(&upgrade));
    desk.serve(assignment("upgrade", 2));
    let notes = [node.note(), node.note(), node.note()];
    assert_eq!(notes, ["generation 1", "generation 1", "generation 2"]);
}

#[test]
fn a_command_that_cannot_run_is_a_failure_that_says_why() {
    let desk = Desk::open();
    desk.serve(assignment("upgrade", 1));
    let _node = Node::started(&desk, "/nowhere/salt-call", &[("--retries", "0")]);
    let report = desk.report();
    assert_eq!(report.outcome, Outcome::Failed);
    assert_eq!(report.failed_states[0].comment, "failed with exit code 127");
    assert!(report.log_tail.contains("/nowhere/salt-call"), "{}", report.log_tail);
}

#[test]
fn only_the_end_of_a_log_travels_and_it_is_text() {
    let exec = r"head -c 200000 /dev/zero | tr '\0' 'a'; printf '\377 last words'";
    let desk = Desk::open();
    desk.serve(assignment("upgrade", 1));
    let _node = Node::started(&desk, exec, &[]);
    let log = desk.report().log_tail;
    assert!(log.len() <= LOG_TAIL_MAX && log.len() > LOG_TAIL_MAX - 8, "{} bytes", log.len());
    assert!(log.starts_with("aaa") && log.ends_with("a\u{fffd} last words"));
}

#[test]
fn a_done_machine_drifts_and_an_arc_is_not_a_drift_run() {
    // R9, R16
    let desk = Desk::open();
    desk.serve(assignment("upgrade", 1));
    let node = Node::started(&desk, r#"echo "$KURA_RUN" >"$NOTES""#, &[("--drift-seconds", "1")]);
    let (arc, drift) = (desk.report(), desk.report());
    assert_eq!([node.note(), node.note()], ["arc", "drift"]);
    assert_eq!(
        (arc.outcome, drift.outcome, arc.generation, drift.generation),
        (Outcome::Success, Outcome::Success, 1, 1)
    );
    assert!(arc.started_at < drift.started_at);
}

#[test]
fn the_last_known_good_runs_once_and_reports_nothing() {
    // R62
    let exec = r#"echo "$KURA_RUN: $(cat "$KURA_CONTENT")" >"$NOTES"; ! grep -q bad "$KURA_CONTENT""#;
    let desk = Desk::open();
    desk.serve(assignment("good", 1));
    let node = Node::started(&desk, exec, &[("--retries", "0")]);
    assert_eq!(desk.report().outcome, Outcome::Success);
    desk.serve(assignment("bad", 2));
    assert_eq!(desk.report().outcome, Outcome::Failed);
    let notes = [node.note(), node.note(), node.note()];
    assert_eq!(notes, ["arc: states of good", "arc: states of bad", "last-good: states of good"]);
    node.says("last-good run of");
    node.says("success");
    desk.serve(assignment("fix", 3));
    assert_eq!(desk.report().generation, 3, "between the two there was nothing to report");
    assert_eq!(node.note(), "arc: states of fix");
}

#[test]
fn a_done_machine_that_is_served_again_works_on_nothing() {
    // R94, R99
    let desk = Desk::open();
    desk.serve(assignment("upgrade", 1));
    let node = Node::started(&desk, r#"echo "$KURA_GENERATION" >"$NOTES""#, &[]);
    assert_eq!((desk.report().generation, node.note()), (1, "1".to_owned()));
    desk.poll_with(Some(&assignment("upgrade", 1)));
    desk.next("a poll that is held", |call| matches!(call, Call::Poll { wait: 25, .. }).then_some(()));
    for generation in [2, 3] {
        desk.serve(assignment("upgrade", generation));
        desk.poll_with(Some(&assignment("upgrade", generation)));
    }
    desk.serve(assignment("fix", 4));
    assert_eq!((desk.report().generation, node.note()), (4, "4".to_owned()));
}
