//! Plan first: what a verb would do is told before it is given, and a plan of yesterday is not carried out.

use reqwest::Method;
use serde_json::{Value, json};

use super::bed::{Bed, Fleet, MemoryHost, Told, tell};

async fn held() -> (Bed<MemoryHost>, Fleet, String) {
    let bed = Bed::start().await;
    let ring = json!({"name": "oak-ring", "max_in_flight": 1, "failure_count_threshold": 1});
    let fleet = bed.fleet(ring, &["ash", "birch"]).await;
    let release = bed.release("v1").await;
    let rollout = bed.roll(&release).await;
    let status = bed.until(&rollout, "the environment opens", |s| s["current_environment"] == "oak").await;
    let uuid = |n: usize| status["machines"][n]["uuid"].as_str().unwrap().to_owned();
    let machines = vec![uuid(0), uuid(1)];
    assert_ne!(bed.poll(&machines[0]).await["assignment"], Value::Null);
    (bed, Fleet { machines, ..fleet }, rollout)
}

async fn matching(bed: &Bed<MemoryHost>, path: &str, tag: &str, key: &str) -> Told {
    let request = bed.request(Method::POST, path).bearer_auth(bed.token(super::bed::OWNER));
    let request = request.header("if-match", tag).header("idempotency-key", key);
    tell(request.send().await.unwrap()).await
}

