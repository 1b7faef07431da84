//! Why a release cannot be built, in sentences for whoever asked for it.

use std::path::PathBuf;

use crate::wire::problem::{Problem, ProblemKind};

/// Refs that are listed where one was not found.
pub const REFS_LISTED: usize = 10;

/// Why.
#[derive(Debug, thiserror::Error)]
pub enum ReleaseFault {
    /// The directory of releases itself cannot be read.
    #[error("the releases in {} cannot be read: {reason}", directory.display())]
    Unreadable {
        /// Which directory.
        directory: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// Empty, hidden, or a path.
    #[error("`{0}` is not the name of a release")]
    NotAName(String),
    /// Nothing of that name.
    #[error("there is no release `{git_ref}`")]
    Missing {
        /// What was asked for.
        git_ref: String,
        /// What there is: the first `REFS_LISTED` names.
        available: Vec<String>,
        /// How many there are.
        total: usize,
    },
    /// A folder without a file.
    #[error("the release `{0}` holds no file")]
    Empty(String),
    /// Beyond a limit.
    #[error("the release `{git_ref}` is too large: {what}")]
    TooLarge {
        /// Which.
        git_ref: String,
        /// Which limit.
        what: String,
    },
    /// A link that leads out of the directory of releases.
    #[error("`{file}` in the release `{git_ref}` is a link that leads out of the releases")]
    Outside {
        /// Which release.
        git_ref: String,
        /// Which file.
        file: String,
    },
    /// Something in it that cannot be part of a release.
    #[error("`{file}` in the release `{git_ref}` {reason}")]
    File {
        /// Which release.
        git_ref: String,
        /// Which file.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl ReleaseFault {
    /// The same at an edge; it is the request's `git_ref` that is to blame, except where the directory is.
    pub fn problem(&self) -> Problem {
        let kind = match self {
            Self::Unreadable { .. } => ProblemKind::Unavailable,
            Self::NotAName(_) => ProblemKind::Malformed,
            Self::Missing { .. } => ProblemKind::NotFound,
            Self::TooLarge { .. } => ProblemKind::TooLarge,
            Self::Empty(_) | Self::Outside { .. } | Self::File { .. } => ProblemKind::Invalid,
        };
        let problem = Problem::new(kind, "release_unbuildable", self.to_string()).hint(self.hint());
        if matches!(self, Self::Unreadable { .. }) { problem } else { problem.field("git_ref") }
    }

    fn hint(&self) -> String {
        match self {
            Self::Unreadable { .. } => {
                "start the control plane with --releases DIR, a directory it can read".to_owned()
            }
            Self::NotAName(_) => "give the name of one folder, without a slash and not starting with a dot".to_owned(),
            Self::Missing { available, .. } if available.is_empty() => "there are no releases yet".to_owned(),
            Self::Missing { available, total, .. } => {
                let more = total.saturating_sub(available.len());
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                format!("there are: {}{more}", available.join(", "))
            }
            Self::Empty(_) => "put the states into it and build again".to_owned(),
            Self::TooLarge { .. } => "large files belong into an image or a package that a state installs".to_owned(),
            Self::Outside { .. } => "copy what it points to into the folder".to_owned(),
            Self::File { .. } => "a release is text files; take this one out or turn it into text".to_owned(),
        }
    }
}
