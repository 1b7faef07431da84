//! Releases: list, build, withdraw.

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
use crate::control::ports::Vault;
use crate::domain::ids::ReleaseId;
use crate::domain::input::Verb;
use crate::domain::refusal::Refusal;
use crate::wire::body::{parse, parse_or_default};
use crate::wire::reason::ReasonBody;
use crate::wire::release::{BuildBody, ReleaseBody};

/// `GET /api/config/releases/`, newest first.
pub(super) async fn list<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    page: Page,
) -> Answer {
    let (tenant, _) = shared.admit(&caller, Need::Look)?;
    let world = tenant.service.door.world();
    let mut releases: Vec<_> = world.releases.values().collect();
    releases.sort_by_key(|release| (std::cmp::Reverse(release.created_at), release.id));
    let shown = page.of(releases.into_iter(), |release| release.id.0);
    Ok(body(StatusCode::OK, &shown.into_iter().map(ReleaseBody::from).collect::<Vec<_>>()))
}

/// `GET /api/config/releases/{uuid}`.
pub(super) async fn show<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    Id(id): Id,
    _: NoQuery,
) -> Answer {
    let (tenant, _) = shared.admit(&caller, Need::Look)?;
    let known = shown(tenant, ReleaseId(id)).ok_or(Refusal::NoRelease(ReleaseId(id)))?;
    Ok(body(StatusCode::OK, &known))
}

/// `POST /api/config/releases/build-from-git`: the only way a release comes into being (R4).
pub(super) async fn build<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    _: NoQuery,
    errand: Errand,
    Body(bytes): Body,
) -> Answer {
    let (tenant, _) = shared.admit(&caller, Need::Act)?;
    let order: BuildBody = parse(&bytes)?;
    let built = shared.setup.builder.build(&order.git_ref).await?;
    // Kept first: a release that is published can be served.
    let content = tenant.service.host().vault().keep(built.content).await?;
    let BuildBody { git_ref, engine, timeout_seconds, notes, target_version, reason } = order;
    let (id, commit) = (ReleaseId(shared.fresh()), built.commit);
    let verb = Verb::PublishRelease { id, git_ref, commit, engine, timeout_seconds, notes, target_version, content };
    errand.answer(&shared, tenant, &caller, reason, verb).await
}

/// `POST /api/config/releases/{uuid}/yank` (R116).
pub(super) async fn yank<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    Id(id): Id,
    _: NoQuery,
    errand: Errand,
    Body(bytes): Body,
) -> Answer {
    let (tenant, _) = shared.admit(&caller, Need::Act)?;
    let ReasonBody { reason } = parse_or_default(&bytes)?;
    errand.answer(&shared, tenant, &caller, reason, Verb::Yank { release: ReleaseId(id) }).await
}

fn shown<H: Host>(tenant: &Tenant<H>, id: ReleaseId) -> Option<ReleaseBody> {
    tenant.service.door.world().releases.get(&id).map(ReleaseBody::from)
}
