//! Connections: taken in within limits, each served until it ends, all of them brought to a proper end when the process
//! stops.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::serve::Listener;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::sync::Semaphore;

use super::build::Builder;
use super::router::{agent_router, router};
use super::shared::Shared;
use crate::control::host::Host;
use crate::control::stop::Stop;

/// Connections at a time; further ones wait in the backlog of the kernel.
pub const CONNECTIONS_MAX: usize = 16_384;

/// Until the head of a request is there in full, from the moment its connection is free for it. So it is also how long a
/// connection may be idle. Clients of ours let go of one earlier (`remote::client::IDLE_LIMIT`).
pub const HEAD_LIMIT: Duration = Duration::from_secs(30);

/// The largest head of a request, in bytes; a longer one is answered with 431.
pub const HEAD_MAX: usize = 64 * 1024;

/// What is served at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// Every route of a control plane.
    Everything,
    /// Those of agents, and whether the process lives.
    Agents,
}

/// Serves `listener` until the shared `stop` is asked, and every answer that was begun is out.
pub async fn serve<L, H, B>(listener: L, shared: Arc<Shared<H, B>>, offer: Offer) -> io::Result<()>
where
    L: Listener<Addr = SocketAddr>,
    H: Host,
    B: Builder,
{
    let stop = shared.setup.stop.clone();
    let router = match offer {
        Offer::Everything => router(shared),
        Offer::Agents => agent_router(shared),
    };
    serve_within(listener, router, stop, HEAD_LIMIT).await
}

async fn serve_within<L>(mut listener: L, router: Router, stop: Stop, head_limit: Duration) -> io::Result<()>
where
    L: Listener<Addr = SocketAddr>,
{
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { break };
        let (io, peer) = tokio::select! {
            biased;
            () = stop.asked() => break,
            accepted = listener.accept() => accepted,
        };
        let connection = connection(io, peer, router.clone(), stop.clone(), head_limit);
        tokio::spawn(async move {
            connection.await;
            drop(place);
        });
    }
    drop(listener);
    // Whoever holds all places knows that every connection has come to its end.
    let all = u32::try_from(CONNECTIONS_MAX).unwrap_or(u32::MAX);
    let _ = places.acquire_many(all).await;
    Ok(())
}

