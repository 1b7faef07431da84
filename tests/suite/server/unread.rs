//! Answers that go out before the body was read: the connection goes on, or says that it ends.

use std::time::Duration;

use kura_console::server::tokens::TokenRole;
use kura_console::wire::body::BODY_MAX;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::bed::{Bed, MemoryHost, within};

const PATH: &str = "/api/config/environments/";

async fn connect(bed: &Bed<MemoryHost>) -> TcpStream {
    TcpStream::connect(bed.url.trim_start_matches("http://")).await.unwrap()
}

fn head(line: &str, token: &str, length: usize, more: &str) -> String {
    format!("{line} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\ncontent-length: {length}\r\n{more}\r\n")
}

/// One answer: its head in small letters. Its body is taken as well.
async fn answer(stream: &mut TcpStream) -> String {
    let reading = async {
        let mut said = Vec::new();
        loop {
            let mut byte = [0];
            stream.read_exact(&mut byte).await.expect("an answer");
            said.push(byte[0]);
            if said.ends_with(b"\r\n\r\n") {
                break;
            }
        }
        let head = String::from_utf8(said).unwrap().to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
        let mut body = vec![0; length.parse().unwrap()];
        stream.read_exact(&mut body).await.expect("its body");
        head
    };
    within(reading).await.expect("it is answered")
}

#[tokio::test]
async fn a_connection_goes_on_after_a_refusal_that_did_not_wait_for_the_body() {
    let bed = Bed::start().await;
    let (owner, viewer) = (bed.token(TokenRole::Owner), bed.token(TokenRole::Viewer));
    for (token, length, status) in [("wrong", 300_000, 401), (viewer, 300_000, 403), (owner, BODY_MAX + 1, 413)] {
        let mut stream = connect(&bed).await;
        stream.write_all(head(&format!("POST {PATH}"), token, length, "").as_bytes()).await.unwrap();
        stream.write_all(&vec![b' '; length]).await.unwrap();
        let told = answer(&mut stream).await;
        assert!(told.starts_with(&format!("http/1.1 {status} ")), "{told}");
        if length > BODY_MAX {
            assert!(told.contains("connection: close"), "more than is taken in: {told}");
            continue;
        }
        assert!(!told.contains("connection: close"), "{told}");
        stream.write_all(head("GET /api/seat", viewer, 0, "").as_bytes()).await.unwrap();
        let told = answer(&mut stream).await;
        assert!(told.starts_with("http/1.1 200 "), "the next request is heard: {told}");
    }
    bed.stop().await;
}

#[tokio::test]
async fn a_body_that_does_not_come_ends_the_connection_and_says_so() {
    let bed = Bed::start().await;
    for (more, at_least) in [("", Duration::from_millis(900)), ("expect: 100-continue\r\n", Duration::ZERO)] {
        let mut stream = connect(&bed).await;
        let began = tokio::time::Instant::now();
        stream.write_all(head(&format!("POST {PATH}"), "wrong", 1_000, more).as_bytes()).await.unwrap();
        let told = answer(&mut stream).await;
        assert!(told.starts_with("http/1.1 401 ") && told.contains("connection: close"), "{told}");
        assert!(began.elapsed() >= at_least);
        let mut rest = Vec::new();
        within(stream.read_to_end(&mut rest)).await.expect("it ends").unwrap();
        assert!(rest.is_empty());
    }
    bed.stop().await;
}
