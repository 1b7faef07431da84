//! What doctor finds about a journal, looked at from here: whether this machine could carry on with it.

use super::doctor::Finding;
use super::journal::place::unreadable;
use super::store::journal::ServerJournal;
use crate::adapters::journal::open::JournalUrl;
use crate::adapters::journal::tended::Tended;
use crate::control::ports::Journal;
use crate::wire::problem::Problem;

const CHECK: &str = "fallback";

/// One that can be read; where it cannot, why, and what to do.
pub(super) async fn journal(url: &str) -> Finding {
    match looked_at(url).await {
        Ok(said) => Finding::ok(CHECK, said),
        Err(problem) => Finding::of(CHECK, &problem),
    }
}

/// None was named: this machine could look on and no more.
pub(super) fn no_journal() -> Finding {
    let said = "not possible from here: no journal was named";
    Finding::warn(CHECK, said, "name it as serve does: --journal URL, or KURA_CONSOLE_JOURNAL")
}

async fn looked_at(url: &str) -> Result<String, Problem> {
    let url = url.parse::<JournalUrl>().map_err(|error| error.problem())?;
    let journal = ServerJournal::existing(&url).await?;
    let standings = journal.accounts().await.map_err(|error| unreadable(&error))?;
    let newest = standings.iter().map(|standing| standing.head.revision).max().unwrap_or_default();
    let (kind, accounts) = (journal.kind(), standings.len());
    journal.close().await;
    let accounts = if accounts == 1 { "1 account".to_owned() } else { format!("{accounts} accounts") };
    Ok(format!("possible over {url}: it can be read from here ({kind}, {accounts}, the newest entry is {newest})"))
}
