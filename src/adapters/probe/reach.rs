//! One round of probes of one endpoint: who answers to the name, with which certificate, and what it says.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use futures_util::future::select_ok;
use tokio::net::TcpStream;

use super::handshake::{Handshake, Trust};
use super::names::Names;
use super::question::ask;
use crate::control::ports::Clock;
use crate::domain::kura::front::Front;
use crate::domain::kura::traffic::{Dns, Endpoint, Tls, UP_TIMEOUT, Up};

/// Where endpoints listen.
pub const HTTPS_PORT: u16 = 443;

/// How long the resolvers may take, all of them together.
pub const NAMES_MAX: Duration = Duration::from_secs(8);

/// How long it may take to connect and shake hands.
pub const CONNECT_MAX: Duration = Duration::from_secs(5);

/// How long `/up` may take once it is asked (K32).
const UP_MAX: Duration = Duration::from_secs(UP_TIMEOUT.0);

/// Addresses that are tried at the same time; the first that takes the connection is asked.
const TRIED_AT_ONCE: usize = 4;

/// What is needed to go the way of a client.
#[derive(Clone)]
pub struct Reach {
    /// Whom to ask for names.
    pub names: Names,
    /// Whom to trust.
    pub trust: Trust,
    /// Where endpoints listen; `HTTPS_PORT` but for tests.
    pub port: u16,
}

impl Reach {
    /// With the resolvers and the authorities of this machine.
    ///
    /// # Errors
    /// With a sentence, where it has none.
    pub fn of_this_machine() -> Result<Self, String> {
        Ok(Self { names: Names::of_this_machine()?, trust: Trust::of_this_machine()?, port: HTTPS_PORT })
    }

    /// One round. Takes at most `NAMES_MAX + CONNECT_MAX + UP_MAX`.
    pub async fn look<C: Clock>(&self, front: &Front, clock: &C) -> Endpoint {
        let (dns, tls, up) = match front {
            Front::Host(host) => self.by_name(host, clock).await,
            Front::NodePort { address, port } => {
                (Dns::Unknown, Tls::Unknown, self.by_address(front, address, *port, clock).await)
            }
        };
        Endpoint { as_of: clock.now(), dns, tls, up }
    }

    async fn by_name<C: Clock>(&self, host: &str, clock: &C) -> (Dns, Tls, Up) {
        let dns = within(clock, NAMES_MAX, self.names.look_up(host)).await;
        let dns = dns.unwrap_or_else(|| Dns::Failed { why: "no answer in time".to_owned() });
        let Dns::Addresses { addresses } = &dns else { return (dns, Tls::Unknown, Up::Unknown) };
        let addresses: Vec<IpAddr> = addresses.iter().filter_map(|address| address.parse().ok()).collect();
        if addresses.is_empty() {
            return (dns, Tls::Unknown, Up::Unknown);
        }
        let shaken = within(clock, CONNECT_MAX, async {
            match connect(&addresses, self.port).await {
                Ok(stream) => self.trust.shake(host, stream).await,
                Err(why) => Handshake::None(why),
            }
        });
        let (tls, up) = match shaken.await {
            None => (Tls::Unknown, Up::Timeout),
            Some(Handshake::None(why)) => (Tls::Unknown, Up::Failed { why }),
            // Clients turn away here: what is behind is served to nobody.
            Some(Handshake::Bad(why)) => (Tls::Invalid { why }, Up::Unknown),
            Some(Handshake::Good(stream)) => (Tls::Valid, up(clock, ask(*stream, host)).await),
        };
        (dns, tls, up)
    }

    async fn by_address<C: Clock>(&self, front: &Front, address: &str, port: u16, clock: &C) -> Up {
        let Ok(address) = address.parse::<IpAddr>() else {
            return Up::Failed { why: format!("{address} is no address") };
        };
        match within(clock, CONNECT_MAX, connect(&[address], port)).await {
            None => Up::Timeout,
            Some(Err(why)) => Up::Failed { why },
            Some(Ok(stream)) => up(clock, ask(stream, &front.key())).await,
        }
    }
}

async fn up<C: Clock>(clock: &C, asked: impl Future<Output = Up>) -> Up {
    within(clock, UP_MAX, asked).await.unwrap_or(Up::Timeout)
}

/// The first connection that comes about; the last reason if none does.
async fn connect(addresses: &[IpAddr], port: u16) -> Result<TcpStream, String> {
    let tried = addresses.iter().take(TRIED_AT_ONCE).map(|address| {
        let address = SocketAddr::new(*address, port);
        Box::pin(async move { TcpStream::connect(address).await })
    });
    select_ok(tried).await.map(|(stream, _)| stream).map_err(|error| error.kind().to_string())
}

async fn within<C: Clock, T>(clock: &C, span: Duration, deed: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        done = deed => Some(done),
        () = clock.sleep(span) => None,
    }
}
