//! Answers that read back in the journal: a few at a time, and a page of a list with the way to the next one.

use axum::http::StatusCode;
use axum::http::header::{HeaderValue, LINK};
use axum::response::Response;
use serde::Serialize;
use tokio::sync::SemaphorePermit;

use super::admit::Reader;
use super::build::Builder;
use super::errand::body;
use crate::control::host::Host;
use crate::wire::problem::{Problem, ProblemKind};

impl<H: Host, B: Builder> Reader<H, B> {
    /// Waits until it may read back far; it may for as long as it keeps the permit.
    pub(super) async fn turn_back(&self) -> Result<SemaphorePermit<'_>, Problem> {
        let permit = self.shared.past.acquire().await;
        permit.map_err(|_| Problem::new(ProblemKind::Unavailable, "stopping", "the process is stopping"))
    }
}

/// A page of a list. Whether there is another one is what its `Link` header says (RFC 8288): there may be more behind a
/// short page, and behind an empty one.
pub(super) fn paged(bodies: &[impl Serialize], next: Option<String>) -> Response {
    let mut response = body(StatusCode::OK, &bodies);
    let link = next.and_then(|next| HeaderValue::from_str(&format!("<{next}>; rel=\"next\"")).ok());
    link.into_iter().for_each(|link| drop(response.headers_mut().insert(LINK, link)));
    response
}
