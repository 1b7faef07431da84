//! A person's errand: a verb with who, why and under which key, brought to the door of its account.

use axum::Json;
use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::header::IF_MATCH;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::build::Builder;
use super::caller::Caller;
use super::failure::{Answer, Failure};
use super::metrics::Metrics;
use super::shared::{Shared, Tenant};
use crate::control::host::Host;
use crate::control::ports::Clock;
use crate::domain::input::{Input, Order, Verb};
use crate::domain::verdict::Reply;
use crate::wire::call::{KEY_HEADER, REASON_HEADER};
use crate::wire::problem::{Problem, ProblemKind};
use crate::wire::reason;

/// The longest idempotency key, in characters.
pub const KEY_MAX: usize = 128;

/// What the headers of a write say about it.
pub(super) struct Errand {
    key: Option<String>,
    reason: Option<String>,
}

impl<S: Send + Sync> FromRequestParts<S> for Errand {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        if parts.headers.contains_key(IF_MATCH) {
            // To pass it over in silence would do what the caller made depend on a revision.
            let message = "this control plane does not compare revisions yet";
            return Err(Failure(Problem::new(ProblemKind::Malformed, "if_match", message).field("if-match")));
        }
        let text =
            |name: &str| parts.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let key = text(KEY_HEADER).map(checked_key).transpose()?;
        Ok(Self { key, reason: text(REASON_HEADER) })
    }
}

fn checked_key(key: String) -> Result<String, Problem> {
    if (1..=KEY_MAX).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(key);
    }
    let message = format!("Idempotency-Key is 1 to {KEY_MAX} printable characters without blanks");
    Err(Problem::new(ProblemKind::Malformed, "bad_key", message).field(KEY_HEADER))
}

impl Errand {
    /// Has a verb decided; `reason` is the one of the body, which goes before that of the header.
    pub(super) async fn run<H: Host, B: Builder>(
        self,
        shared: &Shared<H, B>,
        tenant: &Tenant<H>,
        caller: &Caller,
        reason: Option<String>,
        verb: Verb,
    ) -> Answer<Reply> {
        let reason = reason::checked(reason.or(self.reason))?;
        let order = Order { verb, by: caller.name.to_string(), reason, key: self.key };
        ask(&shared.metrics, tenant, Input::Verb(order)).await
    }
}

/// Has an input decided, and takes the time it took.
pub(super) async fn ask<H: Host>(metrics: &Metrics, tenant: &Tenant<H>, input: Input) -> Answer<Reply> {
    let clock = tenant.service.host().clock();
    let asked_at = clock.now();
    let reply = tenant.service.door.ask(input).await;
    metrics.turn(clock.now().duration_since(asked_at));
    match reply? {
        Reply::Refused(refusal) => Err(refusal.into()),
        reply => Ok(reply),
    }
}

/// A body with its status.
pub(super) fn body(status: StatusCode, body: &impl Serialize) -> Response {
    (status, Json(body)).into_response()
}

/// A body of a thing that was just made or changed; 404 where it is gone again already.
pub(super) fn found<T: Serialize>(status: StatusCode, made: Option<T>) -> Answer {
    match made {
        Some(made) => Ok(body(status, &made)),
        None => Err(Failure(Problem::new(ProblemKind::NotFound, "gone_again", "it was done, and is gone again"))),
    }
}
