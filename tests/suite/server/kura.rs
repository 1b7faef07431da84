//! Kura servers over HTTP: given verbs, told plans and histories, and honest about a cluster that is not there.

use kura_console::server::tokens::TokenRole;
use reqwest::Method;
use serde_json::{Value, json};

use super::bed::{Bed, MemoryHost, tell};

const SERVERS: &str = "/api/kura/servers/";
const TAGS: &str = "/api/kura/runtime-tags/";

/// A server that was never deployed to; its path.
async fn added(bed: &Bed<MemoryHost>) -> String {
    let new = json!({"tenant": "acme", "region": "eu", "spec": {"replicas": 3}, "reason": "signed up"});
    let made = bed.post(SERVERS, new).await.expect(201).body;
    assert_eq!((&made["name"], &made["instance_name"]), (&json!("acme-eu"), &json!("kura-acme-eu")));
    format!("{SERVERS}{}", made["id"].as_str().unwrap())
}

async fn released(bed: &Bed<MemoryHost>, tags: &[&str]) {
    for tag in tags {
        bed.post(TAGS, json!({"tag": tag})).await.expect(201);
    }
}

#[tokio::test]
async fn a_server_is_added_patched_moved_and_destroyed() {
    let bed = Bed::start().await;
    let server = added(&bed).await;
    let twin = bed.post(SERVERS, json!({"tenant": "acme", "region": "eu"})).await.expect(409);
    assert_eq!(twin.text("code"), "duplicate");
    let patched = bed.call("PATCH", &server, json!({"spec": {"storage_size": "80Gi"}})).await.expect(200).body;
    assert_eq!((&patched["spec"]["storage_size"], &patched["spec"]["replicas"]), (&json!("80Gi"), &json!(3)));
    let secret = bed.call("PATCH", &server, json!({"spec": {"extra_env": {"API_TOKEN": "x"}}})).await.expect(422);
    assert_eq!(secret.text("field"), "spec.extra_env.API_TOKEN");
    let moved = bed.call("PATCH", &server, json!({"move_phase": "moving_out"})).await.expect(200);
    assert_eq!(moved.body["move_phase"], "moving_out");
    released(&bed, &["0.20.0"]).await;
    // K13
    let held = bed.post(&format!("{server}/deployments"), json!({"image_tag": "0.20.0"})).await.expect(409);
    assert!(held.text("code") == "moving" && held.text("detail").contains("moving_out"), "{:#}", held.body);
    let gone = bed.call("DELETE", &server, json!({"reason": "contract ended"})).await.expect(200);
    assert_eq!(gone.body["status"], "destroying");
    let audit = bed.get("/api/audit?limit=1000").await.to_string();
    assert!(audit.contains("destroy-server") && audit.contains("contract ended"), "{audit}");
    bed.stop().await;
}

