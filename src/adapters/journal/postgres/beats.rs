//! Heartbeats of the seat, in the journal's own database: whoever can append can also be seen to live.

use super::super::row::{signed, unsigned};
use super::journal::PostgresJournal;
use crate::control::ports::{Beat, JournalError};
use crate::domain::ids::AccountId;

impl PostgresJournal {
    /// A beat of an older epoch than the last one is dropped: its seat is lost.
    pub(super) async fn keep_beat(&self, account: AccountId, beat: &Beat) -> Result<(), JournalError> {
        const KEEP: &str = "INSERT INTO beats (account, holder, epoch, count) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (account) DO UPDATE SET holder = excluded.holder, epoch = excluded.epoch, \
             count = excluded.count WHERE beats.epoch <= excluded.epoch";
        let failed = self.failed("keep a heartbeat");
        let mut lease = self.database.lease().await.map_err(&failed)?;
        let query = sqlx::query(KEEP)
            .bind(account.to_string())
            .bind(&beat.holder)
            .bind(signed(beat.epoch))
            .bind(signed(beat.count));
        query.execute(&mut *lease).await.map_err(&failed)?;
        lease.keep();
        Ok(())
    }

    pub(super) async fn last_beat(&self, account: AccountId) -> Result<Option<Beat>, JournalError> {
        const LAST: &str = "SELECT holder, epoch, count FROM beats WHERE account = $1";
        let failed = self.failed("read the heartbeat");
        let mut lease = self.database.lease().await.map_err(&failed)?;
        let query = sqlx::query_as(LAST).bind(account.to_string());
        let row: Option<(String, i64, i64)> = query.fetch_optional(&mut *lease).await.map_err(&failed)?;
        lease.keep();
        Ok(row.map(|(holder, epoch, count)| Beat { holder, epoch: unsigned(epoch), count: unsigned(count) }))
    }
}
