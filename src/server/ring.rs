//! Rings: list, make, change, hold (B15).

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;

use super::build::Builder;
use super::caller::{Caller, Need};
use super::errand::{Errand, body};
use super::extract::{Body, Id, NoQuery, Page};
use super::failure::Answer;
use super::shared::Shared;
use crate::control::host::Host;
use crate::domain::change::Level;
use crate::domain::ids::RingId;
use crate::domain::input::Verb;
use crate::wire::body::parse_or_default;
use crate::wire::reason::ReasonBody;
use crate::wire::ring::{RingBody, RingSet};

/// `GET /api/config/rings/`, by uuid.
pub(super) async fn list<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    page: Page,
) -> Answer {
    let (tenant, _) = shared.admit(&caller, Need::Look)?;
    let world = tenant.service.door.world();
    let shown = page.of(world.rings.values(), |ring| ring.id.0);
    Ok(body(StatusCode::OK, &shown.into_iter().map(RingBody::from).collect::<Vec<_>>()))
}

/// `POST /api/config/rings/`.
pub(super) async fn make<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    _: NoQuery,
    errand: Errand,
    Body(bytes): Body,
) -> Answer {
    let (tenant, _) = shared.admit(&caller, Need::Act)?;
    let mut new = RingSet::parse_new(&bytes)?;
    let (reason, id) = (new.reason.take(), RingId(shared.fresh()));
    errand.answer(&shared, tenant, &caller, reason, new.create(id)).await
}

/// `PATCH /api/config/rings/{uuid}`.
pub(super) async fn change<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    Id(id): Id,
    _: NoQuery,
    errand: Errand,
    Body(bytes): Body,
) -> Answer {
    let (tenant, _) = shared.admit(&caller, Need::Act)?;
    let mut patch = RingSet::parse_patch(&bytes)?;
    let (reason, id) = (patch.reason.take(), RingId(id));
    errand.answer(&shared, tenant, &caller, reason, patch.change(id)).await
}

/// `POST /api/config/rings/{uuid}/pause`.
pub(super) async fn pause<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    Id(id): Id,
    _: NoQuery,
    errand: Errand,
    Body(bytes): Body,
) -> Answer {
    hold(&shared, &caller, RingId(id), Verb::Pause, errand, &bytes).await
}

/// `POST /api/config/rings/{uuid}/unpause`.
pub(super) async fn unpause<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    Id(id): Id,
    _: NoQuery,
    errand: Errand,
    Body(bytes): Body,
) -> Answer {
    hold(&shared, &caller, RingId(id), Verb::Unpause, errand, &bytes).await
}

async fn hold<H: Host, B: Builder>(
    shared: &Shared<H, B>,
    caller: &Caller,
    id: RingId,
    verb: fn(Level) -> Verb,
    errand: Errand,
    bytes: &[u8],
) -> Answer {
    let (tenant, _) = shared.admit(caller, Need::Act)?;
    let ReasonBody { reason } = parse_or_default(bytes)?;
    errand.answer(shared, tenant, caller, reason, verb(Level::Ring(id))).await
}
