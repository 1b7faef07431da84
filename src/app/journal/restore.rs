//! Restore: a backup becomes a journal again, where nothing is.

use std::path::{Path, PathBuf};

use super::super::shell::print;
use super::backup::FILE;
use super::part::{Part, copy_file, copy_folder, put, refuse_taken};
use super::place::{PlaceArgs, unreadable, unusable, vault_of};
use super::progress::Progress;
use super::verify::verified;
use crate::adapters::journal::sqlite::journal::SqliteJournal;
use crate::wire::problem::{Problem, ProblemKind};

/// What may lie beside a journal, and would be taken for the new one's.
const BESIDE: [&str; 5] = ["-wal", "-shm", "-journal", ".vault", ".telemetry"];

/// Flags.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder that `journal backup` made.
    #[arg(long, value_name = "FOLDER")]
    from: PathBuf,
    #[command(flatten)]
    place: PlaceArgs,
}

/// Runs it. Everything is checked before it gets its name, the journal last of all: it is there once all of it is.
pub(super) async fn run(args: &Args) -> Result<(), Problem> {
    let (backup, place) = (args.from.join(FILE), args.place.path()?);
    if !backup.is_file() {
        let message = format!("{} is no backup: there is no {FILE} in it", args.from.display());
        return Err(
            Problem::new(ProblemKind::NotFound, "backup", message).hint("kura-console journal backup makes one")
        );
    }
    refuse_taken(&place)?;
    BESIDE.iter().try_for_each(|end| refuse_taken(&beside(&place, end)))?;
    let part = Part::beside(&place)?;
    let copy = part.path().join(FILE);
    let mut progress = Progress::start();
    copy_file(&backup, &copy).map_err(|error| unusable(&copy, &error))?;
    copy_folder(&vault_of(&backup), &vault_of(&copy), &mut progress).await?;
    let journal = SqliteJournal::open(&copy).await.map_err(|fault| fault.problem())?;
    let said = verified(&journal, &mut progress).await;
    journal.close().await.map_err(|fault| unreadable(&fault.during("close")))?;
    let said = said?;
    if vault_of(&copy).is_dir() {
        put(&vault_of(&copy), &vault_of(&place))?;
    }
    put(&copy, &place)?;
    print(format!("{}: restored\n{said}", place.display()).as_bytes())
}

fn beside(place: &Path, end: &str) -> PathBuf {
    let mut name = place.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}
