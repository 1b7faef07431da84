//! The control plane's end: serves what a test wants served, and shows what agents ask and tell.

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use kura_console::agent::store::digest_of;
use kura_console::domain::ids::ReleaseId;
use kura_console::domain::input::Edition;
use kura_console::domain::span::Seconds;
use kura_console::wire::agent::{
    APPLY_RESULTS_PATH, ASSIGNMENT_PATH, AssignmentBody, Filed, PollAnswer, REBUILT_PATH, RebuiltBody, ReportBody,
    parse_have,
};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// The longest a test waits for something that has to happen.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The one token this control plane knows.
pub const TOKEN: &str = "agent-token-4711";

/// Something an agent did.
#[derive(Debug, Clone, PartialEq)]
pub enum Call {
    Poll { have: Option<Edition>, wait: u64, machine: String },
    Report(ReportBody),
    Rebuilt(RebuiltBody),
}

struct Script {
    served: watch::Sender<Option<AssignmentBody>>,
    /// What posts are answered with instead of being taken, first come first served.
    rebuffs: Mutex<Vec<u16>>,
    calls: Mutex<Sender<Call>>,
}

pub struct Desk {
    pub address: SocketAddr,
    script: Arc<Script>,
    calls: Receiver<Call>,
    runtime: Option<Runtime>,
}

/// An assignment of a named release.
pub fn assignment(release: &str, generation: u64) -> AssignmentBody {
    let content = format!("states of {release}");
    AssignmentBody {
        release_uuid: ReleaseId::named(release),
        generation,
        timeout_seconds: Seconds(0),
        content_digest: digest_of(content.as_bytes()).0,
        content,
        rebuilds: 2,
    }
}

impl Desk {
    pub fn open() -> Self {
        let (calls, heard) = channel();
        let (served, _) = watch::channel(None);
        let script = Script { served, rebuffs: Mutex::default(), calls: Mutex::new(calls) };
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut desk = Self { address, script: Arc::new(script), calls: heard, runtime: None };
        desk.reopen();
        desk
    }

    /// Goes away with every connection.
    pub fn close(&mut self) {
        self.runtime.take().expect("an open desk").shutdown_timeout(Duration::from_secs(1));
    }

    /// Comes back at the same address.
    pub fn reopen(&mut self) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind(self.address)).expect("a port");
        self.address = listener.local_addr().expect("an address");
        let routes = Router::new()
            .route(ASSIGNMENT_PATH, get(poll))
            .route(APPLY_RESULTS_PATH, post(report))
            .route(REBUILT_PATH, post(rebuilt))
            .with_state(Arc::clone(&self.script));
        runtime.spawn(async move { axum::serve(listener, routes).await });
        self.runtime = Some(runtime);
    }

    pub fn serve(&self, assignment: impl Into<Option<AssignmentBody>>) {
        self.script.served.send_replace(assignment.into());
    }

    /// The next posts are answered with these instead.
    pub fn rebuff(&self, statuses: &[u16]) {
        self.script.rebuffs.lock().expect("the rebuffs").extend(statuses);
    }

    /// The next thing an agent did that `pick` wants; what came before it is forgotten.
    pub fn next<T>(&self, what: &str, pick: impl Fn(Call) -> Option<T>) -> T {
        loop {
            let call = self.calls.recv_timeout(PATIENCE);
            let call = call.unwrap_or_else(|_| panic!("{what} did not come within {PATIENCE:?}"));
            if let Some(found) = pick(call) {
                return found;
            }
        }
    }

    pub fn report(&self) -> ReportBody {
        self.next("a report", |call| if let Call::Report(report) = call { Some(report) } else { None })
    }

    /// Waits for a poll that says the machine has this.
    pub fn poll_with(&self, wanted: Option<&AssignmentBody>) {
        let wanted = wanted.map(AssignmentBody::edition);
        self.next("such a poll", |call| matches!(call, Call::Poll { have, .. } if have == wanted).then_some(()));
    }
}

impl Script {
    fn note(&self, call: Call) {
        let _ = self.calls.lock().expect("the calls").send(call);
    }

    fn rebuff(&self) -> Option<Response> {
        let mut rebuffs = self.rebuffs.lock().expect("the rebuffs");
        let status = (!rebuffs.is_empty()).then(|| rebuffs.remove(0))?;
        let status = StatusCode::from_u16(status).expect("a status");
        Some((status, r#"{"detail": "not this one"}"#).into_response())
    }
}

fn stranger(headers: &HeaderMap) -> Option<Response> {
    let known =
        headers.get("authorization").is_some_and(|value| value.as_bytes() == format!("Bearer {TOKEN}").as_bytes());
    (!known).then(|| (StatusCode::UNAUTHORIZED, r#"{"detail": "who are you?"}"#).into_response())
}

#[derive(serde::Deserialize)]
struct Asked {
    #[serde(default)]
    wait: u64,
    have: Option<String>,
}

async fn poll(State(script): State<Arc<Script>>, headers: HeaderMap, Query(asked): Query<Asked>) -> Response {
    if let Some(answer) = stranger(&headers) {
        return answer;
    }
    let have = asked.have.as_deref().and_then(parse_have);
    let machine = headers.get("x-machine").and_then(|m| m.to_str().ok()).unwrap_or_default().to_owned();
    script.note(Call::Poll { have, wait: asked.wait, machine });
    let mut served = script.served.subscribe();
    let differs = |served: &Option<AssignmentBody>| served.as_ref().map(AssignmentBody::edition) != have;
    let held = tokio::time::timeout(Duration::from_secs(asked.wait), served.wait_for(differs)).await;
    drop(held);
    let assignment = script.served.borrow().clone();
    let cancel = have.is_some() && differs(&assignment);
    Json(PollAnswer { assignment, cancel, poll_after_seconds: Seconds(10) }).into_response()
}

async fn report(State(script): State<Arc<Script>>, headers: HeaderMap, body: Bytes) -> Response {
    match (stranger(&headers).or_else(|| script.rebuff()), serde_json::from_slice(&body)) {
        (Some(answer), _) => answer,
        (None, Ok(report)) => {
            script.note(Call::Report(report));
            Json(Filed { filed: true }).into_response()
        }
        (None, Err(error)) => (StatusCode::UNPROCESSABLE_ENTITY, error.to_string()).into_response(),
    }
}

async fn rebuilt(State(script): State<Arc<Script>>, headers: HeaderMap, Json(body): Json<RebuiltBody>) -> Response {
    if let Some(answer) = stranger(&headers).or_else(|| script.rebuff()) {
        return answer;
    }
    script.note(Call::Rebuilt(body));
    Json(Filed { filed: true }).into_response()
}
