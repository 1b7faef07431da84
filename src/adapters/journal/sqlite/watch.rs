//! Following the head: own appends wake at once, those of other processes are noticed by looking at the file.

use std::sync::{Arc, Weak};
use std::time::Duration;

use sqlx::sqlite::SqliteConnection;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::journal::SqliteJournal;
use crate::adapters::sqlite::file::SqliteFile;
use crate::control::ports::{Head, JournalError};
use crate::domain::ids::{AccountId, Revision};

/// Between two looks at the file, while anybody follows.
pub const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The longest a follower waits before it is told the head as it is.
pub const FOLLOW_WAIT: Duration = Duration::from_secs(15);

/// Wakes followers. One task looks at the file for all of them, and ends with the last handle.
#[derive(Debug)]
pub struct Watch {
    moved: Arc<watch::Sender<u64>>,
    looking: AbortHandle,
}

impl Watch {
    /// Begins to look.
    pub(super) fn start(file: &Arc<SqliteFile>) -> Self {
        let moved = Arc::new(watch::Sender::new(0));
        let looking = tokio::spawn(look(Arc::downgrade(file), Arc::downgrade(&moved))).abort_handle();
        Self { moved, looking }
    }

    /// This process has appended.
    pub(super) fn woken(&self) {
        self.moved.send_modify(|count| *count += 1);
    }

    /// No more looking.
    pub(super) fn stop(&self) {
        self.looking.abort();
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop();
    }
}

impl SqliteJournal {
    pub(super) async fn follow_head(&self, account: AccountId, after: Revision) -> Result<Head, JournalError> {
        self.follow_within(account, after, FOLLOW_WAIT).await
    }

    async fn follow_within(&self, account: AccountId, after: Revision, wait: Duration) -> Result<Head, JournalError> {
        match tokio::time::timeout(wait, self.head_past(account, after)).await {
            Ok(head) => head,
            Err(_elapsed) => self.read_head(account).await,
        }
    }

    async fn head_past(&self, account: AccountId, after: Revision) -> Result<Head, JournalError> {
        let mut moved = self.watch.moved.subscribe();
        loop {
            let head = self.read_head(account).await?;
            if head.revision > after || moved.changed().await.is_err() {
                return Ok(head);
            }
        }
    }
}

/// `PRAGMA data_version` differs between two looks of one connection if any other connection has committed. A look
/// that fails is tried again with a fresh connection: followers learn of trouble from their own reads.
async fn look(file: Weak<SqliteFile>, moved: Weak<watch::Sender<u64>>) {
    let mut eye: Option<SqliteConnection> = None;
    let mut seen = None;
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let (Some(file), Some(moved)) = (file.upgrade(), moved.upgrade()) else { return };
        if moved.receiver_count() == 0 {
            continue;
        }
        let version = match eye.take() {
            Some(eye) => version_of(eye).await,
            None => match file.connect().await {
                Ok(eye) => version_of(eye).await,
                Err(_) => None,
            },
        };
        let Some((connection, version)) = version else { continue };
        eye = Some(connection);
        if seen.replace(version) != Some(version) {
            moved.send_modify(|count| *count += 1);
        }
    }
}

async fn version_of(mut eye: SqliteConnection) -> Option<(SqliteConnection, i64)> {
    let version = sqlx::query_scalar("PRAGMA data_version").fetch_one(&mut eye).await.ok()?;
    Some((eye, version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_follower_of_a_silent_journal_is_told_the_head_in_the_end() {
        let directory = tempfile::tempdir().unwrap();
        let journal = SqliteJournal::open(directory.path().join("kura.db")).await.unwrap();
        let head = journal.follow_within(AccountId::named("a"), 0, LOOK_EVERY * 2).await.unwrap();
        assert_eq!(head.revision, 0);
    }
}
