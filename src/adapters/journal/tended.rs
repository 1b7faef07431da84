//! What a person who looks after a journal asks of it, and no server does: who is in it, is it whole, make it shorter,
//! take over what another one holds.

use std::future::Future;

use super::compaction::Round;
use crate::control::ports::{Head, Journal, JournalError};
use crate::domain::change::Entry;
use crate::domain::ids::{AccountId, Revision};
use crate::domain::world::World;

/// An account of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Which.
    pub account: AccountId,
    /// Where it stands.
    pub head: Head,
    /// Rows that belong to no entry there should be: behind the head, or archived and not yet deleted.
    pub stray: u64,
}

/// A snapshot, or why it cannot be read.
pub type Snapshot = (Revision, Result<World, String>);

/// A journal that lasts, and can be looked after.
pub trait Tended: Journal {
    /// Everybody who ever appended, by id.
    fn accounts(&self) -> impl Future<Output = Result<Vec<Standing>, JournalError>> + Send;

    /// What the store itself finds wrong with what it keeps, the first of it; nothing where it is whole.
    fn faults(&self) -> impl Future<Output = Result<Vec<String>, JournalError>> + Send;

    /// The snapshots of this program's fold, oldest first; those that cannot be read say why.
    fn snapshots(&self, account: AccountId) -> impl Future<Output = Result<Vec<Snapshot>, JournalError>> + Send;

    /// Links among the archived entries alone, after a revision, oldest first.
    fn archived_links(
        &self,
        account: AccountId,
        after: Revision,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Entry>, JournalError>> + Send;

    /// The world that everything which is still an entry builds on.
    fn world_before_oldest(
        &self,
        account: AccountId,
        head: Head,
    ) -> impl Future<Output = Result<World, JournalError>> + Send;

    /// From here on the entries of a round count as archived. Refused where somebody else archived meanwhile: the oldest
    /// entry is not `oldest` any more.
    fn archive(
        &self,
        account: AccountId,
        oldest: Revision,
        round: &Round,
    ) -> impl Future<Output = Result<(), JournalError>> + Send;

    /// Deletes some of what counts as archived, also what a compaction that was killed left behind: the last revision
    /// that is gone now. None where nothing was left to delete.
    fn sweep(&self, account: AccountId) -> impl Future<Output = Result<Option<Revision>, JournalError>> + Send;

    /// Begins an account where another journal's entries begin: with the world before them, and the archived links of
    /// the audit. Refused where the account is there already.
    fn begin(
        &self,
        account: AccountId,
        base: &World,
        links: &[Entry],
    ) -> impl Future<Output = Result<(), JournalError>> + Send;
}

/// The error of a `begin` that comes too late.
pub fn begun_already(head: Head) -> JournalError {
    let source = format!("the account is there already, at revision {}", head.revision).into();
    JournalError::Store { attempt: "begin an account", source }
}

/// The error of an `archive` that comes too late.
pub fn archived_meanwhile(head: Head) -> JournalError {
    let source = format!("somebody else does: the oldest entry is {} by now", head.oldest).into();
    JournalError::Store { attempt: "compact", source }
}
