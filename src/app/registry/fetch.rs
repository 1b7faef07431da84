//! Reads what is wanted from a control plane: all pages of a list, or the things that were named.

use jiff::Timestamp;
use serde_json::Value;

use super::ask::Wanted;
use super::kura::SERVERS;
use super::nouns::Noun;
use super::pages::{self, Reach};
use super::pick::pick;
use super::subject;
use crate::adapters::remote::basic::reading::{is_absent, probe};
use crate::adapters::remote::client::{Client, Failure};
use crate::wire::account;
use crate::wire::problem::{Problem, ProblemKind};
use crate::wire::process::VERSION_PATH;

/// Things of one request: the most a control plane gives at once.
pub(super) const PAGE: usize = 1_000;

/// Pages of one list at most: far beyond any fleet, but not for ever.
pub(super) const PAGES_MAX: usize = 1_000;

/// Bodies as they came, and when.
#[derive(Debug, Clone, PartialEq)]
pub struct Fetched {
    /// A list or an object.
    pub body: Value,
    /// When, by the clock of the far end; none where it does not say.
    pub at: Option<Timestamp>,
    /// What is not there any more, and what to do about it.
    pub gone: Option<Box<Problem>>,
}

impl Fetched {
    pub(super) fn whole(body: Value, at: Option<Timestamp>) -> Self {
        Self { body, at, gone: None }
    }
}

/// Everything that is wanted.
///
/// # Errors
/// Where the control plane cannot be reached or refuses, or where nothing has a name.
pub async fn fetch(client: &Client, wanted: Wanted<'_>, reach: Reach) -> Result<Fetched, Problem> {
    match wanted {
        Wanted::EveryRoll => pages::rolls(client).await,
        Wanted::WholeRolls(names) => pages::whole_rolls(client, names).await,
        Wanted::Account => one(client, account::PATH).await,
        Wanted::Answer(subject) => match subject::ask(client, subject).await {
            Err(problem) if is_absent(&problem) => Err(offered(client, problem, "explain anything").await),
            answer => answer,
        },
        Wanted::Deployments(server) => {
            let path = below(client, server, &format!("/deployments?limit={PAGE}")).await?;
            pages::deployments(client, path, reach).await
        }
        Wanted::Manifest(server) => one(client, &below(client, server, "/manifest").await?).await,
        Wanted::Things(noun, []) => list(client, noun).await,
        Wanted::Things(noun, names) => named(client, noun, names).await,
    }
}

/// The same problem, where a control plane has no such list because it has the runbook's endpoints and no others: what
/// it does not have, and what it has.
async fn offered(client: &Client, problem: Problem, what: &str) -> Problem {
    // Whoever says which version it is has everything: there it is the thing that is missing.
    if client.get::<Value>(VERSION_PATH).await.is_ok() {
        return problem;
    }
    match probe(client).await {
        Ok(_) => {
            let message = format!("{} has only the runbook's endpoints: it does not {what}", client.endpoint());
            Problem::new(ProblemKind::NotFound, "not_offered", message)
                .hint("kura-console status shows what its status tells: machines, rings, why it stands")
                .hint("name the rollout to look at where it lists none: --rollout UUID")
        }
        Err(_) => problem,
    }
}

pub(super) async fn one(client: &Client, path: &str) -> Result<Fetched, Problem> {
    let (body, at) = client.get_dated(path).await.map_err(Failure::into_problem)?;
    Ok(Fetched::whole(body, at))
}

/// A whole list. A control plane that knows no pages tells everything at once.
pub async fn list(client: &Client, noun: &Noun) -> Result<Fetched, Problem> {
    let (mut all, mut after): (Vec<Value>, Option<String>) = (Vec::new(), None);
    for _ in 0..PAGES_MAX {
        let behind = after.as_ref().map_or_else(String::new, |id| format!("&after={id}"));
        let path = format!("{}?limit={PAGE}{behind}", noun.path);
        let read = client.get_dated(&path).await.map_err(Failure::into_problem);
        let (page, at): (Vec<Value>, _) = match read {
            Err(problem) if is_absent(&problem) => {
                return Err(offered(client, problem, &format!("list {}s", noun.one)).await);
            }
            read => read?,
        };
        let last = page.last().and_then(|body| body[noun.id].as_str()).map(str::to_owned);
        let is_all = page.len() != PAGE || last == after;
        all.extend(page);
        if is_all {
            return Ok(Fetched::whole(Value::Array(all), at));
        }
        after = last;
    }
    let message = format!("there are more than {} {}s, which cannot be right", PAGE * PAGES_MAX, noun.one);
    Err(Problem::new(ProblemKind::Internal, "too_many", message))
}

/// The path of what is told of a server below its own.
async fn below(client: &Client, server: &str, rest: &str) -> Result<String, Problem> {
    let all = list(client, &SERVERS).await?.body;
    let found = pick(&SERVERS, all.as_array().map_or(&[][..], Vec::as_slice), server)?;
    Ok(format!("{}{}{rest}", SERVERS.path, found[SERVERS.id].as_str().unwrap_or_default()))
}

/// The things of these names, in their order: an object where there is one name, else a list.
async fn named(client: &Client, noun: &Noun, names: &[String]) -> Result<Fetched, Problem> {
    let Fetched { body, mut at, .. } = list(client, noun).await?;
    let all = body.as_array().map_or(&[][..], Vec::as_slice);
    let mut found = Vec::with_capacity(names.len());
    for name in names {
        let mut body = pick(noun, all, name)?.clone();
        if let Some(id) = body[noun.id].as_str().filter(|_| noun.single) {
            let detail = one(client, &format!("{}{id}", noun.path)).await?;
            (body, at) = (detail.body, detail.at);
        }
        found.push(body);
    }
    Ok(Fetched::whole(object_or_list(found), at))
}

/// An object where there is one, else a list.
pub(super) fn object_or_list(found: Vec<Value>) -> Value {
    match <[Value; 1]>::try_from(found) {
        Ok([one]) => one,
        Err(several) => Value::Array(several),
    }
}
