//! A lost answer hurts nobody: the same request under the same key is done once, whoever hears it the second time.

use std::path::Path;
use std::sync::Arc;

use kura_console::adapters::clock::SystemClock;
use kura_console::app::host::ServerHost;
use kura_console::control::host::Host;
use kura_console::wire::call::KEY_MAX;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::bed::{Bed, Keys, OWNER, Told, row, tell, within};

async fn serve(path: &Path, name: &str, keys: &Keys) -> Bed<ServerHost> {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let host = ServerHost::without_cluster(path, SystemClock::start(), name.to_owned()).await.expect("a host");
    Bed::on(listener, Arc::new(host), keys.clone())
}

async fn keyed<H: Host>(bed: &Bed<H>, method: Method, path: &str, key: &str, body: &Value) -> Told {
    let request = bed.request(method, path).bearer_auth(bed.token(OWNER)).header("idempotency-key", key);
    tell(request.json(body).send().await.expect("an answer")).await
}

/// Passes one request on, waits until it was answered, and hangs up without a word: lost after the commit.
async fn lossy(target: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let target = target.trim_start_matches("http://").to_owned();
    tokio::spawn(async move {
        let (mut near, _) = listener.accept().await.unwrap();
        let mut far = TcpStream::connect(target).await.unwrap();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            tokio::select! {
                read = near.read(&mut buffer) => {
                    let read = read.unwrap_or(0);
                    if read == 0 || far.write_all(&buffer[..read]).await.is_err() {
                        return;
                    }
                }
                _ = far.readable() => return,
            }
        }
    });
    url
}

#[tokio::test]
async fn a_start_whose_answer_is_lost_and_that_is_tried_again_resets_nothing() {
    // A06, R93
    let folder = tempfile::tempdir().unwrap();
    let (path, keys) = (folder.path().join("kura.db"), Keys::make());
    let bed = serve(&path, "serve@a:1", &keys).await;
    let ring = json!({"name": "pine-cp", "max_in_flight": 1, "min_settle_seconds": 300, "stall_timeout_seconds": 5400,
                      "failure_count_threshold": 1});
    bed.fleet(ring, &["ash", "birch"]).await;
    let release = bed.release("v5").await;
    let start = json!({"config_release_uuid": release, "protected": true});

    let url = lossy(&bed.url).await;
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let lost = http.post(format!("{url}/api/config/rollouts/")).bearer_auth(bed.token(OWNER));
    let lost = lost.header("idempotency-key", "start-1").json(&start).send().await;
    assert!(lost.is_err(), "the answer is lost: {lost:?}");
    let rollouts = bed.get("/api/config/rollouts/").await;
    let rollout = rollouts[0]["uuid"].as_str().expect("it was committed").to_owned();
    let status = bed.until(&rollout, "the environment opens", |s| s["current_environment"] == "oak").await;
    let ash = status["machines"][0]["uuid"].as_str().unwrap().to_owned();
    assert_ne!(bed.poll(&ash).await["assignment"], Value::Null);
    let held = row(&bed.status(&rollout).await, &ash)["held_since"].clone();

    // The client's library tries again by itself; then again after a restart, and at another server.
    let again = keyed(&bed, Method::POST, "/api/config/rollouts/", "start-1", &start).await.expect(201);
    assert_eq!((again.headers["idempotent-replayed"].as_bytes(), again.text("uuid")), (b"true".as_slice(), &*rollout));
    bed.host.close().await;
    bed.stop().await;
    let (one, two) = (serve(&path, "serve@a:2", &keys).await, serve(&path, "serve@b:1", &keys).await);
    for bed in [&one, &two] {
        let again = keyed(bed, Method::POST, "/api/config/rollouts/", "start-1", &start).await.expect(201);
        assert_eq!(again.headers["idempotent-replayed"], "true");
        assert_eq!(again.text("uuid"), rollout);
        assert_eq!(bed.get("/api/config/rollouts/").await.as_array().unwrap().len(), 1);
        let status = bed.status(&rollout).await;
        assert_eq!(row(&status, &ash)["held_since"], held, "the lease is untouched");
        assert_eq!(bed.get(&format!("/api/config/rollouts/{rollout}")).await["reset_at"], Value::Null);
    }
    // Another body under the same key is somebody's mistake, and does nothing.
    let other = json!({"config_release_uuid": release, "protected": false});
    let reused = keyed(&two, Method::POST, "/api/config/rollouts/", "start-1", &other).await.expect(422);
    assert_eq!(reused.text("code"), "key_reused");
    // What reset means is said with a plan, and with a key of its own it is done.
    let plan = keyed(&one, Method::POST, "/api/config/rollouts/?dry_run=true", "x", &start).await.expect(200);
    assert_eq!(plan.body["leases_ended"][0]["uuid"], ash.as_str());
    assert_eq!(
        keyed(&one, Method::POST, "/api/config/rollouts/", "reset-1", &start).await.expect(200).text("uuid"),
        rollout
    );
    one.stop().await;
    two.stop().await;
}

