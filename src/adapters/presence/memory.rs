//! Presence in memory: the demo, the simulator, tests, and a server whose store keeps none.

use std::sync::Arc;

use jiff::Timestamp;

use super::table::{Polls, Table};
use crate::control::ports::{JournalError, Presence};
use crate::domain::ids::{AccountId, MachineId};

/// Gone with the process. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct MemoryPresence {
    seen: Arc<Table>,
}

impl Presence for MemoryPresence {
    fn saw(&self, account: AccountId, machine: MachineId, at: Timestamp) {
        self.seen.note(account, machine, at);
    }

    fn seen(&self, account: AccountId) -> Polls {
        self.seen.of(account)
    }

    async fn flush(&self) -> Result<(), JournalError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_late_report_of_an_old_poll_changes_nothing() {
        let presence = MemoryPresence::default();
        let (account, ash) = (AccountId::named("acme"), MachineId::named("ash"));
        let moment = |second: i64| Timestamp::from_second(1_700_000_000 + second).unwrap();
        presence.saw(account, ash, moment(10));
        presence.saw(account, ash, moment(3));
        presence.flush().await.unwrap();
        assert_eq!(presence.seen(account).get(&ash), Some(&moment(10)));
    }
}
