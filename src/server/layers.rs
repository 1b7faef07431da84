//! What goes around every route: a request id, who asks, the revision of the answer, the count of it.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::time::timeout;
use tracing::Instrument;
use uuid::Uuid;

use super::build::Builder;
use super::caller::Caller;
use super::failure::{Failure, sign};
use super::shared::Shared;
use crate::control::host::Host;
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
    mut request: Request,
    next: Next,
) -> Response {
    let id = request_id(&request);
    let method = request.method().as_str().to_owned();
    let route = request.extensions().get::<MatchedPath>().map_or(NO_ROUTE, MatchedPath::as_str).to_owned();
    let began = shared.now();
    let (mut response, caller) = match known(&shared, request.headers()).await {
        Err(problem) => (Failure(problem).into_response(), None),
        Ok(caller) => {
            let known = caller.as_ref().map(|caller| (caller.account, Arc::clone(&caller.name)));
            if let Some(caller) = caller {
                request.extensions_mut().insert(caller);
            }
            let span = tracing::info_span!("request", %id, %method, %route);
            (next.run(request).instrument(span).await, known)
        }
    };
    let took = Duration::try_from(shared.now().duration_since(began)).unwrap_or_default();
    let status = response.status().as_u16();
    shared.metrics.answered(&route, &method, status, took);
    let by = caller.as_ref().map_or("", |(_, name)| name);
    note(&Answered { id: &id, method: &method, route: &route, status, by, took });
    sign(&mut response, &id);
    stamp(&shared, &mut response, &id, caller.as_ref().map(|(account, _)| *account));
    response
}

/// Who asks. Nobody with an account gets further before its journal is loaded: an empty world would be a lie.
async fn known<H: Host, B: Builder>(shared: &Shared<H, B>, headers: &HeaderMap) -> Result<Option<Caller>, Problem> {
    let tokens = Arc::clone(&shared.setup.tokens.borrow());
    let caller = Caller::of(headers, &tokens)?;
    if let Some(caller) = &caller {
        shared.setup.rates.take(caller, shared.now())?;
        let account = shared.account(caller.account)?;
        let door = &account.service.door;
        let unavailable = |code, message: &str| Problem::new(ProblemKind::Unavailable, code, message);
        let ready = timeout(READY_LIMIT, door.ready()).await;
        let ready = ready.map_err(|_| unavailable("loading", "the journal is still being loaded"))?;
        ready.map_err(|_| unavailable("stopping", "the control plane is stopping"))?;
    }
    Ok(caller)
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

fn stamp<H: Host, B: Builder>(shared: &Shared<H, B>, response: &mut Response, id: &str, account: Option<AccountId>) {
    if let Ok(id) = HeaderValue::from_str(id) {
        response.headers_mut().insert(REQUEST_ID_HEADER, id);
    }
    if let Some(account) = account.and_then(|account| shared.account(account).ok()) {
        let revision = account.service.door.world().revision;
        response.headers_mut().insert(REVISION_HEADER, HeaderValue::from(revision));
    }
}

/// The caller's own id where it is fit for a log, else a new one.
fn request_id(request: &Request) -> String {
    let brought = request.headers().get(REQUEST_ID_HEADER).and_then(|value| value.to_str().ok());
    let is_fit = |id: &&str| (1..=REQUEST_ID_MAX).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic());
    brought.filter(is_fit).map_or_else(|| Uuid::new_v4().simple().to_string(), str::to_owned)
}
