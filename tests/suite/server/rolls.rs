//! Fleet rolls over HTTP: given verbs, told plans, refused with what to do instead, and seen in the figures.

use reqwest::Method;
use serde_json::{Value, json};

use super::bed::{Bed, MemoryHost};

const ROLLS: &str = "/api/rolls/";

fn new(revision: &str) -> Value {
    json!({
        "project": "kernel", "target": "fleet", "image": format!("registry/kernel:{revision}"), "revision": revision,
        "canary": "wk-1", "nodes": ["wk-2", "wk-3"], "boot": {"containers": [{"name": "boot", "image": "owner/boot"}]},
        "reason": "patch day",
    })
}

async fn scraped(bed: &Bed<MemoryHost>) -> String {
    bed.request(Method::GET, "/metrics").send().await.unwrap().text().await.unwrap()
}

#[tokio::test]
async fn a_roll_is_started_shown_displaced_and_aborted() {
    // F32, F34, F53, F60
    let bed = Bed::start().await;
    let made = bed.post(ROLLS, new("x")).await.expect(201).body;
    assert_eq!(
        (&made["state"], &made["awaitingGate"], &made["awaitingSince"]),
        (&json!("rolling"), &Value::Null, &Value::Null)
    );
    assert_eq!(made["progress"], json!({"completed": 0, "total": 2, "node": null, "phase": null}));
    assert_eq!(made["order"], json!(["wk-1", "wk-2", "wk-3"]));
    assert!(scraped(&bed).await.contains("pipelines_deploy_progress_total{project=\"kernel\",target=\"fleet\"} 2"));
    let second = bed.post(ROLLS, new("y")).await.expect(409);
    assert_eq!((second.text("code"), second.text("field")), ("roll_is_live", "displace"));
    let mut over = new("y");
    over["displace"] = json!(true);
    let next = bed.post(ROLLS, over).await.expect(201).body;
    let path = |body: &Value| format!("{ROLLS}{}", body["uuid"].as_str().unwrap());
    assert_eq!(bed.get(&path(&made)).await["state"], "displaced");
    assert_eq!(bed.get(ROLLS).await[0]["uuid"], next["uuid"], "newest first");
    let gate = format!("{}/gates/canary/approve", path(&next));
    let early = bed.post(&gate, json!({"revision": "y"})).await.expect(409);
    assert!(early.text("code") == "not_awaiting" && early.text("detail").contains("revision y"), "{:#}", early.body);
    bed.post(&gate, json!({})).await.expect(422);
    let planned = bed.post(&format!("{}/abort?dry_run=true", path(&next)), Value::Null).await.expect(200).body;
    assert!(planned.to_string().contains("no node is touched any more"), "{planned:#}");
    let ended = bed.post(&format!("{}/abort", path(&next)), json!({"reason": "bad image"})).await.expect(200).body;
    assert_eq!((&ended["state"], &ended["reason"]), (&json!("aborted"), &json!("aborted by owner: bad image")));
    assert!(!scraped(&bed).await.contains("pipelines_deploy_progress"), "nothing that looks stuck is left");
    bed.stop().await;
}

#[tokio::test]
async fn a_start_that_makes_no_sense_names_its_field_and_nodes_say_what_is_not_theirs() {
    // F56, F58
    let bed = Bed::start().await;
    let without = |field: &str, value: Value| {
        let mut body = new("x");
        body[field] = value;
        body
    };
    let cases = [
        ("boot", Value::Null, "boot"),
        ("concurrency", json!(2), "concurrency"),
        ("nodes", json!(["a", "a"]), "nodes"),
    ];
    for (field, value, named) in cases {
        let refused = bed.post(ROLLS, without(field, value)).await;
        assert_eq!(refused.text("field"), named, "{:#}", refused.body);
    }
    bed.post(ROLLS, without("canry", json!("wk-1"))).await.expect(422);
    assert_eq!(bed.get("/api/nodes/").await, json!([]));
    let not_ours = bed.post("/api/nodes/wk-1/uncordon", Value::Null).await.expect(409);
    assert_eq!(not_ours.text("code"), "not_ours");
    let unseen = bed.post("/api/nodes/wk-1/probe", Value::Null).await.expect(409);
    assert_eq!(unseen.text("code"), "unseen");
    bed.post(&format!("{ROLLS}00000000-0000-0000-0000-000000000000/abort"), Value::Null).await.expect(404);
    bed.stop().await;
}
