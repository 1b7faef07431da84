//! Where a journal is: its file, and what lies beside it.

use std::io;
use std::path::{Path, PathBuf};

use super::super::store::journal::ServerJournal;
use crate::adapters::journal::open::JournalUrl;
use crate::adapters::journal::sqlite::journal::SqliteJournal;
use crate::adapters::journal::tended::{Standing, Tended};
use crate::adapters::postgres::fault::DatabaseFault;
use crate::adapters::sqlite::fault::StoreFault;
use crate::control::ports::JournalError;
use crate::control::trouble::sentence;
use crate::domain::ids::AccountId;
use crate::wire::problem::{Problem, ProblemKind};

/// Flags that name a journal that is there.
#[derive(Debug, Clone, clap::Args)]
pub struct PlaceArgs {
    /// The journal: sqlite:PATH, postgres://USER@HOST/NAME, or kubernetes://NAMESPACE/NAME.
    #[arg(long, value_name = "URL", env = "KURA_CONSOLE_JOURNAL", hide_env_values = true)]
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
    /// Its file, for whoever does something with files.
    pub fn path(&self) -> Result<PathBuf, Problem> {
        match self.url()? {
            JournalUrl::Sqlite(path) => Ok(path),
            JournalUrl::Memory => Err(Problem::new(ProblemKind::Usage, "journal", "a journal in memory has no file")
                .hint("--journal sqlite:kura.db")),
            elsewhere => Err(no_file(&elsewhere)),
        }
    }

    fn url(&self) -> Result<JournalUrl, Problem> {
        self.journal.parse::<JournalUrl>().map_err(|error| error.problem())
    }

    /// Opens it. One that is not there does not come into being.
    pub async fn open(&self) -> Result<ServerJournal, Problem> {
        ServerJournal::existing(&self.url()?).await
    }

    /// Opens its file.
    pub async fn open_file(&self) -> Result<SqliteJournal, Problem> {
        self.path()?;
        match self.open().await? {
            ServerJournal::Sqlite(journal) => Ok(journal),
            ServerJournal::Postgres(_) | ServerJournal::Kubernetes(_) => Err(no_file(&self.url()?)),
        }
    }
}

impl AccountArgs {
    /// Those that are meant, in the order of their ids.
    pub async fn of(&self, journal: &ServerJournal) -> Result<Vec<Standing>, Problem> {
        let all = journal.accounts().await.map_err(|error| unreadable(&error))?;
        let Some(name) = &self.account else { return Ok(all) };
        let wanted = name.parse().map_or_else(|_| AccountId::named(name), AccountId);
        let found: Vec<Standing> = all.iter().copied().filter(|standing| standing.account == wanted).collect();
        if found.is_empty() {
            let message = format!("{} holds no account {name}", journal.place());
            let ids: Vec<String> = all.iter().map(|standing| standing.account.to_string()).collect();
            return Err(Problem::new(ProblemKind::NotFound, "account", message)
                .hint("its name stands in the tokens file")
                .hint(format!("the ids it holds: {}", ids.join(", "))));
        }
        Ok(found)
    }
}

/// A backup is a folder of files, and this journal is none: there are two ways to have a copy of it.
fn no_file(url: &JournalUrl) -> Problem {
    Problem::new(ProblemKind::Usage, "journal", format!("{url} is no file: backup and restore are for files"))
        .hint("a file of all that counts, which backup, restore and verify know: kura-console journal copy")
        .hint("or its own programs, of a database: pg_dump --format=custom, and pg_restore")
}

/// The vault of a journal.
pub fn vault_of(journal: &Path) -> PathBuf {
    crate::adapters::vault::file::FileVault::beside(journal)
}

/// A journal that does not do what is asked, and what can be done about it.
pub fn unreadable(error: &JournalError) -> Problem {
    let hints = match error {
        JournalError::Store { source, .. } => source
            .downcast_ref::<StoreFault>()
            .map(StoreFault::hints)
            .or_else(|| source.downcast_ref::<DatabaseFault>().map(DatabaseFault::hints)),
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
