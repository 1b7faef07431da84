//! Where a journal is: its file, and what lies beside it.

use std::io;
use std::path::{Path, PathBuf};

use crate::adapters::journal::open::JournalUrl;
use crate::adapters::journal::sqlite::inspect::Standing;
use crate::adapters::journal::sqlite::journal::SqliteJournal;
use crate::adapters::sqlite::fault::StoreFault;
use crate::control::ports::JournalError;
use crate::control::trouble::sentence;
use crate::domain::ids::AccountId;
use crate::wire::problem::{Problem, ProblemKind};

/// Flags that name a journal that is there.
#[derive(Debug, Clone, clap::Args)]
pub struct PlaceArgs {
    /// The journal: sqlite:PATH.
    #[arg(long, value_name = "URL", env = "KURA_CONSOLE_JOURNAL")]
    pub journal: String,
}

/// Flags that choose among the accounts of a journal.
#[derive(Debug, Clone, clap::Args)]
pub struct AccountArgs {
    /// Only this account, by its name in the tokens file or its id; without it all of them.
    #[arg(long, value_name = "NAME")]
    pub account: Option<String>,
}

impl PlaceArgs {
    /// Its file.
    pub fn path(&self) -> Result<PathBuf, Problem> {
        match self.journal.parse::<JournalUrl>().map_err(|error| error.problem())? {
            JournalUrl::Sqlite(path) => Ok(path),
            JournalUrl::Memory => Err(Problem::new(ProblemKind::Usage, "journal", "a journal in memory has no file")
                .hint("--journal sqlite:kura.db")),
        }
    }

    /// Opens it. One that is not there does not come into being.
    pub async fn open(&self) -> Result<SqliteJournal, Problem> {
        let path = self.path()?;
        if !path.exists() {
            let message = format!("there is no file {}", path.display());
            return Err(Problem::new(ProblemKind::NotFound, "journal", message)
                .hint("serve names its journal when it starts: listening journal=PATH"));
        }
        SqliteJournal::open(&path).await.map_err(|fault| fault.problem())
    }
}

impl AccountArgs {
    /// Those that are meant, in the order of their ids.
    pub async fn of(&self, journal: &SqliteJournal) -> Result<Vec<Standing>, Problem> {
        let all = journal.accounts().await.map_err(|error| unreadable(&error))?;
        let Some(name) = &self.account else { return Ok(all) };
        let wanted = name.parse().map_or_else(|_| AccountId::named(name), AccountId);
        let found: Vec<Standing> = all.iter().copied().filter(|standing| standing.account == wanted).collect();
        if found.is_empty() {
            let message = format!("{} holds no account {name}", journal.path().display());
            let ids: Vec<String> = all.iter().map(|standing| standing.account.to_string()).collect();
            return Err(Problem::new(ProblemKind::NotFound, "account", message)
                .hint("its name stands in the tokens file")
                .hint(format!("the ids it holds: {}", ids.join(", "))));
        }
        Ok(found)
    }
}

/// The vault of a journal.
pub fn vault_of(journal: &Path) -> PathBuf {
    crate::adapters::vault::file::FileVault::beside(journal)
}

/// A journal that does not do what is asked, and what can be done about it.
pub fn unreadable(error: &JournalError) -> Problem {
    let hints = match error {
        JournalError::Store { source, .. } => source.downcast_ref::<StoreFault>().map(StoreFault::hints),
        _ => None,
    };
    let problem = Problem::new(ProblemKind::Unavailable, "journal", sentence(error));
    hints.unwrap_or_default().into_iter().fold(problem, Problem::hint)
}

/// A file or a folder that does not.
pub fn unusable(path: &Path, error: &io::Error) -> Problem {
    let path = path.display();
    let hint = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => format!("free some space: df -h {path}"),
        io::ErrorKind::PermissionDenied => format!("this user needs rights on it, see which: ls -ld {path}"),
        io::ErrorKind::ReadOnlyFilesystem => "name a place on a file system that can be written".to_owned(),
        _ => return Problem::new(ProblemKind::Unavailable, "file", format!("{path}: {error}")),
    };
    Problem::new(ProblemKind::Unavailable, "file", format!("{path}: {error}")).hint(hint)
}
