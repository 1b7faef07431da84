//! What somebody asks about, by its name, and the answer of the control plane.

use serde_json::{Value, json};

use super::fetch::{Fetched, list};
use super::kura::SERVERS;
use super::nouns::{MACHINES, Noun, RINGS};
use super::pick::{matching, pick};
use super::rolls::{NODES, ROLLS};
use crate::adapters::remote::client::{Client, Failure};
use crate::wire::account;
use crate::wire::explain::PATH;
use crate::wire::problem::{Problem, ProblemKind};

/// What can be asked about by name.
const NOUNS: [&Noun; 5] = [&RINGS, &MACHINES, &SERVERS, &ROLLS, &NODES];

/// Asks what a subject waits for, `server/acme-eu` and `server acme-eu` being the same; without one, what the account
/// waits for.
pub async fn ask(client: &Client, subject: &[String]) -> Result<Fetched, Problem> {
    let question = match subject {
        [] => {
            let account: Value = client.get(account::PATH).await.map_err(Failure::into_problem)?;
            json!({"account": account["uuid"]})
        }
        words => {
            let (noun, uuid) = named(client, &words.join("/")).await?;
            json!({noun.one: uuid})
        }
    };
    let (body, at) = client.ask(PATH, &question).await.map_err(Failure::into_problem)?;
    Ok(Fetched::whole(body, at))
}

async fn named(client: &Client, name: &str) -> Result<(&'static Noun, Value), Problem> {
    let kind = |noun: &Noun| name.strip_prefix(noun.one).and_then(|rest| rest.strip_prefix('/'));
    if let Some((noun, name)) = NOUNS.into_iter().find_map(|noun| Some((noun, kind(noun)?))) {
        let all = list(client, noun).await?.body;
        let found = pick(noun, all.as_array().map_or(&[][..], Vec::as_slice), name)?;
        return Ok((noun, found[noun.id].clone()));
    }
    let mut found = Vec::new();
    for noun in NOUNS {
        let all = list(client, noun).await?.body;
        let called = matching(noun, all.as_array().map_or(&[][..], Vec::as_slice), name);
        found.extend(called.into_iter().map(|body| (noun, body[noun.id].clone())));
    }
    match <[_; 1]>::try_from(found) {
        Ok([one]) => Ok(one),
        Err(none) if none.is_empty() => Err(unknown(name)),
        Err(several) => Err(ambiguous(name, &several)),
    }
}

fn unknown(name: &str) -> Problem {
    Problem::new(ProblemKind::NotFound, "no_subject", format!("there is no ring, machine, server, roll or node {name}"))
        .hint("list them: kura-console rings, machines, servers, rolls, nodes")
        .hint("without a name the current rollout is explained")
}

fn ambiguous(name: &str, several: &[(&'static Noun, Value)]) -> Problem {
    let message = format!("{name} can be {} things", several.len());
    let told = several.iter().map(|(noun, uuid)| {
        let is_alone = several.iter().filter(|(other, _)| other.one == noun.one).count() == 1;
        let word = if is_alone { name } else { uuid.as_str().unwrap_or(name) };
        format!("name it as {}/{word}", noun.one)
    });
    told.fold(Problem::new(ProblemKind::Usage, "ambiguous", message), Problem::hint)
}
