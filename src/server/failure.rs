//! Everything that goes wrong leaves as `application/problem+json`.

use axum::http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};

use crate::control::desk::DeskError;
use crate::control::door::DoorError;
use crate::control::ports::JournalError;
use crate::domain::refusal::Refusal;
use crate::wire::problem::{Problem, ProblemKind};

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
        response
    }
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
