//! The runbook of a serial upgrade, call by call.

use kura_console::server::tokens::TokenRole;
use serde_json::{Value, json};

use super::bed::{Bed, row};

fn serial() -> Value {
    json!({"name": "oak-ring", "failure_count_threshold": 1, "wave_ladder": [{"after_seconds": 0, "pct": 100}],
           "max_in_flight": 1, "min_settle_seconds": 0, "stall_timeout_seconds": 5400})
}

#[tokio::test]
async fn one_machine_after_the_other_until_it_is_completed() {
    // R18, R35, R85
    let bed = Bed::start().await;
    let fleet = bed.fleet(serial(), &["ash", "birch", "cedar"]).await;
    let release = bed.release("v1").await;
    let rollout = bed.roll(&release).await;
    let status = bed.until(&rollout, "the environment opens", |s| s["current_environment"] == "oak").await;
    assert_eq!(status["total"], 3);
    assert_eq!(
        status["slots"],
        json!([{"ring": "oak-ring", "environment": "oak", "cap": 1, "holding": 0,
                                        "settling": 0, "free": 1}])
    );
    let order: Vec<String> =
        status["machines"].as_array().unwrap().iter().map(|r| r["uuid"].as_str().unwrap().to_owned()).collect();
    assert_eq!(
        {
            let mut sorted = order.clone();
            sorted.sort();
            sorted
        },
        {
            let mut all = fleet.machines.clone();
            all.sort();
            all
        }
    );

    for (n, machine) in order.iter().enumerate() {
        for waiting in &order[n + 1..] {
            assert_eq!(bed.poll(waiting).await["assignment"], Value::Null, "the queue is passed over by nobody");
        }
        let assignment = bed.poll(machine).await["assignment"].clone();
        assert_eq!(assignment["content"], "content of v1");
        let status = bed.status(&rollout).await;
        let holder = row(&status, machine);
        assert_eq!((&holder["state"], &holder["holds_slot"]), (&json!("pending"), &json!(true)));
        assert_eq!(status["holding_slots"], 1);
        for (place, waiting) in order[n + 1..].iter().enumerate() {
            let waiting = row(&status, waiting);
            assert_eq!((&waiting["state"], &waiting["queue_position"]), (&json!("queued"), &json!(place + 1)));
        }
        bed.report(machine, &assignment, "success", "2026-07-01T10:00:00Z").await.expect(200);
    }
    let status = bed.until(&rollout, "it completes", |s| s["status"] == "completed").await;
    assert_eq!(status["stall_reason"], Value::Null);
    let results = bed.get(&format!("/api/config/rollouts/{rollout}/apply-results?machine_uuid={}", order[0])).await;
    assert_eq!((&results[0]["outcome"], &results[0]["log_tail"]), (&json!("success"), &json!("the end")));
    assert_eq!(results.as_array().unwrap().len(), 1);
    bed.stop().await;
}

#[tokio::test]
async fn a_failure_halts_the_ring_and_the_same_release_resets_it() {
    // R60, R64, R93, R94, R99
    let bed = Bed::start().await;
    let fleet = bed.fleet(serial(), &["ash"]).await;
    let release = bed.release("v1").await;
    let rollout = bed.roll(&release).await;
    bed.until(&rollout, "the environment opens", |s| s["current_environment"] == "oak").await;
    let ash = &fleet.machines[0];
    let first = bed.poll(ash).await["assignment"].clone();
    bed.report(ash, &first, "failed", "2026-07-01T10:00:00Z").await.expect(200);
    let status = bed.status(&rollout).await;
    assert!(status["halted_rings"]["oak-ring"].as_str().unwrap().contains("ash"), "{status:#}");
    assert_eq!(row(&status, ash)["state"], "failed");
    assert_eq!(status["stall_kind"], "halted");
    let results = bed.get(&format!("/api/config/rollouts/{rollout}/apply-results?limit=1")).await;
    assert_eq!(results[0]["failed_states"][0]["id"], "drain");

    let reset = bed.post("/api/config/rollouts/", json!({"config_release_uuid": release})).await.expect(200);
    assert_eq!(reset.text("uuid"), rollout);
    assert_eq!(reset.body["protected"], true, "a reset keeps what it finds (R98)");
    let status = bed.until(&rollout, "it begins again", |s| s["current_environment"] == "oak").await;
    assert_eq!(status["halted_rings"], json!({}));
    let again = bed.poll(ash).await["assignment"].clone();
    assert!(again["generation"].as_u64() > first["generation"].as_u64(), "{again:#}");
    bed.stop().await;
}

