//! The way to run: attach. The console on a control plane somewhere else.

use super::cluster::ClusterArgs;
use super::console::{Backstage, run_console};
use super::look::ScreenArgs;
use super::target::TargetArgs;
use crate::adapters::beside::Beside;
use crate::adapters::clock::SystemClock;
use crate::adapters::kube::cluster::KubeCluster;
use crate::adapters::kube::deleter::NotReadyDeletion;
use crate::adapters::local_audit::Witnessed;
use crate::adapters::remote::far_clock::FarClock;
use crate::adapters::remote::link::RemoteLink;
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
    run_console(&args.screen, &whom, async |clock: SystemClock| {
        // Ages are counted by the clock that made their beginnings: the far end's.
        let clock = FarClock::of(clock);
        let link = RemoteLink::start(target.endpoint, &target.token, target.rollout, clock.clone())?;
        let link = match args.cluster.is_given() {
            true => beside(link, &args.cluster, clock.clone()).await?,
            false => Beside::alone(link),
        };
        let link = match args.no_local_audit {
            true => Witnessed::by_nobody(link, clock.clone()),
            false => Witnessed::by(link, clock.clone(), &whom, state_directory().as_deref()),
        };
        Ok(Backstage { link, clock, farewell: async {} })
    })
}

/// The link beside the cluster that is named. Nothing is done there: this console only looks.
async fn beside(
    link: RemoteLink,
    args: &ClusterArgs,
    clock: FarClock<SystemClock>,
) -> Result<Beside<RemoteLink>, Problem> {
    let target = args.pin().await?;
    let context = target.context().unwrap_or("the cluster").to_owned();
    let own = KubeCluster::start(target, &args.kura_space, NotReadyDeletion::Off, clock.clone());
    Ok(Beside::start(link, own, &context, clock))
}
