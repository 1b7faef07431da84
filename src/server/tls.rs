//! TLS in front of the routes: handshakes beside each other, with a limit on how many and on how long one may take.

use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::serve::Listener;
use rustls::ServerConfig;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::paced::{Paced, WRITE_LIMIT, quick};

/// Handshakes under way; further connections wait in the backlog of the kernel.
pub const HANDSHAKES_MAX: usize = 1_024;

/// How long a handshake may take.
pub const HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);

/// Connections that shook hands and wait to be served.
const READY_MAX: usize = 64;

type Shaken = (TlsStream<Paced>, SocketAddr);

/// A listener whose connections have shaken hands.
pub struct TlsListener {
    ready: mpsc::Receiver<Shaken>,
    address: SocketAddr,
}

impl TlsListener {
    /// Takes over a port, on the runtime this is called in.
    pub fn new(listener: TcpListener, config: Arc<ServerConfig>) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let (shaken, ready) = mpsc::channel(READY_MAX);
        tokio::spawn(accept(listener, TlsAcceptor::from(config), shaken));
        Ok(Self { ready, address })
    }
}

/// Until nobody serves any more. A handshake that is slow or fails holds up nobody else.
async fn accept(listener: TcpListener, acceptor: TlsAcceptor, shaken: mpsc::Sender<Shaken>) {
    let places = Arc::new(Semaphore::new(HANDSHAKES_MAX));
    let mut listener = quick(listener, WRITE_LIMIT);
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let (stream, peer) = tokio::select! {
            () = shaken.closed() => return,
            accepted = listener.accept() => accepted,
        };
        let (acceptor, shaken) = (acceptor.clone(), shaken.clone());
        tokio::spawn(async move {
            let shook = timeout(HANDSHAKE_LIMIT, acceptor.accept(stream)).await;
            drop(place);
            match shook {
                Ok(Ok(stream)) => drop(shaken.send((stream, peer)).await),
                Ok(Err(error)) => tracing::debug!(%peer, %error, "a handshake failed"),
                Err(_) => tracing::debug!(%peer, "a handshake took too long"),
            }
        });
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<Paced>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> Shaken {
        match self.ready.recv().await {
            Some(shaken) => shaken,
            None => pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}
