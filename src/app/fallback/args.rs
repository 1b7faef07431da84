//! Flags of the fallback, and what they come to.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::agents::Agents;
use super::standby::{Deaf, Ground, JournalStandby};
use crate::adapters::clock::SystemClock;
use crate::adapters::journal::open::JournalUrl;
use crate::adapters::remote::far_clock::FarClock;
use crate::app::cluster::ServerCluster;
use crate::app::listen::Guard;
use crate::app::store::journal::in_memory;
use crate::app::tls::TlsArgs;
use crate::control::ladder::Resolve;
use crate::wire::problem::{Problem, ProblemKind};

/// How a console carries on without its control plane.
#[derive(Debug, Clone, clap::Args)]
pub struct FallbackArgs {
    /// Who decides that this console takes the reconciler's seat while the control plane is gone
    #[arg(long, value_enum, value_name = "WHO", default_value_t)]
    fallback: Who,
    /// With --fallback auto: how long the control plane has to be silent
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(15..=3_600))]
    fallback_grace: u64,
    /// The journal of the control plane, as serve names it: this console carries on over it while the control plane is
    /// gone
    #[arg(long, value_name = "URL", env = "KURA_CONSOLE_JOURNAL", hide_env_values = true)]
    journal: Option<String>,
    /// The account in it; without this flag the one the control plane named, or `default`
    #[arg(long, value_name = "NAME", env = "KURA_CONSOLE_ACCOUNT")]
    account: Option<String>,
    /// Period of the tick while the seat is here
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    tick_seconds: u64,
    /// Serve agents at this address while the control plane is gone; without it no agent is heard, and rings stand still
    #[arg(long, value_name = "HOST:PORT", requires = "agent_tokens", requires = "journal")]
    agent_listen: Option<String>,
    /// The tokens file of the control plane: its agents come in with their own tokens
    #[arg(long, value_name = "FILE")]
    agent_tokens: Option<PathBuf>,
    /// Listen for agents beyond this host without TLS: their tokens travel readable
    #[arg(long, conflicts_with = "tls_cert")]
    insecure_listen: bool,
    #[command(flatten)]
    tls: TlsArgs,
}

/// Who decides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Who {
    /// Nobody: the journal is never read from here
    Off,
    /// A person, with a key
    #[default]
    Manual,
    /// This console, after --fallback-grace
    Auto,
}

impl FallbackArgs {
    /// Who decides.
    pub fn resolve(&self) -> Resolve {
        match self.fallback {
            Who::Off => Resolve::Off,
            Who::Manual => Resolve::Manual,
            Who::Auto => Resolve::Auto(Duration::from_secs(self.fallback_grace)),
        }
    }

    /// True where a journal was named.
    pub fn is_given(&self) -> bool {
        self.journal.is_some()
    }

    /// What it stands on. What is wrong with the flags comes to light now and not in a bad night.
    ///
    /// # Errors
    /// About flags, files, and an address that cannot be listened on. A journal that does not answer is none: it is shown.
    pub async fn standby(
        &self,
        cluster: Arc<ServerCluster<FarClock<SystemClock>>>,
        shown: FarClock<SystemClock>,
        own: SystemClock,
    ) -> Result<JournalStandby, Problem> {
        let url = self.journal.as_ref().map(|url| url.parse::<JournalUrl>().map_err(|error| error.problem()));
        let url = url.transpose()?;
        if url == Some(JournalUrl::Memory) {
            return Err(in_memory());
        }
        if self.fallback == Who::Auto && url.is_none() {
            return Err(Problem::new(ProblemKind::Usage, "fallback", "--fallback auto has no journal to carry on over")
                .hint("name it as serve does: --journal postgres://USER@HOST/NAME, kubernetes://NAMESPACE/NAME or sqlite:PATH"));
        }
        let agents = match (&self.agent_listen, &self.agent_tokens) {
            (Some(address), Some(tokens)) => {
                Some(Agents::checked(address, tokens, self.guard(), self.tls.open()?).await?)
            }
            _ => None,
        };
        let tick_every = Duration::from_secs(self.tick_seconds);
        let ground = url.map(|url| Ground { url, account: self.account.clone(), cluster, clock: own, tick_every });
        Ok(JournalStandby { ground, agents, deaf: Deaf::default(), shown, own })
    }

    fn guard(&self) -> Guard {
        match (&self.tls.tls_cert, self.insecure_listen) {
            (Some(_), _) => Guard::Tls,
            (None, true) => Guard::Word,
            (None, false) => Guard::None,
        }
    }
}
