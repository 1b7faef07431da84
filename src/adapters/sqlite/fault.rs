//! What can be wrong with a store's file, in sentences for whoever runs the program.

use std::io;
use std::path::{Path, PathBuf};

use crate::control::ports::JournalError;
use crate::wire::problem::{Problem, ProblemKind};

/// Primary result codes of SQLite, from its `sqlite3.h`.
mod code {
    pub(super) const PERM: i32 = 3;
    pub(super) const BUSY: i32 = 5;
    pub(super) const LOCKED: i32 = 6;
    pub(super) const READONLY: i32 = 8;
    pub(super) const CORRUPT: i32 = 11;
    pub(super) const FULL: i32 = 13;
    pub(super) const CANTOPEN: i32 = 14;
    pub(super) const NOTADB: i32 = 26;
}

/// A store's file that cannot be used: which, and why.
#[derive(Debug, thiserror::Error)]
#[error("the {store} {} cannot be used: {flaw}", path.display())]
pub struct StoreFault {
    /// `journal`, `telemetry`, ...
    pub store: &'static str,
    /// Which file.
    pub path: PathBuf,
    /// What is wrong.
    pub flaw: Flaw,
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
pub enum Flaw {
    /// Its directory does not exist.
    #[error("the directory {} does not exist", .0.display())]
    NoDirectory(PathBuf),
    /// Something else stands where it, or one above it, should be.
    #[error("{} is not a directory", .0.display())]
    NotADirectory(PathBuf),
    /// A directory stands in its place.
    #[error("it is a directory")]
    IsDirectory,
    /// Missing rights on the file or on its directory.
    #[error("this user may not read and write {}", .0.display())]
    Forbidden(PathBuf),
    /// Write-protected file or file system.
    #[error("it is read-only")]
    ReadOnly,
    /// Something else than a database.
    #[error("it is not an SQLite database")]
    NotADatabase,
    /// A database with another program's tables.
    #[error("it is a database of another program")]
    Foreign,
    /// Its format is from the future.
    #[error("it has format {found}, and this program knows formats up to {known}")]
    Newer {
        /// In the file.
        found: i64,
        /// Of this program.
        known: i64,
    },
    /// Its format is from the past, and it cannot be written.
    #[error("it has format {found}, this program reads format {known}, and this user may not bring it there")]
    Older {
        /// In the file.
        found: i64,
        /// Of this program.
        known: i64,
    },
    /// Somebody holds its lock for longer than `BUSY_WAIT`.
    #[error("another process keeps it locked")]
    Locked,
    /// No room for a write.
    #[error("the disk is full")]
    Full,
    /// Pages that make no sense.
    #[error("the file is damaged")]
    Damaged,
    /// A network file system, usually.
    #[error("its file system cannot share memory between processes, which the write-ahead log needs")]
    NoSharedMemory,
    /// Not the file that was opened any more.
    #[error("it was moved, deleted or replaced while it was open")]
    Moved,
    /// Used after it was closed.
    #[error("it is closed already")]
    Closed,
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl Flaw {
    /// What an error of the driver means to the person who runs the program.
    pub fn of(error: &sqlx::Error, path: &Path) -> Self {
        match error {
            sqlx::Error::Database(answer) => {
                let extended = answer.code().and_then(|code| code.parse::<i32>().ok());
                Self::of_code(extended.map_or(0, |code| code & 0xff), answer.message(), path)
            }
            sqlx::Error::PoolTimedOut => Self::Locked,
            sqlx::Error::PoolClosed => Self::Closed,
            sqlx::Error::Io(error) => Self::of_io(error, path),
            other => Self::Other(other.to_string()),
        }
    }

    /// What an error of the file system means.
    pub fn of_io(error: &io::Error, path: &Path) -> Self {
        match error.kind() {
            io::ErrorKind::PermissionDenied => Self::Forbidden(path.to_owned()),
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full,
            io::ErrorKind::IsADirectory => Self::IsDirectory,
            _ => Self::Other(error.to_string()),
        }
    }

    fn of_code(primary: i32, message: &str, path: &Path) -> Self {
        match primary {
            code::BUSY | code::LOCKED => Self::Locked,
            code::READONLY => Self::ReadOnly,
            code::PERM | code::CANTOPEN => Self::Forbidden(path.to_owned()),
            code::FULL => Self::Full,
            code::CORRUPT => Self::Damaged,
            code::NOTADB => Self::NotADatabase,
            _ => Self::Other(format!("SQLite says: {message}")),
        }
    }
}

impl StoreFault {
    /// What to do about it, most useful first.
    pub fn hints(&self) -> Vec<String> {
        let file = self.path.display();
        let hint = match &self.flaw {
            Flaw::NoDirectory(directory) => format!("create it: mkdir -p {}", directory.display()),
            Flaw::NotADirectory(place) => {
                format!("name a file in a directory, or move this one out of the way: {}", place.display())
            }
            Flaw::IsDirectory => format!("name a file in it, such as {}", self.path.join("kura.db").display()),
            Flaw::Forbidden(_) => "SQLite writes two more files beside it: the user needs rights on the file and on \
                                   its directory"
                .to_owned(),
            Flaw::ReadOnly => format!("make it writable, or name another file: ls -l {file}"),
            Flaw::NotADatabase | Flaw::Foreign => {
                "name another file; kura-console does not touch files it did not make".to_owned()
            }
            Flaw::Newer { .. } => "run the version of kura-console that wrote it, or a newer one".to_owned(),
            Flaw::Older { .. } => {
                format!("copy it, with the {file}-wal that may lie beside it, to a folder you may write")
            }
            Flaw::Locked => format!("a backup or an open sqlite3 shell may hold it; see who: fuser -v {file}"),
            Flaw::Full => format!("free some space: df -h {file}"),
            Flaw::Damaged if self.store == "telemetry" => {
                format!("move it away and a new one is made, only past results are lost: mv {file} {file}.bad")
            }
            Flaw::Damaged => format!(
                "restore a backup: kura-console journal restore --replace; what can be saved: sqlite3 {file} .recover"
            ),
            Flaw::Moved => "put the file back, or start the program again".to_owned(),
            Flaw::NoSharedMemory => "name a file on a local disk".to_owned(),
            Flaw::Closed | Flaw::Other(_) => return Vec::new(),
        };
        vec![hint]
    }

