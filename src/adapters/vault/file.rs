//! Contents in a directory beside the journal: one file each, named by its digest, never changed.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::digest::{CONTENT_MAX, TooLarge, digest_of, is_digest};
use crate::control::ports::{JournalError, Vault};
use crate::domain::ids::{AccountId, SecretVersion};
use crate::domain::release::Digest;
use crate::wire::problem::{Problem, ProblemKind};

const KEEP: &str = "keep a content";
const FETCH: &str = "fetch a content";
const KEEP_SECRET: &str = "keep a secret";
const READ_SECRET: &str = "read a secret";
const DROP_SECRET: &str = "drop a secret";

/// Where secrets are, beside the folders of contents: a folder for each account, a file for each version of a value.
const SECRETS: &str = "secrets";

/// A directory that may be shared by several processes. Only its owner may look into it: rendered contents can hold
/// what nobody else should read. A crash can leave a file that ends in `.part`; it is never read and may be deleted.
#[derive(Debug, Clone)]
pub struct FileVault {
    directory: Arc<Path>,
    parts: Arc<AtomicU64>,
}

/// What went wrong, and with which file.
#[derive(Debug, thiserror::Error)]
enum VaultFault {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{} is damaged: its content has another digest than its name", .0.display())]
    Damaged(PathBuf),
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    #[error("the work was stopped: {0}")]
    Stopped(#[from] tokio::task::JoinError),
}

impl VaultFault {
    fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), source }
    }

    fn during(self, attempt: &'static str) -> JournalError {
        JournalError::Store { attempt, source: Box::new(self) }
    }
}

impl FileVault {
    /// The directory that belongs to a journal: `kura.db.vault` beside `kura.db`.
    pub fn beside(journal: &Path) -> PathBuf {
        let mut name = journal.as_os_str().to_owned();
        name.push(".vault");
        PathBuf::from(name)
    }

    /// A directory that is there, for whoever only reads it.
    pub fn to_read(directory: &Path) -> Self {
        Self { directory: directory.into(), parts: Arc::default() }
    }

    /// Opens the directory, or makes it. Proves that it can be written.
    pub fn open(directory: impl Into<PathBuf>) -> Result<Self, Problem> {
        let directory: PathBuf = directory.into();
        let vault = Self { directory: directory.into(), parts: Arc::default() };
        vault.prepare().map_err(|fault| {
            let message = format!("the vault {} cannot be used: {fault}", vault.directory.display());
            let hint = "it is a directory this user can write, on the same disk as the journal";
            Problem::new(ProblemKind::Usage, "vault_unusable", message).hint(hint)
        })?;
        Ok(vault)
    }

    fn prepare(&self) -> Result<(), VaultFault> {
        make_directory(&self.directory)?;
        let part = self.part_name(&self.directory);
        write_part(&part, b"").and_then(|()| fs::remove_file(&part)).map_err(VaultFault::at(&self.directory))
    }

    /// Contents are spread over 256 directories.
    fn path_of(&self, digest: &Digest) -> PathBuf {
        let (shard, _) = digest.0.split_at(2);
        self.directory.join(shard).join(&digest.0)
    }

    /// Nobody else in the world writes to a file of this name now.
    fn part_name(&self, directory: &Path) -> PathBuf {
        let nth = self.parts.fetch_add(1, Ordering::Relaxed);
        directory.join(format!("{}-{nth}.part", std::process::id()))
    }

    /// A file that is there already is read, so that a damaged one is healed by whoever still has the content.
    fn keep_now(&self, content: &[u8]) -> Result<Digest, VaultFault> {
        if content.len() > CONTENT_MAX {
            return Err(TooLarge(content.len()).into());
        }
        let digest = digest_of(content);
        let path = self.path_of(&digest);
        if fs::read(&path).is_ok_and(|kept| kept == content) {
            return Ok(digest);
        }
        let shard = path.parent().unwrap_or(&self.directory);
        make_directory(shard)?;
        self.write(&path, shard, content)?;
        Ok(digest)
    }

