//! The tables of the database, and the steps from one version of them to the next.

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{AssertSqlSafe, SqlSafeStr};

/// Steps are only ever added: the database keeps which it has seen, with their digests.
const STEPS: [(&str, &str); 1] = [("journal", include_str!("v1.sql"))];

/// Where the database keeps the steps it has seen.
const TABLE: &str = "kura_console_steps";

/// Brings a database to the newest version. Processes that start at once take turns. A database that has seen steps
/// of a newer program is refused.
pub fn migrator() -> Migrator {
    let step = |(version, (name, sql)): (i64, (&'static str, &'static str))| {
        Migration::new(version, name.into(), MigrationType::Simple, AssertSqlSafe(sql).into_sql_str(), false)
    };
    let mut migrator = Migrator::with_migrations((1..).zip(STEPS).map(step).collect());
    migrator.dangerous_set_table_name(TABLE);
    migrator
}
