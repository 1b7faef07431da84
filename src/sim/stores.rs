//! What stands beside the journal of a simulated world: presence, results, contents. All in memory.

use std::collections::{BTreeMap, VecDeque};

use imbl::OrdMap;
use jiff::Timestamp;
use sha2::Digest as _;

use super::journal::hex;
use super::pending::pend_once;
use super::shared::Shared;
use super::trail::{Call, Point, Trail};
use crate::control::ports::{ApplyResult, JournalError, Presence, ResultQuery, Results, Vault};
use crate::domain::ids::{AccountId, MachineId};
use crate::domain::observed::Telemetry;
use crate::domain::release::Digest;

/// Results that are kept of one machine.
pub const RESULTS_PER_MACHINE: usize = 50;

/// Last polls, shared by all processes of a simulation.
#[derive(Debug, Clone, Default)]
pub struct SimPresence(Shared<BTreeMap<AccountId, OrdMap<MachineId, Timestamp>>>, Trail);

impl SimPresence {
    /// The same as a process asks it that leaves this trail.
    #[must_use]
    pub fn asked_by(&self, trail: Trail) -> Self {
        Self(self.0.clone(), trail)
    }
}

impl Presence for SimPresence {
    fn saw(&self, account: AccountId, machine: MachineId, at: Timestamp) {
        self.0.with(|accounts| accounts.entry(account).or_default().insert(machine, at));
    }

    fn seen(&self, account: AccountId) -> OrdMap<MachineId, Timestamp> {
        self.0.with(|accounts| accounts.get(&account).cloned().unwrap_or_default())
    }

    async fn flush(&self) -> Result<(), JournalError> {
        pend_once().await;
        self.1.pass(Call::Flush, Point::Unsent).await;
        self.1.pass(Call::Flush, Point::Done).await;
        Ok(())
    }
}

/// How the results store answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Answers {
    /// It does.
    #[default]
    Well,
    /// It does not (R142-R147).
    Down,
    /// Reads succeed, with no row for anybody: unreadable as soon as somebody must have reported.
    Empty,
}

/// Apply results, with a switch for an outage (R142-R147).
#[derive(Debug, Clone, Default)]
pub struct SimResults(Shared<Shelf>, Trail);

#[derive(Debug, Default)]
struct Shelf {
    answers: Answers,
    results: BTreeMap<(AccountId, MachineId), VecDeque<ApplyResult>>,
}

/// What the store says during an outage.
#[derive(Debug, thiserror::Error)]
#[error("the simulated results store is down")]
struct Down;

impl SimResults {
    /// The same as a process asks it that leaves this trail.
    #[must_use]
    pub fn asked_by(&self, trail: Trail) -> Self {
        Self(self.0.clone(), trail)
    }

    /// Begins or ends an outage.
    pub fn switch(&self, up: bool) {
        self.answer(if up { Answers::Well } else { Answers::Down });
    }

    /// Answers like this from now on.
    pub fn answer(&self, answers: Answers) {
        self.0.with(|shelf| shelf.answers = answers);
    }

    /// Files a result of the past, before anybody looks.
    pub fn file_past(&self, account: AccountId, result: ApplyResult) {
        self.0.with(|shelf| shelf.file(account, result));
    }

    /// What a reader gets without waiting; none during an outage.
    pub fn look(&self, account: AccountId, query: ResultQuery) -> Option<Vec<ApplyResult>> {
        self.0.with(|shelf| (shelf.answers != Answers::Down).then(|| shelf.find(account, query)))
    }
}

impl Shelf {
    fn reachable(&self, attempt: &'static str) -> Result<(), JournalError> {
        if self.answers == Answers::Down {
            Err(JournalError::Store { attempt, source: Box::new(Down) })
        } else {
            Ok(())
        }
    }

    /// Newest first; a run is known by when it began.
    fn file(&mut self, account: AccountId, result: ApplyResult) {
        let own = self.results.entry((account, result.machine)).or_default();
        if own.iter().any(|known| known.started_at == result.started_at && known.release == result.release) {
            return;
        }
        own.push_front(result);
        own.truncate(RESULTS_PER_MACHINE);
    }

    fn find(&self, account: AccountId, query: ResultQuery) -> Vec<ApplyResult> {
        if self.answers == Answers::Empty {
            return Vec::new();
        }
        let wanted = |result: &&ApplyResult| query.release.is_none_or(|release| release == result.release);
        if let Some(machine) = query.machine {
            let own = self.results.get(&(account, machine)).into_iter().flatten();
            return own.filter(wanted).take(query.limit).cloned().collect();
        }
        let all = self.results.iter().filter(|((owner, _), _)| *owner == account);
        let mut found: Vec<&ApplyResult> = all.flat_map(|(_, own)| own).filter(wanted).collect();
        found.sort_by_key(|result| std::cmp::Reverse(result.received_at));
        found.into_iter().take(query.limit).cloned().collect()
    }
}

impl Results for SimResults {
    async fn file(&self, account: AccountId, result: ApplyResult) -> Result<(), JournalError> {
        pend_once().await;
        self.1.pass(Call::FileResult, Point::Unsent).await;
        let kept = self.0.with(|shelf| {
            shelf.reachable("keep a result")?;
            shelf.file(account, result);
            Ok(())
        });
        self.1.pass(Call::FileResult, Point::of(&kept)).await;
        kept
    }

    async fn find(&self, account: AccountId, query: ResultQuery) -> Result<Vec<ApplyResult>, JournalError> {
        pend_once().await;
        self.1.pass(Call::FindResults, Point::Unsent).await;
        let found = self.0.with(|shelf| {
            shelf.reachable("read results")?;
            Ok(shelf.find(account, query))
        });
        self.1.pass(Call::FindResults, Point::of(&found)).await;
        found
    }

    fn telemetry(&self) -> Telemetry {
        self.0.with(|shelf| match shelf.answers {
            Answers::Well => Telemetry::Readable,
            Answers::Empty if shelf.results.is_empty() => Telemetry::Readable,
            Answers::Down | Answers::Empty => Telemetry::Unreadable,
        })
    }
}

/// Contents by digest.
#[derive(Debug, Clone, Default)]
pub struct SimVault(Shared<BTreeMap<Digest, Vec<u8>>>, Trail);

impl SimVault {
    /// The same as a process asks it that leaves this trail.
    #[must_use]
    pub fn asked_by(&self, trail: Trail) -> Self {
        Self(self.0.clone(), trail)
    }

    /// Keeps a content without a detour through a task.
    pub fn put(&self, content: Vec<u8>) -> Digest {
        let digest = Digest(hex(&sha2::Sha256::digest(&content)));
        self.0.with(|contents| contents.insert(digest.clone(), content));
        digest
    }
}

impl Vault for SimVault {
    async fn keep(&self, content: Vec<u8>) -> Result<Digest, JournalError> {
        pend_once().await;
        Ok(self.put(content))
    }

    async fn fetch(&self, digest: &Digest) -> Result<Option<Vec<u8>>, JournalError> {
        pend_once().await;
        self.1.pass(Call::Fetch, Point::Unsent).await;
        let content = self.0.with(|contents| contents.get(digest).cloned());
        self.1.pass(Call::Fetch, Point::Done).await;
        Ok(content)
    }
}
