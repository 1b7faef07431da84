//! A repository on disk, written with the git command.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A repository with a work tree, on branch `main`.
pub struct Repo {
    folder: TempDir,
    /// Seconds of the clock of commits and tags: each is later than the one before it.
    clock: std::cell::Cell<u64>,
}

impl Repo {
    pub fn empty() -> Self {
        let repo = Self { folder: tempfile::tempdir().expect("a folder"), clock: 1_700_000_000.into() };
        repo.git(&["init", "--quiet", "--initial-branch=main", "."]);
        repo
    }

    /// With the example of the documentation in it, tagged `v1`.
    pub fn example() -> Self {
        let repo = Self::empty();
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/examples/releases"), repo.path());
        repo.commit("the example");
        repo.tag("v1");
        repo
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn address(&self) -> String {
        self.path().display().to_string()
    }

    pub fn write(&self, path: &str, text: &str) -> &Self {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
        self
    }

    /// Commits everything; answers with the commit.
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all", "."]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Tags the last commit.
    pub fn tag(&self, name: &str) {
        self.git(&["tag", "--annotate", "--message", name, name]);
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        self.clock.set(self.clock.get() + 60);
        let date = format!("@{} +0000", self.clock.get());
        let mut command = Command::new("git");
        command.current_dir(self.path()).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.envs([("GIT_AUTHOR_DATE", &date), ("GIT_COMMITTER_DATE", &date)]);
        command.envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")]);
        command.args(["-c", "user.name=ann", "-c", "user.email=ann@example.com", "-c", "protocol.file.allow=always"]);
        let output = command.args(arguments).output().expect("git");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let path: PathBuf = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        match path.is_dir() {
            true => copy(&path, &target),
            false => assert!(std::fs::copy(&path, &target).is_ok(), "{}", path.display()),
        }
    }
}
