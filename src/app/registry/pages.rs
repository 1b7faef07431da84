//! Lists that go on in the journal of the control plane, read from one page to the next; and rolls of whenever.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;
use uuid::Uuid;

use super::fetch::{Fetched, PAGE, PAGES_MAX, list, object_or_list, one};
use super::pick::pick;
use super::rolls::ROLLS;
use crate::adapters::remote::client::{Client, Failure};
use crate::wire::problem::{ARCHIVED, Problem, ProblemKind};

/// How far back such a list is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// What the control plane has at hand: for whoever asks again and again.
    AtHand,
    /// To the beginning.
    Everything,
}

/// All rolls there ever were.
pub(super) async fn rolls(client: &Client) -> Result<Fetched, Problem> {
    all(client, format!("{}?limit={PAGE}", ROLLS.path), ROLLS.id, "started_at", Reach::Everything).await
}

/// Deployments below the path of their server.
pub(super) async fn deployments(client: &Client, path: String, reach: Reach) -> Result<Fetched, Problem> {
    all(client, path, "id", "inserted_at", reach).await
}

/// Everything that is known of the rolls of these names, in their order. One that is at hand goes before those of long
/// ago.
pub(super) async fn whole_rolls(client: &Client, names: &[String]) -> Result<Fetched, Problem> {
    let (mut found, mut at) = (Vec::with_capacity(names.len()), None);
    for name in names {
        let id = match name.parse::<Uuid>() {
            Ok(id) => id.to_string(),
            Err(_) => named(client, name).await?,
        };
        let told = one(client, &format!("{}{id}?whole=true", ROLLS.path)).await?;
        at = told.at;
        found.push(told.body);
    }
    Ok(Fetched::whole(object_or_list(found), at))
}

async fn named(client: &Client, name: &str) -> Result<String, Problem> {
    let id = |all: &Value| {
        let found = pick(&ROLLS, all.as_array().map_or(&[][..], Vec::as_slice), name)?;
        Ok(found[ROLLS.id].as_str().unwrap_or_default().to_owned())
    };
    match id(&list(client, &ROLLS).await?.body) {
        Err(Problem { kind: ProblemKind::NotFound, .. }) => id(&rolls(client).await?.body),
        found => found,
    }
}

/// Each thing once, the newest first.
async fn all(client: &Client, path: String, id: &str, since: &str, reach: Reach) -> Result<Fetched, Problem> {
    let (mut all, mut at, mut gone): (Vec<Value>, _, _) = (Vec::new(), None, None);
    let mut next = Some(path);
    for _ in 0..PAGES_MAX {
        let Some(path) = next.take() else { break };
        match client.get_page(&path).await.map_err(Failure::into_problem) {
            Ok((page, sent, more)) => {
                all.extend(page);
                (at, next) = (sent, more.filter(|_| reach == Reach::Everything));
            }
            // What is there is told; what went with a compaction is said.
            Err(problem) if problem.code == ARCHIVED && !all.is_empty() => gone = Some(Box::new(problem)),
            Err(problem) => return Err(problem),
        }
    }
    if next.is_some() {
        let message = format!("there are more than {PAGES_MAX} pages, which cannot be right");
        return Err(Problem::new(ProblemKind::Internal, "too_many", message));
    }
    let mut told = BTreeSet::new();
    all.retain(|body| body[id].as_str().is_none_or(|id| told.insert(id.to_owned())));
    all.sort_by_key(|body| Reverse(body[since].as_str().and_then(|at| at.parse::<Timestamp>().ok())));
    Ok(Fetched { body: Value::Array(all), at, gone })
}
