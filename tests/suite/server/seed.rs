//! A client that sends only what the runbook shows, letter by letter, and reads only what it names.

use kura_console::server::tokens::TokenRole;
use reqwest::Method;
use serde_json::{Value, json};

use super::bed::{Bed, MemoryHost, Told, tell};

/// What `curl` sends: no key, no reason, no revision; a body only where the runbook has one.
async fn curl(bed: &Bed<MemoryHost>, method: Method, path: &str, body: Option<&'static str>) -> Told {
    let request = bed.request(method, path).bearer_auth(bed.token(TokenRole::Operator));
    let request = match body {
        Some(body) => request.header("content-type", "application/json").body(body),
        None => request,
    };
    tell(request.send().await.unwrap()).await
}

#[tokio::test]
async fn the_calls_of_the_runbook_work_as_they_stand_there() {
    // R123, R98
    let bed = Bed::start().await;
    let (get, post, patch) = (Method::GET, Method::POST, Method::PATCH);
    let tier = r#"{"name": "Oak", "slug": "oak", "promotion_order": 10, "config_values": {"K8S_VIP": "10.0.0.1"}}"#;
    let environment = curl(&bed, post.clone(), "/api/config/environments/", Some(tier)).await.expect(201);
    let ring = curl(&bed, post.clone(), "/api/config/rings/", Some(r#"{"name": "oak-cp"}"#)).await.expect(201);
    let path = format!("/api/config/rings/{}", ring.text("uuid"));
    let brakes = r#"{"failure_count_threshold": 1,
       "wave_ladder": [{"after_seconds": 0, "pct": 100}],
       "max_in_flight": 1,
       "min_settle_seconds": 300,
       "stall_timeout_seconds": 5400}"#;
    let set = curl(&bed, patch.clone(), &path, Some(brakes)).await.expect(200);
    assert_eq!((&set.body["max_in_flight"], &set.body["stall_timeout_seconds"]), (&json!(1), &json!(5400)));
    let new = json!({"hostname": "ash", "environment": "oak", "ring": "oak-cp"});
    let machine = bed.post("/api/provisioning/machines/", new).await.expect(201).text("uuid").to_owned();

    curl(&bed, get.clone(), "/api/config/account", None).await.expect(200);
    let off = r#"{"auto_deploy": false, "track_config_tags": false}"#;
    let account = curl(&bed, patch, "/api/config/account", Some(off)).await.expect(200);
    assert_eq!((&account.body["auto_deploy"], &account.body["track_config_tags"]), (&json!(false), &json!(false)));

    let build = r#"{"git_ref": "v1.31.4-upgrade", "engine": "saltstack",
       "timeout_seconds": 0,
       "notes": "k8s 1.30 -> 1.31, cordon/drain arc"}"#;
    let release = curl(&bed, post.clone(), "/api/config/releases/build-from-git", Some(build)).await.expect(201);
    let start = json!({"config_release_uuid": release.text("uuid"), "protected": true});
    let rollout = bed.call_as(TokenRole::Operator, "POST", "/api/config/rollouts/", start.clone()).await.expect(201);
    let rollout = rollout.text("uuid").to_owned();
    bed.until(&rollout, "the environment opens", |s| s["current_environment"] == "oak").await;
    bed.poll(&machine).await;
    let status = curl(&bed, get.clone(), &format!("/api/config/rollouts/{rollout}/status?limit=500"), None).await;
    let status = status.expect(200).body;
    let row = &status["machines"][0];
    for field in
        ["hostname", "uuid", "environment", "ring", "bucket", "eligible", "state", "holds_slot", "queue_position"]
    {
        assert!(row.get(field).is_some(), "{field} in {row:#}");
    }
    assert_eq!((&row["state"], &row["holds_slot"]), (&json!("pending"), &json!(true)));
    assert!(status["halted_rings"].is_object() && status["blocking"]["paused"].is_u64(), "{status:#}");
    assert!(status.get("stall_reason").is_some() && status["holding_slots"] == 1 && status["settling"] == 0);
    let results = format!("/api/config/rollouts/{rollout}/apply-results?machine_uuid={machine}&limit=100");
    assert!(curl(&bed, get, &results, None).await.expect(200).body.is_array());

    for verb in [
        format!("/api/config/environments/{}/pause", environment.text("uuid")),
        format!("{path}/pause"),
        format!("/api/provisioning/machines/{machine}/config-pause"),
        format!("/api/provisioning/machines/{machine}/config-unpause"),
    ] {
        curl(&bed, post.clone(), &verb, None).await.expect(200);
    }
    // The same release again resets in place, without force, protected or not.
    let again = bed.call_as(TokenRole::Operator, "POST", "/api/config/rollouts/", start).await.expect(200);
    assert_eq!(again.text("uuid"), rollout);
    curl(&bed, post.clone(), &format!("/api/config/rollouts/{rollout}/halt"), None).await.expect(200);
    let yank = format!("/api/config/releases/{}/yank", release.text("uuid"));
    assert_eq!(curl(&bed, post, &yank, None).await.expect(200).body["yanked"], Value::Bool(true));
    bed.stop().await;
}
