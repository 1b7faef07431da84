//! The program itself: what a shell sees of `simulate`.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn simulate(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kura-console"));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR"))).arg("simulate").args(args).output().unwrap()
}

fn code_and_text(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

const KEPT: &str = "tests/scenarios/holder-goes-offline.yaml";

#[test]
fn what_holds_ends_with_0_what_fails_with_1_and_what_is_wrong_with_2() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    };
    let failing =
        write("failing.yaml", "scenario: fails\nthen:\n  - {at: 1s, view: rollouts, path: \"$[*]\", count: 1}\n");
    let wrong = write("wrong.yaml", "scenario: wrong\nthan: []\n");
    assert_eq!(simulate(&[KEPT]).status.code(), Some(0));
    let (code, out, err) = code_and_text(&simulate(&[KEPT, &failing]));
    assert_eq!(code, Some(1), "{err}");
    assert!(out.contains(&format!("{failing}:3:5: at 1s: rollouts $[*]")), "{out}");
    let (code, out, err) = code_and_text(&simulate(&[&wrong, KEPT]));
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains(&format!("{wrong}:2:1: unknown field `than`")), "{err}");
    assert!(out.contains("ok      holder goes offline"), "the other file is run nevertheless: {out}");
    assert_eq!(simulate(&["no-such-file.yaml"]).status.code(), Some(2));
    assert_eq!(simulate(&[]).status.code(), Some(2));
}

#[test]
fn json_has_the_shape_of_the_contract() {
    let (code, out, err) = code_and_text(&simulate(&["-o", "json", KEPT]));
    assert_eq!(code, Some(0), "{err}");
    let report: Value = serde_json::from_str(&out).unwrap();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let all = ["basis", "changes", "expectations", "log_tail", "never", "passed", "scenario", "virtual_seconds"];
    assert_eq!(keys(&report), all);
    assert_eq!(keys(&report["expectations"][0]), ["at", "found", "ok", "path", "view", "wanted"]);
    assert_eq!(keys(&report["never"][0]), ["at", "found", "ok", "path", "view", "wanted"]);
    assert_eq!((&report["passed"], &report["virtual_seconds"]), (&true.into(), &3720.into()));
}

#[test]
fn until_and_view_print_what_is_there_by_then() {
    let (code, out, _) = code_and_text(&simulate(&["--until", "59s", "--view", "seat", "--view", "status:r1", KEPT]));
    assert_eq!(code, Some(0));
    let bodies: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(bodies["seat"]["holder"], "server");
    assert_eq!(bodies["status:r1"]["machines"][0]["hostname"], "ash");
    assert_eq!(simulate(&["--until", "soon", KEPT]).status.code(), Some(2));
    assert_eq!(simulate(&["--view", "nothing", KEPT]).status.code(), Some(2));
}

#[test]
fn the_schema_knows_every_verb_with_its_arguments() {
    let (code, out, _) = code_and_text(&simulate(&["--schema"]));
    assert_eq!(code, Some(0));
    let schema: Value = serde_json::from_str(&out).unwrap();
    let verbs = schema["properties"]["when"]["items"]["oneOf"].as_array().unwrap();
    let named = |name: &str| verbs.iter().find(|verb| verb["properties"]["do"]["const"] == name);
    for name in ["tick", "poll", "result", "start_rollout", "patch_ring", "partition", "journal_fault", "key", "spawn"]
    {
        let verb = named(name).unwrap_or_else(|| panic!("{name} is not in the schema"));
        assert!(verb["properties"]["expect"].is_object(), "{verb:#}");
    }
    let poll = named("poll").unwrap();
    assert!(poll["required"].as_array().unwrap().contains(&"machine".into()), "{poll:#}");
    assert_eq!(poll["additionalProperties"], false);
    assert_eq!(schema["additionalProperties"], false);
    assert!(schema["properties"]["given"].is_object() && schema["properties"]["never"].is_object());
}

#[test]
fn generated_worlds_are_played_by_seed() {
    let (code, out, err) = code_and_text(&simulate(&["--seeds", "3..5", "--profile", "rings"]));
    assert_eq!(code, Some(0), "{err}");
    assert!(out.starts_with("rings: 2 seeds, ") && !out.contains("kura:"), "{out}");
    let (code, out, err) = code_and_text(&simulate(&["--seeds", "3..5"]));
    assert_eq!(code, Some(0), "{err}");
    let each = ["rings: 2 seeds, ", "kura: 2 seeds, ", "rolls: 2 seeds, ", "all: 2 seeds, ", "faults: 2 seeds, "];
    assert!(each.iter().all(|told| out.contains(told)), "{out}");
    let (code, _, err) = code_and_text(&simulate(&["--seeds", "3..5", "--profile", "nodes"]));
    assert_eq!(code, Some(2));
    assert!(err.contains("rings, kura, rolls, all or faults"), "{err}");
}
