//! What the process says about itself: ready, version, seat, metrics.

use std::sync::Arc;

use kura_console::server::tokens::TokenRole;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::bed::{Bed, Keys, MemoryHost, TICK, within};
use kura_console::control::ports::Clock;

#[tokio::test]
async fn it_is_ready_once_the_journal_is_loaded_and_the_seat_ticks() {
    let bed = Bed::start().await;
    let ready = within(async {
        loop {
            let told = super::bed::tell(bed.request(Method::GET, "/readyz").send().await.unwrap()).await;
            if told.status == 200 && told.body["accounts"][0]["holds_seat"] == true {
                return told.body;
            }
            bed.host.clock.sleep(TICK).await;
        }
    });
    let ready = ready.await.expect("it becomes ready");
    assert_eq!(ready["accounts"][0]["journal"], "live");
    assert_eq!(ready["accounts"].as_array().unwrap().len(), 2);
    let alive = bed.request(Method::GET, "/healthz").send().await.unwrap();
    assert_eq!(alive.text().await.unwrap(), "ok\n");
    let seat = bed.call_as(TokenRole::Viewer, "GET", "/api/seat", Value::Null).await.expect(200);
    assert_eq!((seat.text("holder"), &seat.body["epoch"]), ("serve@test:1", &json!(1)));
    let version = bed.call_as(TokenRole::Agent, "GET", "/api/version", Value::Null).await.expect(200);
    assert_eq!((version.text("version"), version.text("journal_kind")), (env!("CARGO_PKG_VERSION"), "memory"));
    bed.stop().await;
}

#[tokio::test]
async fn nobody_is_shown_an_empty_world_before_the_journal_is_loaded() {
    let first = Bed::start().await;
    first.post("/api/config/environments/", json!({"slug": "oak"})).await.expect(201);
    let (host, keys) = (Arc::clone(&first.host), first.keys.clone());
    first.stop().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (mut bed, loops) = Bed::asleep(listener, host, keys);
    let ready = super::bed::tell(bed.request(Method::GET, "/readyz").send().await.unwrap()).await.expect(503);
    assert_eq!(ready.body["accounts"][0]["journal"], "loading");
    let early = bed.request(Method::GET, "/api/config/environments/").bearer_auth(bed.token(TokenRole::Viewer)).send();
    let early = tokio::spawn(early);
    bed.wake(loops);
    let told = super::bed::tell(early.await.unwrap().unwrap()).await.expect(200);
    assert_eq!(told.body[0]["slug"], "oak");
    bed.stop().await;
}

#[tokio::test]
async fn what_is_open_to_everybody_waits_for_no_journal_whoever_asks() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (bed, loops) = Bed::asleep(listener, Arc::<MemoryHost>::default(), Keys::make());
    for (path, status) in [("/healthz", 200), ("/readyz", 503), ("/metrics", 200), ("/api/openapi.json", 200)] {
        let asked = bed.request(Method::GET, path).bearer_auth(bed.token(TokenRole::Viewer)).send();
        let told = tokio::time::timeout(std::time::Duration::from_secs(5), asked).await;
        let told = told.unwrap_or_else(|_| panic!("{path} waits for the journal")).unwrap();
        assert_eq!(told.status(), status, "{path}");
        assert!(!told.headers().contains_key("x-revision"), "{path}: there is none yet");
    }
    drop(loops);
    bed.stop().await;
}

#[tokio::test]
async fn methods_that_are_made_up_make_no_series() {
    let bed = Bed::start().await;
    for method in ["PURGE", "X1", "X2"] {
        bed.call(method, "/healthz", Value::Null).await.expect(405);
    }
    let metrics = bed.request(Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
    let counted = r#"kura_http_requests_total{route="/healthz",method="other",status="405"} 3"#;
    assert!(metrics.lines().any(|line| line == counted), "{metrics}");
    assert!(!metrics.contains("PURGE") && !metrics.contains("X1"));
    bed.stop().await;
}

#[tokio::test]
async fn metrics_count_requests_by_route_and_show_how_the_account_stands() {
    let bed = Bed::start().await;
    let fleet = bed.fleet(json!({"name": "oak-ring", "max_in_flight": 1}), &["ash", "birch"]).await;
    let release = bed.release("v1").await;
    let rollout = bed.roll(&release).await;
    bed.until(&rollout, "the environment opens", |s| s["current_environment"] == "oak").await;
    for machine in &fleet.machines {
        bed.poll(machine).await;
    }
    let metrics = bed.request(Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
    let lane = r#"account="default",environment="oak",ring="oak-ring""#;
    for line in [
        r#"kura_rollouts_running{account="default"} 1"#.to_owned(),
        format!("kura_slot_holders{{{lane}}} 1"),
        format!("kura_queue_length{{{lane}}} 1"),
        r#"kura_rings_halted{account="default"} 0"#.to_owned(),
        r#"kura_http_requests_total{route="/api/provisioning/machines/",method="POST",status="201"} 2"#.to_owned(),
        r#"kura_http_requests_total{route="/api/agent/assignment",method="GET",status="200"} 2"#.to_owned(),
    ] {
        assert!(metrics.lines().any(|l| l == line), "no {line} in\n{metrics}");
    }
    assert!(metrics.contains("kura_turn_seconds_bucket") && metrics.contains("kura_commit_entries_sum"));
    assert!(metrics.ends_with("# EOF\n"));
    assert!(!metrics.contains(&fleet.machines[0]), "uuids make no series");
    bed.post(&format!("/api/config/rollouts/{rollout}/halt"), Value::Null).await.expect(200);
    let metrics = bed.request(Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
    assert!(!metrics.contains("kura_queue_length{"), "what is gone has no series any more");
    bed.stop().await;
}

#[tokio::test]
async fn a_request_id_that_is_fit_comes_back() {
    let bed = Bed::start().await;
    let ask = async |id: &str| {
        let request = bed.request(Method::GET, "/healthz").header("x-request-id", id);
        request.send().await.unwrap().headers()["x-request-id"].to_str().unwrap().to_owned()
    };
    assert_eq!(ask("abc-123").await, "abc-123");
    assert_ne!(ask(&"x".repeat(65)).await.len(), 65);
    bed.stop().await;
}

#[tokio::test]
async fn what_something_waits_for_is_explained() {
    let bed = Bed::start().await;
    let fleet = bed.fleet(json!({"name": "oak-ring", "max_in_flight": 1}), &["ash"]).await;
    let ask = async |body: Value| bed.call_as(TokenRole::Viewer, "POST", "/api/explain", body).await;
    let ring = ask(json!({"ring": fleet.ring})).await.expect(200);
    assert!(!ring.text("sentence").is_empty() && ring.body["next"].is_array());
    ask(json!({"machine": fleet.machines[0]})).await.expect(200);
    let account = bed.get("/api/config/account").await["uuid"].clone();
    ask(json!({"account": account})).await.expect(200);
    let new = json!({"tenant": "acme", "region": "eu"});
    let server = bed.post("/api/kura/servers/", new).await.expect(201).body["id"].clone();
    let said = ask(json!({ "server": server })).await.expect(200);
    assert!(said.text("sentence").starts_with("acme-eu is new"), "{:#}", said.body);
    ask(json!({"server": uuid::Uuid::nil()})).await.expect(404);
    ask(json!({"account": uuid::Uuid::nil()})).await.expect(422);
    ask(json!({"ring": uuid::Uuid::nil()})).await.expect(404);
    ask(json!({})).await.expect(422);
    ask(json!({"ring": fleet.ring, "machine": fleet.machines[0]})).await.expect(422);
    bed.stop().await;
}
