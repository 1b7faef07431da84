//! A small control plane of the runbook: what its curl lines ask for, in the shapes it shows, and nothing else.

use std::collections::VecDeque;
use std::future::pending;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// What the stub knows of the two tiers, the window's own names.
pub(super) const ROLLOUT: &str = "10000000-0000-4000-8000-000000000001";
pub(super) const RELEASE: &str = "20000000-0000-4000-8000-000000000001";
pub(super) const RING: &str = "30000000-0000-4000-8000-000000000001";
pub(super) const ENVIRONMENT: &str = "40000000-0000-4000-8000-000000000001";
pub(super) const ASH: &str = "50000000-0000-4000-8000-000000000001";
pub(super) const BIRCH: &str = "50000000-0000-4000-8000-000000000002";
pub(super) const CEDAR: &str = "50000000-0000-4000-8000-000000000003";

/// How much it has of what the runbook only implies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// What the runbook's own requests show, and no list at all.
    Shown,
    /// Environments and rings can be listed too.
    Listed,
}

/// What it does to the next order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mishap {
    /// It is carried out; its answer never comes.
    AnswerLost,
    /// It is not carried out, and no answer comes.
    OrderLost,
}

/// A request that changed something, or was to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Asked {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
}

#[derive(Debug)]
struct Plane {
    extent: Extent,
    account: Value,
    status: Value,
    /// Of the ring, the environment: held or not.
    held: [bool; 2],
    asked: Vec<Asked>,
    reads: usize,
    mishaps: VecDeque<Mishap>,
}

/// The stub as a test holds it; it ends with the process.
#[derive(Debug, Clone)]
pub(super) struct Stub {
    plane: Arc<Mutex<Plane>>,
    url: String,
}

fn row(name: &str, uuid: &str, bucket: u8, state: &str) -> Value {
    json!({"hostname": name, "uuid": uuid, "environment": "pine-cp", "ring": "pine-cp", "bucket": bucket,
           "eligible": true, "state": state, "holds_slot": false, "queue_position": null})
}

/// ash holds the slot, birch and cedar wait.
fn status() -> Value {
    let mut ash = row("ash", ASH, 10, "pending");
    ash["holds_slot"] = json!(true);
    let (mut birch, mut cedar) = (row("birch", BIRCH, 20, "queued"), row("cedar", CEDAR, 30, "queued"));
    (birch["queue_position"], cedar["queue_position"]) = (json!(1), json!(2));
    json!({"machines": [ash, birch, cedar], "halted_rings": {}, "stall_reason": null, "holding_slots": 1,
           "settling": 0, "blocking": {"paused": 0}})
}

impl Stub {
    pub(super) fn start(extent: Extent) -> Self {
        let plane = Plane {
            extent,
            account: json!({"auto_deploy": false, "track_config_tags": false}),
            status: status(),
            held: [false; 2],
            asked: Vec::new(),
            reads: 0,
            mishaps: VecDeque::new(),
        };
        let plane = Arc::new(Mutex::new(plane));
        let url = serve(Router::new().fallback(answer).with_state(Arc::clone(&plane)));
        Self { plane, url }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    fn plane(&self) -> std::sync::MutexGuard<'_, Plane> {
        self.plane.lock().unwrap()
    }

    /// What it was asked to change, oldest first.
    pub(super) fn asked(&self) -> Vec<Asked> {
        self.plane().asked.clone()
    }

    /// How often its status was read.
    pub(super) fn reads(&self) -> usize {
        self.plane().reads
    }

    pub(super) fn next(&self, mishap: Mishap) {
        self.plane().mishaps.push_back(mishap);
    }

    pub(super) fn tell(&self, change: impl FnOnce(&mut Value)) {
        change(&mut self.plane().status);
    }
}

/// Something that answers every request with a page, as the port of another program does.
pub(super) fn stranger() -> String {
    serve(Router::new().fallback(async || ([("content-type", "text/html")], "<html>It works!</html>")))
}

/// Something on which there is nothing.
pub(super) fn desert() -> String {
    serve(Router::new())
}

/// Serves on a thread of its own, and returns the address.
fn serve(router: Router) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            axum::serve(listener, router).await.unwrap();
        });
    });
    url
}

