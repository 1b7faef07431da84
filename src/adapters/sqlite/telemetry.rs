//! The file beside the journal for what may be lost: presence and apply results.
//!
//! A file of its own, because telemetry has outages of its own (R142-R147): a damaged or locked one must not stop the
//! journal, and its many small writes should neither wait for the disk nor wake whoever follows the journal.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::Mutex;

use super::fault::{Flaw, StoreFault};
use super::file::{Durability, SqliteFile};
use super::schema::Schema;

const SCHEMA: Schema = Schema { store: "telemetry", kind: 1, steps: &[include_str!("telemetry.sql")] };

/// A file that is opened when it is first used, and again when it was moved away: then a new one is made.
#[derive(Debug)]
pub struct TelemetryFile {
    path: PathBuf,
    open: Mutex<Option<Arc<SqliteFile>>>,
}

impl TelemetryFile {
    /// The file that belongs to a journal: `kura.db.telemetry` beside `kura.db`.
    pub fn beside(journal: &Path) -> Self {
        let mut name = journal.as_os_str().to_owned();
        name.push(".telemetry");
        Self { path: PathBuf::from(name), open: Mutex::new(None) }
    }

    /// Which file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open file.
    pub async fn get(&self) -> Result<Arc<SqliteFile>, StoreFault> {
        let mut open = self.open.lock().await;
        match open.take() {
            Some(file) if file.is_in_place() => return Ok(open.insert(file).clone()),
            Some(gone) => close(&gone).await?,
            None => {}
        }
        let file = Arc::new(SqliteFile::open(&self.path, SCHEMA, Durability::Process).await?);
        *open = Some(file.clone());
        Ok(file)
    }

    /// Closes the file, if it was ever used. A later use opens it again.
    pub async fn close(&self) -> Result<(), StoreFault> {
        match self.open.lock().await.take() {
            Some(file) => close(&file).await,
            None => Ok(()),
        }
    }
}

/// Must be done before another file of that name is opened: SQLite clears away the log by name.
async fn close(file: &SqliteFile) -> Result<(), StoreFault> {
    match file.close().await {
        Err(StoreFault { flaw: Flaw::Moved, .. }) | Ok(()) => Ok(()),
        Err(fault) => Err(fault),
    }
}
