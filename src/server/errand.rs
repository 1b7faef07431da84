//! A person's errand: a write with who, why, under which key and on which revision, brought to the door of its account.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::StatusCode;
use axum::http::header::{ETAG, HeaderValue, IF_MATCH};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use serde::Serialize;

use super::build::Builder;
use super::caller::{Caller, Need};
use super::extract::{Body, Query, single};
use super::failure::{Answer, Failure};
use super::feed::seat_body;
use super::shared::{Account, Shared};
use crate::control::door::Answered;
use crate::control::host::Host;
use crate::control::ports::Clock;
use crate::domain::ids::Revision;
use crate::domain::input::{Order, Verb};
use crate::domain::keys::used;
use crate::domain::plan::plan;
use crate::wire::answer::{Said, Scene, said};
use crate::wire::body::parse_or_default;
use crate::wire::call::{KEY_HEADER, REASON_HEADER, REPLAYED_HEADER, checked_key, parse_planned, planned_text};
use crate::wire::plan::PlanBody;
use crate::wire::problem::Problem;
use crate::wire::reason::{self, ReasonBody};

/// A write of somebody who may act, in the account it is for.
pub(super) struct Errand<H: Host, B> {
    pub(super) shared: Arc<Shared<H, B>>,
    pub(super) account: Arc<Account<H>>,
    pub(super) caller: Caller,
    /// Only what would follow is asked for.
    pub(super) dry_run: bool,
    /// The body as it was sent.
    pub(super) bytes: Bytes,
    key: Option<String>,
    reason: Option<String>,
    /// Read late: a stop does not care what it says.
    planned_at: Result<Option<String>, Problem>,
}

impl<H: Host, B: Builder> FromRequest<Arc<Shared<H, B>>> for Errand<H, B> {
    type Rejection = Failure;

    async fn from_request(request: Request, shared: &Arc<Shared<H, B>>) -> Result<Self, Failure> {
        let (mut parts, body) = request.into_parts();
        let caller = Caller::from_request_parts(&mut parts, shared).await?;
        caller.reader(Need::Act)?;
        let account = shared.account(caller.account)?;
        let mut query = Query::from_request_parts(&mut parts, shared).await?;
        let dry_run = query.flag("dry_run")?;
        query.end()?;
        let key = single(&parts.headers, KEY_HEADER)?.map(checked_key).transpose()?;
        let (reason, planned_at) = (single(&parts.headers, REASON_HEADER)?, single(&parts.headers, IF_MATCH.as_str()));
        let Body(bytes) = Body::from_request(Request::from_parts(parts, body), shared).await?;
        Ok(Self { shared: Arc::clone(shared), account, caller, dry_run, bytes, key, reason, planned_at })
    }
}

impl<H: Host, B: Builder> Errand<H, B> {
    /// 403 for everybody but an owner.
    pub(super) fn owned(&self) -> Result<(), Problem> {
        self.caller.reader(Need::Own).map(drop)
    }

    /// Gives a verb that needs no more than its path; its body holds a reason at most.
    pub(super) async fn plain(self, verb: Verb) -> Answer {
        let ReasonBody { reason } = parse_or_default(&self.bytes)?;
        self.give(reason, verb).await
    }

    /// Has a verb decided, and answers with what it made or changed; `reason` is the one of the body, which goes before
    /// that of the header. With `?dry_run=true` it is planned instead.
    pub(super) async fn give(self, reason: Option<String>, verb: Verb) -> Answer {
        let order = self.order(reason, verb)?;
        let planned_at = self.planned_at(&order.verb)?;
        if self.dry_run {
            return self.rehearse(&order, planned_at);
        }
        let clock = self.account.service.host().clock();
        let (asked_at, verb) = (clock.steady(), order.verb.clone());
        let answered = self.account.service.door.give(order, planned_at).await;
        self.shared.metrics.turn(clock.steady().duration_since(asked_at));
        self.tell(&verb, answered?)
    }

    /// The answer to an order that was done before under its key, where this process knows of it: whatever would have
    /// to be fetched for it may be gone by now. None = it is to be given.
    pub(super) fn repeated(&self, reason: Option<String>, verb: Verb) -> Option<Answer> {
        let order = self.order(reason, verb).ok().filter(|_| !self.dry_run)?;
        let answered = self.account.service.door.repeated(&order, self.account.look().now)?;
        Some(answered.map_err(Failure::from).and_then(|answered| self.tell(&order.verb, answered)))
    }

    /// When something was done under its key before, as far as this process knows by now.
    pub(super) fn done_at(&self) -> Option<Timestamp> {
        let (world, now) = (self.account.service.door.world(), self.account.look().now);
        used(&world.keys, &self.caller.name, self.key.as_deref()?, now).map(|used| used.at)
    }

    /// Refuses a request that is malformed, before anything is kept for it.
    pub(super) fn check(&self, reason: Option<String>, verb: Verb) -> Result<(), Problem> {
        let order = self.order(reason, verb)?;
        self.planned_at(&order.verb).map(drop)
    }

    fn order(&self, reason: Option<String>, verb: Verb) -> Result<Order, Problem> {
        let reason = reason::checked(reason.or_else(|| self.reason.clone()))?;
        Ok(Order { verb, by: self.caller.name.to_string(), reason, key: self.key.clone() })
    }

    fn tell(&self, verb: &Verb, answered: Answered) -> Answer {
        let Answered { reply, again } = answered;
        let (look, service) = (self.account.look(), &self.account.service);
        let repository = self.shared.setup.builder.source();
        let scene = Scene {
            world: &look.world,
            observed: &look.observed,
            now: look.now,
            uuid: service.account(),
            name: &self.account.name,
            repository: repository.as_deref(),
            trouble: self.shared.setup.builder.trouble(service.account()),
            seat: seat_body(&service.door.published().borrow()),
        };
        Ok(respond(said(verb, &reply, &scene)?, again))
    }

    /// The revision the caller relies on; stopping relies on none.
    fn planned_at(&self, verb: &Verb) -> Result<Option<Revision>, Problem> {
        if verb.is_stop() {
            return Ok(None);
        }
        self.planned_at.clone()?.as_deref().map(parse_planned).transpose()
    }

    /// What would follow. Nothing is decided, so no key is used up and nobody waits for a turn.
    fn rehearse(&self, order: &Order, planned_at: Option<Revision>) -> Answer {
        let door = &self.account.service.door;
        let look = self.account.look();
        if let Some(revision) = planned_at {
            door.compare(order, revision, &look.observed, look.now)?;
        }
        let plan = plan(&order.verb, &look.world, &look.observed, &order.by, look.now);
        match plan.refused {
            Some(refusal) => Err(refusal.into()),
            None => Ok(planned(&PlanBody::of(&order.verb, &plan, &look.world))),
        }
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

/// A plan, with its revision as the tag to be sent back.
pub(super) fn planned(plan: &PlanBody) -> Response {
    let mut response = body(StatusCode::OK, plan);
    if let Ok(tag) = HeaderValue::from_str(&planned_text(plan.revision)) {
        response.headers_mut().insert(ETAG, tag);
    }
    response
}

/// A body with its status.
pub(super) fn body(status: StatusCode, body: &impl Serialize) -> Response {
    (status, Json(body)).into_response()
}
