//! Where the releases of `serve` come from: folders on disk, or a repository.

use std::path::{Path, PathBuf};

use crate::adapters::releases::address::Address;
use crate::adapters::releases::folder::ReleaseFolders;
use crate::adapters::releases::repository::Repository;
use crate::server::build::{Builder, Built};
use crate::wire::problem::{Problem, ProblemKind};

/// Flags that say where releases are built from.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ReleaseArgs {
    /// Repository that `build-from-git` builds from: a path or a URL, read with the git command; see docs/releases.md
    #[arg(long, value_name = "PATH_OR_URL", env = "KURA_CONSOLE_REPOSITORY", hide_env_values = true)]
    #[arg(conflicts_with = "releases")]
    pub repository: Option<String>,
    /// Directory whose folders are the releases that `build-from-git` builds; the folder's name is the git_ref.
    #[arg(long, value_name = "DIR")]
    pub releases: Option<PathBuf>,
}

/// Where releases are built from, if anywhere. Cheap to clone.
#[derive(Debug, Clone)]
pub enum Releases {
    /// Nothing is configured.
    Nowhere,
    /// `--releases`.
    Folders(ReleaseFolders),
    /// `--repository`.
    Repository(Repository),
}

impl Releases {
    /// Opens what the flags name. The mirror of a repository lies beside the journal.
    pub async fn open(args: &ReleaseArgs, journal: &Path) -> Result<Self, Problem> {
        match (&args.repository, &args.releases) {
            (Some(repository), _) => open_repository(repository, journal).await,
            (None, Some(directory)) => open_folders(directory),
            (None, None) => Ok(Self::Nowhere),
        }
    }
}

async fn open_repository(text: &str, journal: &Path) -> Result<Releases, Problem> {
    let mut cache = journal.as_os_str().to_owned();
    cache.push(".git");
    let opened = async {
        let repository = Repository::open(Address::parse(text)?, Path::new(&cache)).await?;
        // A path that is no repository never will be one; a remote may only be away.
        match repository.is_local() {
            true => repository.fetch().await.map(|()| repository),
            false => Ok(repository),
        }
    };
    // Whoever starts the program can do something about it.
    let opened = opened.await.map_err(|fault| Problem { kind: ProblemKind::Usage, ..fault.problem() });
    opened.map(Releases::Repository)
}

fn open_folders(directory: &Path) -> Result<Releases, Problem> {
    let opened = ReleaseFolders::open(directory).map(Releases::Folders);
    opened.map_err(|fault| {
        let problem = Problem { kind: ProblemKind::Usage, ..fault.problem() };
        problem.hint("make the directory, or name another: --releases DIR")
    })
}

impl Builder for Releases {
    fn source(&self) -> Option<String> {
        match self {
            Self::Nowhere => None,
            Self::Folders(folders) => Some(folders.directory().display().to_string()),
            Self::Repository(repository) => Some(repository.shown().to_owned()),
        }
    }

    async fn build(&self, git_ref: &str) -> Result<Built, Problem> {
        match self {
            Self::Nowhere => Err(nowhere()),
            Self::Folders(folders) => {
                let built = folders.build(git_ref).await.map_err(|fault| fault.problem())?;
                Ok(Built { commit: built.commit, content: built.content })
            }
            Self::Repository(repository) => {
                let built = repository.build(git_ref).await.map_err(|fault| fault.problem())?;
                Ok(Built { commit: built.commit, content: built.content })
            }
        }
    }
}

fn nowhere() -> Problem {
    Problem::new(ProblemKind::Conflict, "no_repository", "no place to build releases from is set")
        .hint("start the control plane with --repository PATH_OR_URL, or with KURA_CONSOLE_REPOSITORY set")
        .hint("or with --releases DIR; each folder in DIR is a release")
}