    /// The same at an edge.
    pub fn problem(&self) -> Problem {
        let kind = match self.flaw {
            Flaw::Locked | Flaw::Full | Flaw::Damaged | Flaw::Moved | Flaw::Closed => ProblemKind::Unavailable,
            _ => ProblemKind::Usage,
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

    fn fault(flaw: Flaw) -> StoreFault {
        StoreFault { store: "journal", path: PathBuf::from("/var/lib/kura/kura.db"), flaw }
    }

    #[test]
    fn every_result_code_that_people_meet_has_a_sentence_of_its_own() {
        let path = Path::new("kura.db");
        let said = |primary| Flaw::of_code(primary, "raw words", path).to_string();
        assert_eq!(said(code::BUSY), "another process keeps it locked");
        assert_eq!(said(code::READONLY), "it is read-only");
        assert_eq!(said(code::CANTOPEN), "this user may not read and write kura.db");
        assert_eq!(said(code::FULL), "the disk is full");
        assert_eq!(said(code::CORRUPT), "the file is damaged");
        assert_eq!(said(code::NOTADB), "it is not an SQLite database");
        assert_eq!(said(1), "SQLite says: raw words");
    }

    #[test]
    fn a_problem_says_what_where_and_what_to_do() {
        let problem = fault(Flaw::NoDirectory(PathBuf::from("/var/lib/kura"))).problem();
        assert_eq!(
            problem.message,
            "the journal /var/lib/kura/kura.db cannot be used: the directory /var/lib/kura does not exist"
        );
        assert_eq!(problem.hints, ["create it: mkdir -p /var/lib/kura"]);
        assert_eq!(problem.kind, ProblemKind::Usage);
        assert_eq!(fault(Flaw::Full).problem().kind, ProblemKind::Unavailable);
    }
}
