//! Agents of a console: their routes, and no other, served while it reads the journal by itself.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::app::front::Front;
use crate::app::listen::{self, Guard};
use crate::app::releases::Releases;
use crate::app::reload::Reload;
use crate::app::tls::Certificate;
use crate::app::token_file;
use crate::control::host::Host;
use crate::control::service::Service;
use crate::control::stop::Stop;
use crate::server::connections::Offer;
use crate::server::rate::{RATE_DEFAULT, Rates};
use crate::server::shared::{Setup, Shared};
use crate::server::tokens::Tokens;
use crate::wire::problem::Problem;

/// Where agents are served, and whom they are let in by.
#[derive(Debug, Clone)]
pub(super) struct Agents {
    address: SocketAddr,
    tokens: PathBuf,
    certificate: Option<Arc<Certificate>>,
}

/// An address that is listened on, and who is let in there.
pub(super) struct Reserved {
    listener: TcpListener,
    tokens: Tokens,
}

/// An endpoint that serves agents.
pub(super) struct Serving {
    server: JoinHandle<std::io::Result<()>>,
    reload: JoinHandle<Result<(), Problem>>,
    stop: Stop,
}

impl Agents {
    /// What was asked for, where it can be had: the address can be listened on and the tokens can be read. Nothing stays
    /// open.
    pub(super) async fn checked(
        address: &str,
        tokens: &Path,
        guard: Guard,
        certificate: Option<Arc<Certificate>>,
    ) -> Result<Self, Problem> {
        let address = listen::address(address, guard).await?;
        let agents = Self { address, tokens: tokens.to_owned(), certificate };
        agents.reserve().await?;
        Ok(agents)
    }

    /// What it takes to serve them.
    pub(super) async fn reserve(&self) -> Result<Reserved, Problem> {
        Ok(Reserved { listener: listen::bind(self.address).await?, tokens: token_file::read(&self.tokens)? })
    }

    /// As people write it.
    pub(super) fn address(&self) -> String {
        let scheme = if self.certificate.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Serves the agents of `service` from now on.
    pub(super) async fn serve<H: Host>(
        &self,
        Reserved { listener, tokens }: Reserved,
        account: &str,
        service: Service<H>,
        tick_every: Duration,
    ) -> Result<Serving, Problem> {
        listen::make_room();
        let (read, admitted) = watch::channel(Arc::new(tokens));
        let stop = Stop::default();
        let setup = Setup {
            tokens: admitted,
            rates: Rates::new(RATE_DEFAULT),
            builder: Releases::Nowhere,
            stop: stop.clone(),
            tick_every,
        };
        let host = Arc::clone(service.host());
        let reload = Reload { path: self.tokens.clone(), tokens: read, certificate: self.certificate.clone() };
        let reload = tokio::spawn(reload.run(host.clock().clone()));
        let shared = Shared::new(host, vec![(account.to_owned(), service)], setup);
        let front = Front { listener, certificate: self.certificate.clone() };
        tracing::warn!(address = %self.address, "agents are served here");
        Ok(Serving { server: front.serve(shared, Offer::Agents)?, reload, stop })
    }
}

impl Serving {
    /// Nobody comes in any more; answers that were begun are finished.
    pub(super) async fn end(self) {
        self.stop.ask();
        self.reload.abort();
        let _ = self.server.await;
    }
}
