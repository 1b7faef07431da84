//! Agents: the poll that is held, the report, the rebuild.

use std::time::Duration;

use axum::http::StatusCode;

use super::admit::Agent;
use super::build::Builder;
use super::errand::body;
use super::extract::{Body, NoQuery, Query};
use super::failure::{Answer, Failure};
use crate::control::host::Host;
use crate::control::ports::Clock;
use crate::domain::input::Edition;
use crate::wire::agent::{Filed, PollAnswer, RebuiltBody, ReportBody, WAIT_MAX, parse_have};
use crate::wire::body::{parse, parse_or_default};
use crate::wire::problem::{Problem, ProblemKind};

/// The longest baked version, in characters.
const VERSION_MAX: usize = 100;

/// `GET /api/agent/assignment?wait=25&have=RELEASE:GENERATION`: a sign of life, and the moment a lease is granted (R18).
pub(super) async fn assignment<H: Host, B: Builder>(agent: Agent<H, B>, mut query: Query) -> Answer {
    let Agent { shared, account, machine } = agent;
    let (wait, have) = (query.number("wait")?.unwrap_or(0), query.take("have")?);
    query.end()?;
    if wait > WAIT_MAX.0 {
        return Err(malformed("wait", &format!("wait is at most {WAIT_MAX}")));
    }
    let have = have.as_deref().map(edition).transpose()?;
    let held = shared.metrics.held();
    let answer = account.service.desk.poll(machine, have, Duration::from_secs(wait)).await;
    drop(held);
    Ok(body(StatusCode::OK, &PollAnswer::of(answer?)?))
}

/// `POST /api/agent/apply-results`.
pub(super) async fn report<H: Host, B: Builder>(agent: Agent<H, B>, _: NoQuery, Body(bytes): Body) -> Answer {
    let Agent { account, machine, .. } = agent;
    let report: ReportBody = parse(&bytes)?;
    let received_at = account.service.host().clock().now();
    account.service.desk.report(report.result(machine, received_at)).await?;
    Ok(body(StatusCode::OK, &Filed { filed: true }))
}

/// `POST /api/agent/rebuilt` (R152).
pub(super) async fn rebuilt<H: Host, B: Builder>(agent: Agent<H, B>, _: NoQuery, Body(bytes): Body) -> Answer {
    let Agent { account, machine, .. } = agent;
    let RebuiltBody { baked_version } = parse_or_default(&bytes)?;
    let is_version = |text: &String| text.chars().count() <= VERSION_MAX && !text.chars().any(char::is_control);
    if !baked_version.as_ref().is_none_or(is_version) {
        return Err(malformed(
            "baked_version",
            &format!("baked_version is at most {VERSION_MAX} printable characters"),
        ));
    }
    account.service.desk.rebuilt(machine, baked_version).await?;
    Ok(body(StatusCode::OK, &Filed { filed: true }))
}

fn edition(text: &str) -> Result<Edition, Failure> {
    parse_have(text).ok_or_else(|| malformed("have", "have is RELEASE:GENERATION, a uuid and a number"))
}

fn malformed(field: &str, message: &str) -> Failure {
    Failure(Problem::new(ProblemKind::Malformed, "malformed", message).field(field))
}
