//! The state file of an agent, and the private directory of contents beside it.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::domain::ids::MachineId;
use crate::domain::release::Digest;
use crate::wire::problem::{Problem, ProblemKind};

use super::memory::{MEMORY_VERSION, Memory};

/// Why the state could not be read or written. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file or directory does not do what is asked.
    #[error("{attempt} {} failed", .path.display())]
    Io {
        /// `opening`, `writing`, ...
        attempt: &'static str,
        /// Which.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// Another agent works with this state.
    #[error("another agent is running with the state file {}", .0.display())]
    InUse(PathBuf),
    /// It is not what an agent writes.
    #[error("the state file {} is damaged: {problem}", .path.display())]
    Damaged {
        /// Which.
        path: PathBuf,
        /// Where and how.
        problem: String,
    },
    /// It was written by another version of this program.
    #[error("the state file {} has form {found}, this program reads form {MEMORY_VERSION}", .path.display())]
    OtherForm {
        /// Which.
        path: PathBuf,
        /// Its form.
        found: u64,
    },
    /// It belongs to another machine.
    #[error("the state file {} belongs to machine {found}, not to {asked}", .path.display())]
    OtherMachine {
        /// Which.
        path: PathBuf,
        /// Whose it is.
        found: MachineId,
        /// Who asked.
        asked: MachineId,
    },
}

/// Where an agent keeps what it knows. One process at a time: a second one would take the first one's run for an
/// orphan.
#[derive(Debug)]
pub struct Store {
    state: PathBuf,
    private: PathBuf,
    contents: PathBuf,
    _lock: File,
}

impl Store {
    /// Opens the state at `state` for `machine`; a file that is not there yet is the state of a new machine. What it
    /// cannot understand it leaves as it is.
    pub fn open(state: &Path, machine: MachineId) -> Result<(Self, Memory), StoreError> {
        let private = beside(state, ".d");
        let contents = private.join("content");
        for directory in [&private, &contents] {
            make_private(directory).map_err(failed("making the private directory", directory))?;
        }
        let lock = lock(&private.join("lock"), state)?;
        let memory = read(state, machine)?;
        Ok((Self { state: state.to_owned(), private, contents, _lock: lock }, memory))
    }

    /// Replaces the state file: after a crash it is the old one or the new one, whole.
    pub fn save(&self, memory: &Memory) -> Result<(), StoreError> {
        let text = serde_json::to_vec_pretty(memory).map_err(io::Error::other);
        text.and_then(|text| replace(&self.state, &text)).map_err(failed("writing the state file", &self.state))
    }

    /// Keeps a content under its digest, which is computed here. Keeping it again costs a look at it.
    pub fn keep(&self, content: &str) -> Result<Digest, StoreError> {
        let digest = digest_of(content.as_bytes());
        if self.content(&digest).is_none() {
            let path = self.contents.join(&digest.0);
            replace(&path, content.as_bytes()).map_err(failed("writing the content", &path))?;
        }
        Ok(digest)
    }

    /// Where the content with this digest lies; none if it is gone or not what it was.
    pub fn content(&self, digest: &Digest) -> Option<PathBuf> {
        if digest.0.len() != 64 || !digest.0.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let path = self.contents.join(&digest.0);
        let content = fs::read(&path).ok()?;
        (digest_of(&content) == *digest).then_some(path)
    }

    /// Removes every content but these. What cannot be removed now is removed later.
    pub fn sweep(&self, wanted: &[&Digest]) {
        let Ok(entries) = fs::read_dir(&self.contents) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            if !wanted.iter().any(|digest| name == digest.0.as_str()) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// An empty place where the next command may write its result.
    pub fn place_for_result(&self) -> io::Result<PathBuf> {
        let path = self.private.join("result.json");
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(path),
        }
    }
}

/// SHA-256 in hex.
pub fn digest_of(content: &[u8]) -> Digest {
    Digest(Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect())
}

fn read(path: &Path, machine: MachineId) -> Result<Memory, StoreError> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Memory::new(machine)),
        Err(error) => return Err(failed("reading the state file", path)(error)),
    };
    let damaged = |error: serde_json::Error| StoreError::Damaged { path: path.to_owned(), problem: error.to_string() };
    let value: serde_json::Value = serde_json::from_slice(&text).map_err(damaged)?;
    match value.get("version").and_then(serde_json::Value::as_u64) {
        Some(found) if found != u64::from(MEMORY_VERSION) => {
            return Err(StoreError::OtherForm { path: path.to_owned(), found });
        }
        _ => {}
    }
    let memory: Memory = serde_json::from_value(value).map_err(damaged)?;
    if memory.machine != machine {
        return Err(StoreError::OtherMachine { path: path.to_owned(), found: memory.machine, asked: machine });
    }
    Ok(memory)
}

fn lock(path: &Path, state: &Path) -> Result<File, StoreError> {
    let mut options = OpenOptions::new();
    let options = options.create(true).truncate(false).write(true).mode(0o600);
    let file = options.open(path).map_err(failed("opening", path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse(state.to_owned())),
        Err(TryLockError::Error(error)) => Err(failed("locking", path)(error)),
    }
}

/// Written aside, synced, renamed, and the rename synced: readable by the owner alone at every moment.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let aside = beside(path, ".new");
    let mut file = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&aside)?;
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&aside, path)?;
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(parent)?.sync_all()
}

fn make_private(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => fs::set_permissions(path, fs::Permissions::from_mode(0o700)),
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn failed(attempt: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    move |source| StoreError::Io { attempt, path, source }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let said = error.to_string();
        match error {
            StoreError::Io { source, .. } => Self::new(ProblemKind::Usage, "state_io", format!("{said}: {source}"))
                .hint("the directory of --state must exist and be writable for the user the agent runs as"),
            StoreError::InUse(_) => Self::new(ProblemKind::Conflict, "state_in_use", said)
                .hint("stop the other agent, or give this one a --state of its own"),
            StoreError::Damaged { .. } => Self::new(ProblemKind::Usage, "state_damaged", said)
                .hint("nothing was changed; if a run may still be going on, look for it before you go on")
                .hint(
                    "move the file away to start from nothing: unsent reports are lost and the machine converges anew",
                ),
            StoreError::OtherForm { .. } => Self::new(ProblemKind::Usage, "state_other_form", said)
                .hint("run the version of kura-console that wrote it, or move the file away to start from nothing"),
            StoreError::OtherMachine { .. } => Self::new(ProblemKind::Usage, "state_other_machine", said)
                .hint("check --machine and --state; a state file must not be copied with a disk image"),
        }
    }
}