    /// Whole or not at all, in a folder that exists.
    fn write(&self, path: &Path, folder: &Path, content: &[u8]) -> Result<(), VaultFault> {
        let part = self.part_name(folder);
        let written = write_part(&part, content).and_then(|()| fs::rename(&part, path)).and_then(|()| sync(folder));
        if written.is_err() {
            drop(fs::remove_file(&part));
        }
        written.map_err(VaultFault::at(path))
    }

    fn secrets_of(&self, account: AccountId) -> PathBuf {
        self.directory.join(SECRETS).join(account.to_string())
    }

    fn keep_secret_now(&self, account: AccountId, version: SecretVersion, value: &str) -> Result<(), VaultFault> {
        let folder = self.secrets_of(account);
        make_directory(&self.directory.join(SECRETS))?;
        make_directory(&folder)?;
        self.write(&folder.join(version.to_string()), &folder, value.as_bytes())
    }

    fn secret_now(&self, account: AccountId, version: SecretVersion) -> Result<Option<String>, VaultFault> {
        let path = self.secrets_of(account).join(version.to_string());
        match fs::read_to_string(&path) {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(VaultFault::at(&path)(error)),
        }
    }

    fn drop_secret_now(&self, account: AccountId, version: SecretVersion) -> Result<(), VaultFault> {
        let path = self.secrets_of(account).join(version.to_string());
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(VaultFault::at(&path)(error)),
            _ => Ok(()),
        }
    }

    /// Does something with the disk, off the threads that serve requests.
    async fn off_thread<T: Send + 'static>(
        &self,
        attempt: &'static str,
        work: impl FnOnce(&Self) -> Result<T, VaultFault> + Send + 'static,
    ) -> Result<T, JournalError> {
        let vault = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&vault)).await;
        done.unwrap_or_else(|stopped| Err(stopped.into())).map_err(|fault| fault.during(attempt))
    }

    fn fetch_now(&self, digest: &Digest) -> Result<Option<Vec<u8>>, VaultFault> {
        let path = self.path_of(digest);
        match fs::read(&path) {
            Ok(content) if digest_of(&content) == *digest => Ok(Some(content)),
            Ok(_) => Err(VaultFault::Damaged(path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(VaultFault::at(&path)(error)),
        }
    }
}

impl Vault for FileVault {
    async fn keep(&self, content: Vec<u8>) -> Result<Digest, JournalError> {
        self.off_thread(KEEP, move |vault| vault.keep_now(&content)).await
    }

    async fn fetch(&self, digest: &Digest) -> Result<Option<Vec<u8>>, JournalError> {
        if !is_digest(digest) {
            return Ok(None);
        }
        let digest = digest.clone();
        self.off_thread(FETCH, move |vault| vault.fetch_now(&digest)).await
    }

    async fn secret(&self, account: AccountId, version: SecretVersion) -> Result<Option<String>, JournalError> {
        self.off_thread(READ_SECRET, move |vault| vault.secret_now(account, version)).await
    }

    async fn keep_secret(&self, account: AccountId, version: SecretVersion, value: String) -> Result<(), JournalError> {
        self.off_thread(KEEP_SECRET, move |vault| vault.keep_secret_now(account, version, &value)).await
    }

    async fn drop_secret(&self, account: AccountId, version: SecretVersion) -> Result<(), JournalError> {
        self.off_thread(DROP_SECRET, move |vault| vault.drop_secret_now(account, version)).await
    }
}

/// On the disk, under its name, before it returns.
fn make_directory(directory: &Path) -> Result<(), VaultFault> {
    match DirBuilder::new().mode(0o700).create(directory) {
        Ok(()) => directory.parent().map_or(Ok(()), sync).map_err(VaultFault::at(directory)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && directory.is_dir() => Ok(()),
        Err(error) => Err(VaultFault::at(directory)(error)),
    }
}

fn write_part(part: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(part)?;
    file.write_all(content)?;
    file.sync_all()
}

fn sync(directory: &Path) -> io::Result<()> {
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    File::open(directory)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[tokio::test]
    async fn a_content_is_kept_once_and_found_by_any_process() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("vault");
        let vault = FileVault::open(&path).unwrap();
        let digest = vault.keep(b"states".to_vec()).await.unwrap();
        assert_eq!(vault.keep(b"states".to_vec()).await.unwrap(), digest);
        let other = FileVault::open(&path).unwrap();
        assert_eq!(other.fetch(&digest).await.unwrap().unwrap(), b"states");
        assert_eq!(other.fetch(&digest_of(b"else")).await.unwrap(), None);

        let shard = path.join(&digest.0[..2]);
        let names: Vec<_> = fs::read_dir(&shard).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, [digest.0.as_str()], "no part is left");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&shard.join(&digest.0))), (0o700, 0o600));
    }

    #[tokio::test]
    async fn a_damaged_content_is_never_served_and_heals_when_kept_again() {
        let directory = tempfile::tempdir().unwrap();
        let vault = FileVault::open(directory.path()).unwrap();
        let digest = vault.keep(b"states".to_vec()).await.unwrap();
        fs::write(vault.path_of(&digest), b"statex").unwrap();
        let error = vault.fetch(&digest).await.unwrap_err();
        assert!(std::error::Error::source(&error).unwrap().to_string().contains("is damaged"));
        vault.keep(b"states".to_vec()).await.unwrap();
        assert_eq!(vault.fetch(&digest).await.unwrap().unwrap(), b"states");
    }

    #[tokio::test]
    async fn a_secret_is_for_its_account_and_for_the_owner_of_the_files() {
        let directory = tempfile::tempdir().unwrap();
        let vault = FileVault::open(directory.path().join("vault")).unwrap();
        let (ours, theirs) = (AccountId::named("ours"), AccountId::named("theirs"));
        let (first, second) = (SecretVersion::named("1"), SecretVersion::named("2"));
        vault.keep_secret(ours, first, "hunter1".to_owned()).await.unwrap();
        vault.keep_secret(ours, second, "hunter2".to_owned()).await.unwrap();
        assert_eq!(vault.secret(ours, second).await.unwrap().as_deref(), Some("hunter2"));
        assert_eq!(vault.secret(theirs, second).await.unwrap(), None);
        vault.drop_secret(ours, first).await.unwrap();
        vault.drop_secret(ours, first).await.unwrap();
        assert_eq!(vault.secret(ours, first).await.unwrap(), None);
        let folder = vault.secrets_of(ours);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&folder.join(second.to_string()))), (0o700, 0o600));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no part is left");
    }

    #[tokio::test]
    async fn a_name_that_is_no_digest_is_no_path() {
        let directory = tempfile::tempdir().unwrap();
        let vault = FileVault::open(directory.path().join("vault")).unwrap();
        fs::write(directory.path().join("secret"), b"x").unwrap();
        for name in ["../secret", "", "é", "../../secret"] {
            assert_eq!(vault.fetch(&Digest(name.to_owned())).await.unwrap(), None);
        }
    }

    #[tokio::test]
    async fn what_cannot_be_kept_says_why() {
        let directory = tempfile::tempdir().unwrap();
        let vault = FileVault::open(directory.path().join("vault")).unwrap();
        let error = vault.keep(vec![0; CONTENT_MAX + 1]).await.unwrap_err();
        assert!(std::error::Error::source(&error).unwrap().to_string().contains("is larger than"));

        fs::write(directory.path().join("file"), b"x").unwrap();
        let problem = FileVault::open(directory.path().join("file")).unwrap_err();
        assert!(problem.message.contains("cannot be used"), "{problem}");
        let problem = FileVault::open(directory.path().join("no/where")).unwrap_err();
        assert!(problem.message.contains("No such file"), "{problem}");
    }
}
