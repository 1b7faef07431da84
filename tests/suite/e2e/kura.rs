//! Kura servers from the command line, on a control plane that runs without a cluster.

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use super::command::{Said, kura};
use super::plane::Plane;

fn run(plane: &Plane, arguments: &[&str]) -> Said {
    let variables = [("KURA_CONSOLE_API", &plane.url()[..]), ("KURA_CONSOLE_TOKEN", plane.token("operator"))];
    kura(plane.folder(), &variables, arguments)
}

fn text(plane: &Plane, arguments: &[&str]) -> String {
    let said = run(plane, arguments);
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{arguments:?}: {said:?}");
    let wide: Vec<&str> = said.stdout.lines().filter(|line| line.width() > 80).collect();
    assert!(wide.is_empty() || arguments.contains(&"-o"), "{arguments:?}: {wide:#?}");
    said.stdout
}

fn body(plane: &Plane, arguments: &[&str]) -> Value {
    let [json, yaml] = ["json", "yaml"].map(|format| text(plane, &[arguments, &["-o", format]].concat()));
    let body: Value = serde_json::from_str(&json).expect("json");
    assert_eq!(serde_yaml::from_str::<Value>(&yaml).expect("yaml"), body, "{arguments:?}");
    body
}

/// acme-eu, whose deployment of 0.19.0 gave way to one of 0.20.0 that waits.
fn displaced() -> Plane {
    let plane = Plane::start();
    let server = plane.post("/api/kura/servers/", &json!({"tenant": "acme", "region": "eu"}));
    let path = format!("/api/kura/servers/{}", server["id"].as_str().unwrap());
    for tag in ["0.19.0", "0.20.0"] {
        plane.post("/api/kura/runtime-tags/", &json!({"tag": tag}));
        plane.get_until(&path, "it is scheduled", |server| server["deployment"]["image_tag"] == tag);
    }
    plane
}

#[test]
fn before_there_is_anything_lists_say_so_and_a_cluster_that_is_not_there_is_no_empty_list() {
    let plane = Plane::start();
    for (noun, words) in [("servers", "there is no server yet"), ("runtime-tags", "no runtime tag was released yet")] {
        let said = text(&plane, &[noun]);
        assert!(said.starts_with(words) && said.contains("-> "), "{said}");
        assert_eq!(body(&plane, &[noun]), json!([]));
    }
    for noun in ["gateways", "orphans"] {
        run(&plane, &[noun]).fails(4, &["the cluster cannot be judged: no cluster is connected"]);
    }
    run(&plane, &["deployments", "nobody"]).fails(1, &["there is no server nobody"]);
    for verb in [
        &["delete-gateway", "kgw"][..],
        &["strip-finalizer", "kgw"],
        &["delete-orphan", "kura-x-eu"],
        &["accept-cluster", "1"],
    ] {
        let said = run(&plane, &[verb, &["--yes", "--reason", "its controller is gone"]].concat());
        said.fails(4, &["no cluster is connected"]);
    }
}

#[test]
fn servers_their_history_their_manifest_and_tags_are_listed_and_shown() {
    let plane = displaced();
    let servers = text(&plane, &["servers"]);
    for words in ["acme-eu", "provisioning", "- -> 0.20.0", "pending", "?/2", "cluster"] {
        assert!(servers.contains(words), "no {words} in\n{servers}");
    }
    assert_eq!(text(&plane, &["kura"]), servers, "by the name of its screen too");
    let one = body(&plane, &["kura", "acme-eu"]);
    assert_eq!(one, body(&plane, &["servers", "acme-eu"]));
    assert_eq!((&one["tenant"], &one["target_image_tag"]), (&json!("acme"), &json!("0.20.0")));
    let id = one["id"].as_str().unwrap();
    assert_eq!(body(&plane, &["servers", &id[..8]])["id"], one["id"]);
    let shown = text(&plane, &["servers", "acme-eu"]);
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("no cluster is connected") && !words.contains("state broken"), "{shown}");
    // K7, K10
    let history = text(&plane, &["deployments", "acme-eu"]);
    let rows: Vec<&str> = history.lines().skip(1).collect();
    assert!(rows[0].contains("0.20.0") && rows[0].contains("pending"), "{history}");
    assert!(rows[1].contains("0.19.0") && rows[1].contains("superseded by 0.20.0"), "{history}");
    assert_eq!(body(&plane, &["deployments", "acme-eu"]), plane.get(&format!("/api/kura/servers/{id}/deployments")));
    let manifest = text(&plane, &["drift", "acme-eu"]);
    assert!(manifest.contains("KuraInstance") && manifest.contains("revision rendered"), "{manifest}");
    let tags = text(&plane, &["runtime-tags"]);
    assert!(tags.lines().nth(1).unwrap().starts_with("0.20.0  yes"), "{tags}");
    assert_eq!(body(&plane, &["runtime-tags", "0.19.0"])["is_target"], false);
}

#[test]
fn a_verb_says_what_is_displaced_and_that_no_cluster_carries_it_out() {
    // K25
    let plane = displaced();
    let planned = text(&plane, &["deploy", "acme-eu", "0.19.0", "--dry-run"]);
    for words in
        ["deploy to server acme-eu", "the pending deployment of 0.20.0 is superseded", "stays on 0.19.0", "no cluster"]
    {
        assert!(planned.contains(words), "no {words} in\n{planned}");
    }
    let done = text(&plane, &["deploy", "acme-eu", "0.19.0", "--yes", "--reason", "0.20.0 crashes"]);
    assert!(done.contains("the deployment of 0.19.0 to acme-eu is scheduled"), "{done}");
    let flags = ["--yes", "--reason", "again"];
    run(&plane, &[&["deploy", "acme-eu", "0.19.0"][..], &flags].concat()).fails(4, &["already open", "force"]);
    run(&plane, &[&["deploy", "acme-eu", "9.9.9"][..], &flags].concat()).fails(1, &["9.9.9 was not released here"]);
    run(&plane, &["deploy", "acme-eu", "0.20.0", "--yes"]).fails(2, &["deploy needs a reason"]);
    run(&plane, &["server", "acme-eu", "--yes", "--reason", "x"]).fails(2, &["does not say what to change"]);
    let secret = ["server", "acme-eu", "--env", "API_TOKEN=x", "--yes", "--reason", "x"];
    run(&plane, &secret).fails(2, &["looks like a secret"]);
    let forced = text(&plane, &[&["force-reapply", "acme-eu"][..], &flags].concat());
    assert!(forced.contains("acme-eu is applied again"), "{forced}");
    let audit = text(&plane, &["audit", "show"]);
    assert!(audit.contains("force-reapply") && audit.contains("again"), "{audit}");
}
