//! Which journal a person asks for: `sqlite:PATH`, `postgres://...`, `kubernetes://...` or `memory:`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::kubernetes::address::ClusterUrl;
use crate::adapters::postgres::address::{DatabaseUrl, without_password};
use crate::wire::problem::{Problem, ProblemKind};

/// A journal by its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalUrl {
    /// In this file; it is made where it does not exist.
    Sqlite(PathBuf),
    /// In this database; its tables are made where they do not exist.
    Postgres(DatabaseUrl),
    /// In objects of this cluster; they are made where they do not exist.
    Kubernetes(ClusterUrl),
    /// In the memory of this process, gone with it.
    Memory,
}

/// An address that names no journal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JournalUrlError {
    /// Nothing in front of the colon, or no colon.
    #[error("`{0}` does not say which kind of journal it is")]
    NoKind(String),
    /// `sqlite:` and nothing behind it.
    #[error("`{0}` names no file")]
    NoFile(String),
    /// `memory:` and something behind it.
    #[error("`{0}`: a journal in memory has no name")]
    NamedMemory(String),
    /// `postgres:` and no place behind it.
    #[error("`{0}` names no database")]
    NoDatabase(String),
    /// `kubernetes:` and something behind it that is no place in a cluster.
    #[error("`kubernetes:{place}` names no place in a cluster: {why}")]
    NoCluster {
        /// What stands there.
        place: String,
        /// What is wrong with it.
        why: String,
    },
    /// Something else.
    #[error("this version has no `{0}` journal")]
    Unknown(String),
}

impl JournalUrlError {
    /// The same at an edge.
    pub fn problem(&self) -> Problem {
        let problem = Problem::new(ProblemKind::Usage, "journal_url", self.to_string());
        let problem = match self {
            Self::NoKind(path) if !path.is_empty() => problem.hint(format!("for a file: sqlite:{path}")),
            _ => problem,
        };
        problem.hint(
            "there are: sqlite:PATH (a file on a local disk), postgres://USER@HOST/NAME (a database, for servers on \
             several machines), kubernetes://NAMESPACE/NAME (objects of a cluster, where no database is at hand) and memory: (gone when the program ends)",
        )
    }
}

impl FromStr for JournalUrl {
    type Err = JournalUrlError;

    /// Also takes the form with slashes, where `sqlite:///var/lib/kura.db` is absolute and `sqlite://kura.db` is not.
    fn from_str(text: &str) -> Result<Self, JournalUrlError> {
        let Some((kind, rest)) = text.split_once(':') else { return Err(JournalUrlError::NoKind(text.to_owned())) };
        if matches!(kind, "postgres" | "postgresql") {
            let url = rest.strip_prefix("//").map(|rest| DatabaseUrl::new(format!("postgres://{rest}")));
            return url.map(Self::Postgres).ok_or_else(|| JournalUrlError::NoDatabase(without_password(text)));
        }
        let rest = rest.strip_prefix("//").unwrap_or(rest);
        if kind == "kubernetes" {
            let place = rest.parse::<ClusterUrl>().map(Self::Kubernetes);
            return place.map_err(|why| JournalUrlError::NoCluster { place: rest.to_owned(), why });
        }
        match (kind, rest) {
            ("sqlite", "") => Err(JournalUrlError::NoFile(text.to_owned())),
            ("sqlite", ":memory:") | ("memory", "") => Ok(Self::Memory),
            ("sqlite", path) => Ok(Self::Sqlite(PathBuf::from(path))),
            ("memory", _) => Err(JournalUrlError::NamedMemory(text.to_owned())),
            ("", _) => Err(JournalUrlError::NoKind(text.to_owned())),
            (kind, _) if kind.contains(['/', '.']) => Err(JournalUrlError::NoKind(text.to_owned())),
            (kind, _) => Err(JournalUrlError::Unknown(kind.to_owned())),
        }
    }
}

impl<P: AsRef<Path> + ?Sized> From<&P> for JournalUrl {
    /// A file.
    fn from(path: &P) -> Self {
        Self::Sqlite(path.as_ref().to_owned())
    }
}

/// Without a password.
impl fmt::Display for JournalUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Postgres(url) => url.fmt(f),
            Self::Kubernetes(url) => url.fmt(f),
            Self::Memory => f.write_str("memory:"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_a_file_or_memory() {
        let sqlite = |path: &str| Ok(JournalUrl::Sqlite(PathBuf::from(path)));
        assert_eq!("sqlite:kura.db".parse(), sqlite("kura.db"));
        assert_eq!("sqlite:/var/lib/kura.db".parse(), sqlite("/var/lib/kura.db"));
        assert_eq!("sqlite:///var/lib/kura.db".parse(), sqlite("/var/lib/kura.db"));
        assert_eq!("sqlite://kura.db".parse(), sqlite("kura.db"));
        assert_eq!("memory:".parse(), Ok(JournalUrl::Memory));
        assert_eq!("sqlite::memory:".parse(), Ok(JournalUrl::Memory));
        for text in ["sqlite:kura.db", "kubernetes://ops/kura?context=prod-a", "memory:"] {
            assert_eq!(text.parse::<JournalUrl>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_database_is_named_and_its_password_never_shown() {
        for scheme in ["postgres", "postgresql"] {
            let url: JournalUrl = format!("{scheme}://kura:hunter2@db/kura").parse().unwrap();
            assert_eq!(url.to_string(), "postgres://kura@db/kura");
            assert!(!format!("{url:?}").contains("hunter2"), "{url:?}");
        }
    }

    #[test]
    fn anything_else_says_what_there_is() {
        let said = |text: &str| {
            let problem = text.parse::<JournalUrl>().unwrap_err().problem();
            assert!(problem.hints.last().unwrap().contains("sqlite:PATH"));
            (problem.message, problem.hints[0].clone())
        };
        assert_eq!(said("mysql://db/kura").0, "this version has no `mysql` journal");
        assert_eq!(said("postgres:kura").0, "`postgres:kura` names no database");
        assert!(said("kubernetes://kura").0.ends_with("names no place in a cluster: it is NAMESPACE/NAME"));
        assert_eq!(said("sqlite:").0, "`sqlite:` names no file");
        assert_eq!(said("memory:x").0, "`memory:x`: a journal in memory has no name");
        assert_eq!(said("").0, "`` does not say which kind of journal it is");
        assert_eq!(said("kura.db").1, "for a file: sqlite:kura.db");
        assert_eq!(said("./a:b.db").1, "for a file: sqlite:./a:b.db");
    }
}
