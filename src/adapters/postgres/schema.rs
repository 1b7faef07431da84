//! The tables of the database, and the steps from one version of them to the next.

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, SqlSafeStr};

use super::fault::Flaw;

/// Steps are only ever added: the database keeps which it has seen, with their digests.
const STEPS: [(&str, &str); 2] = [("journal", include_str!("v1.sql")), ("beside the journal", include_str!("v2.sql"))];

/// Where the database keeps the steps it has seen.
const TABLE: &str = "kura_console_steps";

/// How far a database is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// It has none of our tables.
    Nothing,
    /// It has seen the first of the steps.
    Behind,
    /// It has seen each of them.
    Here,
}

/// Brings a database to the newest version, where `make` allows it. Processes that start at once take turns. A database
/// that has seen steps of a newer program is refused. One that is up to date is not written to: its user may have lost
/// the right to make tables.
pub(super) async fn prepare(connection: &mut PgConnection, make: bool) -> Result<(), Flaw> {
    let progress = progress_of(connection).await?;
    match (progress, make) {
        (Progress::Here, false) => Ok(()),
        (Progress::Nothing, false) => Err(Flaw::NoTables),
        (Progress::Behind, false) => Err(Flaw::Older),
        (Progress::Here, true) => refuse_standby(connection).await,
        (_, true) => {
            refuse_standby(connection).await?;
            migrator().run_direct(None, connection, false).await.map_err(|error| Flaw::of_steps(&error))
        }
    }
}

async fn progress_of(connection: &mut PgConnection) -> Result<Progress, Flaw> {
    const THERE: &str = "SELECT to_regclass($1) IS NOT NULL";
    const SEEN: &str = "SELECT version, checksum FROM kura_console_steps WHERE success ORDER BY version";
    let read = async {
        let there: bool = sqlx::query_scalar(THERE).bind(TABLE).fetch_one(&mut *connection).await?;
        match there {
            true => sqlx::query_as(SEEN).fetch_all(connection).await.map(Some),
            false => Ok(None),
        }
    };
    let seen: Option<Vec<(i64, Vec<u8>)>> = read.await.map_err(|error: sqlx::Error| Flaw::of(&error))?;
    let Some(seen) = seen else { return Ok(Progress::Nothing) };
    let migrator = migrator();
    let mut steps = migrator.iter();
    for (version, digest) in &seen {
        match steps.next() {
            None => return Err(Flaw::Newer),
            Some(step) if step.version == *version && *step.checksum == **digest => {}
            Some(_) => return Err(Flaw::Foreign(format!("step {version} was another one"))),
        }
    }
    Ok(if steps.next().is_some() { Progress::Behind } else { Progress::Here })
}

async fn refuse_standby(connection: &mut PgConnection) -> Result<(), Flaw> {
    const READ_ONLY: &str = "SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only')::bool";
    match sqlx::query_scalar(READ_ONLY).fetch_one(connection).await {
        Ok(true) => Err(Flaw::ReadOnly),
        Ok(false) => Ok(()),
        Err(error) => Err(Flaw::of(&error)),
    }
}

fn migrator() -> Migrator {
    let step = |(version, (name, sql)): (i64, (&'static str, &'static str))| {
        Migration::new(version, name.into(), MigrationType::Simple, AssertSqlSafe(sql).into_sql_str(), false)
    };
    let mut migrator = Migrator::with_migrations((1..).zip(STEPS).map(step).collect());
    migrator.dangerous_set_table_name(TABLE);
    migrator
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A database that has seen a step is told that it was another one as soon as a byte of it changes.
    #[test]
    fn steps_that_were_taken_somewhere_are_never_changed() {
        let digest =
            |step: &Migration| step.checksum.iter().take(8).map(|byte| format!("{byte:02x}")).collect::<String>();
        let digests: Vec<String> = migrator().iter().map(digest).collect();
        assert_eq!(digests, ["4619a50270e296b9", "f87d75ac4510a30e"], "steps are added, never changed");
    }
}
