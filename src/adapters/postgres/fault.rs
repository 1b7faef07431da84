//! What can be wrong with a database, in sentences for whoever runs the program.

use std::io;

use sqlx::migrate::MigrateError;

use crate::control::ports::JournalError;
use crate::wire::problem::{Problem, ProblemKind};

/// Classes and codes of PostgreSQL, from the appendix of its manual.
mod code {
    pub(super) const NO_DATABASE: &str = "3D000";
    pub(super) const NO_SCHEMA: &str = "3F000";
    pub(super) const NO_TABLE: &str = "42P01";
    pub(super) const FORBIDDEN: &str = "42501";
    pub(super) const READ_ONLY: &str = "25006";
    pub(super) const FULL: &str = "53100";
    pub(super) const CROWDED: &str = "53300";
    pub(super) const CANCELLED: &str = "57014";
    pub(super) const IDLE_TOO_LONG: &str = "25P03";
    pub(super) const LOCKED: &str = "55P03";
    pub(super) const WHO: [&str; 2] = ["28000", "28P01"];
    pub(super) const DOWN: [&str; 3] = ["57P01", "57P02", "57P03"];
}

/// A database that cannot be used: which, and why.
#[derive(Debug, thiserror::Error)]
#[error("the database {at} cannot be used: {flaw}")]
pub struct DatabaseFault {
    /// Where it is, without a password.
    pub at: String,
    /// What is wrong.
    pub flaw: Flaw,
}

/// What is wrong with a database.
#[derive(Debug, thiserror::Error)]
pub enum Flaw {
    /// Nobody answers.
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    /// It answers and is starting, stopping or recovering.
    #[error("it is not taking requests now: {0}")]
    Down(String),
    /// Encryption could not be agreed on, or its certificate is not trusted.
    #[error("no encrypted connection comes about: {0}")]
    Tls(String),
    /// A wrong name or password.
    #[error("it does not let this user in: {0}")]
    Refused(String),
    /// There is none of that name.
    #[error("it does not exist")]
    Missing,
    /// The user may not do what the program does.
    #[error("this user lacks a right: {0}")]
    Forbidden(String),
    /// A standby, or set to be read only.
    #[error("it is read-only")]
    ReadOnly,
    /// No room for a write.
    #[error("its disk is full")]
    Full,
    /// It serves as many as it may.
    #[error("it has no connection left")]
    Crowded,
    /// Somebody holds a lock, or it is too slow.
    #[error("it did not answer in time")]
    Late,
    /// It has no journal.
    #[error("there is no journal in it")]
    NoTables,
    /// Its tables are of an older program.
    #[error("its tables were made by an older version of this program")]
    Older,
    /// Its tables are of a newer program.
    #[error("its tables were made by a newer version of this program")]
    Newer,
    /// Its tables are not those this program makes.
    #[error("its tables are not those of this program: {0}")]
    Foreign(String),
    /// The address itself.
    #[error("its address is not understood: {0}")]
    Address(String),
    /// Used after it was closed.
    #[error("it is closed already")]
    Closed,
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl Flaw {
    /// What an error of the driver means to the person who runs the program.
    pub fn of(error: &sqlx::Error) -> Self {
        match error {
            sqlx::Error::Database(answer) => {
                Self::of_code(answer.code().as_deref().unwrap_or_default(), answer.message())
            }
            sqlx::Error::Io(error) => Self::of_io(error),
            sqlx::Error::Tls(error) => Self::Tls(error.to_string()),
            sqlx::Error::PoolTimedOut => Self::Late,
            sqlx::Error::PoolClosed => Self::Closed,
            other => Self::Other(other.to_string()),
        }
    }

    /// What an error on the way to the newest tables means.
    pub fn of_steps(error: &MigrateError) -> Self {
        match error {
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => Self::of(error),
            MigrateError::VersionMissing(_) | MigrateError::VersionNotPresent(_) => Self::Newer,
            other => Self::Foreign(other.to_string()),
        }
    }

    /// A handshake that fails comes as an error of the connection.
    fn of_io(error: &io::Error) -> Self {
        let refused = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
        match (refused, error.kind()) {
            (Some(refused), _) => Self::Tls(refused.to_string()),
            (None, io::ErrorKind::TimedOut) => Self::Late,
            (None, _) => Self::Unreachable(error.to_string()),
        }
    }

    fn of_code(code: &str, message: &str) -> Self {
        match code {
            code::NO_DATABASE => Self::Missing,
            code::FORBIDDEN => Self::Forbidden(message.to_owned()),
            code::NO_SCHEMA | code::NO_TABLE => Self::Foreign(message.to_owned()),
            code::READ_ONLY => Self::ReadOnly,
            code::FULL => Self::Full,
            code::CROWDED => Self::Crowded,
            code::CANCELLED | code::LOCKED | code::IDLE_TOO_LONG => Self::Late,
            who if code::WHO.contains(&who) => Self::Refused(message.to_owned()),
            down if code::DOWN.contains(&down) => Self::Down(message.to_owned()),
            _ => Self::Other(format!("PostgreSQL says: {message}")),
        }
    }
}

impl DatabaseFault {
    /// What to do about it, most useful first.
    pub fn hints(&self) -> Vec<String> {
        let hint = match &self.flaw {
            Flaw::Unreachable(_) => "check host and port, and that it listens there: pg_isready -h HOST -p PORT",
            Flaw::Down(_) => "it is tried again; see the log of the database",
            Flaw::Tls(_) => {
                "name the authority that signed its certificate: ?sslmode=verify-full&sslrootcert=FILE, or \
                 sslmode=disable on a host of your own"
            }
            Flaw::Refused(_) => "check user and password: PGPASSWORD, ~/.pgpass or the address",
            Flaw::Missing => "make it: createdb NAME",
            Flaw::Forbidden(_) => {
                "the user makes tables in the schema it works in: GRANT CREATE ON SCHEMA public TO USER"
            }
            Flaw::ReadOnly => "name the primary, not a standby",
            Flaw::Full => "free some space on the disk of the database",
            Flaw::Crowded => "raise max_connections, or stop what does not need one",
            Flaw::Late => "see who holds what: SELECT pid, state, query FROM pg_stat_activity",
            Flaw::NoTables => {
                "serve makes it when it starts; a schema of its own is named by ?options=-csearch_path%3DNAME"
            }
            Flaw::Older => "start serve of this version once: it brings them to its own",
            Flaw::Address(_) => "it is postgres://USER@HOST:PORT/NAME?sslmode=verify-full",
            Flaw::Newer => "run the version of kura-console that made them, or a newer one",
            Flaw::Foreign(_) => "name a database or a schema of its own for kura-console",
            Flaw::Closed | Flaw::Other(_) => return Vec::new(),
        };
        vec![hint.to_owned()]
    }

