//! Everything that goes wrong leaves as `application/problem+json`.

use axum::http::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};

use super::endpoints::ENDPOINTS;
use crate::control::desk::DeskError;
use crate::control::door::DoorError;
use crate::control::past::reading::PastError;
use crate::control::ports::JournalError;
use crate::domain::refusal::Refusal;
use crate::wire::agent::ASSIGNMENT_PATH;
use crate::wire::problem::{Problem, ProblemBody, ProblemKind};
use crate::wire::stream::PATH as CHANGES_PATH;

/// A problem on its way out.
#[derive(Debug)]
pub struct Failure(pub Problem);

/// What a route returns.
pub type Answer<T = Response> = Result<T, Failure>;

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self(refusal.into())
    }
}

impl From<DoorError> for Failure {
    fn from(error: DoorError) -> Self {
        Self(error.into())
    }
}

impl From<DeskError> for Failure {
    fn from(error: DeskError) -> Self {
        Self(error.into())
    }
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        Self(error.into())
    }
}

impl From<PastError> for Failure {
    fn from(error: PastError) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let body = self.0.clone().advised().body();
        let status = StatusCode::from_u16(body.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let text = serde_json::to_string(&body).unwrap_or_default();
        let mut response = (status, [(CONTENT_TYPE, "application/problem+json")], text).into_response();
        if let Some(seconds) = self.0.retry_after() {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.0.kind == ProblemKind::Unauthenticated {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(Written(body));
        response
    }
}

/// The body of a problem, kept beside the response until the request it answers is known by name.
#[derive(Debug, Clone)]
struct Written(ProblemBody);

/// Writes into a problem which request it answers; any other response stays as it is.
pub(super) fn sign(response: &mut Response, request_id: &str) {
    let Some(Written(body)) = response.extensions_mut().remove() else { return };
    let body = ProblemBody { request_id: Some(request_id.to_owned()), ..body };
    *response.body_mut() = serde_json::to_string(&body).unwrap_or_default().into();
    response.headers_mut().remove(CONTENT_LENGTH);
}

/// No such route; where one is near, it is named.
pub(super) async fn no_route(uri: Uri) -> Failure {
    let problem = Problem::new(ProblemKind::NotFound, "no_route", format!("there is nothing at {}", uri.path()));
    Failure(match near(uri.path()) {
        Some(path) => problem.hint(format!("did you mean {path}?")),
        None => problem
            .hint("paths of collections end in a slash, those of items and verbs do not")
            .hint("all of them are in GET /api/openapi.json"),
    })
}

/// The path that would be right with a slash more or less, with or without a prefix.
fn near(path: &str) -> Option<String> {
    let bare = path.trim_matches('/');
    let bare = bare.strip_prefix("api/").unwrap_or(bare);
    let version = |word: &str| word.strip_prefix('v').is_some_and(|n| n.bytes().all(|byte| byte.is_ascii_digit()));
    let bare = bare.split_once('/').filter(|(first, _)| version(first)).map_or(bare, |(_, rest)| rest);
    let candidates = [format!("/api/{bare}"), format!("/api/{bare}/")];
    candidates.into_iter().find(|path| ENDPOINTS.iter().any(|endpoint| fits(endpoint.path, path)))
}

/// A path and a pattern, part by part; what stands in braces fits anything.
fn fits(pattern: &str, path: &str) -> bool {
    let (pattern, path): (Vec<&str>, Vec<&str>) = (pattern.split('/').collect(), path.split('/').collect());
    let same = |(pattern, part): (&&str, &&str)| pattern == part || (pattern.starts_with('{') && !part.is_empty());
    pattern.len() == path.len() && pattern.iter().zip(&path).all(same)
}

/// Where a GET is more than a look: the poll grants a slot, the stream holds a place. Nobody is told their head alone.
const WHOLE_ONLY: [&str; 2] = [ASSIGNMENT_PATH, CHANGES_PATH];

/// The route exists, the method does not.
pub(super) async fn no_method(method: Method, uri: Uri) -> Response {
    let fitting = ENDPOINTS.iter().filter(|endpoint| fits(endpoint.path, uri.path()));
    let takes = fitting.map(|endpoint| endpoint.method).collect::<Vec<_>>().join(", ");
    let message = format!("{} does not take {method}", uri.path());
    let problem = Problem::new(ProblemKind::WrongMethod, "wrong_method", message).hint(format!("it takes {takes}"));
    let mut response = Failure(problem).into_response();
    // Any other route says it by itself, HEAD included.
    if WHOLE_ONLY.contains(&uri.path()) {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET"));
    }
    response
}
