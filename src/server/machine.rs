//! Machines: list, add, move, skip, take away.

use axum::http::StatusCode;

use super::admit::Reader;
use super::build::Builder;
use super::errand::{Errand, body};
use super::extract::{Id, NoQuery, Page};
use super::failure::Answer;
use crate::control::host::Host;
use crate::domain::change::Level;
use crate::domain::ids::MachineId;
use crate::domain::input::Verb;
use crate::domain::refusal::Refusal;
use crate::wire::body::parse;
use crate::wire::machine::{MachineBody, MachineNew, MachinePatch};

/// `GET /api/provisioning/machines/`, by uuid.
pub(super) async fn list<H: Host, B: Builder>(reader: Reader<H, B>, page: Page) -> Answer {
    let look = reader.look();
    let shown = page.by_uuid(look.machines.values(), |machine| machine.id.0);
    let bodies = shown.into_iter().map(|machine| MachineBody::of(&look.world, &look.observed, machine, look.now));
    Ok(body(StatusCode::OK, &bodies.collect::<Vec<_>>()))
}

/// `GET /api/provisioning/machines/{uuid}`.
pub(super) async fn show<H: Host, B: Builder>(reader: Reader<H, B>, Id(id): Id, _: NoQuery) -> Answer {
    let (look, id) = (reader.look(), MachineId(id));
    let machine = look.machines.get(&id).ok_or(Refusal::NoMachine(id))?;
    Ok(body(StatusCode::OK, &MachineBody::of(&look.world, &look.observed, machine, look.now)))
}

/// `POST /api/provisioning/machines/`.
pub(super) async fn add<H: Host, B: Builder>(errand: Errand<H, B>) -> Answer {
    let mut new: MachineNew = parse(&errand.bytes)?;
    let (reason, id) = (new.reason.take(), MachineId(errand.shared.fresh()));
    let verb = new.verb(id, &errand.account.look())?;
    errand.give(reason, verb).await
}

/// `PATCH /api/provisioning/machines/{uuid}`.
pub(super) async fn change<H: Host, B: Builder>(Id(id): Id, errand: Errand<H, B>) -> Answer {
    let mut patch = MachinePatch::parse(&errand.bytes)?;
    let reason = patch.reason.take();
    let verb = patch.verb(MachineId(id), &errand.account.look())?;
    errand.give(reason, verb).await
}

/// `DELETE /api/provisioning/machines/{uuid}`.
pub(super) async fn remove<H: Host, B: Builder>(Id(id): Id, errand: Errand<H, B>) -> Answer {
    errand.plain(Verb::RemoveMachine { machine: MachineId(id) }).await
}

/// `POST /api/provisioning/machines/{uuid}/config-pause`: the one skip there is (R110).
pub(super) async fn pause<H: Host, B: Builder>(Id(id): Id, errand: Errand<H, B>) -> Answer {
    errand.plain(Verb::Pause(Level::Machine(MachineId(id)))).await
}

/// `POST /api/provisioning/machines/{uuid}/config-unpause`.
pub(super) async fn unpause<H: Host, B: Builder>(Id(id): Id, errand: Errand<H, B>) -> Answer {
    errand.plain(Verb::Unpause(Level::Machine(MachineId(id)))).await
}