/// One connection, until it ends. Once the process stops the answer that was begun is the last one, and whoever has not
/// asked anything yet is not waited for.
async fn connection<I>(io: I, peer: SocketAddr, router: Router, stop: Stop, head_limit: Duration)
where
    I: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let asked = Arc::new(AtomicBool::new(false));
    let (router, begun) = (TowerToHyperService::new(router), Arc::clone(&asked));
    let service = service_fn(move |request| {
        begun.store(true, Ordering::Relaxed);
        router.call(request)
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(head_limit).max_buf_size(HEAD_MAX);
    let mut served = pin!(builder.serve_connection(TokioIo::new(io), service));
    let mut ended = tokio::select! {
        ended = served.as_mut() => Some(ended),
        () = stop.asked() => None,
    };
    if ended.is_none() {
        served.as_mut().graceful_shutdown();
        if asked.load(Ordering::Relaxed) {
            ended = Some(served.await);
        }
    }
    if let Some(Err(error)) = ended {
        tracing::debug!(%peer, %error, "a connection broke off");
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::sync::Notify;

    use super::*;

    const SOON: Duration = Duration::from_millis(150);

    struct Served {
        address: SocketAddr,
        stop: Stop,
        go: Arc<Notify>,
        ended: tokio::task::JoinHandle<io::Result<()>>,
    }

    /// Answers at `/`, and at `/slow` once it is let go.
    async fn served(head_limit: Duration) -> Served {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, stop, go) = (listener.local_addr().unwrap(), Stop::default(), Arc::new(Notify::new()));
        let wait = Arc::clone(&go);
        let slow = async move || {
            wait.notified().await;
            "late"
        };
        let router = Router::new().route("/", get(async || "ok")).route("/slow", get(slow));
        let ended = tokio::spawn(serve_within(listener, router, stop.clone(), head_limit));
        Served { address, stop, go, ended }
    }

    fn fixture(name: &str) -> std::path::PathBuf {
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/agent-tls").join(name)
    }

    #[tokio::test]
    async fn behind_tls_a_head_that_drips_is_cut_off_as_well() {
        use rustls::pki_types::pem::PemObject;
        use rustls::pki_types::{CertificateDer, PrivateKeyDer};
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let chain = vec![CertificateDer::from_pem_file(fixture("server.pem")).unwrap()];
        let key = PrivateKeyDer::from_pem_file(fixture("server-key.pem")).unwrap();
        let config = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider));
        let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let config = Arc::new(config.with_single_cert(chain, key).unwrap());
        let plain = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = plain.local_addr().unwrap();
        let listener = super::super::tls::TlsListener::new(plain, config).unwrap();
        let router = Router::new().route("/", get(async || "ok"));
        tokio::spawn(serve_within(listener, router, Stop::default(), SOON));

        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(fixture("authority.pem")).unwrap()).unwrap();
        let client = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let client = Arc::new(client.unwrap().with_root_certificates(roots).with_no_client_auth());
        let connector = tokio_rustls::TlsConnector::from(client);
        for (sent, told) in
            [("GET / HTTP/1.1\r\n", ""), ("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", "ok")]
        {
            let stream = TcpStream::connect(address).await.unwrap();
            let mut stream = connector.connect("localhost".try_into().unwrap(), stream).await.unwrap();
            stream.write_all(sent.as_bytes()).await.unwrap();
            let mut said = Vec::new();
            let _ = stream.read_to_end(&mut said).await;
            let said = String::from_utf8(said).unwrap();
            assert!(said.ends_with(told) && said.is_empty() == told.is_empty(), "{said}");
        }
    }

    async fn open(served: &Served, sent: &str) -> TcpStream {
        let mut stream = TcpStream::connect(served.address).await.unwrap();
        stream.write_all(sent.as_bytes()).await.unwrap();
        stream
    }

    async fn rest(mut stream: TcpStream) -> String {
        let mut said = Vec::new();
        let _ = stream.read_to_end(&mut said).await;
        String::from_utf8(said).unwrap()
    }

    #[tokio::test]
    async fn a_head_that_drips_is_cut_off_and_nobody_else() {
        let served = served(SOON).await;
        let silent = open(&served, "").await;
        let dripping = open(&served, "GET / HTTP/1.1\r\nhost: x\r\n").await;
        let slow = open(&served, "GET /slow HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
        assert_eq!((rest(silent).await.as_str(), rest(dripping).await.as_str()), ("", ""), "long before an answer");
        served.go.notify_one();
        assert!(rest(slow).await.ends_with("late"), "an answer may take longer than a head");
    }

    #[tokio::test]
    async fn a_head_that_is_too_long_is_refused() {
        let served = served(HEAD_LIMIT).await;
        let long = format!("GET / HTTP/1.1\r\nx: {}\r\n", "y".repeat(HEAD_MAX));
        assert!(rest(open(&served, &long).await).await.starts_with("HTTP/1.1 431 "));
    }

    #[tokio::test]
    async fn a_stop_finishes_what_was_begun_and_waits_for_nothing_else() {
        let served = served(HEAD_LIMIT).await;
        let begun = open(&served, "GET /slow HTTP/1.1\r\nhost: x\r\n\r\n").await;
        let idle = open(&served, "GET / HTTP/1.1\r\nhost: x\r\n\r\n").await;
        idle.readable().await.unwrap();
        let silent = open(&served, "").await;
        let dripping = open(&served, "GET / HTTP/1.1\r\n").await;
        // A round trip more, so that the connections before it are taken in.
        let other = open(&served, "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
        assert!(rest(other).await.ends_with("ok"));
        served.stop.ask();
        assert!(rest(idle).await.ends_with("ok"));
        assert_eq!((rest(silent).await.as_str(), rest(dripping).await.as_str()), ("", ""));
        assert!(!served.ended.is_finished(), "an answer is still out");
        assert!(TcpStream::connect(served.address).await.is_err(), "nobody comes in any more");
        served.go.notify_one();
        let last = rest(begun).await;
        assert!(last.ends_with("late") && last.to_lowercase().contains("connection: close"), "{last}");
        served.ended.await.unwrap().unwrap();
    }
}
