//! Where requests come in: a listener, with TLS or without, and what is served there.

use std::io;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::listen;
use super::tls::Certificate;
use crate::control::host::Host;
use crate::server::build::Builder;
use crate::server::connections::{self, Offer};
use crate::server::paced::{WRITE_LIMIT, quick};
use crate::server::shared::Shared;
use crate::server::tls::TlsListener;
use crate::wire::problem::Problem;

/// A listener, and the certificate it shows.
pub struct Front {
    /// Where requests arrive.
    pub listener: TcpListener,
    /// None = without TLS.
    pub certificate: Option<Arc<Certificate>>,
}

impl Front {
    /// Serves from now on, until the shared `stop` is asked.
    pub fn serve<H: Host, B: Builder>(
        self,
        shared: Arc<Shared<H, B>>,
        offer: Offer,
    ) -> Result<JoinHandle<io::Result<()>>, Problem> {
        let Some(certificate) = self.certificate else {
            return Ok(tokio::spawn(connections::serve(quick(self.listener, WRITE_LIMIT), shared, offer)));
        };
        let listener = TlsListener::new(self.listener, certificate.config()?);
        let listener = listener.map_err(|error| listen::problem("the listener", &error))?;
        Ok(tokio::spawn(connections::serve(listener, shared, offer)))
    }
}
