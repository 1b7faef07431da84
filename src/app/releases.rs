//! Where the releases of `serve` come from: folders on disk, or a repository.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::adapters::journal::open::JournalUrl;
use crate::adapters::releases::address::Address;
use crate::adapters::releases::folder::ReleaseFolders;
use crate::adapters::releases::repository::{Repository, Tip};
use crate::control::following::{Follower, Following, Origin, Tag, run_follower};
use crate::control::host::Host;
use crate::control::service::{Loop, Service};
use crate::domain::ids::AccountId;
use crate::server::build::{Builder, Built};
use crate::terminal::logfile::state_directory;
use crate::wire::problem::{Problem, ProblemKind};

/// Flags that say where releases are built from.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ReleaseArgs {
    /// Repository that `build-from-git` builds from: a path or a URL, read with the git command; see docs/releases.md
    #[arg(long, value_name = "PATH_OR_URL", env = "KURA_CONSOLE_REPOSITORY", hide_env_values = true)]
    #[arg(conflicts_with = "releases")]
    pub repository: Option<String>,
    /// Branch whose new commits are started while the account's auto_deploy is on.
    #[arg(long, value_name = "BRANCH", default_value = "main")]
    pub deploy_branch: String,
    /// How often the repository is looked at while auto_deploy or track_config_tags is on.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub follow_seconds: u64,
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
    Repository(Followed),
}

/// A repository, and how following it goes for each account. Clones share that.
#[derive(Debug, Clone)]
pub struct Followed {
    repository: Repository,
    troubles: Arc<Mutex<BTreeMap<AccountId, String>>>,
}

impl Followed {
    fn troubles(&self) -> MutexGuard<'_, BTreeMap<AccountId, String>> {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Origin for Followed {
    async fn refresh(&self) -> Result<(), String> {
        self.repository.fetch().await.map_err(|fault| fault.to_string())
    }

    async fn tip(&self, branch: &str) -> Result<Option<String>, String> {
        self.repository.tip(branch).await.map_err(|fault| fault.to_string())
    }

    async fn tags(&self) -> Result<Vec<Tag>, String> {
        let tips = self.repository.tags().await.map_err(|fault| fault.to_string())?;
        let tag = |Tip { name, commit, made_at }| Tag { name, commit, made_at };
        Ok(tips.into_iter().map(tag).collect())
    }

    async fn content(&self, git_ref: &str, commit: &str) -> Result<Vec<u8>, String> {
        self.repository.content(git_ref, commit).await.map_err(|fault| fault.to_string())
    }

    fn note(&self, account: AccountId, trouble: Option<String>) {
        match trouble {
            Some(trouble) => drop(self.troubles().insert(account, trouble)),
            None => drop(self.troubles().remove(&account)),
        }
    }
}

/// The loop that follows the repository for one account, where there is one.
pub fn follower<H: Host>(releases: &Releases, args: &ReleaseArgs, service: &Service<H>) -> Option<Loop> {
    let Releases::Repository(followed) = releases else { return None };
    let follower = Follower {
        host: Arc::clone(service.host()),
        account: service.account(),
        door: service.door.clone(),
        held: service.held.clone(),
        stop: service.stop.clone(),
        origin: followed.clone(),
        following: Following { branch: args.deploy_branch.clone(), period: Duration::from_secs(args.follow_seconds) },
    };
    Some(Loop { name: "follower", future: Box::pin(run_follower(follower)) })
}

impl Releases {
    /// Opens what the flags name. The mirror of a repository lies beside a journal in a file, and in the state directory
    /// of this user where the journal is elsewhere: it can be made anew from the repository.
    pub async fn open(args: &ReleaseArgs, journal: &JournalUrl) -> Result<Self, Problem> {
        match (&args.repository, &args.releases) {
            (Some(repository), _) => open_repository(repository, &mirror_of(journal)?).await,
            (None, Some(directory)) => open_folders(directory),
            (None, None) => Ok(Self::Nowhere),
        }
    }
}

fn mirror_of(journal: &JournalUrl) -> Result<PathBuf, Problem> {
    if let JournalUrl::Sqlite(path) = journal {
        let mut mirror = path.as_os_str().to_owned();
        mirror.push(".git");
        return Ok(PathBuf::from(mirror));
    }
    let unusable = |why: &str| {
        Problem::new(ProblemKind::Usage, "mirror", format!("no place for the mirror of the repository: {why}"))
            .hint("set XDG_STATE_HOME to a folder of this user")
    };
    let folder = state_directory().ok_or_else(|| unusable("neither XDG_STATE_HOME nor HOME is set"))?;
    std::fs::create_dir_all(&folder).map_err(|error| unusable(&format!("{}: {error}", folder.display())))?;
    Ok(folder.join("repository.git"))
}

async fn open_repository(text: &str, mirror: &Path) -> Result<Releases, Problem> {
    let opened = async {
        let repository = Repository::open(Address::parse(text)?, mirror).await?;
        // A path that is no repository never will be one; a remote may only be away.
        match repository.is_local() {
            true => repository.fetch().await.map(|()| repository),
            false => Ok(repository),
        }
    };
    // Whoever starts the program can do something about it.
    let opened = opened.await.map_err(|fault| Problem { kind: ProblemKind::Usage, ..fault.problem() });
    opened.map(|repository| Releases::Repository(Followed { repository, troubles: Arc::default() }))
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
            Self::Repository(followed) => Some(followed.repository.shown().to_owned()),
        }
    }

    fn trouble(&self, account: AccountId) -> Option<String> {
        match self {
            Self::Repository(followed) => followed.troubles().get(&account).cloned(),
            Self::Nowhere | Self::Folders(_) => None,
        }
    }

    async fn build(&self, git_ref: &str) -> Result<Built, Problem> {
        match self {
            Self::Nowhere => Err(nowhere()),
            Self::Folders(folders) => {
                let built = folders.build(git_ref).await.map_err(|fault| fault.problem())?;
                Ok(Built { commit: built.commit, content: built.content })
            }
            Self::Repository(followed) => {
                let built = followed.repository.build(git_ref).await.map_err(|fault| fault.problem())?;
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
