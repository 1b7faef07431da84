//! What doctor finds about a journal, looked at from here: whether this machine could carry on with it.

use super::doctor::Finding;
use super::journal::place::unreadable;
use super::store::journal::ServerJournal;
use crate::adapters::journal::open::JournalUrl;
use crate::adapters::journal::tended::Tended;
use crate::control::known::Known;
use crate::control::ports::Journal;
use crate::domain::ids::AccountId;
use crate::wire::problem::{Problem, ProblemKind};

const CHECK: &str = "fallback";

/// One that can be read and written, and is the one that `known` was shown of; where it is not, why, and what to do.
pub(super) async fn journal(url: &str, known: Option<Known>) -> Finding {
    match looked_at(url, known).await {
        Ok(said) => Finding::ok(CHECK, said),
        Err(problem) => Finding::of(CHECK, &problem),
    }
}

/// None was named: this machine could look on and no more.
pub(super) fn no_journal() -> Finding {
    let said = "not possible from here: no journal was named";
    Finding::warn(CHECK, said, "name it as serve does: --journal URL, or KURA_CONSOLE_JOURNAL")
}

async fn looked_at(url: &str, known: Option<Known>) -> Result<String, Problem> {
    let url = url.parse::<JournalUrl>().map_err(|error| error.problem())?;
    let journal = ServerJournal::existing(&url).await?;
    let told = told(&journal, known).await;
    journal.close().await;
    told.map(|told| format!("possible over {url}: {told}"))
}

/// What it is, where it could be carried on over.
async fn told(journal: &ServerJournal, known: Option<Known>) -> Result<String, Problem> {
    let impossible =
        |why: String| Problem::new(ProblemKind::Unavailable, "journal", format!("not possible from here: {why}"));
    let same = match known {
        Some(known) => {
            let head = journal.head(AccountId::named(&known.account)).await.map_err(|error| unreadable(&error))?;
            let other =
                |why| impossible(why).hint("name the journal of this control plane: serve says it when it starts");
            known.is_in(journal, head).await.map_err(other)?;
            "it is that of the control plane"
        }
        None => "whether it is that of the control plane is not told",
    };
    let barred = |why| impossible(why).hint("take credentials, or a user, that may write it");
    journal.takes_writes().await.map_err(barred)?;
    let standings = journal.accounts().await.map_err(|error| unreadable(&error))?;
    let newest = standings.iter().map(|standing| standing.head.revision).max().unwrap_or_default();
    let accounts = if standings.len() == 1 { "1 account".to_owned() } else { format!("{} accounts", standings.len()) };
    Ok(format!(
        "it can be read and written from here, and {same} ({}, {accounts}, the newest entry is {newest})",
        journal.kind()
    ))
}
