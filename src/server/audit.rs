//! The audit, read from the journal.

use axum::http::StatusCode;

use super::admit::Reader;
use super::build::Builder;
use super::errand::body;
use super::extract::Query;
use super::failure::{Answer, Failure};
use crate::control::host::Host;
use crate::control::ports::{Journal, JournalError};
use crate::control::trouble::sentence;
use crate::domain::change::Entry;
use crate::domain::ids::Revision;
use crate::wire::audit::AuditRow;
use crate::wire::problem::{Problem, ProblemKind};

/// Entries that are looked through at a time.
const ENTRIES_AT_ONCE: usize = 1_000;

/// `GET /api/audit?after=&limit=`: what has been archived is passed over.
pub(super) async fn list<H: Host, B: Builder>(reader: Reader<H, B>, mut query: Query) -> Answer {
    let (limit, mut after) = (query.limit()?, query.number("after")?.unwrap_or(0));
    query.end()?;
    let mut rows = Vec::new();
    loop {
        let entries = read(&reader, &mut after).await?;
        let Some(last) = entries.last() else { break };
        after = last.revision;
        rows.extend(entries.into_iter().filter_map(AuditRow::of).take(limit - rows.len()));
        if rows.len() == limit {
            break;
        }
    }
    Ok(body(StatusCode::OK, &rows))
}

/// The next entries; `after` is moved past what is archived.
async fn read<H: Host, B>(reader: &Reader<H, B>, after: &mut Revision) -> Result<Vec<Entry>, Failure> {
    let service = &reader.account.service;
    let (journal, account) = (service.host().journal(), service.account());
    let read = match journal.read(account, *after, ENTRIES_AT_ONCE).await {
        Err(JournalError::Compacted { oldest }) => {
            *after = oldest.saturating_sub(1);
            journal.read(account, *after, ENTRIES_AT_ONCE).await
        }
        read => read,
    };
    read.map_err(|error| Failure(Problem::new(ProblemKind::Unavailable, "journal", sentence(&error))))
}
