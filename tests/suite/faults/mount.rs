//! A disk of one's own: a small file system in memory, which can be full and which can be write-protected.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// What takes up the room of a disk that is full.
const BALLAST: &str = "ballast";

/// Mounted for one test, gone with it.
pub(super) struct Mount(TempDir);

impl Mount {
    /// Of so many mebibytes. None where this user may not mount anything, which is said, and is a failure where everything
    /// has to be checked.
    #[allow(clippy::print_stderr)]
    pub(super) fn of(mebibytes: u32) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let size = format!("size={mebibytes}m,mode=755");
        let Err(why) = run(&["mount", "-t", "tmpfs", "-o", &size, "tmpfs"], folder.path()) else {
            return Some(Self(folder));
        };
        let must = std::env::var("CI").is_ok_and(|set| set == "true");
        assert!(!must, "no disk can be mounted here: {why}");
        eprintln!("skipped: no disk can be mounted here: {why}");
        None
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// The address of a journal on it.
    pub(super) fn journal(&self) -> String {
        format!("sqlite:{}", self.path().join("kura.db").display())
    }

    /// Until not a byte more goes on it.
    pub(super) fn fill(&self) {
        let mut ballast = File::options().create(true).append(true).open(self.path().join(BALLAST)).expect("a file");
        for piece in [vec![0; 64 * 1024], vec![0; 512], vec![0; 1]] {
            let full = loop {
                if let Err(error) = ballast.write_all(&piece) {
                    break error;
                }
            };
            assert_eq!(full.kind(), ErrorKind::StorageFull, "{full}");
        }
    }

    /// Room again.
    pub(super) fn clear(&self) {
        std::fs::remove_file(self.path().join(BALLAST)).expect("what filled it");
    }

    /// Nothing can be written on it any more. Nobody may have a file open on it to write.
    pub(super) fn protect(&self) {
        run(&["mount", "-o", "remount,ro"], self.path()).expect("it can be protected");
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = run(&["umount", "-l"], self.path());
    }
}

fn run(command: &[&str], place: &Path) -> Result<(), String> {
    let output = Command::new(command[0]).args(&command[1..]).arg(place).output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() { Ok(()) } else { Err(said) }
}
