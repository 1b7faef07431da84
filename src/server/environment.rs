//! Environments: list, make, change, hold.

use axum::http::StatusCode;

use super::admit::Reader;
use super::build::Builder;
use super::errand::{Errand, body};
use super::extract::{Id, Page};
use super::failure::Answer;
use crate::control::host::Host;
use crate::domain::change::Level;
use crate::domain::ids::EnvironmentId;
use crate::domain::input::Verb;
use crate::wire::environment::{EnvironmentBody, EnvironmentNew, EnvironmentPatch};

/// `GET /api/config/environments/`, by uuid.
pub(super) async fn list<H: Host, B: Builder>(reader: Reader<H, B>, page: Page) -> Answer {
    let look = reader.look();
    let shown = page.by_uuid(look.environments.values(), |environment| environment.id.0);
    Ok(body(StatusCode::OK, &shown.into_iter().map(EnvironmentBody::from).collect::<Vec<_>>()))
}

/// `POST /api/config/environments/`.
pub(super) async fn make<H: Host, B: Builder>(errand: Errand<H, B>) -> Answer {
    let mut new = EnvironmentNew::parse(&errand.bytes)?;
    let (reason, id) = (new.reason.take(), EnvironmentId(errand.shared.fresh()));
    errand.give(reason, new.verb(id)).await
}

/// `PATCH /api/config/environments/{uuid}`.
pub(super) async fn change<H: Host, B: Builder>(Id(id): Id, errand: Errand<H, B>) -> Answer {
    let mut patch = EnvironmentPatch::parse(&errand.bytes)?;
    let reason = patch.reason.take();
    errand.give(reason, patch.verb(EnvironmentId(id))).await
}

/// `POST /api/config/environments/{uuid}/pause`.
pub(super) async fn pause<H: Host, B: Builder>(Id(id): Id, errand: Errand<H, B>) -> Answer {
    errand.plain(Verb::Pause(Level::Environment(EnvironmentId(id)))).await
}

/// `POST /api/config/environments/{uuid}/unpause`.
pub(super) async fn unpause<H: Host, B: Builder>(Id(id): Id, errand: Errand<H, B>) -> Answer {
    errand.plain(Verb::Unpause(Level::Environment(EnvironmentId(id)))).await
}
