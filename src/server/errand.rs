//! A person's errand: a verb with who, why and under which key, brought to the door of its account.

use axum::Json;
use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::header::{HeaderValue, IF_MATCH};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::build::Builder;
use super::caller::Caller;
use super::failure::{Answer, Failure};
use super::feed::seat_body;
use super::shared::{Shared, Tenant};
use crate::control::door::Answered;
use crate::control::host::Host;
use crate::control::ports::Clock;
use crate::domain::input::{Order, Verb};
use crate::wire::answer::{Said, Scene, said};
use crate::wire::call::{KEY_HEADER, REASON_HEADER, REPLAYED_HEADER, checked_key};
use crate::wire::problem::{Problem, ProblemKind};
use crate::wire::reason;

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

impl Errand {
    /// Has a verb decided, and answers with what it made or changed; `reason` is the one of the body, which goes before
    /// that of the header.
    pub(super) async fn answer<H: Host, B: Builder>(
        self,
        shared: &Shared<H, B>,
        tenant: &Tenant<H>,
        caller: &Caller,
        reason: Option<String>,
        verb: Verb,
    ) -> Answer {
        let reason = reason::checked(reason.or(self.reason))?;
        let order = Order { verb: verb.clone(), by: caller.name.to_string(), reason, key: self.key };
        let clock = tenant.service.host().clock();
        let asked_at = clock.now();
        let answered = tenant.service.door.give(order).await;
        shared.metrics.turn(clock.now().duration_since(asked_at));
        let Answered { reply, again } = answered?;
        let (world, observed) = (tenant.service.door.world(), tenant.service.observer.observe());
        let repository = shared.setup.builder.source();
        let scene = Scene {
            world: &world,
            observed: &observed,
            now: clock.now(),
            uuid: tenant.service.account(),
            name: &tenant.name,
            repository: repository.as_deref(),
            seat: seat_body(&tenant.service.door.published().borrow()),
        };
        Ok(respond(said(&verb, &reply, &scene)?, again))
    }
}

fn respond(said: Said, again: bool) -> Response {
    let status = StatusCode::from_u16(said.status).unwrap_or(StatusCode::OK);
    let mut response = match said.body {
        Some(body) => (status, Json(body)).into_response(),
        None => status.into_response(),
    };
    if again {
        response.headers_mut().insert(REPLAYED_HEADER, HeaderValue::from_static("true"));
    }
    response
}

/// A body with its status.
pub(super) fn body(status: StatusCode, body: &impl Serialize) -> Response {
    (status, Json(body)).into_response()
}
