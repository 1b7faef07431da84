//! Export: entries as lines of JSON, for whoever keeps or reads them elsewhere.

use serde::Serialize;

use super::super::shell::print;
use super::super::store::journal::ServerJournal;
use super::place::{AccountArgs, PlaceArgs, unreadable};
use crate::adapters::journal::tended::Tended;
use crate::control::ports::{Journal, JournalError};
use crate::domain::change::Entry;
use crate::domain::ids::{AccountId, Revision};
use crate::wire::problem::{Problem, ProblemKind};

/// Entries in memory at a time.
pub(super) const PAGE: usize = 1_000;

/// Flags.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    account: AccountArgs,
    /// Only what stands behind this revision.
    #[arg(long, value_name = "REVISION", default_value_t)]
    after: Revision,
}

/// One line.
#[derive(Serialize)]
struct Line<'a> {
    account: AccountId,
    #[serde(flatten)]
    entry: &'a Entry,
}

/// Runs it. Of what was compacted the links of the audit come out, everything else is gone.
pub(super) async fn run(args: &Args) -> Result<(), Problem> {
    let journal = args.place.open().await?;
    for standing in args.account.of(&journal).await? {
        let mut pages = Pages::of(&journal, standing.account, args.after);
        while let Some(page) = pages.next().await? {
            let lines: Result<String, Problem> = page.iter().map(|entry| line(standing.account, entry)).collect();
            print(lines?.as_bytes())?;
        }
    }
    Ok(())
}

fn line(account: AccountId, entry: &Entry) -> Result<String, Problem> {
    let line = serde_json::to_string(&Line { account, entry });
    let line = line.map_err(|error| Problem::new(ProblemKind::Internal, "output", error.to_string()))?;
    Ok(line + "\n")
}

/// Everything that is left of an account, page by page: archived links, then entries.
pub(super) struct Pages<'a> {
    journal: &'a ServerJournal,
    account: AccountId,
    after: Revision,
    /// The links are read before the entries: whatever is archived in between is still an entry for us, or a link.
    links: bool,
}

impl<'a> Pages<'a> {
    pub(super) fn of(journal: &'a ServerJournal, account: AccountId, after: Revision) -> Self {
        Self { journal, account, after, links: false }
    }

    /// None behind the last one.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<Entry>>, Problem> {
        loop {
            let read = match self.links {
                true => self.journal.archived_links(self.account, self.after, PAGE).await,
                false => self.journal.read(self.account, self.after, PAGE).await,
            };
            match read {
                Err(JournalError::Compacted { oldest }) => {
                    if self.links_end(oldest).await? {
                        self.after = oldest - 1;
                    } else {
                        self.links = true;
                    }
                }
                Err(error) => return Err(unreadable(&error)),
                Ok(mut page) if self.links => {
                    self.links = false;
                    page.retain(|link| link.revision > self.after);
                    if let Some(last) = page.last() {
                        self.after = last.revision;
                        return Ok(Some(page));
                    }
                }
                Ok(page) => {
                    let Some(last) = page.last() else { return Ok(None) };
                    self.after = last.revision;
                    return Ok(Some(page));
                }
            }
        }
    }

    /// No archived link stands between here and the oldest entry.
    async fn links_end(&self, oldest: Revision) -> Result<bool, Problem> {
        let next = self.journal.archived_links(self.account, self.after, 1).await.map_err(|e| unreadable(&e))?;
        Ok(next.first().is_none_or(|link| link.revision >= oldest))
    }
}
