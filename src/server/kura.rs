//! Kura servers, their deployments and their manifests, and the runtime tags they are brought to (K1-K34).

use axum::http::StatusCode;
use axum::response::Response;

use super::admit::Reader;
use super::build::Builder;
use super::errand::{Errand, body};
use super::extract::{Id, NoQuery, Page, Query};
use super::failure::Answer;
use super::past::paged;
use crate::control::host::Host;
use crate::control::past::deployments::{self as past, Mark};
use crate::domain::ids::{DeploymentId, Revision, ServerId};
use crate::domain::input::Verb;
use crate::domain::kura::deployment::Deployment;
use crate::domain::kura::refusal::KuraRefusal;
use crate::domain::kura::server::Server;
use crate::domain::kura::verb::KuraVerb;
use crate::domain::refusal::Refusal;
use crate::domain::world::World;
use crate::wire::body::parse;
use crate::wire::kura::deployment::DeploymentBody;
use crate::wire::kura::manifest::ManifestBody;
use crate::wire::kura::request::{DeploymentNew, ServerNew, ServerPatch, TagNew};
use crate::wire::kura::server::{PATH, ServerBody};
use crate::wire::kura::tag::TagBody;
use crate::wire::problem::{Problem, ProblemKind};

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

/// `GET /api/kura/servers/{id}/deployments?limit=&after=&before=`, newest first: those the World holds, then older ones
/// from the journal, as the `Link` header leads to them (K7).
pub(super) async fn deployments<H: Host, B: Builder>(reader: Reader<H, B>, Id(id): Id, mut query: Query) -> Answer {
    let (limit, before) = (query.limit()?, query.number("before")?);
    let after = query.uuid("after")?.map(DeploymentId);
    query.end()?;
    let look = reader.look();
    let server = known(&look.world, ServerId(id))?;
    let is_held = after.is_none_or(|after| server.deployment(after).is_some());
    if let Some(after) = after.filter(|after| !is_held && past::number_of(server, *after).is_none()) {
        return Err(no_deployment(server, after).into());
    }
    if before.is_none() && is_held {
        return Ok(held(server, look.world.revision, after, limit));
    }
    let mark = Mark { after: after.filter(|_| !is_held), before: before.unwrap_or(Revision::MAX) };
    let (service, _permit) = (&reader.account.service, reader.turn_back().await?);
    let page = past::page(service.host().journal(), service.account(), server, mark, limit).await?;
    let next = page.next.map(|Mark { after, before }| match after {
        Some(after) => format!("after={after}&before={before}"),
        None => format!("before={before}"),
    });
    Ok(rows(server, page.rows.iter(), limit, next))
}

/// Those the World holds, behind one of them.
fn held(server: &Server, revision: Revision, after: Option<DeploymentId>, limit: usize) -> Response {
    let behind = |row: &&Deployment| after.is_some_and(|after| row.id != after);
    let rest: Vec<&Deployment> =
        server.deployments.iter().rev().skip_while(behind).skip(usize::from(after.is_some())).collect();
    let shown = &rest[..rest.len().min(limit)];
    let is_all = u64::try_from(server.deployments.len()).is_ok_and(|held| server.attempts <= held);
    let next = match shown.last().filter(|_| shown.len() < rest.len()) {
        Some(last) => Some(format!("after={}", last.id)),
        None => (!is_all).then(|| format!("before={}", revision + 1)),
    };
    rows(server, shown.iter().copied(), limit, next)
}

fn rows<'a>(
    server: &Server,
    rows: impl Iterator<Item = &'a Deployment>,
    limit: usize,
    next: Option<String>,
) -> Response {
    let bodies: Vec<DeploymentBody> = rows.map(|row| DeploymentBody::of(server.id, row)).collect();
    paged(&bodies, next.map(|next| format!("{PATH}{}/deployments?limit={limit}&{next}", server.id)))
}

fn no_deployment(server: &Server, id: DeploymentId) -> Problem {
    let message = format!("{} never had a deployment {id}", server.name());
    Problem::new(ProblemKind::NotFound, "no_deployment", message).field("after")
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
