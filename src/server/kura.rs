//! Kura servers, their deployments and their manifests, and the runtime tags they are brought to (K1-K34).

use axum::http::StatusCode;

use super::admit::Reader;
use super::build::Builder;
use super::errand::{Errand, body};
use super::extract::{Id, NoQuery, Page, Query};
use super::failure::Answer;
use crate::control::host::Host;
use crate::domain::ids::ServerId;
use crate::domain::input::Verb;
use crate::domain::kura::refusal::KuraRefusal;
use crate::domain::kura::server::Server;
use crate::domain::kura::verb::KuraVerb;
use crate::domain::refusal::Refusal;
use crate::domain::world::World;
use crate::wire::body::parse;
use crate::wire::kura::deployment::DeploymentBody;
use crate::wire::kura::manifest::ManifestBody;
use crate::wire::kura::request::{DeploymentNew, ServerNew, ServerPatch, TagNew};
use crate::wire::kura::server::ServerBody;
use crate::wire::kura::tag::TagBody;

/// `GET /api/kura/servers/`, by id.
pub(super) async fn list<H: Host, B: Builder>(reader: Reader<H, B>, page: Page) -> Answer {
    let look = reader.look();
    let shown = page.of(look.kura.servers.values(), |server| server.id.0);
    Ok(body(StatusCode::OK, &ServerBody::all(&look.world, &look.observed, shown, look.now)))
}

/// `GET /api/kura/servers/{id}`.
pub(super) async fn show<H: Host, B: Builder>(reader: Reader<H, B>, Id(id): Id, _: NoQuery) -> Answer {
    let look = reader.look();
    let server = known(&look.world, ServerId(id))?;
    Ok(body(StatusCode::OK, &ServerBody::of(&look.world, &look.observed, server, look.now)))
}

/// `POST /api/kura/servers/`.
pub(super) async fn add<H: Host, B: Builder>(errand: Errand<H, B>) -> Answer {
    let mut new: ServerNew = parse(&errand.bytes)?;
    let (reason, id) = (new.reason.take(), ServerId(errand.shared.fresh()));
    errand.give(reason, Verb::Kura(new.verb(id)?)).await
}

/// `PATCH /api/kura/servers/{id}`.
pub(super) async fn change<H: Host, B: Builder>(Id(id): Id, errand: Errand<H, B>) -> Answer {
    let mut patch: ServerPatch = parse(&errand.bytes)?;
    let reason = patch.reason.take();
    let verb = patch.verb(known(&errand.account.look().world, ServerId(id))?)?;
    errand.give(reason, Verb::Kura(verb)).await
}

/// `DELETE /api/kura/servers/{id}` (K51).
pub(super) async fn destroy<H: Host, B: Builder>(Id(id): Id, errand: Errand<H, B>) -> Answer {
    errand.plain(Verb::Kura(KuraVerb::DestroyServer { server: ServerId(id) })).await
}

/// `GET /api/kura/servers/{id}/deployments?limit=`, newest first, as far as they are kept (K7).
pub(super) async fn deployments<H: Host, B: Builder>(reader: Reader<H, B>, Id(id): Id, mut query: Query) -> Answer {
    let limit = query.limit()?;
    query.end()?;
    let look = reader.look();
    let server = known(&look.world, ServerId(id))?;
    let newest = server.deployments.iter().rev().take(limit);
    Ok(body(StatusCode::OK, &newest.map(|row| DeploymentBody::of(server.id, row)).collect::<Vec<_>>()))
}

/// `POST /api/kura/servers/{id}/deployments` (K24, K25).
pub(super) async fn deploy<H: Host, B: Builder>(Id(id): Id, errand: Errand<H, B>) -> Answer {
    let mut wanted = DeploymentNew::parse(&errand.bytes)?;
    let reason = wanted.reason.take();
    errand.give(reason, Verb::Kura(wanted.verb(ServerId(id)))).await
}

/// `POST /api/kura/servers/{id}/force-reapply` (K24).
pub(super) async fn force_reapply<H: Host, B: Builder>(Id(id): Id, errand: Errand<H, B>) -> Answer {
    errand.plain(Verb::Kura(KuraVerb::ForceReapply { server: ServerId(id) })).await
}

/// `GET /api/kura/servers/{id}/manifest` (K21-K23).
pub(super) async fn manifest<H: Host, B: Builder>(reader: Reader<H, B>, Id(id): Id, _: NoQuery) -> Answer {
    let look = reader.look();
    Ok(body(StatusCode::OK, &ManifestBody::of(&look.observed, known(&look.world, ServerId(id))?)))
}

/// `GET /api/kura/runtime-tags/?limit=&after=TAG`, the newest version first (K8).
pub(super) async fn tags<H: Host, B: Builder>(reader: Reader<H, B>, mut query: Query) -> Answer {
    let (limit, after) = (query.limit()?, query.take("after")?);
    query.end()?;
    let look = reader.look();
    Ok(body(StatusCode::OK, &TagBody::page(&look.kura, after.as_deref(), limit)))
}

/// `POST /api/kura/runtime-tags/` (K8, K9).
pub(super) async fn release<H: Host, B: Builder>(errand: Errand<H, B>) -> Answer {
    let TagNew { tag, reason } = TagNew::parse(&errand.bytes)?;
    errand.give(reason, Verb::Kura(KuraVerb::ReleaseTag { tag })).await
}

fn known(world: &World, id: ServerId) -> Result<&Server, Refusal> {
    world.kura.servers.get(&id).ok_or_else(|| Refusal::from(KuraRefusal::NoServer(id)))
}