fn revision(told: &Told) -> u64 {
    told.headers["x-revision"].to_str().unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_dry_run_tells_everything_and_changes_nothing() {
    let (bed, fleet, _) = held().await;
    let skip = format!("/api/provisioning/machines/{}/config-pause", fleet.machines[0]);
    let before = bed.get("/api/world").await["world"].clone();
    let told = bed.post(&format!("{skip}?dry_run=true"), json!({"reason": "look"})).await.expect(200);
    assert_eq!((&told.body["dry_run"], &told.body["verb"]), (&json!(true), &json!("pause-machine")));
    assert_eq!(told.headers["etag"], format!("\"{}\"", told.body["revision"]));
    assert_eq!(told.body["leases_ended"][0]["uuid"], fleet.machines[0].as_str());
    assert!(told.body["leases_ended"][0]["held_seconds"].is_u64());
    assert_eq!(told.body["runs_cancelled"][0]["uuid"], fleet.machines[0].as_str());
    assert_eq!(told.body["starts_next"][0]["uuid"], fleet.machines[1].as_str());
    let says = |kind: &str, part: &str| {
        let lines = told.body["lines"].as_array().unwrap();
        lines.iter().any(|line| line["kind"] == kind && line["text"].as_str().unwrap().contains(part))
    };
    assert!(says("warns", "cordoned") && says("warns", "keeps holding the cursor"), "{:#}", told.body);
    assert_eq!(bed.get("/api/world").await["world"], before, "nothing was changed");
    let refused = bed.post(&format!("{skip}?dry_run=maybe"), Value::Null).await.expect(422);
    assert_eq!(refused.text("field"), "dry_run");
    bed.stop().await;
}

#[tokio::test]
async fn every_verb_has_a_dry_run_and_a_refusal_is_the_same_in_earnest() {
    let (bed, fleet, rollout) = held().await;
    let other = bed.release("v2").await;
    let (ring, machine) = (&fleet.ring, &fleet.machines[0]);
    let before = facts(&bed).await;
    let verbs = [
        ("PATCH", "/api/config/account".to_owned(), json!({"auto_deploy": true})),
        ("POST", "/api/account/config".to_owned(), json!({"config_tag_pattern": "v*"})),
        ("POST", "/api/config/environments/".to_owned(), json!({"slug": "elm"})),
        ("PATCH", format!("/api/config/environments/{}", fleet.environment), json!({"promotion_order": 7})),
        ("POST", format!("/api/config/environments/{}/pause", fleet.environment), Value::Null),
        ("POST", format!("/api/config/environments/{}/unpause", fleet.environment), Value::Null),
        ("POST", "/api/config/rings/".to_owned(), json!({"slug": "elm"})),
        ("PATCH", format!("/api/config/rings/{ring}"), json!({"max_in_flight": 0})),
        ("POST", format!("/api/config/rings/{ring}/pause"), Value::Null),
        ("POST", format!("/api/config/rings/{ring}/unpause"), Value::Null),
        ("POST", "/api/config/releases/build-from-git".to_owned(), json!({"git_ref": "v3"})),
        ("POST", format!("/api/config/releases/{other}/yank"), Value::Null),
        ("POST", "/api/config/rollouts/".to_owned(), json!({"config_release_uuid": other, "force": true})),
        ("POST", format!("/api/config/rollouts/{rollout}/halt"), Value::Null),
        (
            "POST",
            "/api/provisioning/machines/".to_owned(),
            json!({"hostname": "cedar", "environment": "oak", "ring": "oak-ring"}),
        ),
        ("PATCH", format!("/api/provisioning/machines/{machine}"), json!({"ring": null})),
        ("POST", format!("/api/provisioning/machines/{machine}/config-pause"), Value::Null),
        ("POST", format!("/api/provisioning/machines/{machine}/config-unpause"), Value::Null),
        ("DELETE", format!("/api/provisioning/machines/{machine}"), Value::Null),
        ("POST", "/api/clock/accept".to_owned(), Value::Null),
        ("POST", "/api/seat/leave".to_owned(), Value::Null),
    ];
    for (method, path, body) in verbs {
        let told = bed.call(method, &format!("{path}?dry_run=true"), body).await.expect(200);
        assert_eq!(told.body["dry_run"], true, "{path}");
        assert!(!told.body["lines"].as_array().unwrap().is_empty(), "{path}");
        assert!(!told.body["lines"].to_string().contains("(gone)"), "{path}: {:#}", told.body);
    }
    let unforced = json!({"config_release_uuid": other});
    let refused = async |path: &str| {
        let mut body = bed.post(path, unforced.clone()).await.expect(409).body;
        assert!(body.as_object_mut().unwrap().remove("request_id").is_some(), "each request has its own name");
        body
    };
    assert_eq!(refused("/api/config/rollouts/?dry_run=true").await, refused("/api/config/rollouts/").await);
    assert_eq!(facts(&bed).await, before, "nothing was changed");
    bed.stop().await;
}

/// The world, but for what the audit of a refusal moves.
async fn facts(bed: &Bed<MemoryHost>) -> Value {
    let mut world = bed.get("/api/world").await["world"].clone();
    let fields = world.as_object_mut().unwrap();
    ["revision", "at", "audit"].into_iter().for_each(|field| drop(fields.remove(field)));
    world
}

#[tokio::test]
async fn a_plan_is_carried_out_unless_what_it_names_has_moved() {
    let (bed, fleet, _) = held().await;
    let path = |n: usize| format!("/api/provisioning/machines/{}/config-pause", fleet.machines[n]);
    let planned = bed.post(&format!("{}?dry_run=true", path(0)), Value::Null).await.expect(200);
    let tag = planned.headers["etag"].to_str().unwrap().to_owned();
    // Something else changes: the plan does not name it.
    bed.post("/api/config/environments/", json!({"slug": "elm"})).await.expect(201);
    // Who would start next leaves the queue: the plan names it.
    bed.post(&path(1), json!({"reason": "disk"})).await.expect(200);
    let machine = bed.get(&format!("/api/provisioning/machines/{}", fleet.machines[1])).await;
    let unpause = format!("/api/provisioning/machines/{}/config-unpause", fleet.machines[1]);
    bed.post(&unpause, Value::Null).await.expect(200);
    let moved = matching(&bed, &path(0), &tag, "k1").await.expect(412);
    assert_eq!(moved.headers["content-type"], "application/problem+json");
    assert_eq!((moved.text("code"), moved.text("field")), ("plan_moved", "if-match"));
    let told = &moved.body["moved"][0];
    assert_eq!((&told["uuid"], &told["kind"], &told["by"]), (&machine["uuid"], &json!("machine"), &json!("owner")));
    assert_eq!(told["what"], "is no longer paused");
    assert!(moved.text("detail").contains(machine["hostname"].as_str().unwrap()), "{:#}", moved.body);
    // The same key is free: nothing was done under it.
    let now = format!("\"{}\"", revision(&moved));
    matching(&bed, &path(0), &now, "k1").await.expect(200);
    let again = matching(&bed, &path(0), &now, "k1").await.expect(200);
    assert_eq!(again.headers["idempotent-replayed"], "true", "an answer that was given goes before the comparison");
    let ahead = matching(&bed, &path(1), "\"999999\"", "k2").await.expect(412);
    assert!(ahead.text("detail").contains("not yet"), "{:#}", ahead.body);
    bed.stop().await;
}

#[tokio::test]
async fn a_tag_that_is_none_is_refused_and_stopping_never_asks() {
    let (bed, fleet, rollout) = held().await;
    let skip = format!("/api/provisioning/machines/{}/config-pause", fleet.machines[0]);
    for wrong in ["W/\"1\"", "1", "*", "\"x\""] {
        let told = matching(&bed, &skip, wrong, "k").await.expect(422);
        assert_eq!(told.text("field"), "if-match");
        assert!(told.body["hints"][0].as_str().unwrap().contains("If-Match"), "{:#}", told.body);
    }
    let stops = [
        format!("/api/config/rings/{}/pause", fleet.ring),
        format!("/api/config/environments/{}/pause", fleet.environment),
        format!("/api/config/rollouts/{rollout}/halt"),
    ];
    for (stop, tag) in stops.iter().zip(["\"1\"", "garbage", "W/\"1\""]) {
        matching(&bed, stop, tag, &format!("key-{}", tag.len())).await.expect(200);
    }
    bed.stop().await;
}
