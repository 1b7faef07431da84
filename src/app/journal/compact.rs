//! Compact: old entries give way to the world they came to.

use super::super::shell::print;
use super::super::shortening::Keeping;
use super::place::{AccountArgs, PlaceArgs, unreadable};
use super::progress::Progress;
use crate::adapters::clock::SystemClock;
use crate::adapters::journal::compaction::{Archived, compact};
use crate::adapters::journal::tended::Standing;
use crate::control::ports::Clock;
use crate::domain::ids::AccountId;
use crate::wire::problem::Problem;

/// Flags.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("keep").args(["keep_days", "keep_entries"]).required(true).multiple(true)))]
pub struct Args {
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    account: AccountArgs,
    #[command(flatten)]
    keeping: Keeping,
}

/// Runs it.
pub(super) async fn run(args: &Args) -> Result<(), Problem> {
    let keep = args.keeping.at(SystemClock::start().now());
    let journal = args.place.open().await?;
    let mut progress = Progress::start();
    for Standing { account, .. } in args.account.of(&journal).await? {
        let told = |gone| progress.at(|| format!("{account}: entries up to {gone} are archived"));
        let archived = compact(&journal, account, keep, told).await.map_err(|error| unreadable(&error))?;
        print(said(account, archived).as_bytes())?;
    }
    Ok(())
}

fn said(account: AccountId, archived: Archived) -> String {
    let Archived { entries, links, oldest } = archived;
    match entries {
        0 => format!("{account}: nothing to archive, the oldest entry is {oldest}\n"),
        _ => format!(
            "{account}: {entries} entries archived, {links} links of the audit kept; the oldest entry is {oldest}\n"
        ),
    }
}
