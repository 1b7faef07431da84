//! One row of a status as the machine it is about, one release as it is listed. Pure.

use imbl::OrdMap;
use jiff::Timestamp;

use super::sketch::GENERATION;
use crate::domain::fleet::{Applied, LastResult, Lease, Machine, Pause, RenderError, Served};
use crate::domain::ids::{ReleaseId, RolloutId};
use crate::domain::release::{Contract, Digest, Outcome, Release, Yank};
use crate::domain::rows::RowState;
use crate::domain::span::Seconds;
use crate::wire::told::{ReleaseTold, RowTold};

/// Who did something, where that is not told.
pub(super) const NOT_TOLD: &str = "somebody";

/// In front of the names that a row says are missing.
const MISSING: &str = "missing: ";

/// The machine whose row reads like this one. `since` tells since when something is seen of it.
pub(super) fn machine(
    row: &RowTold,
    rollout: RolloutId,
    release: ReleaseId,
    settle: Seconds,
    since: &mut dyn FnMut(&'static str) -> Timestamp,
) -> Machine {
    let mut machine = Machine { bucket: Some(row.bucket), ..Machine::new(row.uuid, &row.hostname) };
    match row.state {
        RowState::Paused => {
            machine.paused = Some(Pause { at: since("hold"), by: NOT_TOLD.to_owned(), reason: None });
        }
        RowState::Applied => machine.applied = Some(Applied { release, at: since("applied") }),
        RowState::Failed => machine.last_result = Some(failure(release, since("failure"))),
        RowState::Errored => {
            let missing = row.render_error.as_deref().map_or_else(|| vec![NOT_NAMED.to_owned()], names);
            machine.render_error = Some(RenderError { generation: GENERATION, missing, at: since("error") });
        }
        RowState::Pending if !row.holds_slot => {
            machine.served = Some(Served { generation: GENERATION, content: no_content(), at: since("served") });
        }
        RowState::Pending | RowState::Queued | RowState::Waiting => {}
    }
    if row.holds_slot {
        let granted_at = row.held_since.unwrap_or_else(|| since("slot"));
        machine.lease = Some(Lease { rollout, granted_at, frozen: Seconds(0), content: no_content() });
    }
    if let Some(end) = row.settles_at {
        machine.first_success = OrdMap::unit(release, settle.before(end));
    }
    machine
}

const NOT_NAMED: &str = "something that is not named";

fn names(told: &str) -> Vec<String> {
    let named = told.strip_prefix(MISSING).unwrap_or(told);
    named.split(", ").map(str::to_owned).collect()
}

fn failure(release: ReleaseId, at: Timestamp) -> LastResult {
    let outcome = Outcome::Failed;
    LastResult { release, generation: GENERATION, outcome, at, failed_state: None, repeats: false }
}

fn no_content() -> Digest {
    Digest(String::new())
}

/// A release as it is listed; `since` stands in where it is not told when it was built.
pub(super) fn release(told: &ReleaseTold, since: Timestamp) -> Release {
    let made = nameless(told.uuid, told.git_ref.as_deref().unwrap_or("(no git ref told)"), since);
    Release {
        commit: told.commit.clone().unwrap_or_default(),
        engine: told.engine.clone().unwrap_or_default(),
        timeout_seconds: told.timeout_seconds,
        notes: told.notes.clone().unwrap_or_default(),
        created_at: told.created_at.unwrap_or(since),
        yanked: told.yanked.then(|| Yank { at: since, by: NOT_TOLD.to_owned(), reason: None }),
        ..made
    }
}

/// A release of which no more is known than what to call it.
pub(super) fn nameless(id: ReleaseId, name: &str, since: Timestamp) -> Release {
    Release {
        id,
        git_ref: name.to_owned(),
        commit: String::new(),
        engine: String::new(),
        timeout_seconds: Seconds(0),
        notes: String::new(),
        target_version: None,
        content: no_content(),
        contract: Contract::default(),
        created_at: since,
        yanked: None,
    }
}
