//! A directory of releases: the name of a folder in it is the `git_ref`, its files are the content.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::fault::{REFS_LISTED, ReleaseFault};
use crate::control::render::content::ReleaseContent;

/// Bytes of all files of a release together.
pub const RELEASE_BYTES_MAX: u64 = 8 * 1_024 * 1_024;

/// Files of a release.
pub const RELEASE_FILES_MAX: usize = 10_000;

/// Folders within folders.
pub const RELEASE_DEPTH_MAX: usize = 32;

/// What git keeps for itself in a work tree is no part of a release.
const NOT_CONTENT: &str = ".git";

/// The directory that `--releases` names.
#[derive(Debug, Clone)]
pub struct ReleaseFolders {
    directory: PathBuf,
}

/// A release that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltRelease {
    /// Names these files and no others: the SHA-256 of `content` in hex.
    pub commit: String,
    /// In canonical form, for the Vault.
    pub content: Vec<u8>,
    /// How many files it has.
    pub files: usize,
}

impl ReleaseFolders {
    /// Refuses a directory that cannot be read.
    pub fn open(directory: impl Into<PathBuf>) -> Result<Self, ReleaseFault> {
        let directory = directory.into();
        let found = fs::canonicalize(&directory).and_then(|found| fs::read_dir(&found).map(|_| found));
        match found {
            Ok(directory) => Ok(Self { directory }),
            Err(error) => Err(ReleaseFault::Unreadable { directory, reason: error.to_string() }),
        }
    }

    /// Where the releases are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Reads a release, off the threads that serve requests.
    pub async fn build(&self, git_ref: &str) -> Result<BuiltRelease, ReleaseFault> {
        let (folders, git_ref) = (self.clone(), git_ref.to_owned());
        let directory = self.directory.clone();
        let built = tokio::task::spawn_blocking(move || folders.read(&git_ref)).await;
        built.unwrap_or_else(|stopped| Err(ReleaseFault::Unreadable { directory, reason: stopped.to_string() }))
    }

    /// Reads a release: the same files give the same commit, whatever their order, times and modes.
    pub fn read(&self, git_ref: &str) -> Result<BuiltRelease, ReleaseFault> {
        let root = self.resolve(git_ref)?;
        let mut reading = Reading { root: &self.directory, git_ref, bytes: 0, files: BTreeMap::new() };
        reading.folder(&root, "", 0)?;
        if reading.files.is_empty() {
            return Err(ReleaseFault::Empty(git_ref.to_owned()));
        }
        let content = ReleaseContent::of(reading.files);
        let files = content.files.len();
        let content = content
            .canonical()
            .map_err(|error| ReleaseFault::Unreadable { directory: root, reason: error.to_string() })?;
        Ok(BuiltRelease { commit: sha256_hex(&content), content, files })
    }

    fn resolve(&self, git_ref: &str) -> Result<PathBuf, ReleaseFault> {
        if git_ref.is_empty() || git_ref.starts_with('.') || git_ref.contains(['/', '\\', '\0']) {
            return Err(ReleaseFault::NotAName(git_ref.to_owned()));
        }
        match fs::canonicalize(self.directory.join(git_ref)) {
            Ok(path) if !path.starts_with(&self.directory) => {
                Err(ReleaseFault::Outside { git_ref: git_ref.to_owned(), file: git_ref.to_owned() })
            }
            Ok(path) if path.is_dir() && path != self.directory => Ok(path),
            _ => Err(self.missing(git_ref)?),
        }
    }

    fn missing(&self, git_ref: &str) -> Result<ReleaseFault, ReleaseFault> {
        let mut available = self.refs()?;
        let total = available.len();
        available.truncate(REFS_LISTED);
        Ok(ReleaseFault::Missing { git_ref: git_ref.to_owned(), available, total })
    }

    /// Names of the folders, sorted.
    pub fn refs(&self) -> Result<Vec<String>, ReleaseFault> {
        let unreadable = |error: io::Error| ReleaseFault::Unreadable {
            directory: self.directory.clone(),
            reason: error.to_string(),
        };
        let entries = fs::read_dir(&self.directory).map_err(unreadable)?;
        let folder = |entry: fs::DirEntry| {
            entry.path().is_dir().then(|| entry.file_name().into_string().ok())?.filter(|name| !name.starts_with('.'))
        };
        let mut names: Vec<String> = entries.filter_map(|entry| folder(entry.ok()?)).collect();
        names.sort();
        Ok(names)
    }
}

