//! Rollouts: list, start or reset, status, results, halt.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;

use super::build::Builder;
use super::caller::{Caller, Need};
use super::errand::{Errand, body};
use super::extract::{Body, Id, NoQuery, Page, Query};
use super::failure::Answer;
use super::shared::{Shared, Tenant};
use crate::control::host::Host;
use crate::control::ports::{Clock, ResultQuery, Results};
use crate::domain::ids::{MachineId, RolloutId};
use crate::domain::input::Verb;
use crate::domain::refusal::Refusal;
use crate::wire::body::{parse, parse_or_default};
use crate::wire::reason::ReasonBody;
use crate::wire::result::ResultBody;
use crate::wire::rollout::{RolloutBody, StartBody};
use crate::wire::status::status;

/// `GET /api/config/rollouts/`, newest first, as far as they are kept.
pub(super) async fn list<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    page: Page,
) -> Answer {
    let (tenant, _) = shared.admit(&caller, Need::Look)?;
    let world = tenant.service.door.world();
    let shown = page.of(world.rollouts.iter().rev(), |rollout| rollout.id.0);
    let bodies = shown.into_iter().map(|rollout| RolloutBody::of(&world, rollout));
    Ok(body(StatusCode::OK, &bodies.collect::<Vec<_>>()))
}

/// `GET /api/config/rollouts/{uuid}`.
pub(super) async fn show<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    Id(id): Id,
    _: NoQuery,
) -> Answer {
    let (tenant, _) = shared.admit(&caller, Need::Look)?;
    let known = shown(tenant, RolloutId(id)).ok_or(Refusal::NoRollout(RolloutId(id)))?;
    Ok(body(StatusCode::OK, &known))
}

/// `POST /api/config/rollouts/`: 201 = a new rollout, 200 = the running one was reset in place (R99).
pub(super) async fn start<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    _: NoQuery,
    errand: Errand,
    Body(bytes): Body,
) -> Answer {
    let (tenant, _) = shared.admit(&caller, Need::Act)?;
    let wanted: StartBody = parse(&bytes)?;
    let id = RolloutId(shared.fresh());
    let verb = wanted.verb(id);
    errand.answer(&shared, tenant, &caller, wanted.reason, verb).await
}

/// `GET /api/config/rollouts/{uuid}/status?limit=`.
pub(super) async fn progress<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    Id(id): Id,
    mut query: Query,
) -> Answer {
    let (tenant, _) = shared.admit(&caller, Need::Look)?;
    let limit = query.limit()?;
    query.end()?;
    let (world, observed) = (tenant.service.door.world(), tenant.service.observer.observe());
    let rollout = world.rollout(RolloutId(id)).ok_or(Refusal::NoRollout(RolloutId(id)))?;
    let now = tenant.service.host().clock().now();
    Ok(body(StatusCode::OK, &status(&world, &observed, rollout, now, limit)))
}

/// `GET /api/config/rollouts/{uuid}/apply-results?machine_uuid=&limit=`, newest first.
pub(super) async fn results<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    Id(id): Id,
    mut query: Query,
) -> Answer {
    let (tenant, _) = shared.admit(&caller, Need::Look)?;
    let (limit, machine) = (query.limit()?, query.uuid("machine_uuid")?.map(MachineId));
    query.end()?;
    let world = tenant.service.door.world();
    let rollout = world.rollout(RolloutId(id)).ok_or(Refusal::NoRollout(RolloutId(id)))?;
    let asked = ResultQuery { machine, release: Some(rollout.release), limit };
    let read = tenant.service.host().results().find(tenant.service.account(), asked).await?;
    Ok(body(StatusCode::OK, &read.into_iter().map(|result| ResultBody::of(&world, result)).collect::<Vec<_>>()))
}

/// `POST /api/config/rollouts/{uuid}/halt` (R114, R115).
pub(super) async fn halt<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    Id(id): Id,
    _: NoQuery,
    errand: Errand,
    Body(bytes): Body,
) -> Answer {
    let (tenant, _) = shared.admit(&caller, Need::Act)?;
    let ReasonBody { reason } = parse_or_default(&bytes)?;
    errand.answer(&shared, tenant, &caller, reason, Verb::Halt { rollout: RolloutId(id) }).await
}

fn shown<H: Host>(tenant: &Tenant<H>, id: RolloutId) -> Option<RolloutBody> {
    let world = tenant.service.door.world();
    world.rollout(id).map(|rollout| RolloutBody::of(&world, rollout))
}
