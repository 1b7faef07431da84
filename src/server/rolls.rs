//! Fleet rolls, their gates, and the nodes they go through (F32-F34, F45, F53, F54).

use axum::extract::{FromRequestParts, Path};
use axum::http::StatusCode;
use axum::http::request::Parts;
use uuid::Uuid;

use super::admit::Reader;
use super::build::Builder;
use super::caller::Caller;
use super::errand::{Errand, body};
use super::extract::{Id, NoQuery, Page, Query, Word};
use super::failure::{Answer, Failure};
use crate::control::host::Host;
use crate::domain::ids::RollId;
use crate::domain::input::Verb;
use crate::domain::refusal::Refusal;
use crate::domain::roll::refusal::RollRefusal;
use crate::domain::roll::verb::RollVerb;
use crate::wire::body::parse;
use crate::wire::problem::{Problem, ProblemKind};
use crate::wire::roll::node::NodeBody;
use crate::wire::roll::request::{GateBody, RollNew};
use crate::wire::roll::shown::RollBody;

/// The roll and the gate in a path.
pub(super) struct GateOf(Uuid, String);

impl<S: Send + Sync> FromRequestParts<S> for GateOf {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        Caller::from_request_parts(parts, state).await?;
        let path = Path::<(Uuid, String)>::from_request_parts(parts, state).await;
        path.map(|Path((roll, gate))| Self(roll, gate)).map_err(|_| {
            let message = format!("there is nothing at {}: it holds no uuid", parts.uri.path());
            Failure(Problem::new(ProblemKind::NotFound, "no_route", message))
        })
    }
}

/// `GET /api/rolls/`, newest first.
pub(super) async fn list<H: Host, B: Builder>(reader: Reader<H, B>, page: Page) -> Answer {
    let look = reader.look();
    let shown = page.of(look.rolls.rolls.iter().rev(), |roll| roll.id.0);
    let bodies = shown.into_iter().map(|roll| RollBody::of(&look.observed, roll, look.now));
    Ok(body(StatusCode::OK, &bodies.collect::<Vec<_>>()))
}

/// `GET /api/rolls/{uuid}`.
pub(super) async fn show<H: Host, B: Builder>(reader: Reader<H, B>, Id(id): Id, _: NoQuery) -> Answer {
    let look = reader.look();
    let id = RollId(id);
    let roll = look.rolls.roll(id).ok_or_else(|| Refusal::from(RollRefusal::NoRoll(id)))?;
    Ok(body(StatusCode::OK, &RollBody::of(&look.observed, roll, look.now)))
}

/// `POST /api/rolls/`.
pub(super) async fn start<H: Host, B: Builder>(errand: Errand<H, B>) -> Answer {
    let mut new: RollNew = parse(&errand.bytes)?;
    let (reason, id) = (new.reason.take(), RollId(errand.shared.fresh()));
    errand.give(reason, Verb::Roll(new.verb(id))).await
}

/// `POST /api/rolls/{uuid}/gates/{gate}/approve` (F54).
pub(super) async fn approve<H: Host, B: Builder>(GateOf(id, gate): GateOf, errand: Errand<H, B>) -> Answer {
    let GateBody { revision, awaiting_since, reason } = parse(&errand.bytes)?;
    errand.give(reason, Verb::Roll(RollVerb::Approve { roll: RollId(id), gate, revision, awaiting_since })).await
}

/// `POST /api/rolls/{uuid}/gates/{gate}/deny` (F20, F54).
pub(super) async fn deny<H: Host, B: Builder>(GateOf(id, gate): GateOf, errand: Errand<H, B>) -> Answer {
    let GateBody { revision, awaiting_since, reason } = parse(&errand.bytes)?;
    errand.give(reason, Verb::Roll(RollVerb::Deny { roll: RollId(id), gate, revision, awaiting_since })).await
}

/// `POST /api/rolls/{uuid}/abort` (F60).
pub(super) async fn abort<H: Host, B: Builder>(Id(id): Id, errand: Errand<H, B>) -> Answer {
    errand.plain(Verb::Roll(RollVerb::Abort { roll: RollId(id) })).await
}

/// `GET /api/nodes/?limit=&after=NAME`, by name.
pub(super) async fn nodes<H: Host, B: Builder>(reader: Reader<H, B>, mut query: Query) -> Answer {
    let (limit, after) = (query.limit()?, query.take("after")?.unwrap_or_default());
    query.end()?;
    let look = reader.look();
    let all = NodeBody::all(&look.world, &look.observed, look.now).into_iter();
    let later = all.filter(|node| after.is_empty() || node.name > after);
    Ok(body(StatusCode::OK, &later.take(limit).collect::<Vec<_>>()))
}

/// `POST /api/nodes/{name}/probe`.
pub(super) async fn probe<H: Host, B: Builder>(Word(node): Word, errand: Errand<H, B>) -> Answer {
    errand.plain(Verb::Roll(RollVerb::Probe { node })).await
}

/// `POST /api/nodes/{name}/uncordon`: only for a cordon of the ledger.
pub(super) async fn uncordon<H: Host, B: Builder>(Word(node): Word, errand: Errand<H, B>) -> Answer {
    errand.plain(Verb::Roll(RollVerb::Uncordon { node })).await
}
