//! The way to run: attach. The console on a control plane somewhere else.

use std::sync::Arc;

use super::cluster::{ClusterArgs, ServerCluster, Wanted};
use super::console::{Backstage, run_console};
use super::fallback::args::FallbackArgs;
use super::look::ScreenArgs;
use super::target::TargetArgs;
use crate::adapters::beside::Beside;
use crate::adapters::clock::SystemClock;
use crate::adapters::local_audit::Witnessed;
use crate::adapters::remote::far_clock::FarClock;
use crate::adapters::remote::link::RemoteLink;
use crate::control::ladder::ladder;
use crate::terminal::logfile::state_directory;
use crate::wire::problem::Problem;

/// Flags.
#[derive(Debug, clap::Args)]
// Flattened into the top-level flags, whose group already has the name a second one would get.
#[group(skip)]
pub struct Args {
    /// Which control plane.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Which cluster to look at beside it.
    #[command(flatten)]
    pub cluster: ClusterArgs,
    /// How it carries on without the control plane.
    #[command(flatten)]
    pub fallback: FallbackArgs,
    /// Send verbs although they cannot be written down on this machine first
    #[arg(long)]
    pub no_local_audit: bool,
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
    run_console(&args.screen, &whom, async |own: SystemClock| {
        // Ages are counted by the clock that made their beginnings: the far end's.
        let clock = FarClock::of(own);
        let link = RemoteLink::start(target.endpoint, &target.token, target.rollout, clock.clone())?;
        let wanted = args.cluster.beside(args.fallback.is_given()).await?;
        let context = wanted.as_ref().map(Wanted::context);
        let cluster = Arc::new(ServerCluster::start(wanted, clock.clone()));
        let link = match &context {
            Some(context) => Beside::start(link, Arc::clone(&cluster), context, clock.clone()),
            None => Beside::alone(link),
        };
        let standby = args.fallback.standby(cluster, clock.clone(), own).await?;
        let (link, climbing) = ladder(link, standby, own, args.fallback.resolve());
        let climbing = tokio::spawn(climbing);
        let link = match args.no_local_audit {
            true => Witnessed::by_nobody(link, clock.clone()),
            false => Witnessed::by(link, clock.clone(), &whom, state_directory().as_deref()),
        };
        // The ladder comes to its end once nobody holds the link any more: the seat is given back.
        let farewell = async { climbing.await.unwrap_or_default() };
        Ok(Backstage { link, clock, farewell })
    })
}