#[tokio::test]
async fn another_release_needs_force_and_a_yank_ends_it() {
    // R91, R102, R114, R116
    let bed = Bed::start().await;
    bed.fleet(serial(), &["ash"]).await;
    let (first, second) = (bed.release("v1").await, bed.release("v2").await);
    let rollout = bed.roll(&first).await;
    let refused = bed.post("/api/config/rollouts/", json!({"config_release_uuid": second})).await.expect(409);
    assert!(refused.text("detail").contains("protected"), "{:#}", refused.body);
    assert!(refused.body["hints"].to_string().contains("force"), "{:#}", refused.body);
    let wrong = json!({"config_release_uuid": first, "intent": "start"});
    assert_eq!(bed.post("/api/config/rollouts/", wrong).await.expect(409).text("field"), "intent");
    let forced = json!({"config_release_uuid": second, "force": true, "protected": true});
    let newer = bed.post("/api/config/rollouts/", forced).await.expect(201).text("uuid").to_owned();
    assert_eq!(bed.status(&rollout).await["status"], "superseded");

    let yanked = bed.post(&format!("/api/config/releases/{second}/yank"), json!({"reason": "drops mail"})).await;
    assert_eq!(yanked.expect(200).body["yank"]["reason"], "drops mail");
    let ended = bed.get(&format!("/api/config/rollouts/{newer}")).await;
    assert_eq!(ended["status"], "halted");
    bed.post("/api/config/rollouts/", json!({"config_release_uuid": second})).await.expect(409);
    let third = bed.roll(&first).await;
    bed.post(&format!("/api/config/rollouts/{third}/halt"), Value::Null).await.expect(200);
    bed.post(&format!("/api/config/rollouts/{third}/halt"), Value::Null).await.expect(409);
    let listed = bed.get("/api/config/rollouts/").await;
    let listed: Vec<&str> = listed.as_array().unwrap().iter().map(|r| r["uuid"].as_str().unwrap()).collect();
    assert_eq!(listed, [third.as_str(), newer.as_str(), rollout.as_str()], "newest first");
    bed.stop().await;
}

#[tokio::test]
async fn pauses_and_places_of_machines() {
    // R104, R105, R12
    let bed = Bed::start().await;
    let fleet = bed.fleet(serial(), &["ash"]).await;
    let release = bed.release("v1").await;
    let rollout = bed.roll(&release).await;
    bed.until(&rollout, "the environment opens", |s| s["current_environment"] == "oak").await;
    let ash = format!("/api/provisioning/machines/{}", fleet.machines[0]);
    let paused = bed.post(&format!("{ash}/config-pause"), json!({"reason": "disk swap"})).await.expect(200);
    assert_eq!((&paused.body["paused"], &paused.body["pause"]["by"]), (&json!(true), &json!("owner")));
    assert_eq!(bed.status(&rollout).await["blocking"], json!({"paused": 1}));
    bed.post(&format!("{ash}/config-unpause"), Value::Null).await.expect(200);
    let ring = format!("/api/config/rings/{}", fleet.ring);
    assert_eq!(bed.post(&format!("{ring}/pause"), Value::Null).await.expect(200).body["paused"], true);
    assert_eq!(bed.poll(&fleet.machines[0]).await["assignment"], Value::Null);
    assert_eq!(bed.post(&format!("{ring}/unpause"), Value::Null).await.expect(200).body["paused"], false);
    let out = bed.call("PATCH", &ash, json!({"environment": null})).await.expect(200);
    assert_eq!(out.body["environment"], Value::Null);
    assert_eq!(bed.status(&rollout).await["total"], 0);
    let back = bed.call("PATCH", &ash, json!({"environment": "oak"})).await.expect(200);
    assert_eq!(back.text("environment_uuid"), fleet.environment);
    bed.call("PATCH", &ash, json!({"ring": "no-such"})).await.expect(404);
    bed.call("DELETE", &ash, Value::Null).await.expect(204);
    bed.call("GET", &ash, Value::Null).await.expect(404);
    bed.stop().await;
}

#[tokio::test]
async fn who_why_and_under_which_key_reaches_the_journal() {
    let bed = Bed::start().await;
    let new = json!({"slug": "oak", "promotion_order": 1, "reason": "new site"});
    let send = async || {
        let request = bed.request(reqwest::Method::POST, "/api/config/environments/");
        let request = request.bearer_auth(bed.token(TokenRole::Operator)).header("idempotency-key", "key-1");
        super::bed::tell(request.json(&new).send().await.unwrap()).await.expect(201)
    };
    let (first, again) = (send().await, send().await);
    assert_eq!(first.body, again.body, "the same key makes one environment");
    let tail = bed.get("/api/world?tail=10").await["tail"].clone();
    let made: Vec<&Value> = tail.as_array().unwrap().iter().filter(|e| e["by"] == "operator").collect();
    assert_eq!(made.len(), 2, "the change, and its link of the audit");
    assert_eq!(made[1]["change"]["link"]["target"], json!(["environment oak"]));
    let cause = &made[0]["cause"];
    assert_eq!((&cause["name"], &cause["reason"]), (&json!("create-environment"), &json!("new site")));
    assert_eq!((&cause["key"], cause["request"].is_string()), (&json!("key-1"), true));

    let environment = first.text("uuid");
    let path = format!("/api/config/environments/{environment}/pause");
    let request = bed.request(reqwest::Method::POST, &path).bearer_auth(bed.token(TokenRole::Operator));
    super::bed::tell(request.header("x-reason", "fiber work").send().await.unwrap()).await.expect(200);
    let listed = bed.get("/api/config/environments/").await;
    assert_eq!(listed[0]["pause"]["reason"], "fiber work");
    bed.stop().await;
}
