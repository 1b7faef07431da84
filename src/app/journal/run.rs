//! What can be done with a journal, and that Ctrl-C ends all of it cleanly.

use tokio::signal::unix::{SignalKind, signal};

use super::{backup, compact, copy, export, restore, verify};
use crate::wire::problem::{Problem, ProblemKind};

/// Flags.
#[derive(Debug, clap::Args)]
#[command(after_long_help = BESIDE)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

/// What everybody asks first.
const BESIDE: &str = "\
backup, compact, copy, export and verify may run beside servers that use the journal. Ctrl-C ends any
of them; nothing is left half done.

  kura-console journal backup  --journal sqlite:kura.db --to backups/monday
  kura-console journal restore --from backups/monday --journal sqlite:new/kura.db
  kura-console journal verify  --journal sqlite:kura.db
  kura-console journal copy    sqlite:kura.db postgres://kura@db/kura";

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Copy the journal and its vault, as of one moment, into a new folder.
    Backup(backup::Args),
    /// Put a backup where nothing is.
    Restore(restore::Args),
    /// Copy a journal and its vault into another kind of store, and compare both ends. Run again it goes on where it was.
    Copy(copy::Args),
    /// Give up old entries for the world they came to; links of the audit are kept.
    Compact(compact::Args),
    /// Print entries, one JSON object per line.
    Export(export::Args),
    /// Check the file, its entries, its snapshots, the audit's chain and the vault. Exit code 1 = something is wrong.
    Verify(verify::Args),
}

/// Runs it.
pub fn run(args: Args) -> Result<(), Problem> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| Problem::new(ProblemKind::Internal, "runtime", format!("no threads: {e}")))?;
    runtime.block_on(async {
        tokio::select! {
            ended = carried_out(args.what) => ended,
            interrupted = interrupted() => Err(interrupted),
        }
    })
}

async fn carried_out(what: What) -> Result<(), Problem> {
    match what {
        What::Backup(args) => backup::run(&args).await,
        What::Restore(args) => restore::run(&args).await,
        What::Copy(args) => copy::run(&args).await,
        What::Compact(args) => compact::run(&args).await,
        What::Export(args) => export::run(&args).await,
        What::Verify(args) => verify::run(&args).await,
    }
}

/// INT or TERM; whoever was at work is dropped, and tidies up.
async fn interrupted() -> Problem {
    let listened = signal(SignalKind::interrupt()).and_then(|int| Ok((int, signal(SignalKind::terminate())?)));
    match listened {
        Ok((mut int, mut term)) => {
            tokio::select! { _ = int.recv() => {}, _ = term.recv() => {} }
            Problem::new(ProblemKind::Conflict, "interrupted", "interrupted: what was done so far is whole")
                .hint("run it again to finish")
        }
        Err(error) => Problem::new(ProblemKind::Internal, "signals", format!("no signals: {error}")),
    }
}
