//! Presence in the cluster the journal is in: one object for each account, with everybody's last poll.

use std::collections::BTreeMap;

use super::shared::{ATTEMPT, Fresh, PollRow, PollStore, ROWS_KEPT, SharedPresence};
use super::table::Polls;
use crate::adapters::kube::drawer::{ACCOUNT, Drawer, JOURNAL, Kept, PART, Shelf};
use crate::adapters::kube::fault::ClusterFault;
use crate::adapters::kube::piece::{packed, unpacked};
use crate::control::ports::{Clock, JournalError};
use crate::domain::ids::AccountId;

/// How often a flush is tried that others came in between of.
const TRIES_MAX: usize = 5;

/// What everybody's last poll is held under.
const POLLS: &str = "polls";

/// Microseconds since 1970, by machine.
type Table = BTreeMap<String, i64>;

/// Polls in a cluster.
#[derive(Debug)]
pub struct PollObjects<C> {
    drawer: Drawer<C>,
    journal: String,
}

/// In memory, and in the cluster after every flush.
pub type KubernetesPresence<C> = SharedPresence<PollObjects<C>>;

impl<C: Clock> KubernetesPresence<C> {
    /// Beside the journal of this name.
    pub fn of(drawer: Drawer<C>, journal: &str) -> Self {
        Self::in_store(PollObjects { drawer, journal: journal.to_owned() })
    }
}

impl<C: Clock> PollStore for PollObjects<C> {
    /// Everything is read each time: rounds are not counted.
    async fn exchange(&self, _read: i64, fresh: &Fresh) -> Result<(i64, Vec<PollRow>), JournalError> {
        let mut accounts: Vec<AccountId> = fresh.keys().copied().collect();
        let labels = format!("{JOURNAL}={},{PART}={POLLS}", self.journal);
        for kept in self.drawer.list(Shelf::ConfigMap, &labels).await.map_err(failed)? {
            let account = kept.labels.get(ACCOUNT).and_then(|id| id.parse().ok()).map(AccountId);
            accounts.extend(account.filter(|account| !fresh.contains_key(account)));
        }
        let (none, mut rows) = (Polls::new(), Vec::new());
        for account in accounts {
            let table = self.merged(account, fresh.get(&account).unwrap_or(&none)).await?;
            rows.extend(table.into_iter().map(|(machine, at)| (account.to_string(), machine, at)));
        }
        Ok((0, rows))
    }
}

impl<C: Clock> PollObjects<C> {
    /// What everybody knows, with what is fresh in it.
    async fn merged(&self, account: AccountId, fresh: &Polls) -> Result<Table, JournalError> {
        let name = format!("{}.{account}.{POLLS}", self.journal);
        for _ in 0..TRIES_MAX {
            let kept = self.drawer.get(Shelf::ConfigMap, &name).await.map_err(failed)?;
            let mut table = kept.as_ref().map(table_of).unwrap_or_default();
            if !added(&mut table, fresh) {
                return Ok(table);
            }
            prune(&mut table);
            let body = serde_json::to_vec(&table)
                .map_err(|error| JournalError::Store { attempt: ATTEMPT, source: Box::new(error) })?;
            let labels = [(JOURNAL, self.journal.clone()), (ACCOUNT, account.to_string()), (PART, POLLS.to_owned())];
            let next = Kept {
                name: name.clone(),
                version: kept.and_then(|kept| kept.version),
                labels: labels.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
                bytes: [(POLLS.to_owned(), packed(&body))].into(),
                ..Kept::default()
            };
            let done = match next.version {
                Some(_) => self.drawer.replace(Shelf::ConfigMap, &next).await,
                None => self.drawer.create(Shelf::ConfigMap, &next).await,
            };
            match done {
                Ok(_) => return Ok(table),
                Err(ClusterFault::Outrun { .. } | ClusterFault::Exists { .. } | ClusterFault::Missing { .. }) => {}
                Err(fault) => return Err(failed(fault)),
            }
        }
        let source = format!("others wrote in between, {TRIES_MAX} times in a row").into();
        Err(JournalError::Store { attempt: ATTEMPT, source })
    }
}

/// True where something is newer than what was known.
fn added(table: &mut Table, fresh: &Polls) -> bool {
    let mut news = false;
    for (machine, at) in fresh {
        let (known, at) = (table.entry(machine.to_string()).or_insert(i64::MIN), at.as_microsecond());
        news |= at > *known;
        *known = at.max(*known);
    }
    news
}

/// The longest silent ones go first.
fn prune(table: &mut Table) {
    if table.len() > ROWS_KEPT {
        let mut times: Vec<i64> = table.values().copied().collect();
        times.sort_unstable();
        let oldest = times[table.len() - ROWS_KEPT];
        table.retain(|_, at| *at >= oldest);
    }
}

/// Polls that cannot be read are polls that nobody remembers: machines are seen again when they poll.
fn table_of(kept: &Kept) -> Table {
    let read = kept
        .bytes
        .get(POLLS)
        .map(|bytes| unpacked(bytes).and_then(|body| serde_json::from_slice(&body).map_err(|error| error.to_string())));
    match read {
        Some(Ok(table)) => table,
        Some(Err(why)) => {
            tracing::warn!(name = kept.name, why, "presence cannot be read");
            Table::new()
        }
        None => Table::new(),
    }
}

fn failed(fault: ClusterFault) -> JournalError {
    JournalError::Store { attempt: ATTEMPT, source: Box::new(fault) }
}
