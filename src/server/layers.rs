//! What goes around every route: a request id, who asks, the revision of the answer, the count of it.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::http::HeaderValue;
use axum::http::header::CACHE_CONTROL;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::time::timeout;
use tracing::Instrument;
use uuid::Uuid;

use super::build::Builder;
use super::caller::Caller;
use super::endpoints::{Access, ENDPOINTS};
use super::failure::{Failure, sign};
use super::shared::Shared;
use super::unread::lend;
use crate::control::host::Host;
use crate::control::picture::Freshness;
use crate::domain::ids::AccountId;
use crate::wire::call::REVISION_HEADER;
use crate::wire::problem::{Problem, ProblemKind};

/// Tells one request from another in logs; echoed where the caller brings one along.
const REQUEST_ID_HEADER: &str = "x-request-id";

/// Until the journal has to be loaded for a request to be answered.
const READY_LIMIT: Duration = Duration::from_secs(10);

/// The longest request id that is taken over, in characters.
const REQUEST_ID_MAX: usize = 64;

/// Where agents ask and answer, all day long.
const AGENTS: &str = "/api/agent/";

/// The route of requests that match none.
const NO_ROUTE: &str = "(none)";

/// Goes around every request.
pub(super) async fn around<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    request: Request,
    next: Next,
) -> Response {
    let id = request_id(&request);
    let method = request.method().as_str().to_owned();
    let route = request.extensions().get::<MatchedPath>().map_or(NO_ROUTE, MatchedPath::as_str).to_owned();
    let began = shared.steady();
    let (request, unread) = lend(request);
    let tokens = Arc::clone(&shared.setup.tokens.borrow());
    let asked = Caller::of(request.headers(), &tokens);
    let caller = asked.as_ref().ok().cloned().flatten();
    let mut response = match admitted(&shared, asked, &route).await {
        Err(problem) => {
            drop(request);
            Failure(problem).into_response()
        }
        Ok(()) => {
            let span = tracing::info_span!("request", %id, %method, %route);
            next.run(known(request, caller.as_ref())).instrument(span).await
        }
    };
    let took = Duration::try_from(shared.steady().duration_since(began)).unwrap_or_default();
    let status = response.status().as_u16();
    shared.metrics.answered(&route, &method, status, took);
    let by = caller.as_ref().map_or("", |caller| &caller.name);
    note(&Answered { id: &id, method: &method, route: &route, status, by, took });
    sign(&mut response, &id);
    stamp(&shared, &mut response, &id, caller.as_ref().map(|caller| caller.account));
    unread.settle(&mut response).await;
    response
}

/// The same request, with who asks.
fn known(mut request: Request, caller: Option<&Caller>) -> Request {
    if let Some(caller) = caller {
        request.extensions_mut().insert(caller.clone());
    }
    request
}

/// Lets in whoever asks. Nobody with an account gets further before its journal is loaded: an empty world would be a
/// lie. What is open to everybody depends on neither a journal nor a rate, whoever asks for it.
async fn admitted<H: Host, B: Builder>(
    shared: &Shared<H, B>,
    asked: Result<Option<Caller>, Problem>,
    route: &str,
) -> Result<(), Problem> {
    let Some(caller) = asked? else { return Ok(()) };
    if is_open(route) {
        return Ok(());
    }
    let account = shared.account(caller.account)?;
    let door = &account.service.door;
    let unavailable = |code, message: &str| Problem::new(ProblemKind::Unavailable, code, message);
    let ready = timeout(READY_LIMIT, door.ready()).await;
    let ready = ready.map_err(|_| unavailable("loading", "the journal is still being loaded"))?;
    ready.map_err(|_| unavailable("stopping", "the control plane is stopping"))?;
    // Late, since only now it is known which machines there are.
    let world = door.world();
    shared.setup.rates.take(&caller, |machine| world.machines.contains_key(&machine), shared.steady())
}

fn is_open(route: &str) -> bool {
    ENDPOINTS.iter().any(|endpoint| endpoint.path == route && endpoint.access == Access::Open)
}

/// What a log says about an answer.
struct Answered<'a> {
    id: &'a str,
    method: &'a str,
    route: &'a str,
    status: u16,
    by: &'a str,
    took: Duration,
}

/// Our own failures are for everybody to see, what people did is worth a line, the rest is for those who look closely.
fn note(answered: &Answered<'_>) {
    let Answered { id, method, route, status, by, took } = *answered;
    let milliseconds = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let is_deed = method != "GET" && !route.starts_with(AGENTS);
    match status {
        500.. => tracing::warn!(%id, %method, %route, status, by, milliseconds, "failed"),
        _ if is_deed => tracing::info!(%id, %method, %route, status, by, milliseconds, "answered"),
        _ => tracing::debug!(%id, %method, %route, status, by, milliseconds, "answered"),
    }
}

/// Says which request is answered; and to whoever has an account, from which revision of it. What is told there is for
/// nobody else, so that nothing on the way may keep it.
fn stamp<H: Host, B: Builder>(shared: &Shared<H, B>, response: &mut Response, id: &str, account: Option<AccountId>) {
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(REQUEST_ID_HEADER, id);
    }
    let Some(account) = account else { return };
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let published = shared.account(account).ok().map(|account| account.service.door.published().borrow().clone());
    // Before it is loaded it has no revision.
    if let Some(published) = published.filter(|published| !matches!(published.journal, Freshness::Connecting)) {
        headers.insert(REVISION_HEADER, HeaderValue::from(published.world.revision));
    }
}

/// The caller's own id where it is fit for a log, else a new one.
fn request_id(request: &Request) -> String {
    let brought = request.headers().get(REQUEST_ID_HEADER).and_then(|value| value.to_str().ok());
    let is_fit = |id: &&str| (1..=REQUEST_ID_MAX).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic());
    brought.filter(is_fit).map_or_else(|| Uuid::new_v4().simple().to_string(), str::to_owned)
}
