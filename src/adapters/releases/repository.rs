//! A repository of releases: a bare mirror of it beside the journal, fetched for every build.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use sha2::{Digest, Sha256};
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};

use super::address::Address;
use super::fault::REFS_LISTED;
use super::git::{FETCH_LIMIT, Git, GitFault, Reading};
use super::repository_fault::RepositoryFault;
use super::tree;
use crate::control::render::content::ReleaseContent;

/// The longest reference, in bytes.
const REF_MAX: usize = 200;

/// The shortest commit that is taken for one.
const COMMIT_MIN: usize = 7;

/// Bytes of the list of branches and tags.
const REFS_BYTES_MAX: u64 = 4 * 1_024 * 1_024;

/// How often a mirror that another process fetches into is looked at again.
const LOCK_LOOK: Duration = Duration::from_millis(100);

/// The repository that `--repository` names. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Repository {
    address: Address,
    git: Git,
    lock: Arc<Path>,
    fetching: Arc<Mutex<()>>,
}

/// A release that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltCommit {
    /// What the reference resolved to, in full.
    pub commit: String,
    /// In canonical form, for the Vault.
    pub content: Vec<u8>,
}

/// A tag or branch and the commit it leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tip {
    /// Without `refs/tags/` or `refs/heads/`.
    pub name: String,
    /// In full.
    pub commit: String,
    /// When it was made: of a tag without a date of its own, its commit.
    pub made_at: Timestamp,
}

impl Repository {
    /// A repository whose mirror lies in `cache`, under a name made from its address. Makes the folder; needs git.
    pub async fn open(address: Address, cache: &Path) -> Result<Self, RepositoryFault> {
        let unusable = |error: std::io::Error| RepositoryFault::Mirror(format!("{}: {error}", cache.display()));
        make_private(cache).map_err(unusable)?;
        let name: String = Sha256::digest(address.whole().as_encoded_bytes())
            .iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let repository = Self {
            git: Git::at(cache.join(format!("{name}.git"))),
            lock: cache.join(format!("{name}.lock")).into(),
            address,
            fetching: Arc::default(),
        };
        repository.git.init().await.map_err(RepositoryFault::reading)?;
        Ok(repository)
    }

    /// For people: without a password.
    pub fn shown(&self) -> &str {
        self.address.shown()
    }

    /// True for a path on this host.
    pub fn is_local(&self) -> bool {
        self.address.is_local()
    }

    /// Brings the mirror up to date. One at a time, whichever process asks.
    pub async fn fetch(&self) -> Result<(), RepositoryFault> {
        let _alone = self.fetching.lock().await;
        let fetched = async {
            let _locked = self.locked().await.map_err(GitFault::Io)?;
            self.git.fetch(self.address.whole()).await
        };
        let fetched = timeout(FETCH_LIMIT * 2, fetched).await.unwrap_or(Err(GitFault::Slow(FETCH_LIMIT * 2)));
        fetched.map_err(|fault| match fault {
            GitFault::NotInstalled => RepositoryFault::NoGit,
            other => RepositoryFault::Unreachable {
                repository: self.shown().to_owned(),
                said: self.address.redact(&other.to_string()),
            },
        })
    }

