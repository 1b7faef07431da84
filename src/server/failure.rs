//! Everything that goes wrong leaves as `application/problem+json`.

use axum::http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};

use crate::control::desk::DeskError;
use crate::control::door::DoorError;
use crate::control::ports::JournalError;
use crate::control::trouble::sentence;
use crate::domain::refusal::Refusal;
use crate::wire::call::UNKNOWN_OUTCOME;
use crate::wire::problem::{Problem, ProblemKind};

/// When to come again after a 429 or 503.
const COME_AGAIN: &str = "1";

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
        Self(Problem::from(&refusal))
    }
}

impl From<DoorError> for Failure {
    fn from(error: DoorError) -> Self {
        let code = match error {
            DoorError::KeyReused => {
                let problem = Problem::new(ProblemKind::Malformed, "key_reused", error.to_string());
                return Self(problem.hint("send every order under a key of its own"));
            }
            DoorError::Busy => "busy",
            DoorError::Journal(_) => "journal",
            DoorError::Unknown(_) => UNKNOWN_OUTCOME,
            DoorError::Deposed => "deposed",
            DoorError::Stopped => "stopping",
        };
        Self(Problem::new(ProblemKind::Unavailable, code, error.to_string()))
    }
}

impl From<DeskError> for Failure {
    fn from(error: DeskError) -> Self {
        let unavailable = |code| Self(Problem::new(ProblemKind::Unavailable, code, error.to_string()));
        match error {
            DeskError::Refused(refusal) => refusal.into(),
            DeskError::Door(error) => error.into(),
            DeskError::Outrun => unavailable("outrun"),
            DeskError::Vault(_) => unavailable("vault"),
            DeskError::Gone(_) => Self(
                Problem::new(ProblemKind::Internal, "content_gone", error.to_string())
                    .hint("build the release again and start it: this one cannot be served any more"),
            ),
        }
    }
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        Self(Problem::new(ProblemKind::Unavailable, "store", sentence(&error)))
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let body = advised(self.0.clone()).body();
        let status = StatusCode::from_u16(body.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let text = serde_json::to_string(&body).unwrap_or_default();
        let mut response = (status, [(CONTENT_TYPE, "application/problem+json")], text).into_response();
        if matches!(self.0.kind, ProblemKind::Unavailable | ProblemKind::TooMany) {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static(COME_AGAIN));
        }
        if self.0.kind == ProblemKind::Unauthenticated {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// A 503 that does not say itself what to do says it by its code.
fn advised(problem: Problem) -> Problem {
    if problem.kind != ProblemKind::Unavailable || !problem.hints.is_empty() {
        return problem;
    }
    let hint = match problem.code.as_str() {
        UNKNOWN_OUTCOME => "look whether it was done, or send it again under the same idempotency key",
        "journal" | "store" | "vault" => "the log of the control plane says more; GET /readyz tells when it is back",
        _ => "try again in a moment",
    };
    problem.hint(hint)
}

/// No such route.
pub(super) async fn no_route(uri: Uri) -> Failure {
    let message = format!("there is nothing at {}", uri.path());
    Failure(
        Problem::new(ProblemKind::NotFound, "no_route", message)
            .hint("paths of collections end in a slash, those of items and verbs do not"),
    )
}

/// The route exists, the method does not.
pub(super) async fn no_method(method: Method, uri: Uri) -> Failure {
    let message = format!("{} does not take {method}", uri.path());
    Failure(Problem::new(ProblemKind::WrongMethod, "wrong_method", message))
}
