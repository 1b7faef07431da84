//! Backup: journal and vault as of one moment, in a folder of their own, while servers go on.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::shell::print;
use super::part::{Part, copy_folder, put, refuse_taken};
use super::place::{PlaceArgs, unusable, vault_of};
use super::progress::Progress;
use crate::adapters::journal::sqlite::journal::SqliteJournal;
use crate::adapters::sqlite::fault::StoreFault;
use crate::wire::problem::Problem;

/// The journal's name in a backup.
pub const FILE: &str = "journal.db";

/// Flags.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    place: PlaceArgs,
    /// The folder to make; it must not exist. It holds secrets: only its owner may look into it.
    #[arg(long, value_name = "FOLDER")]
    to: PathBuf,
}

/// Runs it. The vault is copied before the journal and once more behind it: a content is there before an entry refers
/// to it, a secret goes only after no entry does any more.
pub(super) async fn run(args: &Args) -> Result<(), Problem> {
    refuse_taken(&args.to)?;
    let journal = args.place.open_file().await?;
    let part = Part::beside(&args.to)?;
    let (copy, vault) = (part.path().join(FILE), vault_of(journal.path()));
    let mut progress = Progress::start();
    let mut files = copy_folder(&vault, &vault_of(&copy), &part, &mut progress).await?;
    journal_copy(&journal, &copy, &part, &mut progress).await?;
    files += copy_folder(&vault, &vault_of(&copy), &part, &mut progress).await?;
    let bytes = fs::metadata(&copy).map_err(|error| unusable(&copy, &error))?.len();
    part.settle()?;
    put(part.path(), &args.to)?;
    let to = args.to.display();
    print(format!("{to}: a journal of {bytes} bytes, {files} files of its vault\n").as_bytes())
}

/// SQLite tells nothing while it copies; the size of what it has written does.
async fn journal_copy(
    journal: &SqliteJournal,
    copy: &Path,
    part: &Part,
    progress: &mut Progress,
) -> Result<(), Problem> {
    let mut copying = std::pin::pin!(journal.copy_to(copy));
    let copied = loop {
        tokio::select! {
            copied = &mut copying => break copied,
            () = tokio::time::sleep(LOOK_EVERY) => {
                progress.at(|| format!("{} bytes of the journal", fs::metadata(copy).map_or(0, |found| found.len())));
            }
        }
    };
    copied.map_err(|fault| StoreFault { path: part.above().to_owned(), ..fault }.problem())?;
    let mode = fs::metadata(journal.path()).map_err(|error| unusable(journal.path(), &error))?.permissions();
    fs::set_permissions(copy, mode).map_err(|error| part.fault(journal.path(), &error))
}

/// Between two looks at a copy that grows.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(500);
