//! Rings: list, make, change, hold (B15).

use axum::http::StatusCode;

use super::admit::Reader;
use super::build::Builder;
use super::errand::{Errand, body};
use super::extract::{Id, Page};
use super::failure::Answer;
use crate::control::host::Host;
use crate::domain::change::Level;
use crate::domain::ids::RingId;
use crate::domain::input::Verb;
use crate::wire::ring::{RingBody, RingSet};

/// `GET /api/config/rings/`, by uuid.
pub(super) async fn list<H: Host, B: Builder>(reader: Reader<H, B>, page: Page) -> Answer {
    let look = reader.look();
    let shown = page.by_uuid(look.rings.values(), |ring| ring.id.0);
    Ok(body(StatusCode::OK, &shown.into_iter().map(RingBody::from).collect::<Vec<_>>()))
}

/// `POST /api/config/rings/`.
pub(super) async fn make<H: Host, B: Builder>(errand: Errand<H, B>) -> Answer {
    let mut new = RingSet::parse_new(&errand.bytes)?;
    let (reason, id) = (new.reason.take(), RingId(errand.shared.fresh()));
    errand.give(reason, new.create(id)).await
}

/// `PATCH /api/config/rings/{uuid}`.
pub(super) async fn change<H: Host, B: Builder>(Id(id): Id, errand: Errand<H, B>) -> Answer {
    let mut patch = RingSet::parse_patch(&errand.bytes)?;
    let reason = patch.reason.take();
    errand.give(reason, patch.change(RingId(id))).await
}

/// `POST /api/config/rings/{uuid}/pause`.
pub(super) async fn pause<H: Host, B: Builder>(Id(id): Id, errand: Errand<H, B>) -> Answer {
    errand.plain(Verb::Pause(Level::Ring(RingId(id)))).await
}

/// `POST /api/config/rings/{uuid}/unpause`.
pub(super) async fn unpause<H: Host, B: Builder>(Id(id): Id, errand: Errand<H, B>) -> Answer {
    errand.plain(Verb::Unpause(Level::Ring(RingId(id)))).await
}
