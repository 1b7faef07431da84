//! The audit, read from the journal.

use axum::http::StatusCode;

use super::admit::Reader;
use super::build::Builder;
use super::errand::body;
use super::extract::Query;
use super::failure::{Answer, Failure};
use crate::control::host::Host;
use crate::control::ports::{Journal, Stretch};
use crate::control::trouble::sentence;
use crate::wire::audit::AuditRow;
use crate::wire::problem::{Problem, ProblemKind};

/// `GET /api/audit?after=&before=&limit=`: archived links as well. A page costs what is on it, however many entries lie
/// between its rows.
pub(super) async fn list<H: Host, B: Builder>(reader: Reader<H, B>, mut query: Query) -> Answer {
    let limit = query.limit()?;
    let stretch = match (query.number("after")?, query.number("before")?) {
        (after, None) => Stretch::After(after.unwrap_or(0)),
        (None, Some(before)) => Stretch::Before(before),
        (Some(_), Some(_)) => return Err(both().into()),
    };
    query.end()?;
    let service = &reader.account.service;
    let read = service.host().journal().links(service.account(), stretch, limit).await;
    let unavailable = |error| Failure(Problem::new(ProblemKind::Unavailable, "journal", sentence(&error)));
    let rows: Vec<AuditRow> = read.map_err(unavailable)?.into_iter().filter_map(AuditRow::of).collect();
    Ok(body(StatusCode::OK, &rows))
}

fn both() -> Problem {
    let message = "a page stands either behind a revision or in front of one: give `after` or `before`";
    Problem::new(ProblemKind::Malformed, "bad_query", message).field("before")
}
