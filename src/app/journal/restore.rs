//! Restore: a backup becomes a journal again, where nothing is or what is there is moved aside.

use std::io;
use std::path::{Path, PathBuf};

use super::super::shell::print;
use super::super::store::journal::ServerJournal;
use super::aside::{Aside, refuse_beside};
use super::backup::FILE;
use super::part::{Part, copy_file, copy_folder, put};
use super::place::{PlaceArgs, unreadable, unusable, vault_of};
use super::progress::Progress;
use super::verify::verified;
use crate::adapters::journal::sqlite::journal::SqliteJournal;
use crate::wire::problem::{Problem, ProblemKind};

/// Flags.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder that `journal backup` made.
    #[arg(long, value_name = "FOLDER")]
    from: PathBuf,
    /// Where a journal is already: move it aside first, with its vault and telemetry, into a folder beside it. No server
    /// may use it.
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    place: PlaceArgs,
}

/// Runs it. Everything is checked before anything that is there is touched, and before it gets its name; the journal
/// comes last of all: it is there once all of it is.
pub(super) async fn run(args: &Args) -> Result<(), Problem> {
    let (backup, place) = (args.from.join(FILE), args.place.path()?);
    refuse_what_is_no_backup(&args.from, &backup)?;
    if !args.replace {
        refuse_beside(&place).map_err(|taken| taken.hint("or move what is there aside: --replace"))?;
    } else if place.is_file() && SqliteJournal::is_in_use(&place).await {
        return Err(in_use(&place));
    }
    let mut progress = Progress::start();
    let (part, said) = made(&backup, &place, &mut progress).await?;
    let aside = if args.replace { Aside::take(&place)? } else { Aside::default() };
    let copy = part.path().join(FILE);
    if vault_of(&copy).is_dir() {
        put(&vault_of(&copy), &vault_of(&place))?;
    }
    put(&copy, &place)?;
    let before = aside.kept().map_or_else(String::new, |folder| format!("what was there is in {}\n", folder.display()));
    print(format!("{}: restored\n{before}{said}", place.display()).as_bytes())
}

/// The backup, copied beside the place it is for and found to be whole.
async fn made(backup: &Path, place: &Path, progress: &mut Progress) -> Result<(Part, String), Problem> {
    let part = Part::beside(place)?;
    let copy = part.path().join(FILE);
    let told = |bytes| progress.at(|| format!("{bytes} bytes of the journal"));
    copy_file(backup, &copy, told).await.map_err(|error| part.fault(backup, &error))?;
    copy_folder(&vault_of(backup), &vault_of(&copy), &part, progress).await?;
    let journal = SqliteJournal::open(&copy).await.map_err(|fault| fault.problem())?;
    let said = verified(&ServerJournal::Sqlite(journal.clone()), &place.display().to_string(), progress).await;
    journal.close().await.map_err(|fault| unreadable(&fault.during("close")))?;
    part.settle()?;
    Ok((part, said?))
}

fn refuse_what_is_no_backup(folder: &Path, file: &Path) -> Result<(), Problem> {
    let none = |what: &str| {
        let message = format!("{} is no backup: there is no {FILE} in it{what}", folder.display());
        Err(Problem::new(ProblemKind::NotFound, "backup", message).hint("kura-console journal backup makes one"))
    };
    match std::fs::metadata(file) {
        Ok(found) if found.is_file() => Ok(()),
        Ok(_) => none(" that is a file"),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => none(""),
        Err(error) => Err(unusable(folder, &error)),
    }
}

fn in_use(place: &Path) -> Problem {
    let message = format!("{} is in use; nothing was changed", place.display());
    Problem::new(ProblemKind::Conflict, "in_use", message)
        .hint("stop the servers that use it first")
        .hint(format!("see who: fuser -v {}", place.display()))
}
