//! The process itself: alive, ready, which version, who ticks.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use super::build::Builder;
use super::caller::{Caller, Need};
use super::errand::{Errand, body};
use super::extract::{Body, NoQuery};
use super::failure::Answer;
use super::feed::seat_body;
use super::shared::{Shared, Tenant};
use crate::control::host::Host;
use crate::control::picture::Freshness;
use crate::control::ports::{Clock, Journal};
use crate::domain::input::Verb;
use crate::domain::span::Seconds;
use crate::wire::body::parse_or_default;
use crate::wire::process::{AccountReady, FEATURES, ReadyBody, VersionBody};
use crate::wire::reason::ReasonBody;

/// A tick is late once it is older than this many periods.
const PERIODS_LATE: u32 = 3;

/// `GET /healthz`: the process answers.
pub(super) async fn alive() -> &'static str {
    "ok\n"
}

/// `GET /readyz`: every journal can be reached, and whoever holds a seat ticks. 503 where not.
pub(super) async fn ready<H: Host, B: Builder>(State(shared): State<Arc<Shared<H, B>>>) -> Response {
    let accounts: Vec<AccountReady> = shared.tenants().map(|tenant| account(tenant, shared.setup.tick_every)).collect();
    let ready = !shared.setup.stop.is_asked() && accounts.iter().all(|a| a.journal == "live" && !a.tick_is_late);
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    body(status, &ReadyBody { ready, accounts })
}

/// `GET /api/version`.
pub(super) async fn version<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    _: NoQuery,
) -> Answer {
    // Any token will do: an agent may want to know as well.
    let tenant = shared.tenant(caller.account)?;
    let version = VersionBody {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        journal_kind: tenant.service.host().journal().kind().to_owned(),
        cluster_uid: None,
        features: FEATURES.iter().map(|feature| (*feature).to_owned()).collect(),
    };
    Ok(body(StatusCode::OK, &version).into_response())
}

/// `GET /api/seat`.
pub(super) async fn seat<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    _: NoQuery,
) -> Answer {
    let (tenant, _) = shared.admit(&caller, Need::Look)?;
    let seat = seat_body(&tenant.service.door.published().borrow());
    Ok(body(StatusCode::OK, &seat))
}

/// `POST /api/clock/accept`: a person says that the wall clock is right (R168).
pub(super) async fn accept_clock<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    _: NoQuery,
    errand: Errand,
    Body(bytes): Body,
) -> Answer {
    let (tenant, _) = shared.admit(&caller, Need::Act)?;
    let ReasonBody { reason } = parse_or_default(&bytes)?;
    errand.answer(&shared, tenant, &caller, reason, Verb::AcceptClock).await
}

/// How an account stands in this process.
pub(super) fn account<H: Host>(tenant: &Tenant<H>, tick_every: Duration) -> AccountReady {
    let published = tenant.service.door.published().borrow().clone();
    let held = *tenant.service.held.epochs().borrow();
    let began = published.last_tick.max(published.world.seat.since.filter(|_| held.is_some()));
    let now = tenant.service.host().clock().now();
    let age = held.and(began).map(|at| Seconds::between(at, now).0);
    AccountReady {
        account: tenant.name.clone(),
        journal: match &published.journal {
            Freshness::Live(_) => "live".to_owned(),
            Freshness::Lost { why, .. } => why.clone(),
            _ => "loading".to_owned(),
        },
        holds_seat: held.is_some(),
        tick_age_seconds: age,
        tick_is_late: age.is_some_and(|age| age > (tick_every * PERIODS_LATE).as_secs()),
    }
}
