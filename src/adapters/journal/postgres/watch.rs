//! Following the head: own appends wake at once, those of other processes by what the database tells its listeners.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::journal::PostgresJournal;
use crate::adapters::postgres::database::Database;
use crate::control::ports::{Head, Journal, JournalError};
use crate::domain::ids::{AccountId, Revision};

/// What appends are told on, with the account as the message.
pub const CHANNEL: &str = "kura_console_journal";

/// Followers look again after so long, whatever they were told: a proxy in between may drop what listeners are told.
pub const LOOK_EVERY: Duration = Duration::from_secs(2);

/// The longest a follower waits before it is told the head as it is.
pub const FOLLOW_WAIT: Duration = Duration::from_secs(15);

/// Wakes followers. One task listens for all of them, and ends with the last handle.
#[derive(Debug)]
pub struct Watch {
    moved: Arc<watch::Sender<u64>>,
    listening: AbortHandle,
}

impl Watch {
    /// Begins to listen.
    pub(super) fn start(database: &Database) -> Self {
        let moved = Arc::new(watch::Sender::new(0));
        let listening = tokio::spawn(listen(database.clone(), Arc::downgrade(&moved))).abort_handle();
        Self { moved, listening }
    }

    /// This process has appended.
    pub(super) fn woken(&self) {
        wake(&self.moved);
    }

    /// No more listening.
    pub(super) fn stop(&self) {
        self.listening.abort();
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop();
    }
}

impl PostgresJournal {
    pub(super) async fn follow_head(&self, account: AccountId, after: Revision) -> Result<Head, JournalError> {
        match tokio::time::timeout(FOLLOW_WAIT, self.head_past(account, after)).await {
            Ok(head) => head,
            Err(_elapsed) => self.head(account).await,
        }
    }

    async fn head_past(&self, account: AccountId, after: Revision) -> Result<Head, JournalError> {
        let mut moved = self.watch.moved.subscribe();
        loop {
            let head = self.head(account).await?;
            if head.revision > after {
                return Ok(head);
            }
            if let Ok(Err(_gone)) = tokio::time::timeout(LOOK_EVERY, moved.changed()).await {
                return Ok(head);
            }
        }
    }
}

fn wake(moved: &watch::Sender<u64>) {
    moved.send_modify(|count| *count += 1);
}

/// A connection that was lost may have kept something from us: whoever waits looks then as well. Where no connection
/// comes about followers look by themselves, and learn of trouble from their own reads.
async fn listen(database: Database, moved: Weak<watch::Sender<u64>>) {
    loop {
        let listener = database.listener(CHANNEL).await;
        let Some(alive) = moved.upgrade() else { return };
        wake(&alive);
        drop(alive);
        if let Ok(mut listener) = listener {
            while listener.try_recv().await.is_ok_and(|told| told.is_some()) {
                let Some(moved) = moved.upgrade() else { return };
                wake(&moved);
            }
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