#[tokio::test]
async fn two_servers_that_hear_the_same_request_at_once_do_it_once() {
    let folder = tempfile::tempdir().unwrap();
    let (path, keys) = (folder.path().join("kura.db"), Keys::make());
    let (one, two) = (serve(&path, "serve@a:1", &keys).await, serve(&path, "serve@b:1", &keys).await);
    for n in 0..5 {
        let (key, body) = (format!("key-{n}"), json!({"slug": format!("e{n}")}));
        let environments = "/api/config/environments/";
        let (a, b) = tokio::join!(
            keyed(&one, Method::POST, environments, &key, &body),
            keyed(&two, Method::POST, environments, &key, &body)
        );
        let (a, b) = (a.expect(201), b.expect(201));
        assert_eq!(a.body, b.body, "one environment, told twice");
        let replayed = [&a, &b].iter().filter(|told| told.headers.contains_key("idempotent-replayed")).count();
        assert_eq!(replayed, 1);
    }
    let seen = within(async {
        while one.get("/api/config/environments/").await.as_array().unwrap().len() < 5 {
            tokio::task::yield_now().await;
        }
    });
    assert!(seen.await.is_some());
    one.stop().await;
    two.stop().await;
}

#[tokio::test]
async fn a_key_is_short_printable_and_one_persons_own() {
    let bed = Bed::start().await;
    let environments = "/api/config/environments/";
    for wrong in ["", "two words", &"k".repeat(KEY_MAX + 1)] {
        let told = keyed(&bed, Method::POST, environments, wrong, &json!({"slug": "oak"})).await.expect(422);
        assert_eq!(told.text("field"), "idempotency-key");
    }
    let longest = "k".repeat(KEY_MAX);
    keyed(&bed, Method::POST, environments, &longest, &json!({"slug": "oak"})).await.expect(201);
    let operator = bed.request(Method::POST, environments);
    let operator = operator.bearer_auth(bed.token(kura_console::server::tokens::TokenRole::Operator));
    let operator = operator.header("idempotency-key", &longest).json(&json!({"slug": "elm"}));
    tell(operator.send().await.unwrap()).await.expect(201);
    let reused = keyed(&bed, Method::POST, environments, &longest, &json!({"slug": "ash"})).await.expect(422);
    assert_eq!(reused.text("code"), "key_reused");
    // A dry run uses no key up.
    let dry = format!("{environments}?dry_run=true");
    keyed(&bed, Method::POST, &dry, "fresh", &json!({"slug": "fir"})).await.expect(200);
    keyed(&bed, Method::POST, environments, "fresh", &json!({"slug": "pine"})).await.expect(201);
    bed.stop().await;
}

#[tokio::test]
async fn what_was_done_is_told_again_also_when_it_is_gone_since() {
    let bed = Bed::start().await;
    let (machines, body) = ("/api/provisioning/machines/", json!({"hostname": "ash"}));
    let ash = keyed(&bed, Method::POST, machines, "add", &body).await.expect(201).text("uuid").to_owned();
    keyed(&bed, Method::DELETE, &format!("{machines}{ash}"), "remove", &json!({})).await.expect(204);
    let again = keyed(&bed, Method::POST, machines, "add", &body).await.expect(201);
    assert_eq!(again.headers["idempotent-replayed"], "true");
    assert_eq!(again.body, json!({"uuid": ash, "gone": true}));
    assert_eq!(bed.get(machines).await, json!([]), "nothing was added again");
    bed.stop().await;
}
