//! Agents: polls that are held, reports, machines that are not theirs.

use std::sync::Arc;
use std::time::Duration;

use kura_console::domain::ids::MachineId;
use kura_console::domain::observed::POLL_AFTER;
use reqwest::Method;
use serde_json::{Value, json};

use super::bed::{Bed, row, tell};
use kura_console::server::tokens::{NewToken, TokenRole};

fn capped() -> Value {
    json!({"name": "oak-ring", "max_in_flight": 1})
}

#[tokio::test]
async fn a_freed_slot_reaches_a_poll_that_is_held_within_a_second() {
    // R38
    let bed = Bed::start().await;
    bed.fleet(capped(), &["ash", "birch"]).await;
    let release = bed.release("v1").await;
    let rollout = bed.roll(&release).await;
    let status = bed.until(&rollout, "the environment opens", |s| s["current_environment"] == "oak").await;
    let rows = status["machines"].as_array().unwrap();
    let (first, second) = (rows[0]["uuid"].as_str().unwrap(), rows[1]["uuid"].as_str().unwrap());
    let assignment = bed.poll(first).await["assignment"].clone();
    let held = bed.agent(second, "GET", "/api/agent/assignment?wait=20", Value::Null);
    let freed = async {
        // The poll is on its way; that it is held shows in the presence of its machine.
        bed.until(&rollout, "the second machine polls", |s| !row(s, second)["last_seen_at"].is_null()).await;
        let asked = tokio::time::Instant::now();
        bed.report(first, &assignment, "success", "2026-07-01T10:00:00Z").await.expect(200);
        asked
    };
    let (answer, asked) = tokio::join!(held, freed);
    assert!(asked.elapsed() < Duration::from_secs(1), "{:?}", asked.elapsed());
    assert_eq!(answer.expect(200).body["assignment"]["release_uuid"], json!(release));
    bed.stop().await;
}

