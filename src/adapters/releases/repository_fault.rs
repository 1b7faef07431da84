//! Why a release cannot be built from a repository, in sentences for whoever asked for it.

use super::fault::ReleaseFault;
use super::git::GitFault;
use crate::wire::problem::{Problem, ProblemKind};

/// Why.
#[derive(Debug, thiserror::Error)]
pub enum RepositoryFault {
    /// What was given is no address of a repository.
    #[error("`{0}` is no path or URL of a repository")]
    NotAnAddress(String),
    /// The command that reads it is not there.
    #[error("the git command was not found, and releases are built with it")]
    NoGit,
    /// It does not answer, or says no.
    #[error("the repository {repository} cannot be fetched: {said}")]
    Unreachable {
        /// Without its password.
        repository: String,
        /// What git said, without its password.
        said: String,
    },
    /// The mirror of it is damaged, or its disk.
    #[error("the mirror of the repository cannot be read: {0}")]
    Mirror(String),
    /// Not the name of a tag, a branch or a commit.
    #[error("`{0}` is not the name of a tag, a branch or a commit")]
    NotARef(String),
    /// Nothing of that name.
    #[error("there is no tag, branch or commit `{git_ref}` in the repository")]
    Missing {
        /// What was asked for.
        git_ref: String,
        /// The first tags and branches there are.
        available: Vec<String>,
        /// How many there are.
        total: usize,
    },
    /// What was found cannot be a release.
    #[error(transparent)]
    Release(#[from] ReleaseFault),
}

impl RepositoryFault {
    /// The same at an edge.
    pub fn problem(&self) -> Problem {
        let (kind, hint) = match self {
            Self::Release(fault) => return fault.problem(),
            Self::NotAnAddress(_) => (ProblemKind::Usage, "give a path, or a URL that begins with https:// or ssh://"),
            Self::NoGit => (ProblemKind::Unavailable, "install git on the host of the control plane"),
            Self::Unreachable { .. } => {
                (ProblemKind::Unavailable, "try it there, as the user of the control plane: git ls-remote")
            }
            Self::Mirror(_) => (ProblemKind::Unavailable, "the mirror lies beside the journal and may be deleted"),
            Self::NotARef(_) => (ProblemKind::Malformed, "give the name of a tag or branch, or a commit in hex"),
            Self::Missing { .. } => (ProblemKind::NotFound, ""),
        };
        let problem = Problem::new(kind, "release_unbuildable", self.to_string());
        match self {
            Self::Missing { available, total, .. } => problem.field("git_ref").hint(listed(available, *total)),
            Self::NotARef(_) => problem.field("git_ref").hint(hint),
            _ => problem.hint(hint),
        }
    }

    /// A fault of a command that only reads the mirror.
    pub(super) fn reading(fault: GitFault) -> Self {
        match fault {
            GitFault::NotInstalled => Self::NoGit,
            other => Self::Mirror(other.to_string()),
        }
    }
}

fn listed(available: &[String], total: usize) -> String {
    match total.saturating_sub(available.len()) {
        _ if available.is_empty() => "it has no tags and no branches yet".to_owned(),
        0 => format!("there are: {}", available.join(", ")),
        more => format!("there are: {} and {more} more", available.join(", ")),
    }
}
