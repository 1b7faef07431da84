//! Compact: old entries give way to the world they came to.

use std::time::Duration;

use jiff::Timestamp;

use super::super::shell::print;
use super::place::{AccountArgs, PlaceArgs, unreadable};
use super::progress::Progress;
use crate::adapters::clock::SystemClock;
use crate::adapters::journal::compaction::{Archived, Keep, compact};
use crate::adapters::journal::tended::Standing;
use crate::control::ports::Clock;
use crate::domain::ids::AccountId;
use crate::wire::problem::{Problem, ProblemKind};

const DAY: Duration = Duration::from_secs(86_400);

/// The most days that make sense: a century.
const DAYS_MAX: u32 = 36_500;

/// Flags.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("keep").required(true).multiple(true)))]
pub struct Args {
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    account: AccountArgs,
    /// Keep the entries of the last so many days. With --keep-entries: what either keeps is kept.
    #[arg(long, value_name = "DAYS", group = "keep", value_parser = clap::value_parser!(u32).range(..=i64::from(DAYS_MAX)))]
    keep_days: Option<u32>,
    /// Keep the newest so many entries of each account.
    #[arg(long, value_name = "N", group = "keep")]
    keep_entries: Option<u64>,
}

/// Runs it.
pub(super) async fn run(args: &Args) -> Result<(), Problem> {
    let keep = args.keep(SystemClock::start().now())?;
    let journal = args.place.open().await?;
    let mut progress = Progress::start();
    for Standing { account, .. } in args.account.of(&journal).await? {
        let told = |gone| progress.at(|| format!("{account}: entries up to {gone} are archived"));
        let archived = compact(&journal, account, keep, told).await.map_err(|error| unreadable(&error))?;
        print(said(account, archived).as_bytes())?;
    }
    Ok(())
}

impl Args {
    fn keep(&self, now: Timestamp) -> Result<Keep, Problem> {
        let ago = |days: u32| now.checked_sub(DAY * days);
        let since = self.keep_days.map(ago).transpose();
        let since = since.map_err(|error| Problem::new(ProblemKind::Usage, "keep_days", error.to_string()))?;
        Ok(Keep { entries: self.keep_entries.unwrap_or(0), since })
    }
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
