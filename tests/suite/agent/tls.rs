//! The agent over TLS. The certificates in tests/fixtures/agent-tls are for tests only: an authority whose key nobody has,
//! and a server certificate for localhost.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::desk::{Desk, TOKEN};
use super::node::Node;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/agent-tls").join(name)
}

/// Answers every poll with nothing; the heads of the requests it could read come out of the other end.
fn control_plane() -> (SocketAddr, Receiver<String>) {
    let chain = vec![CertificateDer::from_pem_file(fixture("server.pem")).expect("a certificate")];
    let key = PrivateKeyDer::from_pem_file(fixture("server-key.pem")).expect("a key");
    let builder = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().expect("versions").with_no_client_auth();
    let config = Arc::new(builder.with_single_cert(chain, key).expect("a matching pair"));
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    let (tell, heads) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let tls = ServerConnection::new(Arc::clone(&config)).expect("a session");
            let Ok(head) = answer(StreamOwned::new(tls, stream)) else { continue };
            if tell.send(head).is_err() {
                return;
            }
        }
    });
    (address, heads)
}

fn answer(mut stream: StreamOwned<ServerConnection, TcpStream>) -> std::io::Result<String> {
    let mut lines = BufReader::new(&mut stream).lines();
    let mut head = String::new();
    loop {
        match lines.next().transpose()? {
            Some(line) if !line.is_empty() => head += &format!("{line}\n"),
            Some(_) => break,
            None => return Err(std::io::ErrorKind::UnexpectedEof.into()),
        }
    }
    let body = r#"{"assignment": null, "cancel": false, "poll_after_seconds": 10}"#;
    write!(stream, "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len())?;
    stream.conn.send_close_notify();
    stream.flush()?;
    Ok(head)
}

fn polls_once(address: SocketAddr, authority: Option<&str>) -> (Option<i32>, String) {
    let mut node = Node::new(&Desk::open(), "true", &[("--once", ""), ("--api", &format!("https://{address}"))]);
    if let Some(name) = authority {
        node.set("--ca-file", &fixture(name).display().to_string());
    }
    node.start();
    let left = node.left();
    (left.status.code(), left.log)
}

#[test]
fn a_private_authority_is_trusted_where_it_is_named_and_only_there() {
    let (address, heads) = control_plane();
    let (code, log) = polls_once(address, Some("authority.pem"));
    assert_eq!(code, Some(0), "{log}");
    let head = heads.recv().expect("a request");
    assert!(head.contains(&format!("Bearer {TOKEN}")), "{head}");
    let (code, log) = polls_once(address, None);
    assert!(matches!(code, Some(2 | 3)), "neither a stranger nor the lack of any authority is trusted: {log}");
    assert!(heads.try_recv().is_err(), "the token is not shown to a stranger");
    let (code, log) = polls_once(address, Some("server-key.pem"));
    assert_eq!(code, Some(2));
    assert!(log.contains("no certificate in PEM form") && log.contains("--ca-file"), "{log}");
}
