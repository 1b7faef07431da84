//! What something waits for, on whom, since when.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;

use super::build::Builder;
use super::caller::{Caller, Need};
use super::errand::body;
use super::extract::{Body, NoQuery};
use super::failure::Answer;
use super::shared::Shared;
use crate::control::host::Host;
use crate::control::ports::Clock;
use crate::domain::explain::{Subject, explain};
use crate::domain::refusal::Refusal;
use crate::wire::body::parse;
use crate::wire::explain::{ExplainBody, ExplanationBody};

/// `POST /api/explain`.
pub(super) async fn ask<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    _: NoQuery,
    Body(bytes): Body,
) -> Answer {
    let (tenant, _) = shared.admit(&caller, Need::Look)?;
    let subject = parse::<ExplainBody>(&bytes)?.subject(tenant.service.account())?;
    let (world, observed) = (tenant.service.door.world(), tenant.service.observer.observe());
    match subject {
        Subject::Ring(id) if !world.rings.contains_key(&id) => return Err(Refusal::NoRing(id).into()),
        Subject::Machine(id) if !world.machines.contains_key(&id) => return Err(Refusal::NoMachine(id).into()),
        _ => {}
    }
    let now = tenant.service.host().clock().now();
    Ok(body(StatusCode::OK, &ExplanationBody::from(explain(&world, &observed, subject, now))))
}
