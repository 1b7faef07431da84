//! The way to run: attach. The console on a control plane somewhere else.

use super::console::{Backstage, run_console};
use super::look::ScreenArgs;
use super::target::TargetArgs;
use crate::adapters::clock::SystemClock;
use crate::adapters::remote::far_clock::FarClock;
use crate::adapters::remote::link::RemoteLink;
use crate::wire::problem::Problem;

/// Flags.
#[derive(Debug, clap::Args)]
// Flattened into the top-level flags, whose group already has the name a second one would get.
#[group(skip)]
pub struct Args {
    /// Which control plane.
    #[command(flatten)]
    pub target: TargetArgs,
    /// How it looks.
    #[command(flatten)]
    pub screen: ScreenArgs,
}

/// Runs it.
///
/// # Errors
/// About this side only: flags, token, terminal. A control plane that does not answer is shown and tried again.
pub fn run(args: Args) -> Result<(), Problem> {
    let target = args.target.resolve()?;
    let whom = target.endpoint.to_string();
    run_console(&args.screen, &whom, async |clock: SystemClock| {
        // Ages are counted by the clock that made their beginnings: the far end's.
        let clock = FarClock::of(clock);
        let link = RemoteLink::start(target.endpoint, &target.token, clock.clone())?;
        Ok(Backstage { link, clock, farewell: async {} })
    })
}
