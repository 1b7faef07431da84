//! Fleet rolls from a shell: everything a roll can be told has a flag, and what cannot be meant is refused in words.

use serde_json::{Value, json};

use super::command::{Said, kura};
use super::plane::Plane;

const USUAL: [&str; 13] = [
    "start-roll",
    "kernel/fleet",
    "--image",
    "kernel:1",
    "--revision",
    "x",
    "--canary",
    "wk-1",
    "--node",
    "wk-2",
    "--boot",
    "boot.yaml",
    "--yes",
];

fn given(plane: &Plane, flags: &[&str]) -> Said {
    let url = plane.url();
    let variables = [("KURA_CONSOLE_API", url.as_str()), ("KURA_CONSOLE_TOKEN", plane.token("operator"))];
    kura(plane.folder(), &variables, &[&USUAL[..], &["--reason", "patch day"], flags].concat())
}

#[test]
fn a_roll_is_told_from_a_shell_what_its_gate_judges_and_how_long_it_waits() {
    // F11, F31
    let plane = Plane::start();
    std::fs::write(plane.folder().join("boot.yaml"), "containers: [{name: boot, image: owner/boot}]").unwrap();
    let refused = |flags: &[&str], code: i32, words: &[&str]| given(&plane, flags).fails(code, words);
    refused(&["--infra", "tier=infra", "--others", "tier=infra"], 1, &["partition has tier=infra twice"]);
    refused(&["--green-deadline", "1m"], 1, &["green_deadline_seconds is less than 2m"]);
    refused(&["--probe-start", "1h"], 1, &["probe_start_seconds is more than 10m"]);
    refused(&["--concurrency", "2"], 4, &["2 of 2 nodes at once"]);
    let alone = given(&plane, &["--infra", "tier=infra"]);
    assert!(alone.code == Some(2) && alone.stderr.contains("--others"), "{alone:?}");

    let flags = [
        "--gate",
        "canary",
        "--gate",
        "night",
        "--settle",
        "2m",
        "--soak",
        "10m",
        "--green-deadline",
        "2h",
        "--probe-start",
        "90s",
        "--infra",
        "tier=infra",
        "--others",
        "tier=app",
        "--no-registry",
    ];
    let said = given(&plane, &flags);
    assert_eq!(said.code, Some(0), "{said:?}");
    let audit = plane.get("/api/audit?limit=1000");
    let spec = &audit.as_array().unwrap().last().unwrap()["asked"]["roll"]["start"]["spec"];
    let wanted = json!({
        "gates": ["canary", "night"], "settle_seconds": 120, "soak_seconds": 600, "green_deadline_seconds": 7200,
        "probe_start_seconds": 90, "registry": Value::Null,
        "partition": {"infra": {"label": "tier", "value": "infra"}, "others": {"label": "tier", "value": "app"}},
    });
    for (field, value) in wanted.as_object().unwrap() {
        assert_eq!(&spec[field], value, "{field} in {spec:#}");
    }
}
