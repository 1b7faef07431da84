//! Heartbeats of the seat, in the journal's own file: whoever can append can also be seen to live.

use super::super::row::{signed, unsigned};
use super::journal::SqliteJournal;
use crate::control::ports::{Beat, JournalError};
use crate::domain::ids::AccountId;

impl SqliteJournal {
    /// A beat of an older epoch than the last one is dropped: its seat is lost.
    pub(super) async fn keep_beat(&self, account: AccountId, beat: &Beat) -> Result<(), JournalError> {
        const ATTEMPT: &str = "keep a heartbeat";
        const KEEP: &str = "INSERT INTO beats (account, holder, epoch, count) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT (account) DO UPDATE SET holder = excluded.holder, epoch = excluded.epoch, \
             count = excluded.count WHERE beats.epoch <= excluded.epoch";
        let failed = |error: sqlx::Error| self.file.fault(&error).during(ATTEMPT);
        let mut writer = self.file.writer().await.map_err(|fault| fault.during(ATTEMPT))?;
        let mut transaction = writer.begin().await.map_err(failed)?;
        sqlx::query(KEEP)
            .bind(account.to_string())
            .bind(&beat.holder)
            .bind(signed(beat.epoch))
            .bind(signed(beat.count))
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        writer.keep();
        Ok(())
    }

    pub(super) async fn last_beat(&self, account: AccountId) -> Result<Option<Beat>, JournalError> {
        const ATTEMPT: &str = "read the heartbeat";
        const LAST: &str = "SELECT holder, epoch, count FROM beats WHERE account = ?1";
        let mut reader = self.file.reader().await.map_err(|fault| fault.during(ATTEMPT))?;
        let query = sqlx::query_as(LAST).bind(account.to_string());
        let row: Option<(String, i64, i64)> =
            query.fetch_optional(&mut *reader).await.map_err(|error| self.file.fault(&error).during(ATTEMPT))?;
        Ok(row.map(|(holder, epoch, count)| Beat { holder, epoch: unsigned(epoch), count: unsigned(count) }))
    }
}