#[tokio::test]
async fn a_deployment_is_scheduled_displaced_and_forced_and_the_history_shows_it() {
    // K7, K10, K24
    let bed = Bed::start().await;
    let server = added(&bed).await;
    let path = format!("{server}/deployments");
    let unknown = bed.post(&path, json!({"image_tag": "9.9.9"})).await.expect(404);
    assert_eq!((unknown.text("code"), unknown.text("field")), ("no_tag", "image_tag"));
    bed.call("PATCH", &server, json!({"move_phase": "moving_in"})).await.expect(200);
    released(&bed, &["0.19.0", "0.20.0"]).await;
    let newest = bed.get(TAGS).await;
    assert_eq!((&newest[0]["tag"], &newest[0]["is_target"]), (&json!("0.20.0"), &json!(true)));
    assert_eq!(bed.get(&format!("{TAGS}?limit=1&after=0.20.0")).await[0]["tag"], "0.19.0");
    bed.call("PATCH", &server, json!({"move_phase": "none"})).await.expect(200);
    let row = |body: &Value| (body["image_tag"].clone(), body["force"].clone(), body["status"].clone());
    let older = bed.post(&path, json!({"image_tag": "0.19.0", "reason": "0.20.0 crashes"})).await.expect(201).body;
    assert_eq!((&older["requested_by"], &older["reason"]), (&json!("owner"), &json!("0.20.0 crashes")));
    let twice = bed.post(&path, json!({"image_tag": "0.19.0"})).await.expect(409);
    assert_eq!((twice.text("code"), twice.text("field")), ("already_open", "force"));
    let forced = bed.post(&format!("{server}/force-reapply"), json!({"reason": "wedged"})).await.expect(201).body;
    assert_eq!((&forced["image_tag"], &forced["force"]), (&json!("0.19.0"), &json!(true)));
    let rows = bed.get(&path).await;
    assert_eq!(rows[0]["id"], forced["id"], "newest first");
    assert_eq!(row(&rows[1]), (json!("0.19.0"), json!(false), json!("superseded")));
    assert_eq!(bed.get(&format!("{path}?limit=1")).await.as_array().unwrap().len(), 1);
    let shown = bed.get(&server).await;
    assert_eq!((&shown["deployment"]["id"], &shown["pin"]["tag"]), (&forced["id"], &json!("0.19.0")));
    // K19: exactly as named
    let request = bed.request(Method::GET, "/metrics").send().await.unwrap();
    let metrics = request.text().await.unwrap();
    let counted = r#"kura_superseded_deployments_total{server="acme-eu",tag="0.19.0"} 1"#;
    assert!(metrics.lines().any(|line| line == counted), "{metrics}");
    assert!(metrics.contains("kura_deployments_open{") && metrics.contains("kura_servers_left_behind{"), "{metrics}");
    assert_eq!(bed.get(SERVERS).await[0]["id"], shown["id"]);
    bed.stop().await;
}

#[tokio::test]
async fn a_plan_tells_what_is_displaced_a_key_is_done_once_and_an_old_plan_is_not_carried_out() {
    let bed = Bed::start().await;
    let server = added(&bed).await;
    let (path, revision) = (format!("{server}/force-reapply"), |told: &super::bed::Told| told.headers["etag"].clone());
    let nothing = bed.post(&format!("{path}?dry_run=true"), Value::Null).await.expect(409);
    assert_eq!(nothing.text("code"), "nothing_to_apply");
    released(&bed, &["0.20.0"]).await;
    let scheduled = super::bed::within(async { while bed.get(&server).await["deployment"].is_null() {} });
    assert!(scheduled.await.is_some(), "a tick schedules it");
    let planned = bed.post(&format!("{path}?dry_run=true"), Value::Null).await.expect(200);
    assert_eq!((&planned.body["verb"], &planned.body["names"][0]["kind"]), (&json!("force-reapply"), &json!("server")));
    let lines = planned.body["lines"].to_string();
    assert!(lines.contains("no cluster is connected") && lines.contains("0.20.0 is applied"), "{lines}");
    let given = async |tag: &reqwest::header::HeaderValue, key: &str| {
        let request = bed.request(Method::POST, &path).bearer_auth(bed.token(TokenRole::Operator));
        let request = request.header("if-match", tag).header("idempotency-key", key).header("x-reason", "wedged");
        tell(request.send().await.unwrap()).await
    };
    bed.call("PATCH", &server, json!({"spec": {"replicas": 1}})).await.expect(200);
    let moved = given(&revision(&planned), "k1").await.expect(412);
    assert_eq!(
        (&moved.body["moved"][0]["kind"], &moved.body["moved"][0]["name"]),
        (&json!("server"), &json!("server acme-eu"))
    );
    let tag = revision(&bed.post(&format!("{path}?dry_run=true"), Value::Null).await.expect(200));
    let first = given(&tag, "k1").await.expect(201);
    let again = given(&tag, "k1").await.expect(201);
    assert_eq!(
        (&again.headers["idempotent-replayed"], &again.body["id"]),
        (&"true".parse().unwrap(), &first.body["id"])
    );
    assert_eq!((first.text("requested_by"), first.text("reason")), ("operator", "wedged"));
    bed.stop().await;
}