    /// The same at an edge.
    pub fn problem(&self) -> Problem {
        let kind = match self.flaw {
            Flaw::NoTables => ProblemKind::NotFound,
            Flaw::Refused(_) | Flaw::Missing | Flaw::Forbidden(_) | Flaw::Address(_) => ProblemKind::Usage,
            Flaw::Older | Flaw::Newer | Flaw::Foreign(_) | Flaw::ReadOnly | Flaw::Tls(_) => ProblemKind::Usage,
            _ => ProblemKind::Unavailable,
        };
        self.hints().into_iter().fold(Problem::new(kind, "store_unusable", self.to_string()), Problem::hint)
    }

    /// The same as the error of a port: what was attempted, and this as its source.
    pub fn during(self, attempt: &'static str) -> JournalError {
        JournalError::Store { attempt, source: Box::new(self) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_that_people_meet_has_a_sentence_of_its_own() {
        let said = |code| Flaw::of_code(code, "raw words").to_string();
        assert_eq!(said(code::NO_DATABASE), "it does not exist");
        assert_eq!(said("28P01"), "it does not let this user in: raw words");
        assert_eq!(said(code::READ_ONLY), "it is read-only");
        assert_eq!(said(code::FULL), "its disk is full");
        assert_eq!(said(code::CROWDED), "it has no connection left");
        assert_eq!(said("57P01"), "it is not taking requests now: raw words");
        assert_eq!(said(code::CANCELLED), "it did not answer in time");
        assert_eq!(said("XX000"), "PostgreSQL says: raw words");
    }

    #[test]
    fn a_problem_says_what_where_and_what_to_do() {
        let fault = DatabaseFault { at: "postgres://kura@db/kura".to_owned(), flaw: Flaw::Missing };
        let problem = fault.problem();
        assert_eq!(problem.message, "the database postgres://kura@db/kura cannot be used: it does not exist");
        assert_eq!(problem.hints, ["make it: createdb NAME"]);
        assert_eq!(problem.kind, ProblemKind::Usage);
    }
}
