//! What an operator may get wrong: each mistake is named, with what to do about it, and nothing is lost over it.

use kura_console::domain::ids::MachineId;
use kura_console::domain::release::Outcome;

use super::desk::{Desk, TOKEN, assignment};
use super::node::Node;

/// Runs until it leaves and says what it left with.
fn leaves(desk: &Desk, flags: &[(&str, &str)], prepare: impl FnOnce(&Node)) -> (Option<i32>, String) {
    let mut node = Node::new(desk, "true", flags);
    prepare(&node);
    node.start();
    let left = node.left();
    (left.status.code(), left.log)
}

#[test]
fn a_damaged_state_file_is_left_as_it_is() {
    let desk = Desk::open();
    for damage in ["", "{", r#"{"version": 1}"#, "[]", "\0\0\0\0"] {
        let mut node = Node::new(&desk, "true", &[]);
        let path = node.state_path();
        std::fs::write(&path, damage).expect("written");
        node.start();
        let left = node.left();
        assert_eq!(left.status.code(), Some(2), "{}", left.log);
        assert!(left.log.contains("state.json is damaged: "), "{}", left.log);
        assert!(left.log.contains("hint: move the file away"), "{}", left.log);
        assert_eq!(std::fs::read_to_string(&path).expect("still there"), damage);
    }
}

#[test]
fn the_state_of_another_machine_or_program_is_refused() {
    let desk = Desk::open();
    let other = MachineId::named("birch");
    let text = format!(r#"{{"version": 1, "machine": "{other}"}}"#);
    let (code, log) = leaves(&desk, &[], |node| std::fs::write(node.state_path(), &text).expect("written"));
    assert_eq!(code, Some(2));
    assert!(log.contains(&format!("belongs to machine {other}")) && log.contains("hint: check --machine"), "{log}");
    let (code, log) =
        leaves(&desk, &[], |node| std::fs::write(node.state_path(), r#"{"version": 9}"#).expect("written"));
    assert_eq!(code, Some(2));
    assert!(log.contains("has form 9, this program reads form 1"), "{log}");
}

#[test]
fn two_agents_never_share_a_state() {
    let desk = Desk::open();
    let first = Node::started(&desk, "true", &[]);
    desk.poll_with(None);
    let mut second = Node::new(&desk, "true", &[("--state", &first.state_path().display().to_string())]);
    second.start();
    let left = second.left();
    assert_eq!(left.status.code(), Some(4), "{}", left.log);
    assert!(left.log.contains("another agent is running with the state file"), "{}", left.log);
}

#[test]
fn a_token_that_is_missing_or_unfit_is_named_before_anything_runs() {
    let desk = Desk::open();
    let mut node = Node::new(&desk, "true", &[]);
    node.without("--token-file");
    node.start();
    let left = node.left();
    assert_eq!(left.status.code(), Some(2));
    assert!(left.log.contains("no token") && left.log.contains("KURA_CONSOLE_AGENT_TOKEN"), "{}", left.log);
    let (code, log) = leaves(&desk, &[("--once", "")], |node| {
        std::fs::remove_file(node.folder.path().join("token")).expect("removed");
    });
    assert_eq!(code, Some(2));
    assert!(log.contains("the token file ") && log.contains("cannot be read"), "{log}");
}

#[test]
fn a_token_that_is_not_accepted_is_complained_about_and_never_shown() {
    let desk = Desk::open();
    let wrong = "wrong-token-0815";
    let write = |node: &Node| std::fs::write(node.folder.path().join("token"), wrong).expect("written");
    let mut node = Node::new(&desk, "true", &[]);
    write(&node);
    node.start();
    let line = node.says("does not accept the token (HTTP 401): who are you?");
    assert!(line.contains("token of role agent") && line.contains("trying again"), "{line}");
    let (code, log) = leaves(&desk, &[("--once", "")], write);
    assert_eq!(code, Some(1));
    assert!(!log.contains(wrong) && !log.contains(TOKEN), "{log}");
}

#[test]
fn a_token_command_serves_as_well_as_a_file() {
    let desk = Desk::open();
    desk.serve(assignment("upgrade", 1));
    let mut node = Node::new(&desk, "true", &[("--once", "")]);
    node.without("--token-file");
    node.set("--token-command", &format!("echo {TOKEN}"));
    node.start();
    assert!(node.left().status.success());
    assert_eq!(desk.report().outcome, Outcome::Success);
}

#[test]
fn once_tells_by_its_exit_code_how_it_went() {
    let mut desk = Desk::open();
    assert_eq!(leaves(&desk, &[("--once", "")], |_| {}).0, Some(0));
    desk.serve(assignment("upgrade", 1));
    let mut node = Node::started(&desk, "exit 3", &[("--once", ""), ("--retries", "5")]);
    assert_eq!(node.left().status.code(), Some(1));
    assert_eq!(desk.report().outcome, Outcome::Failed);
    desk.close();
    let (code, log) = leaves(&desk, &[("--once", "")], |_| {});
    assert_eq!(code, Some(3));
    assert!(log.contains("cannot be reached") && log.contains("hint: check --api"), "{log}");
}

#[test]
fn content_that_is_not_what_its_digest_says_never_runs() {
    let (desk, mut forged) = (Desk::open(), assignment("upgrade", 1));
    forged.content.push_str(" and more");
    desk.serve(forged);
    let node = Node::started(&desk, r#"cat "$KURA_CONTENT" >"$NOTES""#, &[]);
    node.says("does not have the digest it should");
    desk.serve(assignment("fix", 2));
    assert_eq!(desk.report().generation, 2);
}

#[test]
fn flags_that_make_no_sense_are_refused_with_a_sentence() {
    let desk = Desk::open();
    for (flag, value, said) in [
        ("--api", "ftp://host", "http://"),
        ("--api", "host:80", "http://"),
        ("--machine", "ash", "--machine"),
        ("--state", "/nowhere/at/all/state.json", "/nowhere/at/all/state.json.d"),
    ] {
        let mut node = Node::new(&desk, "true", &[]);
        node.set(flag, value);
        node.start();
        let left = node.left();
        assert_eq!(left.status.code(), Some(2), "{flag} {value}: {}", left.log);
        assert!(left.log.contains(said), "{flag} {value}: {}", left.log);
    }
    for flags in [("--drift-seconds", "9..3"), ("--retries", "-1"), ("--wait", "26")] {
        let (code, log) = leaves(&desk, &[flags], |_| {});
        assert_eq!(code, Some(2), "{flags:?}: {log}");
    }
}

#[test]
fn what_cannot_be_written_down_does_not_run() {
    let desk = Desk::open();
    let node = Node::started(&desk, r#"echo "$KURA_GENERATION" >"$NOTES""#, &[("--retries", "0")]);
    desk.poll_with(None);
    let in_the_way = node.folder.path().join("state.json.new");
    std::fs::create_dir(&in_the_way).expect("made");
    desk.serve(assignment("upgrade", 1));
    let report = desk.report();
    assert_eq!(report.outcome, Outcome::Failed);
    let said = &report.failed_states[0].comment;
    assert!(said.starts_with("could not be started: writing the state file"), "{said}");
    std::fs::remove_dir(&in_the_way).expect("removed");
    desk.serve(assignment("upgrade", 2));
    assert_eq!((desk.report().outcome, node.note()), (Outcome::Success, "2".to_owned()));
}