    /// Held for as long as it is not dropped.
    async fn locked(&self) -> std::io::Result<File> {
        let file = File::options().create(true).truncate(false).write(true).open(&self.lock)?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(std::fs::TryLockError::WouldBlock) => sleep(LOCK_LOOK).await,
                Err(std::fs::TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    /// Fetches, resolves a reference and reads its files.
    pub async fn build(&self, git_ref: &str) -> Result<BuiltCommit, RepositoryFault> {
        if !is_ref(git_ref) {
            return Err(RepositoryFault::NotARef(git_ref.to_owned()));
        }
        self.fetch().await?;
        let commit = match self.resolve(git_ref).await? {
            Some(commit) => commit,
            None => return Err(self.missing(git_ref).await?),
        };
        let content = self.content(git_ref, &commit).await?;
        Ok(BuiltCommit { commit, content })
    }

    /// The files of a commit, in canonical form; as the mirror has it. What is wrong is said of `git_ref`.
    pub async fn content(&self, git_ref: &str, commit: &str) -> Result<Vec<u8>, RepositoryFault> {
        let files = tree::files(&self.git, commit, git_ref).await?;
        let content = ReleaseContent::of(files).canonical();
        content.map_err(|error| RepositoryFault::Mirror(error.to_string()))
    }

    /// The commit a branch leads to, as the mirror has it.
    pub async fn tip(&self, branch: &str) -> Result<Option<String>, RepositoryFault> {
        match is_ref(branch) {
            true => self.commit_of(&format!("refs/heads/{branch}")).await,
            false => Ok(None),
        }
    }

    /// A tag, else a branch, else a commit; as the mirror has it.
    pub async fn resolve(&self, git_ref: &str) -> Result<Option<String>, RepositoryFault> {
        let mut names = vec![format!("refs/tags/{git_ref}"), format!("refs/heads/{git_ref}")];
        if git_ref.starts_with("refs/") {
            names.insert(0, git_ref.to_owned());
        }
        if is_commit(git_ref) {
            names.push(git_ref.to_owned());
        }
        for name in names {
            if let Some(commit) = self.commit_of(&name).await? {
                return Ok(Some(commit));
            }
        }
        Ok(None)
    }

    async fn commit_of(&self, name: &str) -> Result<Option<String>, RepositoryFault> {
        let peeled = format!("{name}^{{commit}}");
        let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &peeled];
        match self.git.read(Reading { arguments: &arguments, input: Vec::new(), output_max: 1_000 }).await {
            Ok(said) => Ok(Some(String::from_utf8_lossy(&said).trim().to_owned())),
            Err(GitFault::Failed(_)) => Ok(None),
            Err(other) => Err(RepositoryFault::reading(other)),
        }
    }

    async fn missing(&self, git_ref: &str) -> Result<RepositoryFault, RepositoryFault> {
        let mut available: Vec<String> =
            self.tips(&["refs/tags", "refs/heads"]).await?.into_iter().map(|tip| tip.name).collect();
        let total = available.len();
        available.truncate(REFS_LISTED);
        Ok(RepositoryFault::Missing { git_ref: git_ref.to_owned(), available, total })
    }

    /// Every tag, the newest first, as the mirror has it.
    pub async fn tags(&self) -> Result<Vec<Tip>, RepositoryFault> {
        self.tips(&["refs/tags"]).await
    }

    /// References below `within`, the newest first; what leads to no commit is left out.
    async fn tips(&self, within: &[&str]) -> Result<Vec<Tip>, RepositoryFault> {
        // Of a tag that is an object of its own, the second pair is what it stands for.
        let format =
            "--format=%(objecttype) %(objectname) %(*objecttype) %(*objectname) %(creatordate:unix) %(refname:strip=2)";
        let arguments: Vec<&str> =
            ["for-each-ref", "--sort=-refname", "--sort=-creatordate", format].iter().chain(within).copied().collect();
        let reading = Reading { arguments: &arguments, input: Vec::new(), output_max: REFS_BYTES_MAX };
        let said = self.git.read(reading).await.map_err(RepositoryFault::reading)?;
        Ok(String::from_utf8_lossy(&said).lines().filter_map(tip).collect())
    }
}

fn tip(line: &str) -> Option<Tip> {
    let parts: Vec<&str> = line.splitn(6, ' ').collect();
    let [kind, object, peeled_kind, peeled, made_at, name] = parts[..] else { return None };
    let commit = match (kind, peeled_kind) {
        ("commit", _) => object,
        ("tag", "commit") => peeled,
        _ => return None,
    };
    let made_at = Timestamp::from_second(made_at.parse().ok()?).ok()?;
    is_ref(name).then(|| Tip { name: name.to_owned(), commit: commit.to_owned(), made_at })
}

/// What git would take for a name, and nothing it would take for an option, a path, a range or a search.
fn is_ref(text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "._-/+@#%=,!".contains(c);
    let part =
        |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock") && !part.ends_with('.');
    let odd = text.starts_with('-') || text == "@" || text.contains("..") || text.contains("@{");
    text.len() <= REF_MAX && text.chars().all(plain) && text.split('/').all(part) && !odd
}

fn is_commit(text: &str) -> bool {
    (COMMIT_MIN..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn make_private(directory: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_and_commits_are_references() {
        for name in ["v1.31.4-upgrade", "main", "team/feature", "refs/tags/v1", "0123abc", "v1+build"] {
            assert!(is_ref(name), "{name}");
        }
        let odd = [
            "",
            "-v",
            "--upload-pack=x",
            "a..b",
            "main^",
            "main~1",
            "HEAD@{1}",
            "@",
            ":/fix",
            "a b",
            "v1\n",
            "/v1",
            "v1/",
            "../x",
            ".hidden",
            "x.lock",
            "v*",
            "a:b",
            "\0",
        ];
        for name in odd {
            assert!(!is_ref(name), "{name:?}");
        }
        assert!(!is_ref(&"v".repeat(REF_MAX + 1)));
    }

    #[test]
    fn a_tag_leads_to_a_commit_or_is_left_out() {
        let tip_of = |line: &str| tip(line).map(|tip| (tip.name, tip.commit));
        assert_eq!(tip_of("commit aa   1700000000 v1"), Some(("v1".to_owned(), "aa".to_owned())));
        assert_eq!(tip_of("tag bb commit aa 1700000000 v2"), Some(("v2".to_owned(), "aa".to_owned())));
        assert_eq!(tip_of("blob cc   1700000000 odd"), None);
    }
}
