//! The command line.

use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::stub::{ASH, BIRCH, ENVIRONMENT, Extent, Mishap, RELEASE, RING, ROLLOUT, Stub, desert};

struct Shell {
    home: TempDir,
    url: String,
}

impl Shell {
    fn at(url: &str) -> Self {
        Self { home: tempfile::tempdir().unwrap(), url: url.to_owned() }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kura-console"));
        command.args(arguments).env_clear().env("HOME", self.home.path()).env("KURA_CONSOLE_API", &self.url);
        command.env("KURA_CONSOLE_TOKEN", "k_test").env("KURA_CONSOLE_ROLLOUT", ROLLOUT).env("USER", "ann");
        command.output().unwrap()
    }

    /// The exit code, and everything that was said.
    fn says(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let Output { status, stdout, stderr } = self.run(arguments);
        (status.code(), String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr))
    }

    fn audit(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.home.path().join(".local/state/kura-console/audit.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

const MEANT: [&str; 3] = ["--yes", "--reason", "disk swap"];

fn meant<'a>(verb: &[&'a str]) -> Vec<&'a str> {
    [verb, &MEANT].concat()
}

#[test]
fn status_tells_what_is_told_and_what_is_not() {
    let stub = Stub::start(Extent::Listed);
    let shell = Shell::at(stub.url());
    let (code, said) = shell.says(&["status"]);
    assert_eq!(code, Some(0), "{said}");
    for told in ["BASIC LINK", "no change stream", "holds a slot", "place 1", "place 2", "releases are not listed"] {
        assert!(said.contains(told), "{told}\n{said}");
    }
    assert!(!said.contains("held 0s") && !said.contains("ago by"), "ages that nobody told: {said}");
    let body: Value = serde_json::from_slice(&shell.run(&["status", "-o", "json"]).stdout).unwrap();
    assert_eq!(body["status"]["machines"][0]["holds_slot"], true);
    assert_eq!(body["status"]["machines"][0]["held_since"], Value::Null);
    assert!(body["lacks"].as_array().unwrap().len() >= 5, "{body}");
}

#[test]
fn lists_it_has_are_listed_and_of_others_it_says_why_not() {
    let stub = Stub::start(Extent::Listed);
    let shell = Shell::at(stub.url());
    let (code, said) = shell.says(&["rings"]);
    assert!(code == Some(0) && said.contains("pine-cp"), "{said}");
    for (command, lack) in
        [("releases", "list releases"), ("machines", "list machines"), ("explain", "explain anything")]
    {
        let (code, said) = shell.says(&[command]);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("only the runbook's endpoints") && said.contains(lack), "{said}");
    }
    let (_, said) = Shell::at(&desert()).says(&["rings"]);
    assert!(!said.contains("runbook"), "what is no control plane is not called one: {said}");
    let (_, said) = shell.says(&["doctor"]);
    assert!(said.contains("basic link"), "{said}");
}

#[test]
fn a_verb_is_sent_once_as_the_runbook_has_it_and_written_down_here() {
    let stub = Stub::start(Extent::Listed);
    let shell = Shell::at(stub.url());
    let (code, said) = shell.says(&meant(&["pause", "machine", "birch"]));
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("cannot rehearse") && said.contains("birch is paused"), "{said}");
    let asked = stub.asked();
    assert_eq!(
        (asked.len(), asked[0].path.as_str()),
        (1, &*format!("/api/provisioning/machines/{BIRCH}/config-pause"))
    );
    assert_eq!(asked[0].body, json!({}));
    let audit = shell.audit();
    assert_eq!((audit.len(), &audit[0]["phase"], &audit[1]["phase"]), (2, &json!("intent"), &json!("outcome")));
    assert_eq!((&audit[0]["by"], &audit[0]["reason"]), (&json!("ann"), &json!("disk swap")));
    assert_eq!(audit[1]["answer"]["kind"], json!("done"));
}

#[test]
fn a_dry_run_is_refused_because_it_would_be_the_verb() {
    let stub = Stub::start(Extent::Listed);
    let (code, said) = Shell::at(stub.url()).says(&["halt", "--dry-run"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("cannot rehearse"), "{said}");
    assert_eq!(stub.asked(), []);
}

#[test]
fn after_a_lost_answer_it_looks_and_never_sends_again() {
    let stub = Stub::start(Extent::Listed);
    let shell = Shell::at(stub.url());
    stub.next(Mishap::AnswerLost);
    let (code, said) = shell.says(&meant(&["pause", "machine", "ash"]));
    assert!(code == Some(0) && said.contains("the status that was read since shows it"), "{code:?} {said}");
    stub.next(Mishap::OrderLost);
    let (code, said) = shell.says(&meant(&["pause", "machine", "birch"]));
    assert_eq!(code, Some(6), "{said}");
    assert!(said.contains("does not show it") && said.contains("before you give it again"), "{said}");
    stub.next(Mishap::AnswerLost);
    let (code, said) = shell.says(&meant(&["start", RELEASE]));
    assert_eq!(code, Some(6), "{said}");
    assert!(said.contains("cannot tell"), "{said}");
    assert_eq!(stub.asked().len(), 3, "each once");
    assert_eq!(shell.audit().last().unwrap()["answer"]["kind"], json!("unknown"));
}

#[test]
fn what_is_not_listed_is_named_by_its_uuid() {
    let stub = Stub::start(Extent::Shown);
    let shell = Shell::at(stub.url());
    let (code, said) = shell.says(&["pause", "ring", "pine-cp"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("does not tell its uuid"), "{said}");
    for verb in [&["pause", "ring", RING][..], &["pause", "environment", ENVIRONMENT], &["halt"]] {
        let (code, said) = shell.says(verb);
        assert_eq!(code, Some(0), "{verb:?} {said}");
    }
    let (code, said) = shell.says(&meant(&["start", RELEASE]));
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = shell.says(&meant(&["remove-machine", ASH]));
    assert!(code == Some(1) && said.contains("no verb of the runbook"), "{said}");
    let paths: Vec<String> = stub.asked().into_iter().map(|asked| asked.path).collect();
    let expected = [
        format!("/api/config/rings/{RING}/pause"),
        format!("/api/config/environments/{ENVIRONMENT}/pause"),
        format!("/api/config/rollouts/{ROLLOUT}/halt"),
        "/api/config/rollouts/".to_owned(),
    ];
    assert_eq!(paths, expected);
}