#[tokio::test]
async fn without_a_cluster_nothing_is_pretended() {
    // K27, K43
    let bed = Bed::start().await;
    let server = added(&bed).await;
    released(&bed, &["0.20.0"]).await;
    let unseen = "the cluster cannot be judged: no cluster is connected";
    for path in ["/api/kura/gateways/", "/api/kura/orphans/"] {
        let told = bed.call("GET", path, Value::Null).await.expect(409);
        assert_eq!((told.text("code"), told.text("detail")), ("unseen", unseen), "{path}");
    }
    for (path, body) in [
        ("/api/kura/gateways/kgw/delete", json!({"name": "kgw"})),
        ("/api/kura/gateways/kgw/strip-finalizer", json!({"name": "kgw", "reason": "its controller is gone"})),
        ("/api/kura/orphans/kura-x-eu/delete", json!({"name": "kura-x-eu"})),
    ] {
        assert_eq!(bed.post(path, body).await.expect(409).text("code"), "unseen", "{path}");
        let other = bed.post(path, json!({"name": "another"})).await.expect(400);
        assert_eq!((other.text("code"), other.text("field")), ("name_mismatch", "name"), "{path}");
        assert_eq!(bed.post(path, Value::Null).await.expect(422).text("code"), "not_json", "{path}");
    }
    let accepted = bed.post("/api/kura/cluster/accept", json!({"uid": "1", "reason": "moved"})).await.expect(409);
    assert_eq!(accepted.text("code"), "unseen");
    let strip = "/api/kura/gateways/kgw/strip-finalizer";
    let planned = bed.post(&format!("{strip}?dry_run=true"), json!({"name": "kgw"})).await.expect(409);
    assert_eq!(planned.text("code"), "unseen", "a plan is read before anybody is asked why");
    let silent = bed.post("/api/kura/gateways/kgw/strip-finalizer", json!({"name": "kgw"})).await.expect(400);
    assert_eq!((silent.text("code"), silent.text("field")), ("reason_missing", "reason"));
    let shown = bed.get(&server).await;
    assert_eq!(shown["observation"], json!([{"object": "cluster", "trouble": "no cluster is connected"}]));
    assert_eq!((&shown["drift"], &shown["ready"], &shown["url"]), (&Value::Null, &Value::Null, &Value::Null));
    let manifest = bed.get(&format!("{server}/manifest")).await;
    assert_eq!((&manifest["live"], &manifest["revision_applied"]), (&Value::Null, &Value::Null));
    bed.stop().await;
}

#[tokio::test]
async fn what_is_not_there_is_404_and_a_wrong_field_is_named() {
    let bed = Bed::start().await;
    let nobody = format!("{SERVERS}{}", uuid::Uuid::nil());
    for (method, path, body) in [
        ("GET", nobody.clone(), Value::Null),
        ("PATCH", nobody.clone(), json!({"move_phase": "none"})),
        ("DELETE", nobody.clone(), Value::Null),
        ("GET", format!("{nobody}/deployments"), Value::Null),
        ("POST", format!("{nobody}/deployments"), json!({"image_tag": "0.20.0"})),
        ("POST", format!("{nobody}/force-reapply"), Value::Null),
        ("GET", format!("{nobody}/manifest"), Value::Null),
    ] {
        assert_eq!(bed.call(method, &path, body).await.expect(404).text("code"), "no_server", "{method} {path}");
    }
    for (body, field) in [
        (json!({"tenant": "acme"}), "region"),
        (json!({"tenant": "acme", "region": "eu", "tags": []}), "tags"),
        (json!({"tenant": "acme", "region": "eu", "spec": {"replicas": "3"}}), "spec.replicas"),
        (json!({"tenant": "acme", "region": "eu", "spec": {"replicas": 0}}), "spec.replicas"),
        (json!({"tenant": "acme", "region": "eu", "spec": {"public_host": "no host"}}), "spec.public_host"),
    ] {
        assert_eq!(bed.post(SERVERS, body).await.expect(422).text("field"), field);
    }
    let named = bed.post(SERVERS, json!({"tenant": "ac me", "region": "eu"})).await.expect(400);
    assert_eq!((named.text("code"), named.text("field")), ("bad_name", "tenant"));
    let seen = bed.call_as(TokenRole::Viewer, "POST", TAGS, json!({"tag": "0.20.0"})).await.expect(403);
    assert!(seen.text("detail").contains("viewer"), "{:#}", seen.body);
    bed.stop().await;
}
