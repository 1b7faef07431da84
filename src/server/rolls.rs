//! Fleet rolls, their gates, and the nodes they go through (F32-F34, F45, F53, F54).

use axum::extract::{FromRequestParts, Path};
use axum::http::StatusCode;
use axum::http::request::Parts;
use uuid::Uuid;

use super::admit::{Look, Reader};
use super::build::Builder;
use super::caller::Caller;
use super::errand::{Errand, body};
use super::extract::{Id, Page, Query, Word};
use super::failure::{Answer, Failure};
use super::past::paged;
use crate::control::host::Host;
use crate::control::past::reading::PastError;
use crate::control::past::rolls::{self as past, ToldRoll};
use crate::domain::ids::RollId;
use crate::domain::input::Verb;
use crate::domain::refusal::Refusal;
use crate::domain::roll::refusal::RollRefusal;
use crate::domain::roll::verb::RollVerb;
use crate::wire::body::parse;
use crate::wire::problem::{Problem, ProblemKind};
use crate::wire::roll::node::NodeBody;
use crate::wire::roll::request::{GateBody, RollNew};
use crate::wire::roll::shown::{PATH, RollBody};

/// What is said of a roll whose first entries are gone, and which the World still holds.
const LAST_PROBES: &str = "only the last 50 probes of each node are told: its first entries are older than what the journal \
    keeps; export before you compact";

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

/// `GET /api/rolls/`, newest first: those the World holds, then older ones from the journal (F57).
pub(super) async fn list<H: Host, B: Builder>(reader: Reader<H, B>, page: Page) -> Answer {
    let look = reader.look();
    let (held, after) = (&look.rolls.rolls, page.after.map(RollId));
    let is_held = after.is_none_or(|after| look.rolls.roll(after).is_some());
    let shown = if is_held { page.of(held.iter().rev(), |roll| roll.id.0) } else { Vec::new() };
    if shown.is_empty() && after.is_some() {
        return older(&reader, &look, after.filter(|_| !is_held), page.limit).await;
    }
    let is_all = u64::try_from(held.len()).is_ok_and(|held| look.rolls.started <= held);
    let is_last = shown.last().map(|roll| roll.id) == held.front().map(|roll| roll.id);
    let bodies: Vec<RollBody> = shown.iter().map(|roll| RollBody::of(&look.observed, roll, look.now)).collect();
    Ok(paged(&bodies, next_of(&bodies, page.limit).filter(|_| !(is_all && is_last))))
}

/// Those begun before `after`, or all that the World does not hold.
async fn older<H: Host, B: Builder>(reader: &Reader<H, B>, look: &Look, after: Option<RollId>, limit: usize) -> Answer {
    let (service, _permit) = (&reader.account.service, reader.turn_back().await?);
    let is_known = |id| look.rolls.roll(id).is_some();
    let found = past::page(service.host().journal(), service.account(), after, limit, is_known).await?;
    let Some(page) = found else {
        let message = "there is no roll that `after` names";
        return Err(Problem::new(ProblemKind::NotFound, "no_roll", message).field("after").into());
    };
    let of = |told: &ToldRoll| {
        RollBody::of(&look.observed, &told.roll, look.now).whole(&told.findings, told.incomplete.clone())
    };
    let bodies: Vec<RollBody> = page.rolls.iter().map(of).collect();
    Ok(paged(&bodies, next_of(&bodies, limit).filter(|_| page.more)))
}

fn next_of(bodies: &[RollBody], limit: usize) -> Option<String> {
    bodies.last().map(|last| format!("{PATH}?limit={limit}&after={}", last.uuid))
}

/// `GET /api/rolls/{uuid}?whole=`. One the World does not hold any more is read from the journal, and so is everything
/// that was found of the nodes of any, where it is asked for (F57).
pub(super) async fn show<H: Host, B: Builder>(reader: Reader<H, B>, Id(id): Id, mut query: Query) -> Answer {
    let whole = query.flag("whole")?;
    query.end()?;
    let (look, id) = (reader.look(), RollId(id));
    let held = look.rolls.roll(id);
    if let Some(roll) = held.filter(|_| !whole) {
        return Ok(body(StatusCode::OK, &RollBody::of(&look.observed, roll, look.now)));
    }
    let (service, _permit) = (&reader.account.service, reader.turn_back().await?);
    let told = past::one(service.host().journal(), service.account(), id).await;
    let shown = |roll| RollBody::of(&look.observed, roll, look.now);
    let body_of = match (held, told) {
        (Some(roll), Ok(Some(told))) => shown(roll).whole(&told.findings, told.incomplete),
        (None, Ok(Some(told))) => shown(&told.roll).whole(&told.findings, told.incomplete),
        (Some(roll), Err(PastError::Archived { .. })) => {
            RollBody { incomplete: Some(LAST_PROBES.to_owned()), ..shown(roll) }
        }
        (Some(roll), Ok(None)) => shown(roll),
        (None, Ok(None)) => return Err(Refusal::from(RollRefusal::NoRoll(id)).into()),
        (_, Err(error)) => return Err(error.into()),
    };
    Ok(body(StatusCode::OK, &body_of))
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
