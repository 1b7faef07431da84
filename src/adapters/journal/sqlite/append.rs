//! Append: compare-and-set of the head and insert of the entries, in one transaction.

use super::super::row::EntryRow;
use super::journal::SqliteJournal;
use super::rows::{ENTRIES, head_of, insert, move_head};
use crate::control::batch::{advance, check_shape};
use crate::control::ports::{AppendError, Batch, Head, JournalError};

const ATTEMPT: &str = "append";

impl SqliteJournal {
    /// The transaction holds the write lock of the file from its first statement, so the head it compares is the head
    /// it sets, whichever process it runs in. Returns after the commit has reached the disk.
    pub(super) async fn append_batch(&self, batch: &Batch) -> Result<Head, AppendError> {
        check_shape(batch)?;
        let rows = batch.entries.iter().map(EntryRow::of).collect::<Result<Vec<_>, JournalError>>()?;
        let account = batch.account.to_string();
        let failed = |error: sqlx::Error| AppendError::Failed(self.file.fault(&error).during(ATTEMPT));

        let mut writer = self.file.writer().await.map_err(|fault| fault.during(ATTEMPT))?;
        let mut transaction = writer.begin().await.map_err(failed)?;
        let head = head_of(&mut transaction, &account).await.map_err(failed)?;
        let moved = match advance(head, batch) {
            Ok(moved) => moved,
            Err(refused) => {
                transaction.rollback().await.map_err(failed)?;
                writer.keep();
                return Err(refused);
            }
        };
        insert(&mut transaction, ENTRIES, &account, &rows).await.map_err(failed)?;
        move_head(&mut transaction, &account, moved).await.map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        writer.keep();
        self.watch.woken();
        Ok(moved)
    }
}
