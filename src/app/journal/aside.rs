//! What was where a backup goes: moved into a folder beside it, and put back where the restore comes to nothing.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::part::{put, refuse_taken};
use super::place::unusable;
use crate::adapters::clock::SystemClock;
use crate::control::ports::Clock;
use crate::wire::problem::Problem;

/// A journal, and what may lie beside it and would be taken for the new one's.
const FAMILY: [&str; 8] = ["", "-wal", "-shm", "-journal", ".vault", ".telemetry", ".telemetry-wal", ".telemetry-shm"];

/// A name that begins like that of the journal.
pub fn beside(place: &Path, end: &str) -> PathBuf {
    let mut name = place.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// Refuses a place where a journal is, or something of one.
pub fn refuse_beside(place: &Path) -> Result<(), Problem> {
    FAMILY.iter().try_for_each(|end| refuse_taken(&beside(place, end)))
}

/// Files that were moved aside. They go back with this value, unless they are kept where they are.
#[derive(Debug, Default)]
pub struct Aside {
    folder: Option<PathBuf>,
    /// Where each was, and where it is.
    moved: Vec<(PathBuf, PathBuf)>,
}

impl Aside {
    /// Moves a journal and everything beside it into a folder whose name tells when; nothing where nothing is.
    pub fn take(place: &Path) -> Result<Self, Problem> {
        let there: Vec<PathBuf> = FAMILY.iter().map(|end| beside(place, end)).collect();
        let there: Vec<PathBuf> = there.into_iter().filter(|path| fs::symlink_metadata(path).is_ok()).collect();
        if there.is_empty() {
            return Ok(Self::default());
        }
        let now = SystemClock::start().now().strftime("%Y%m%dT%H%M%SZ").to_string();
        let folder = beside(place, &format!(".replaced-{now}"));
        refuse_taken(&folder)?;
        DirBuilder::new().mode(0o700).create(&folder).map_err(|error| unusable(&folder, &error))?;
        let mut aside = Self { folder: Some(folder.clone()), moved: Vec::new() };
        for path in there {
            let Some(name) = path.file_name() else { continue };
            let to = folder.join(name);
            put(&path, &to)?;
            aside.moved.push((path, to));
        }
        Ok(aside)
    }

    /// They stay where they are: the folder, if there is anything in it.
    pub fn kept(mut self) -> Option<PathBuf> {
        self.moved.clear();
        self.folder.take()
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        for (from, to) in self.moved.drain(..).rev() {
            let _ = put(&to, &from);
        }
        if let Some(folder) = &self.folder {
            // Only an empty one goes.
            let _ = fs::remove_dir(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_moved_aside_is_kept_or_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("kura.db");
        assert_eq!(Aside::take(&place).unwrap().kept(), None);
        fs::write(&place, "journal").unwrap();
        fs::create_dir(beside(&place, ".vault")).unwrap();
        let names = || {
            let mut names: Vec<_> =
                fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        let before = names();
        drop(Aside::take(&place).unwrap());
        assert_eq!(names(), before, "it came to nothing");
        let kept = Aside::take(&place).unwrap().kept().unwrap();
        assert_eq!(fs::read_to_string(kept.join("kura.db")).unwrap(), "journal");
        assert!(kept.join("kura.db.vault").is_dir() && refuse_beside(&place).is_ok());
    }
}
