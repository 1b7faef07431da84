//! Readers that take nothing: they are cut off on the wire, give their places back, and hold up no stop.

use std::sync::Arc;
use std::time::Duration;

use kura_console::control::ports::Clock;
use kura_console::server::tokens::TokenRole;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::bed::{Bed, Keys, MemoryHost, TICK, within};

const SHORT: Duration = Duration::from_millis(300);

/// Changes and a world of several megabytes: more than sockets hold on their way.
async fn heavy() -> Bed<MemoryHost> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (mut bed, loops) = Bed::patient(listener, Arc::default(), Keys::make(), SHORT);
    bed.wake(loops);
    bed
}

async fn grow(bed: &Bed<MemoryHost>) {
    for n in 0..128 {
        let body = json!({"slug": format!("e{n}"), "config_values": {"NOTES": "x".repeat(30_000)}});
        bed.post("/api/config/environments/", body).await.expect(201);
    }
}

/// Asks, and waits until the answer begins, without taking any of it.
async fn ask(bed: &Bed<MemoryHost>, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(bed.url.trim_start_matches("http://")).await.unwrap();
    let token = bed.token(TokenRole::Viewer);
    let head = format!("GET {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    within(stream.readable()).await.expect("it is answered").unwrap();
    stream
}

async fn streams(bed: &Bed<MemoryHost>) -> String {
    let metrics = bed.request(reqwest::Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
    metrics.lines().find_map(|line| line.strip_prefix("kura_change_streams ")).unwrap().to_owned()
}

/// It was cut off: what is left of it is no proper end.
async fn is_broken(mut stream: TcpStream) -> bool {
    let mut rest = Vec::new();
    within(stream.read_to_end(&mut rest)).await.expect("it ends").is_err()
}

#[tokio::test]
async fn a_stream_that_is_not_read_is_cut_off_and_gives_its_place_back() {
    let bed = heavy().await;
    bed.get("/api/seat").await;
    let unread = ask(&bed, "/api/changes?after=0").await;
    assert_eq!(streams(&bed).await, "1");
    grow(&bed).await;
    let free = async {
        while streams(&bed).await != "0" {
            bed.host.clock.sleep(TICK).await;
        }
    };
    assert!(within(free).await.is_some(), "it keeps its place");
    assert!(is_broken(unread).await);
    bed.stop().await;
}

#[tokio::test]
async fn a_world_that_is_not_read_holds_up_no_stop() {
    let bed = heavy().await;
    grow(&bed).await;
    let unread = ask(&bed, "/api/world").await;
    let began = tokio::time::Instant::now();
    bed.stop().await;
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    assert!(is_broken(unread).await);
}
