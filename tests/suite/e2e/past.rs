//! Years later: rolls and deployments of long ago from a shell, off the journal of a control plane that goes on, and what
//! is said of them once that was compacted.

use serde_json::{Value, json};

use super::command::{Said, kura};
use super::plane::Plane;

/// More than the World keeps, of each.
const ROLLS: usize = 25;
const DEPLOYMENTS: usize = 60;

fn asked(plane: &Plane, arguments: &[&str]) -> Said {
    let url = plane.url();
    let variables = [("KURA_CONSOLE_API", url.as_str()), ("KURA_CONSOLE_TOKEN", plane.token("viewer"))];
    kura(plane.folder(), &variables, arguments)
}

fn body(plane: &Plane, arguments: &[&str]) -> Value {
    let said = asked(plane, &[arguments, &["-o", "json"]].concat());
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{arguments:?}: {said:?}");
    serde_json::from_str(&said.stdout).expect("json")
}

fn length(body: &Value) -> usize {
    body.as_array().expect("a list").len()
}

fn rolled(plane: &Plane) -> Vec<String> {
    let begun = |n: usize| {
        let roll = json!({
            "project": "kernel", "target": format!("fleet-{n}"), "image": "kernel:1", "revision": format!("farm{n}"),
            "canary": "wk-1", "nodes": ["wk-2", "wk-3"], "boot": {"containers": [{"name": "b", "image": "o/b"}]},
        });
        let uuid = plane.post("/api/rolls/", &roll)["uuid"].as_str().expect("a uuid").to_owned();
        plane.post(&format!("/api/rolls/{uuid}/abort"), &json!({"reason": "drill"}));
        uuid
    };
    (0..ROLLS).map(begun).collect()
}

fn deployed(plane: &Plane) {
    let made = plane.post("/api/kura/servers/", &json!({"tenant": "acme", "region": "eu"}));
    let path = format!("/api/kura/servers/{}", made["id"].as_str().expect("an id"));
    plane.post("/api/kura/runtime-tags/", &json!({"tag": "0.20.0"}));
    plane.get_until(&path, "its first deployment", |server| !server["deployment"].is_null());
    for n in 1..DEPLOYMENTS {
        plane.post(&format!("{path}/force-reapply"), &json!({"reason": format!("drill {n}")}));
    }
}

#[test]
fn rolls_and_deployments_of_long_ago_are_printed_until_a_compaction_takes_them() {
    // F57, K7
    let plane = Plane::start();
    let rolls = rolled(&plane);
    deployed(&plane);

    assert!(length(&body(&plane, &["rolls"])) < ROLLS, "what is at hand");
    assert_eq!(length(&body(&plane, &["rolls", "--all"])), ROLLS);
    let first = rolls[0].as_str();
    let digits: String = first.chars().take(8).collect();
    for name in [first, &digits, "kernel/fleet-0", "fleet-0"] {
        let shown = body(&plane, &["rolls", "show", name]);
        assert_eq!((&shown["uuid"], &shown["state"]), (&json!(first), &json!("aborted")), "{name}");
    }
    let text = asked(&plane, &["rolls", "show", "fleet-0"]).stdout;
    assert!(text.contains("farm0") && text.contains("aborted by owner: drill"), "{text}");
    assert_eq!(length(&body(&plane, &["rolls", "show", "fleet-0", "fleet-24"])), 2);
    asked(&plane, &["rolls", "show", "fleet-99"]).fails(1, &["there is no roll fleet-99"]);
    assert_eq!(length(&body(&plane, &["deployments", "acme-eu"])), DEPLOYMENTS, "as the screen of a server promises");

    let compact = ["journal", "compact", "--journal", "sqlite:kura.db", "--keep-entries", "0"];
    let compacted = kura(plane.folder(), &[], &compact);
    assert_eq!(compacted.code, Some(0), "{compacted:?}");
    let gone = "older than what the journal keeps; export before you compact";
    asked(&plane, &["rolls", "show", first]).fails(1, &["the roll of kernel/fleet-0, revision farm0, begun on", gone]);
    let kept = body(&plane, &["rolls", "show", &rolls[ROLLS - 1]]);
    assert!(kept["incomplete"].as_str().is_some_and(|why| why.contains(gone)), "{kept:#}");
    let said = asked(&plane, &["deployments", "acme-eu"]);
    assert_eq!(said.code, Some(0), "what is at hand is told: {said:?}");
    assert!(said.stderr.contains("10 deployments of acme-eu are ") && said.stderr.contains(gone), "{said:?}");
    let said = asked(&plane, &["rolls", "--all"]);
    assert!(said.code == Some(0) && said.stderr.contains("the roll of kernel/fleet-3, "), "{said:?}");
}
