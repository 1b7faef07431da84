//! The process itself: alive, ready, which version, who ticks.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;

use super::admit::{Anybody, Reader};
use super::build::Builder;
use super::errand::{Errand, body, planned};
use super::extract::NoQuery;
use super::failure::Answer;
use super::feed::seat_body;
use super::shared::{Account, Shared};
use crate::control::host::Host;
use crate::control::picture::Freshness;
use crate::control::ports::{Clock, Journal};
use crate::control::seat::Bid;
use crate::control::service::Service;
use crate::domain::input::Verb;
use crate::domain::span::Seconds;
use crate::wire::body::parse_or_default;
use crate::wire::plan::PlanBody;
use crate::wire::problem::{Problem, ProblemKind};
use crate::wire::process::{AccountReady, FEATURES, ReadyBody, SeatBody, VersionBody};
use crate::wire::reason::{ReasonBody, checked};

/// How long a process that was asked to leave the seat does not stand for it.
const LEFT_FOR: Seconds = Seconds(60);

/// A tick is late once it is older than this many periods.
const PERIODS_LATE: u32 = 3;

/// `GET /healthz`: the process answers.
pub(super) async fn alive() -> &'static str {
    "ok\n"
}

/// `GET /readyz`: every journal can be reached, whoever holds a seat ticks, and the process is not about to stop. 503
/// where not.
pub(super) async fn ready<H: Host, B: Builder>(State(shared): State<Arc<Shared<H, B>>>) -> Response {
    let accounts: Vec<AccountReady> =
        shared.accounts().iter().map(|account| readiness(account, shared.setup.tick_every)).collect();
    let stays = !shared.leaving.is_asked() && !shared.setup.stop.is_asked();
    let ready = stays && accounts.iter().all(|a| a.journal == "live" && !a.tick_is_late);
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    body(status, &ReadyBody { ready, accounts })
}

/// `GET /api/version`. Any token will do: an agent may want to know as well.
pub(super) async fn version<H: Host>(Anybody(account): Anybody<H>, _: NoQuery) -> Answer {
    let observed = account.service.observer.observe(&account.service.door.world());
    let version = VersionBody {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        journal_kind: account.service.host().journal().kind().to_owned(),
        cluster_uid: observed.cluster.and_then(|sight| sight.identity?.uid),
        features: FEATURES.iter().map(|feature| (*feature).to_owned()).collect(),
    };
    Ok(body(StatusCode::OK, &version))
}

/// `GET /api/seat`.
pub(super) async fn seat<H: Host, B: Builder>(reader: Reader<H, B>, _: NoQuery) -> Answer {
    Ok(body(StatusCode::OK, &seat_body(&reader.account.service.door.published().borrow())))
}

/// `POST /api/seat/leave`: this process gives the seat back, and does not stand for it for `LEFT_FOR`.
pub(super) async fn leave<H: Host, B: Builder>(errand: Errand<H, B>) -> Answer {
    let ReasonBody { reason } = parse_or_default(&errand.bytes)?;
    let (reason, service) = (checked(reason)?, &errand.account.service);
    let seat = seat_body(&service.door.published().borrow());
    if service.held.epochs().borrow().is_none() {
        return Err(not_here(&seat).into());
    }
    if errand.dry_run {
        return Ok(planned(&PlanBody::leaving(service.door.world().revision, LEFT_FOR)));
    }
    tracing::warn!(by = %errand.caller.name, reason = reason.as_deref(), "the seat is left");
    service.bidding.set(Bid::Abstain);
    tokio::spawn(come_back(service.clone()));
    Ok(body(StatusCode::OK, &seat))
}

/// Stands again after a while: a fleet without anybody who ticks helps nobody.
async fn come_back<H: Host>(service: Service<H>) {
    tokio::select! {
        () = service.stop.asked() => {}
        () = service.host().clock().sleep(Duration::from_secs(LEFT_FOR.0)) => service.bidding.set(Bid::Stand),
    }
}

fn not_here(seat: &SeatBody) -> Problem {
    let holder = seat.holder.as_deref().unwrap_or("nobody");
    Problem::new(ProblemKind::Conflict, "not_seated", format!("this process does not hold the seat, {holder} does"))
        .hint("ask the process that holds it")
}

/// `POST /api/clock/accept`: a person says that the wall clock is right (R168).
pub(super) async fn accept_clock<H: Host, B: Builder>(errand: Errand<H, B>) -> Answer {
    errand.plain(Verb::AcceptClock).await
}

/// How an account stands in this process.
pub(super) fn readiness<H: Host>(account: &Account<H>, tick_every: Duration) -> AccountReady {
    let published = account.service.door.published().borrow().clone();
    let held = *account.service.held.epochs().borrow();
    let began = published.last_tick.max(published.world.seat.since.filter(|_| held.is_some()));
    let now = account.service.host().clock().now();
    let age = held.and(began).map(|at| Seconds::between(at, now).0);
    AccountReady {
        account: account.name.clone(),
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
