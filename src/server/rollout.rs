//! Rollouts: list, start or reset, status, results, halt.

use axum::http::StatusCode;

use super::admit::Reader;
use super::build::Builder;
use super::errand::{Errand, body};
use super::extract::{Id, NoQuery, Page, Query};
use super::failure::Answer;
use crate::control::host::Host;
use crate::control::ports::{ResultQuery, Results};
use crate::domain::ids::{MachineId, RolloutId};
use crate::domain::input::Verb;
use crate::domain::refusal::Refusal;
use crate::domain::rollout::Rollout;
use crate::domain::world::World;
use crate::wire::body::parse;
use crate::wire::result::ResultBody;
use crate::wire::rollout::{RolloutBody, StartBody};
use crate::wire::status::status;

/// `GET /api/config/rollouts/`, newest first, as far as they are kept.
pub(super) async fn list<H: Host, B: Builder>(reader: Reader<H, B>, page: Page) -> Answer {
    let look = reader.look();
    let shown = page.of(look.rollouts.iter().rev(), |rollout| rollout.id.0);
    let bodies = shown.into_iter().map(|rollout| RolloutBody::of(&look.world, rollout));
    Ok(body(StatusCode::OK, &bodies.collect::<Vec<_>>()))
}

/// `GET /api/config/rollouts/{uuid}`.
pub(super) async fn show<H: Host, B: Builder>(reader: Reader<H, B>, Id(id): Id, _: NoQuery) -> Answer {
    let look = reader.look();
    Ok(body(StatusCode::OK, &RolloutBody::of(&look.world, known(&look.world, id)?)))
}

/// `POST /api/config/rollouts/`: 201 = a new rollout, 200 = the running one was reset in place (R99).
pub(super) async fn start<H: Host, B: Builder>(errand: Errand<H, B>) -> Answer {
    let wanted: StartBody = parse(&errand.bytes)?;
    let verb = wanted.verb(RolloutId(errand.shared.fresh()));
    errand.give(wanted.reason, verb).await
}

/// `GET /api/config/rollouts/{uuid}/status?limit=`.
pub(super) async fn progress<H: Host, B: Builder>(reader: Reader<H, B>, Id(id): Id, mut query: Query) -> Answer {
    let limit = query.limit()?;
    query.end()?;
    let look = reader.look();
    Ok(body(StatusCode::OK, &status(&look.world, &look.observed, known(&look.world, id)?, look.now, limit)))
}

/// `GET /api/config/rollouts/{uuid}/apply-results?machine_uuid=&limit=`, newest first.
pub(super) async fn results<H: Host, B: Builder>(reader: Reader<H, B>, Id(id): Id, mut query: Query) -> Answer {
    let (limit, machine) = (query.limit()?, query.uuid("machine_uuid")?.map(MachineId));
    query.end()?;
    let (look, service) = (reader.look(), &reader.account.service);
    let asked = ResultQuery { machine, release: Some(known(&look.world, id)?.release), limit };
    let read = service.host().results().find(service.account(), asked).await?;
    let bodies = read.into_iter().map(|result| ResultBody::of(&look.world, result));
    Ok(body(StatusCode::OK, &bodies.collect::<Vec<_>>()))
}

/// `POST /api/config/rollouts/{uuid}/halt` (R114, R115).
pub(super) async fn halt<H: Host, B: Builder>(Id(id): Id, errand: Errand<H, B>) -> Answer {
    errand.plain(Verb::Halt { rollout: RolloutId(id) }).await
}

fn known(world: &World, id: uuid::Uuid) -> Result<&Rollout, Refusal> {
    world.rollout(RolloutId(id)).ok_or(Refusal::NoRollout(RolloutId(id)))
}