/// One release while it is being read.
struct Reading<'a> {
    root: &'a Path,
    git_ref: &'a str,
    bytes: u64,
    files: BTreeMap<String, String>,
}

impl Reading<'_> {
    fn folder(&mut self, folder: &Path, within: &str, depth: usize) -> Result<(), ReleaseFault> {
        if depth > RELEASE_DEPTH_MAX {
            return Err(self.too_large(format!("folders are nested deeper than {RELEASE_DEPTH_MAX}")));
        }
        let entries = fs::read_dir(folder).map_err(|error| self.bad(within, cannot_be_read(&error)))?;
        for entry in entries {
            let name = entry.map_err(|error| self.bad(within, cannot_be_read(&error)))?.file_name();
            let Some(name) = name.to_str() else {
                return Err(self.bad(&format!("{within}{}", name.display()), "has a name that is not UTF-8".to_owned()));
            };
            if name != NOT_CONTENT {
                self.entry(&folder.join(name), &format!("{within}{name}"), depth)?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, path: &Path, name: &str, depth: usize) -> Result<(), ReleaseFault> {
        let real = fs::canonicalize(path).map_err(|error| self.bad(name, cannot_be_read(&error)))?;
        if !real.starts_with(self.root) {
            return Err(ReleaseFault::Outside { git_ref: self.git_ref.to_owned(), file: name.to_owned() });
        }
        let found = fs::metadata(&real).map_err(|error| self.bad(name, cannot_be_read(&error)))?;
        if found.is_dir() {
            return self.folder(&real, &format!("{name}/"), depth + 1);
        }
        if !found.is_file() {
            return Err(self.bad(name, "is neither a file nor a folder".to_owned()));
        }
        self.count(found.len())?;
        let bytes = fs::read(&real).map_err(|error| self.bad(name, cannot_be_read(&error)))?;
        let text = String::from_utf8(bytes).map_err(|_| self.bad(name, "is not text in UTF-8".to_owned()))?;
        self.files.insert(name.to_owned(), text);
        Ok(())
    }

    /// Checked before a file is read.
    fn count(&mut self, bytes: u64) -> Result<(), ReleaseFault> {
        self.bytes += bytes;
        if self.bytes > RELEASE_BYTES_MAX {
            return Err(self.too_large(format!("more than {} MiB", RELEASE_BYTES_MAX / 1_024 / 1_024)));
        }
        if self.files.len() == RELEASE_FILES_MAX {
            return Err(self.too_large(format!("more than {RELEASE_FILES_MAX} files")));
        }
        Ok(())
    }

    fn too_large(&self, what: String) -> ReleaseFault {
        ReleaseFault::TooLarge { git_ref: self.git_ref.to_owned(), what }
    }

    fn bad(&self, file: &str, reason: String) -> ReleaseFault {
        ReleaseFault::File { git_ref: self.git_ref.to_owned(), file: file.to_owned(), reason }
    }
}

fn cannot_be_read(error: &io::Error) -> String {
    format!("cannot be read: {error}")
}

fn sha256_hex(content: &[u8]) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::wire::problem::ProblemKind;

    /// `DIR/releases` with two releases, and a secret beside it.
    fn directory() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let releases = directory.path().join("releases");
        for (path, text) in [("v1/top.sls", "base"), ("v1/states/drain.sls", "drain"), ("v2/top.sls", "other")] {
            let path = releases.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::write(directory.path().join("secret"), "hunter2").unwrap();
        (directory, releases)
    }

    fn refused(releases: &Path, git_ref: &str) -> ReleaseFault {
        ReleaseFolders::open(releases).unwrap().read(git_ref).unwrap_err()
    }

    #[tokio::test]
    async fn a_folder_becomes_sorted_files_and_a_commit_that_names_them() {
        let (_directory, releases) = directory();
        let folders = ReleaseFolders::open(&releases).unwrap();
        let built = folders.build("v1").await.unwrap();
        let read: ReleaseContent = serde_json::from_slice(&built.content).unwrap();
        let paths: Vec<&str> = read.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!((paths.as_slice(), built.files), (["states/drain.sls", "top.sls"].as_slice(), 2));
        assert_eq!(built.commit, sha256_hex(&built.content));

        fs::create_dir(releases.join("v1/.git")).unwrap();
        fs::write(releases.join("v1/.git/HEAD"), "ref").unwrap();
        assert_eq!(folders.read("v1").unwrap(), built, "git's own files are not content");
        fs::write(releases.join("v1/top.sls"), "changed").unwrap();
        assert_ne!(folders.read("v1").unwrap().commit, built.commit);
    }

    #[test]
    fn a_name_is_one_folder_and_never_a_path() {
        let (_directory, releases) = directory();
        fs::create_dir(releases.join(".hidden")).unwrap();
        for name in ["", ".", "..", "../releases/v1", "v1/states", "/etc", ".hidden", "a\\b", "a\0b"] {
            let fault = refused(&releases, name);
            assert!(matches!(fault, ReleaseFault::NotAName(_)), "{name}: {fault}");
        }
    }

    #[test]
    fn a_missing_release_lists_what_there_is() {
        let (_directory, releases) = directory();
        let problem = refused(&releases, "v3").problem();
        assert_eq!(problem.message, "there is no release `v3`");
        assert_eq!(problem.hints, ["there are: v1, v2"]);
        assert_eq!((problem.kind, problem.field.as_deref()), (ProblemKind::NotFound, Some("git_ref")));
        for n in 10..30 {
            fs::create_dir(releases.join(format!("v{n}"))).unwrap();
        }
        let hint = refused(&releases, "v3").problem().hints.remove(0);
        assert!(hint.starts_with("there are: v1, v10, v11") && hint.ends_with(" and 12 more"), "{hint}");
        fs::write(releases.join("v9"), "a file").unwrap();
        assert!(matches!(refused(&releases, "v9"), ReleaseFault::Missing { .. }));
        assert!(matches!(ReleaseFolders::open(releases.join("none")), Err(ReleaseFault::Unreadable { .. })));
    }

    #[test]
    fn links_may_stay_inside_and_may_not_leave() {
        let (directory, releases) = directory();
        symlink("v1", releases.join("stable")).unwrap();
        symlink(releases.join("v2/top.sls"), releases.join("v1/shared.sls")).unwrap();
        let folders = ReleaseFolders::open(&releases).unwrap();
        assert_eq!(folders.read("stable").unwrap(), folders.read("v1").unwrap());
        assert_eq!(folders.read("v1").unwrap().files, 3);

        symlink(directory.path().join("secret"), releases.join("v1/key")).unwrap();
        let fault = refused(&releases, "v1");
        assert_eq!(fault.to_string(), "`key` in the release `v1` is a link that leads out of the releases");
        symlink(directory.path(), releases.join("all")).unwrap();
        assert!(matches!(refused(&releases, "all"), ReleaseFault::Outside { .. }));
        symlink(releases.join("v2"), releases.join("v2/loop")).unwrap();
        assert!(matches!(refused(&releases, "v2"), ReleaseFault::TooLarge { .. }), "a loop ends at a limit");
    }

    #[test]
    fn what_cannot_be_a_release_says_why() {
        let (_directory, releases) = directory();
        fs::create_dir(releases.join("empty")).unwrap();
        assert!(matches!(refused(&releases, "empty"), ReleaseFault::Empty(_)));
        fs::write(releases.join("v1/logo.png"), [0xff, 0xd8]).unwrap();
        assert_eq!(refused(&releases, "v1").to_string(), "`logo.png` in the release `v1` is not text in UTF-8");
        let large = fs::File::create(releases.join("v2/large")).unwrap();
        large.set_len(RELEASE_BYTES_MAX).unwrap();
        let problem = refused(&releases, "v2").problem();
        assert_eq!(problem.message, "the release `v2` is too large: more than 8 MiB");
        assert_eq!(problem.kind, ProblemKind::TooLarge);
        drop(std::os::unix::net::UnixListener::bind(releases.join("v1/aaa")).unwrap());
        fs::remove_file(releases.join("v1/logo.png")).unwrap();
        let sentence = "`aaa` in the release `v1` is neither a file nor a folder";
        assert_eq!(refused(&releases, "v1").to_string(), sentence);
    }
}
