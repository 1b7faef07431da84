//! Somebody behind `/up`, on loopback, who answers as a test says.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// What it does with a request.
#[derive(Debug, Clone)]
pub enum Manner {
    /// Answers with this status, and with a place to go on to where that is a redirect.
    Status(u16),
    /// Reads the request and says nothing.
    Hangs,
    /// Reads the request and goes away.
    HangsUp,
    /// Says something that is no HTTP.
    Babbles,
}

/// Who listens.
pub struct Endpoint {
    pub port: u16,
    asked: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Endpoint {
    /// Over TLS where there is a certificate to show.
    pub async fn start(tls: Option<Arc<ServerConfig>>, manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback");
        let port = listener.local_addr().expect("an address").port();
        let asked: Arc<AtomicUsize> = Arc::default();
        let count = Arc::clone(&asked);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (tls, manner, count) = (tls.clone(), manner.clone(), Arc::clone(&count));
                tokio::spawn(async move {
                    match tls {
                        None => answer(stream, manner, &count).await,
                        Some(config) => {
                            if let Ok(stream) = TlsAcceptor::from(config).accept(stream).await {
                                answer(stream, manner, &count).await;
                            }
                        }
                    }
                });
            }
        });
        Self { port, asked, task }
    }

    /// How often `/up` was asked.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, manner: Manner, asked: &AtomicUsize) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read_exact(&mut byte).await.is_err() {
            return;
        }
        request.extend(byte);
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    assert!(request.starts_with("GET /up HTTP/1.1\r\n"), "{request}");
    asked.fetch_add(1, Ordering::Relaxed);
    let text = match manner {
        Manner::Status(status) => {
            format!("HTTP/1.1 {status} x\r\nlocation: https://elsewhere.example/up\r\ncontent-length: 0\r\n\r\n")
        }
        Manner::Babbles => "220 mail.example ESMTP\r\n".to_owned(),
        Manner::HangsUp => return,
        Manner::Hangs => return std::future::pending().await,
    };
    let _ = stream.write_all(text.as_bytes()).await;
    let _ = stream.shutdown().await;
}
