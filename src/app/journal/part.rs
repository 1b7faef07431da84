//! Files that are being made: under a name of their own until they are whole, and gone if they never are.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with, syncfs};

use super::place::unusable;
use super::progress::Progress;
use crate::wire::problem::{Problem, ProblemKind};

/// Bytes that are copied before an interrupt is heard.
const BYTES_AT_ONCE: u64 = 4 * 1024 * 1024;

/// A folder in the making beside the place it is for. What is in it is deleted with this value.
#[derive(Debug)]
pub struct Part {
    path: PathBuf,
}

impl Part {
    /// Makes it, for nobody else to look into.
    pub fn beside(place: &Path) -> Result<Self, Problem> {
        let mut name = place.as_os_str().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let path = PathBuf::from(name);
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => Ok(Self { path }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(no_folder(above(place))),
            Err(error) => Err(unusable(above(place), &error)),
        }
    }

    /// Brings everything in it to the disk, all at once: file by file a large vault would take minutes.
    pub fn settle(&self) -> Result<(), Problem> {
        let settled = File::open(&self.path).and_then(|folder| Ok(syncfs(&folder)?));
        settled.map_err(|error| unusable(&self.path, &error))
    }

    /// Where it is for now.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder it is made in.
    pub fn above(&self) -> &Path {
        above(&self.path)
    }

    /// Something of `from` could not be copied into it: what is to blame stands at one end or at the other.
    pub fn fault(&self, from: &Path, error: &io::Error) -> Problem {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::ReadOnlyFilesystem => {
                unusable(self.above(), error)
            }
            _ => unusable(from, error),
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Gives something its name in one step; what has that name already stays.
pub fn put(made: &Path, place: &Path) -> Result<(), Problem> {
    renameat_with(CWD, made, CWD, place, RenameFlags::NOREPLACE).map_err(|errno| match errno {
        rustix::io::Errno::EXIST => taken(place),
        errno => unusable(place, &errno.into()),
    })?;
    let above = above(place);
    File::open(above).and_then(|folder| folder.sync_all()).map_err(|error| unusable(above, &error))
}

fn above(place: &Path) -> &Path {
    place.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn no_folder(folder: &Path) -> Problem {
    let folder = folder.display();
    Problem::new(ProblemKind::NotFound, "folder", format!("there is no folder {folder}"))
        .hint(format!("make it: mkdir -p {folder}"))
}

/// Something is there already.
pub fn taken(place: &Path) -> Problem {
    let message = format!("{} exists already; nothing was changed", place.display());
    Problem::new(ProblemKind::Conflict, "exists", message).hint("name a place where nothing is")
}

/// Refuses a place where something is, be it a link that leads nowhere.
pub fn refuse_taken(place: &Path) -> Result<(), Problem> {
    if fs::symlink_metadata(place).is_ok() { Err(taken(place)) } else { Ok(()) }
}

/// Makes `to`, a place in `part`, hold what `from` holds, with the modes it has there. What is there already is passed over,
/// and so is what vanishes meanwhile: files of a vault never change. Returns how many files were copied.
pub async fn copy_folder(from: &Path, to: &Path, part: &Part, progress: &mut Progress) -> Result<u64, Problem> {
    let mut copied = 0;
    let mut folders = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = folders.pop() {
        let Some(found) = there(fs::read_dir(&from), &from)? else { continue };
        let Some(mode) = there(fs::metadata(&from), &from)? else { continue };
        match DirBuilder::new().mode(mode.permissions().mode()).create(&to) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(part.fault(&from, &error)),
            _ => {}
        }
        for entry in found {
            let entry = entry.map_err(|error| unusable(&from, &error))?;
            let (from, to) = (entry.path(), to.join(entry.file_name()));
            let Some(kind) = there(entry.file_type(), &from)? else { continue };
            if kind.is_dir() {
                folders.push((from, to));
            } else if kind.is_file() && !to.exists() && from.extension().is_none_or(|kind| kind != "part") {
                let copy = copy_file(&from, &to, |_| {}).await;
                copied += match copy {
                    Ok(()) => 1,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
                    Err(error) => return Err(part.fault(&from, &error)),
                };
                progress.at(|| format!("{copied} files of the vault"));
            }
        }
    }
    Ok(copied)
}

fn there<T>(found: io::Result<T>, path: &Path) -> Result<Option<T>, Problem> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unusable(path, &error)),
    }
}

/// Never readable by more people than its original, not for a moment. `told` hears how many bytes are copied.
pub async fn copy_file(from: &Path, to: &Path, mut told: impl FnMut(u64)) -> io::Result<()> {
    let source = File::open(from)?;
    let mode = source.metadata()?.permissions().mode() & 0o7777;
    let mut copy = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    let mut bytes = 0;
    loop {
        let more = io::copy(&mut (&source).take(BYTES_AT_ONCE), &mut copy)?;
        if more == 0 {
            break;
        }
        bytes += more;
        told(bytes);
        tokio::task::yield_now().await;
    }
    copy.set_permissions(Permissions::from_mode(mode))
}
