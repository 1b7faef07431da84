//! Machines: list, add, move, skip, take away.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;

use super::build::Builder;
use super::caller::{Caller, Need};
use super::errand::{Errand, body};
use super::extract::{Body, Id, NoQuery, Page};
use super::failure::Answer;
use super::shared::{Shared, Tenant};
use crate::control::host::Host;
use crate::control::ports::Clock;
use crate::domain::change::Level;
use crate::domain::ids::MachineId;
use crate::domain::input::Verb;
use crate::wire::body::{parse, parse_or_default};
use crate::wire::machine::{MachineBody, MachineNew, MachinePatch};
use crate::wire::reason::ReasonBody;

/// `GET /api/provisioning/machines/`, by uuid.
pub(super) async fn list<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    page: Page,
) -> Answer {
    let (tenant, _) = shared.admit(&caller, Need::Look)?;
    let (world, observed) = (tenant.service.door.world(), tenant.service.observer.observe());
    let now = tenant.service.host().clock().now();
    let shown = page.of(world.machines.values(), |machine| machine.id.0);
    let bodies = shown.into_iter().map(|machine| MachineBody::of(&world, &observed, machine, now));
    Ok(body(StatusCode::OK, &bodies.collect::<Vec<_>>()))
}

/// `GET /api/provisioning/machines/{uuid}`.
pub(super) async fn show<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    Id(id): Id,
    _: NoQuery,
) -> Answer {
    let (tenant, _) = shared.admit(&caller, Need::Look)?;
    let known = shown(tenant, MachineId(id)).ok_or(crate::domain::refusal::Refusal::NoMachine(MachineId(id)))?;
    Ok(body(StatusCode::OK, &known))
}

/// `POST /api/provisioning/machines/`.
pub(super) async fn add<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    _: NoQuery,
    errand: Errand,
    Body(bytes): Body,
) -> Answer {
    let (tenant, _) = shared.admit(&caller, Need::Act)?;
    let mut new: MachineNew = parse(&bytes)?;
    let (reason, id) = (new.reason.take(), MachineId(shared.fresh()));
    let verb = new.verb(id, &tenant.service.door.world())?;
    errand.answer(&shared, tenant, &caller, reason, verb).await
}

/// `PATCH /api/provisioning/machines/{uuid}`.
pub(super) async fn change<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    Id(id): Id,
    _: NoQuery,
    errand: Errand,
    Body(bytes): Body,
) -> Answer {
    let (tenant, _) = shared.admit(&caller, Need::Act)?;
    let mut patch = MachinePatch::parse(&bytes)?;
    let (reason, id) = (patch.reason.take(), MachineId(id));
    let verb = patch.verb(id, &tenant.service.door.world())?;
    errand.answer(&shared, tenant, &caller, reason, verb).await
}

/// `DELETE /api/provisioning/machines/{uuid}`.
pub(super) async fn remove<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    Id(id): Id,
    _: NoQuery,
    errand: Errand,
) -> Answer {
    let (tenant, _) = shared.admit(&caller, Need::Act)?;
    errand.answer(&shared, tenant, &caller, None, Verb::RemoveMachine { machine: MachineId(id) }).await
}

/// `POST /api/provisioning/machines/{uuid}/config-pause`: the one skip there is (R110).
pub(super) async fn pause<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    Id(id): Id,
    _: NoQuery,
    errand: Errand,
    Body(bytes): Body,
) -> Answer {
    skip(&shared, &caller, MachineId(id), Verb::Pause, errand, &bytes).await
}

/// `POST /api/provisioning/machines/{uuid}/config-unpause`.
pub(super) async fn unpause<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    Id(id): Id,
    _: NoQuery,
    errand: Errand,
    Body(bytes): Body,
) -> Answer {
    skip(&shared, &caller, MachineId(id), Verb::Unpause, errand, &bytes).await
}

async fn skip<H: Host, B: Builder>(
    shared: &Shared<H, B>,
    caller: &Caller,
    id: MachineId,
    verb: fn(Level) -> Verb,
    errand: Errand,
    bytes: &[u8],
) -> Answer {
    let (tenant, _) = shared.admit(caller, Need::Act)?;
    let ReasonBody { reason } = parse_or_default(bytes)?;
    errand.answer(shared, tenant, caller, reason, verb(Level::Machine(id))).await
}

fn shown<H: Host>(tenant: &Tenant<H>, id: MachineId) -> Option<MachineBody> {
    let (world, observed) = (tenant.service.door.world(), tenant.service.observer.observe());
    let now = tenant.service.host().clock().now();
    world.machines.get(&id).map(|machine| MachineBody::of(&world, &observed, machine, now))
}
