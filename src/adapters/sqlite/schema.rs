//! The format of a file: whose it is, which version it has, and the steps from one version to the next.

use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection};

use super::fault::Flaw;

/// Written into the header of every file of ours: `KURA` in ASCII.
const APPLICATION: i64 = 0x4b55_5241;

/// In one statement, so that a file another process is just making is seen either empty or whole.
const HEADER: &str = "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema) \
     FROM pragma_application_id, pragma_user_version";

/// One kind of file.
#[derive(Debug, Clone, Copy)]
pub struct Schema {
    /// `journal`, `telemetry`: what people call the file.
    pub store: &'static str,
    /// Told apart in the header: the application id of its files is `KURA` plus this.
    pub kind: i64,
    /// The steps from an empty file to the newest format. Files keep the number of steps they have seen, so steps
    /// are only ever added.
    pub steps: &'static [&'static str],
}

/// Why a file could not be brought to the newest format.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// It must not be touched.
    #[error(transparent)]
    Refused(#[from] Flaw),
    /// It could not be read or written.
    #[error(transparent)]
    Sqlite(#[from] sqlx::Error),
}

impl Schema {
    /// The newest format.
    pub fn version(&self) -> i64 {
        i64::try_from(self.steps.len()).unwrap_or(i64::MAX)
    }

    fn application(&self) -> i64 {
        APPLICATION + self.kind
    }

    /// The format of the file, 0 = empty; refuses files that are not ours or from the future. Changes nothing.
    pub async fn inspect(&self, connection: &mut SqliteConnection) -> Result<i64, SchemaError> {
        let query = sqlx::query_as(HEADER);
        let (application, found, tables): (i64, i64, i64) = query.fetch_one(connection).await?;
        if application == 0 && found == 0 && tables == 0 {
            return Ok(0);
        }
        if application != self.application() {
            return Err(Flaw::Foreign.into());
        }
        let known = self.version();
        if found > known { Err(Flaw::Newer { found, known }.into()) } else { Ok(found) }
    }

    /// Takes the steps the file has not seen, all or none. Two processes may do this at once: the second finds nothing
    /// left to do.
    pub async fn migrate(&self, connection: &mut SqliteConnection) -> Result<(), SchemaError> {
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        let found = self.inspect(&mut transaction).await?;
        if found < self.version() {
            for step in self.steps.iter().skip(usize::try_from(found).unwrap_or(0)) {
                sqlx::raw_sql(*step).execute(&mut *transaction).await?;
            }
            let (application, version) = (self.application(), self.version());
            let mark = format!("PRAGMA application_id = {application}; PRAGMA user_version = {version}");
            sqlx::raw_sql(AssertSqlSafe(mark)).execute(&mut *transaction).await?;
        }
        transaction.commit().await?;
        Ok(())
    }
}