async fn answer(
    State(plane): State<Arc<Mutex<Plane>>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if headers.get("authorization").is_none_or(|value| value != "Bearer k_test") {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let path = uri.path().to_owned();
    if method == Method::GET {
        return read(&mut plane.lock().unwrap(), &path);
    }
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let asked = Asked { method, path: uri.to_string(), headers, body };
    let (answer, silent) = {
        let mut plane = plane.lock().unwrap();
        plane.asked.push(asked.clone());
        let mishap = plane.mishaps.pop_front();
        let answer = if mishap == Some(Mishap::OrderLost) { None } else { Some(carry_out(&mut plane, &asked)) };
        (answer, mishap.is_some())
    };
    match answer.filter(|_| !silent) {
        Some(answer) => answer,
        // The connection is dropped in the middle of the answer.
        None => Response::builder()
            .header("content-length", "100")
            .body(Body::from_stream(futures_util::stream::once(async {
                Err::<Bytes, _>(std::io::Error::other("the connection is gone"))
            })))
            .unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response()),
    }
}

fn read(plane: &mut Plane, path: &str) -> Response {
    let listed = plane.extent == Extent::Listed;
    match path {
        "/api/config/account" => axum::Json(plane.account.clone()).into_response(),
        "/api/config/environments/" if listed => {
            let body = json!([{"uuid": ENVIRONMENT, "slug": "pine-cp", "name": "pine-cp", "promotion_order": 10,
                               "config_values": {}, "paused": plane.held[1]}]);
            axum::Json(body).into_response()
        }
        "/api/config/rings/" if listed => {
            let body = json!([{"uuid": RING, "slug": "pine-cp", "name": "pine-cp", "failure_count_threshold": 1,
                               "wave_ladder": [{"after_seconds": 0, "pct": 100}], "max_in_flight": 1,
                               "min_settle_seconds": 300, "stall_timeout_seconds": 5400, "paused": plane.held[0]}]);
            axum::Json(body).into_response()
        }
        _ if path == format!("/api/config/rollouts/{ROLLOUT}/status") => {
            plane.reads += 1;
            axum::Json(plane.status.clone()).into_response()
        }
        _ if path == format!("/api/config/rollouts/{ROLLOUT}/apply-results") => {
            let failed = json!({"id": "k8s_drain", "name": "drain", "comment": "a PodDisruptionBudget blocks it"});
            axum::Json(json!([{"outcome": "failed", "failed_states": [failed]}])).into_response()
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

fn carry_out(plane: &mut Plane, asked: &Asked) -> Response {
    let machine = |uuid: &str, word: &str| format!("/api/provisioning/machines/{uuid}/config-{word}");
    let path = asked.path.as_str();
    let done = || axum::Json(json!({})).into_response();
    for (n, uuid) in [ASH, BIRCH, CEDAR].into_iter().enumerate() {
        let row = &mut plane.status["machines"][n];
        if path == machine(uuid, "pause") {
            (row["state"], row["holds_slot"], row["queue_position"]) = (json!("paused"), json!(false), Value::Null);
            return done();
        }
        if path == machine(uuid, "unpause") {
            row["state"] = json!("queued");
            return done();
        }
    }
    if path == format!("/api/config/rings/{RING}/pause") {
        plane.held[0] = true;
        return done();
    }
    if path == format!("/api/config/environments/{ENVIRONMENT}/pause") {
        plane.held[1] = true;
        return done();
    }
    if path == format!("/api/config/rollouts/{ROLLOUT}/halt") {
        plane.status["stall_reason"] = json!("the rollout was halted by an operator");
        return done();
    }
    if path == "/api/config/rollouts/" {
        plane.status = status();
        return (StatusCode::CREATED, axum::Json(json!({"uuid": ROLLOUT}))).into_response();
    }
    if path == "/api/config/account" {
        for (name, value) in asked.body.as_object().into_iter().flatten() {
            plane.account[name] = value.clone();
        }
        return axum::Json(plane.account.clone()).into_response();
    }
    StatusCode::NOT_FOUND.into_response()
}

/// Never answers, and keeps the connection: a control plane that hangs.
pub(super) fn silence() -> String {
    serve(Router::new().fallback(async || pending::<StatusCode>().await))
}
