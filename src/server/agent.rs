//! Agents: the poll that is held, the report, the rebuild.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;

use super::build::Builder;
use super::caller::Caller;
use super::errand::body;
use super::extract::{Body, NoQuery, Query};
use super::failure::{Answer, Failure};
use super::shared::Shared;
use crate::control::desk::{Handout, PollAnswer as Held};
use crate::control::host::Host;
use crate::control::ports::{ApplyResult, Clock, FailedState};
use crate::domain::ids::MachineId;
use crate::domain::input::Edition;
use crate::wire::agent::{
    AssignmentBody, FAILED_STATES_MAX, Filed, LOG_TAIL_MAX, PollAnswer, RebuiltBody, ReportBody, WAIT_MAX, parse_have,
    tail_of,
};
use crate::wire::body::{parse, parse_or_default};
use crate::wire::problem::{Problem, ProblemKind};

/// The longest name or comment of a failing state that is kept, in bytes.
const STATE_TEXT_MAX: usize = 4 * 1024;

/// The longest baked version, in characters.
const VERSION_MAX: usize = 100;

/// `GET /api/agent/assignment?wait=25&have=RELEASE:GENERATION`: a sign of life, and the moment a lease is granted (R18).
pub(super) async fn assignment<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    mut query: Query,
) -> Answer {
    let (tenant, machine) = shared.admit_agent(&caller)?;
    let (wait, have) = (query.number("wait")?.unwrap_or(0), query.take("have")?);
    query.end()?;
    if wait > WAIT_MAX.0 {
        return Err(malformed("wait", &format!("wait is at most {WAIT_MAX}")));
    }
    let have = have.as_deref().map(edition).transpose()?;
    let held = shared.metrics.held();
    let answer = tenant.service.desk.poll(machine, have, Duration::from_secs(wait)).await;
    drop(held);
    Ok(body(StatusCode::OK, &poll_answer(answer?)?))
}

/// `POST /api/agent/apply-results`.
pub(super) async fn report<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    _: NoQuery,
    Body(bytes): Body,
) -> Answer {
    let (tenant, machine) = shared.admit_agent(&caller)?;
    let report: ReportBody = parse(&bytes)?;
    let result = result_of(machine, report, tenant.service.host().clock());
    tenant.service.desk.report(result).await?;
    Ok(body(StatusCode::OK, &Filed { filed: true }))
}

/// `POST /api/agent/rebuilt` (R152).
pub(super) async fn rebuilt<H: Host, B: Builder>(
    State(shared): State<Arc<Shared<H, B>>>,
    caller: Caller,
    _: NoQuery,
    Body(bytes): Body,
) -> Answer {
    let (tenant, machine) = shared.admit_agent(&caller)?;
    let RebuiltBody { baked_version } = parse_or_default(&bytes)?;
    let is_version = |text: &String| text.chars().count() <= VERSION_MAX && !text.chars().any(char::is_control);
    if !baked_version.as_ref().is_none_or(is_version) {
        return Err(malformed(
            "baked_version",
            &format!("baked_version is at most {VERSION_MAX} printable characters"),
        ));
    }
    tenant.service.desk.rebuilt(machine, baked_version).await?;
    Ok(body(StatusCode::OK, &Filed { filed: true }))
}

fn edition(text: &str) -> Result<Edition, Failure> {
    parse_have(text).ok_or_else(|| malformed("have", "have is RELEASE:GENERATION, a uuid and a number"))
}

fn malformed(field: &str, message: &str) -> Failure {
    Failure(Problem::new(ProblemKind::Malformed, "malformed", message).field(field))
}

fn poll_answer(held: Held) -> Answer<PollAnswer> {
    let Held { assignment, cancel, poll_after } = held;
    let assignment = assignment.map(assignment_body).transpose()?;
    Ok(PollAnswer { assignment, cancel, poll_after_seconds: poll_after })
}

fn assignment_body(handout: Handout) -> Answer<AssignmentBody> {
    let content = std::str::from_utf8(&handout.content).map_err(|_| {
        let message = format!("content {} is no text, so it cannot be served", handout.digest);
        Failure(Problem::new(ProblemKind::Internal, "content_unreadable", message))
    })?;
    Ok(AssignmentBody {
        release_uuid: handout.edition.release,
        generation: handout.edition.generation,
        timeout_seconds: handout.timeout_seconds,
        content_digest: handout.digest.to_string(),
        content: content.to_owned(),
    })
}

/// A report within its limits, for the desk.
fn result_of(machine: MachineId, report: ReportBody, clock: &impl Clock) -> ApplyResult {
    let cut = |text: &str| tail_of(text, STATE_TEXT_MAX).to_owned();
    let states = report.failed_states.iter().take(FAILED_STATES_MAX);
    ApplyResult {
        machine,
        release: report.release_uuid,
        generation: report.generation,
        outcome: report.outcome,
        started_at: report.started_at,
        finished_at: report.finished_at,
        received_at: clock.now(),
        changed_count: report.changed_count,
        failed_states: states
            .map(|state| FailedState { id: cut(&state.id), name: cut(&state.name), comment: cut(&state.comment) })
            .collect(),
        log_tail: tail_of(&report.log_tail, LOG_TAIL_MAX).to_owned(),
    }
}