#[tokio::test]
async fn one_free_slot_and_many_polls_make_one_lease() {
    // R28
    let bed = Bed::start().await;
    let names: Vec<String> = (0..24).map(|n| format!("m{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let fleet = bed.fleet(json!({"name": "oak-ring", "max_in_flight": 2}), &names).await;
    let release = bed.release("v1").await;
    let rollout = bed.roll(&release).await;
    bed.until(&rollout, "the environment opens", |s| s["current_environment"] == "oak").await;
    let polls = fleet.machines.iter().flat_map(|machine| [bed.poll(machine), bed.poll(machine)]);
    let answers = futures_util::future::join_all(polls).await;
    let served = answers.iter().filter(|answer| !answer["assignment"].is_null()).count();
    let status = bed.status(&rollout).await;
    assert_eq!(status["holding_slots"], 2);
    assert!((2..=4).contains(&served), "{served} polls of two machines were served");
    bed.stop().await;
}

#[tokio::test]
async fn a_halt_reaches_the_run_in_flight() {
    // R115
    let bed = Bed::start().await;
    let fleet = bed.fleet(capped(), &["ash"]).await;
    let release = bed.release("v1").await;
    let rollout = bed.roll(&release).await;
    bed.until(&rollout, "the environment opens", |s| s["current_environment"] == "oak").await;
    let ash = &fleet.machines[0];
    let assignment = bed.poll(ash).await["assignment"].clone();
    let have = format!("{}:{}", assignment["release_uuid"].as_str().unwrap(), assignment["generation"]);
    let path = format!("/api/agent/assignment?wait=20&have={have}");
    let halt = format!("/api/config/rollouts/{rollout}/halt");
    let (answer, halted) = tokio::join!(bed.agent(ash, "GET", &path, Value::Null), bed.post(&halt, Value::Null));
    halted.expect(200);
    let answer = answer.expect(200).body;
    assert_eq!((&answer["assignment"], &answer["cancel"]), (&Value::Null, &json!(true)));
    let late = bed.report(ash, &assignment, "canceled", "2026-07-01T10:00:00Z").await;
    assert_eq!(late.expect(200).body, json!({"filed": true}));
    bed.stop().await;
}

#[tokio::test]
async fn a_poll_without_wait_is_answered_at_once_and_says_when_to_come_again() {
    let bed = Bed::start().await;
    let fleet = bed.fleet(capped(), &["ash"]).await;
    let answer = bed.poll(&fleet.machines[0]).await;
    assert_eq!(answer, json!({"assignment": null, "cancel": false, "poll_after_seconds": POLL_AFTER}));
    bed.stop().await;
}

#[tokio::test]
async fn agents_speak_for_machines_that_exist_and_are_theirs() {
    let bed = Bed::start().await;
    let fleet = bed.fleet(capped(), &["ash"]).await;
    let stranger = uuid::Uuid::new_v4().to_string();
    bed.agent(&stranger, "GET", "/api/agent/assignment", Value::Null).await.expect(404);
    let told = bed.agent("ash", "GET", "/api/agent/assignment", Value::Null).await.expect(422);
    assert_eq!(told.text("field"), "x-machine");
    let unnamed = bed.request(Method::GET, "/api/agent/assignment").bearer_auth(bed.token(TokenRole::Agent));
    tell(unnamed.send().await.unwrap()).await.expect(400);
    for path in ["wait=26", "wait=x", "have=v1:1", "patience=1"] {
        let path = format!("/api/agent/assignment?{path}");
        bed.agent(&fleet.machines[0], "GET", &path, Value::Null).await.expect(422);
    }
    let other = bed.request(Method::GET, "/api/agent/assignment").bearer_auth(bed.keys.of("other", TokenRole::Agent));
    tell(other.header("x-machine", &fleet.machines[0]).send().await.unwrap()).await.expect(404);
    bed.stop().await;
}

#[tokio::test]
async fn nobody_is_told_the_head_of_a_poll_alone_and_no_slot_is_granted_by_it() {
    // R18
    let bed = Bed::start().await;
    let fleet = bed.fleet(capped(), &["ash"]).await;
    let release = bed.release("v1").await;
    let rollout = bed.roll(&release).await;
    bed.until(&rollout, "the environment opens", |s| s["current_environment"] == "oak").await;
    let told = bed.agent(&fleet.machines[0], "HEAD", "/api/agent/assignment", Value::Null).await.expect(405);
    assert_eq!(told.headers["allow"], "GET");
    assert_eq!(bed.status(&rollout).await["holding_slots"], 0);
    assert!(!bed.poll(&fleet.machines[0]).await["assignment"].is_null(), "there was something to grant");
    let told = bed.call("HEAD", "/api/changes", Value::Null).await.expect(405);
    assert_eq!(told.headers["allow"], "GET");
    bed.call("HEAD", "/api/world", Value::Null).await.expect(200);
    bed.stop().await;
}

#[tokio::test]
async fn a_token_that_is_bound_speaks_for_its_machine_and_no_other() {
    let bed = Bed::start().await;
    let fleet = bed.fleet(capped(), &["ash", "birch"]).await;
    let [ash, birch] = fleet.machines.as_slice() else { panic!("two machines") };
    let mut bound = NewToken::make("node-ash", TokenRole::Agent, "default");
    bound.entry.machine = Some(MachineId(ash.parse().unwrap()));
    bed.listed.send_replace(Arc::new(bed.keys.and(std::slice::from_ref(&bound))));
    let poll = async |named: Option<&str>| {
        let request = bed.request(Method::GET, "/api/agent/assignment").bearer_auth(&bound.secret);
        let request = named.into_iter().fold(request, |request, named| request.header("x-machine", named));
        tell(request.send().await.unwrap()).await
    };
    let seen =
        async |machine: &str| bed.get(&format!("/api/provisioning/machines/{machine}")).await["last_seen_at"].clone();
    assert_eq!(poll(Some(birch)).await.expect(403).text("code"), "forbidden");
    assert_eq!((seen(ash).await, seen(birch).await), (Value::Null, Value::Null), "that was no sign of life");
    poll(None).await.expect(200);
    assert!(!seen(ash).await.is_null() && seen(birch).await.is_null(), "it need not say whose it is");
    poll(Some(ash)).await.expect(200);
    bed.stop().await;
}

#[tokio::test]
async fn a_rebuild_is_heard_and_a_result_is_kept_within_its_limits() {
    // R152
    let bed = Bed::start().await;
    let fleet = bed.fleet(capped(), &["ash"]).await;
    let release = bed.release("v1").await;
    let rollout = bed.roll(&release).await;
    let ash = &fleet.machines[0];
    let told = bed.agent(ash, "POST", "/api/agent/rebuilt", json!({"baked_version": "1.30.2"})).await;
    assert_eq!(told.expect(200).body, json!({"filed": true}));
    let machine = bed.get(&format!("/api/provisioning/machines/{ash}")).await;
    assert_eq!(machine["version"], "1.30.2");
    let report = json!({"release_uuid": release, "generation": 0, "outcome": "failed",
        "started_at": "2026-07-01T10:00:00Z", "finished_at": "2026-07-01T10:01:00Z",
        "failed_states": vec![json!({"id": "x".repeat(5_000)}); 110], "log_tail": "é".repeat(60_000)});
    bed.agent(ash, "POST", "/api/agent/apply-results", report).await.expect(200);
    let kept = bed.get(&format!("/api/config/rollouts/{rollout}/apply-results")).await[0].clone();
    assert_eq!(kept["log_tail"].as_str().unwrap().len(), 64 * 1024);
    assert!(kept["failed_states"].as_array().unwrap().len() <= 100);
    assert_eq!(kept["hostname"], "ash");
    let wrong = json!({"release_uuid": release, "generation": 0, "outcome": "fine",
        "started_at": "2026-07-01T10:00:00Z", "finished_at": "2026-07-01T10:01:00Z"});
    let told = bed.agent(ash, "POST", "/api/agent/apply-results", wrong).await.expect(422);
    assert_eq!(told.text("field"), "outcome");
    bed.stop().await;
}
