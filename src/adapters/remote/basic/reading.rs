//! Reads what such a control plane tells. The account and a status it must have; lists it may have.

use serde::de::DeserializeOwned;

use super::super::client::{Client, Failure};
use crate::domain::ids::RolloutId;
use crate::wire::problem::{Problem, ProblemKind};
use crate::wire::told::{AccountTold, EnvironmentTold, ReleaseTold, RingTold, RolloutTold, StatusTold};
use crate::wire::{account, environment, release, ring, rollout};

/// Rows of a status that are asked for: the most a control plane gives at once.
pub const ROWS_MAX: usize = 1_000;

/// Why a request of ours says that what answers is no control plane.
pub const NOT_OURS: &str = "not_ours";

/// Code of an answer that cannot be read as what it should be.
const UNREADABLE: &str = "unreadable";

/// What changes rarely.
#[derive(Debug, Clone, PartialEq)]
pub struct Catalog {
    /// Its switches.
    pub account: AccountTold,
    /// None = they are not listed.
    pub environments: Option<Vec<EnvironmentTold>>,
    /// None = they are not listed.
    pub rings: Option<Vec<RingTold>>,
    /// None = they are not listed.
    pub releases: Option<Vec<ReleaseTold>>,
    /// None = they are not listed.
    pub rollouts: Option<Vec<RolloutTold>>,
    /// The one that was named, where it is shown by itself.
    pub named: Option<RolloutTold>,
}

/// A rollout and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// As far as it is told.
    pub rollout: RolloutTold,
    /// Its rows.
    pub status: StatusTold,
}

/// Whether a control plane that has no world to offer has at least what the runbook shows. Its account is one question
/// that nothing else answers in the same way.
///
/// # Errors
/// What stands in the way: it is not there, it turns the token away, or it is no control plane (`NOT_OURS`).
pub async fn probe(client: &Client) -> Result<AccountTold, Failure> {
    client.get(account::PATH).await.map_err(|failure| match failure {
        Failure::Answered(problem) if is_absent(&problem) => Failure::Answered(not_ours(client, "has no account")),
        Failure::Lost(problem) if problem.code == UNREADABLE => {
            Failure::Answered(not_ours(client, "answers with something that is no account"))
        }
        other => other,
    })
}

fn not_ours(client: &Client, why: &str) -> Problem {
    let message = format!("{} {why}: this is no control plane", client.endpoint());
    Problem::new(ProblemKind::NotFound, NOT_OURS, message)
        .hint("check the address: host, port, and the path before /api")
}

/// The far end does not have that, whatever it is.
pub fn is_absent(problem: &Problem) -> bool {
    matches!(problem.kind, ProblemKind::NotFound | ProblemKind::WrongMethod)
}

/// Whether this failure to read a world says that none is offered.
pub fn offers_no_world(failure: &Failure) -> bool {
    match failure {
        Failure::Answered(problem) => is_absent(problem),
        Failure::Lost(problem) => problem.code == UNREADABLE,
        Failure::Unsent(_) => false,
    }
}

/// Everything that is listed.
///
/// # Errors
/// Where the account cannot be read, or a list is lost on the way.
pub async fn catalog(client: &Client, named: Option<RolloutId>) -> Result<Catalog, Failure> {
    Ok(Catalog {
        account: probe(client).await?,
        environments: list(client, environment::PATH).await?,
        rings: list(client, ring::PATH).await?,
        releases: list(client, release::PATH).await?,
        rollouts: list(client, rollout::PATH).await?,
        named: match named {
            Some(id) => optional(client.get(&format!("{}{id}", rollout::PATH)).await)?,
            None => None,
        },
    })
}

/// A list; none where it is not offered, not allowed, or no list of ours.
async fn list<T: DeserializeOwned>(client: &Client, path: &str) -> Result<Option<Vec<T>>, Failure> {
    optional(client.get(&format!("{path}?limit={ROWS_MAX}")).await)
}

fn optional<T>(read: Result<T, Failure>) -> Result<Option<T>, Failure> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(Failure::Answered(problem)) if problem.kind != ProblemKind::Unauthenticated => Ok(None),
        Err(Failure::Lost(problem)) if problem.code == UNREADABLE => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// The rollout that is looked at: the one that was named, else the one that runs, else the one that began last.
pub fn watched(catalog: &Catalog, named: Option<RolloutId>) -> Option<RolloutTold> {
    let listed = catalog.rollouts.as_deref().unwrap_or_default();
    match named {
        Some(id) => {
            let mut known = catalog.named.iter().chain(listed);
            Some(known.find(|rollout| rollout.uuid == id).cloned().unwrap_or_else(|| unlisted(id)))
        }
        None => {
            let running = listed.iter().find(|rollout| rollout.status.as_deref() == Some("running"));
            running.or_else(|| listed.iter().max_by_key(|rollout| rollout.started_at)).cloned()
        }
    }
}

fn unlisted(uuid: RolloutId) -> RolloutTold {
    RolloutTold {
        uuid,
        config_release_uuid: None,
        status: None,
        protected: false,
        started_at: None,
        started_by: None,
        ended_at: None,
        halt_reason: None,
    }
}

/// Where a rollout stands.
///
/// # Errors
/// Where its status cannot be read; a rollout that does not exist is `Answered`.
pub async fn progress(client: &Client, rollout: RolloutTold) -> Result<Progress, Failure> {
    let path = format!("{}{}/status?limit={ROWS_MAX}", rollout::PATH, rollout.uuid);
    let status = client.get(&path).await.map_err(|failure| match failure {
        Failure::Answered(problem) if is_absent(&problem) => {
            let message = format!("there is no rollout {} at {}", rollout.uuid, client.endpoint());
            let problem = Problem::new(ProblemKind::NotFound, "no_rollout", message);
            Failure::Answered(problem.hint("name another one: --rollout UUID"))
        }
        other => other,
    })?;
    Ok(Progress { rollout, status })
}
