//! What a person who looks after a cluster asks of the journal in it: who is in it, is it whole.

use super::super::compaction::Round;
use super::super::kept::FOLD_VERSION;
use super::super::tended::{Snapshot, Standing, Tended};
use super::journal::{KubernetesJournal, damaged};
use super::names::{Part, account_of, piece, selector};
use crate::adapters::kube::drawer::Shelf;
use crate::control::ports::{Clock, Head, JournalError};
use crate::domain::change::Entry;
use crate::domain::ids::{AccountId, Revision};
use crate::domain::world::World;

/// What is wrong, at most so much of it.
const FAULTS_MAX: usize = 20;

impl<C: Clock> Tended for KubernetesJournal<C> {
    async fn accounts(&self) -> Result<Vec<Standing>, JournalError> {
        const ATTEMPT: &str = "list the accounts";
        let heads = self.drawer.list(Shelf::ConfigMap, &selector(&self.name, None, Part::Head)).await;
        let heads = heads.map_err(self.failed(ATTEMPT))?;
        let mut standings = Vec::new();
        for kept in heads {
            let account = account_of(&kept.labels);
            let account = account.ok_or_else(|| damaged(ATTEMPT, format!("{} names no account", kept.name)))?;
            standings.push(Standing { account, head: self.book(account, ATTEMPT).await?.head(), stray: 0 });
        }
        standings.sort_by_key(|standing| standing.account.to_string());
        Ok(standings)
    }

    /// Pieces that a head names and that are not there, or hold something else than their name says.
    async fn faults(&self) -> Result<Vec<String>, JournalError> {
        let mut wrong = Vec::new();
        for Standing { account, .. } in self.accounts().await? {
            let book = self.book(account, "check the pieces").await?;
            let parts = [(Part::Entries, &book.record.entries), (Part::Links, &book.record.links)];
            for (part, spans) in parts {
                for span in spans {
                    if wrong.len() == FAULTS_MAX {
                        return Ok(wrong);
                    }
                    let name = piece(&self.name, account, part, &span.piece);
                    match self.span(account, part, span).await {
                        Ok(Some(_)) => {}
                        Ok(None) => wrong.push(format!("{name} is missing")),
                        Err(error) => wrong.push(format!("{name}: {error}")),
                    }
                }
            }
        }
        Ok(wrong)
    }

    async fn snapshots(&self, account: AccountId) -> Result<Vec<Snapshot>, JournalError> {
        let mut found = Vec::new();
        for kept in self.index(account).await?.list.iter().filter(|kept| kept.fold == FOLD_VERSION) {
            let world = match self.world(account, kept).await {
                Ok(Some(world)) => Ok(world),
                Ok(None) => Err("a piece of it is missing".to_owned()),
                Err(error) => Err(error.to_string()),
            };
            found.push((kept.revision, world));
        }
        Ok(found)
    }

    async fn archived_links(
        &self,
        account: AccountId,
        after: Revision,
        limit: usize,
    ) -> Result<Vec<Entry>, JournalError> {
        self.read_archived_links(account, after, limit).await
    }

    async fn world_before_oldest(&self, account: AccountId, head: Head) -> Result<World, JournalError> {
        self.read_base(account, head).await
    }

    async fn archive(&self, account: AccountId, oldest: Revision, round: &Round) -> Result<(), JournalError> {
        self.archive_round(account, oldest, round).await
    }

    async fn sweep(&self, account: AccountId) -> Result<Option<Revision>, JournalError> {
        self.sweep_some(account).await
    }

    async fn begin(&self, account: AccountId, base: &World, links: &[Entry]) -> Result<(), JournalError> {
        self.begin_with(account, base, links).await
    }
}
