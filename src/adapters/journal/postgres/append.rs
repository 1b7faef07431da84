//! Append: compare-and-set of the head and insert of the entries, in one transaction.

use super::super::row::EntryRow;
use super::journal::PostgresJournal;
use super::rows::{ENTRIES, insert, locked_head, move_head};
use super::watch::CHANNEL;
use crate::control::batch::{advance, check_shape};
use crate::control::ports::{AppendError, Batch, Head, JournalError};

impl PostgresJournal {
    /// The transaction holds the row of the head from its first statement on, so the head it compares is the head it
    /// sets, whichever process it runs in. Returns after the commit has reached the disk of the database.
    pub(super) async fn append_batch(&self, batch: &Batch) -> Result<Head, AppendError> {
        check_shape(batch)?;
        let rows = batch.entries.iter().map(EntryRow::of).collect::<Result<Vec<_>, JournalError>>()?;
        let account = batch.account.to_string();
        let failed = |error: sqlx::Error| AppendError::Failed(self.failed("append")(error));

        let mut lease = self.database.lease().await.map_err(failed)?;
        let mut transaction = lease.writing().await.map_err(failed)?;
        let head = locked_head(&mut transaction, &account).await.map_err(failed)?;
        let moved = match advance(head, batch) {
            Ok(moved) => moved,
            Err(refused) => {
                transaction.rollback().await.map_err(failed)?;
                lease.keep();
                return Err(refused);
            }
        };
        insert(&mut transaction, ENTRIES, &account, rows).await.map_err(failed)?;
        move_head(&mut transaction, &account, moved).await.map_err(failed)?;
        let told = sqlx::query("SELECT pg_notify($1, $2)").bind(CHANNEL).bind(&account);
        told.execute(&mut *transaction).await.map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        lease.keep();
        self.watch.woken();
        Ok(moved)
    }
}
