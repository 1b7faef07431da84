//! The end of a control plane, as a signal brings it about: over real sockets, with everything that can be under way.

use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use kura_console::adapters::clock::SystemClock;
use kura_console::control::ports::Clock;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::bed::within;
use super::program::{Served, program, serve};

/// A control plane with a token of each role, and what is needed to speak to it in bytes.
struct Stage {
    folder: tempfile::TempDir,
    served: Served,
    tokens: Vec<(String, String)>,
}

impl Stage {
    async fn with(flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let served = serve(folder.path(), "127.0.0.1:0", &[flags, &["--create-tokens"]].concat()).await;
        let out = std::fs::read_to_string(folder.path().join("out")).unwrap();
        let pair =
            |line: &str| line.trim().split_once(' ').map(|(role, secret)| (role.to_owned(), secret.trim().to_owned()));
        let tokens = out.lines().filter(|line| line.contains(" kura_")).filter_map(pair).collect();
        Self { folder, served, tokens }
    }

    fn token(&self, role: &str) -> &str {
        &self.tokens.iter().find(|(known, _)| known == role).unwrap().1
    }

    fn address(&self) -> &str {
        self.served.url.trim_start_matches("http://")
    }

    /// Sends these bytes behind the first line and the token of a role.
    async fn ask(&self, line: &str, role: &str, rest: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address()).await.unwrap();
        let head = format!("{line} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n{rest}", self.token(role));
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    }

    async fn answer(&self, line: &str, role: &str) -> String {
        rest(self.ask(line, role, "connection: close\r\n\r\n").await).await
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.served.child), signal).unwrap();
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// It listens before it has the seat.
    async fn ready(&self) {
        let ready = within(async {
            while !self.answer("GET /readyz", "viewer").await.starts_with("HTTP/1.1 200 ") {
                SystemClock::start().sleep(Duration::from_millis(20)).await;
            }
        });
        assert!(ready.await.is_some(), "never ready: {}", self.log());
    }

    async fn says(&self, words: &str) {
        let said = within(async {
            while !self.log().contains(words) {
                SystemClock::start().sleep(Duration::from_millis(20)).await;
            }
        });
        assert!(said.await.is_some(), "never: {words}, but {}", self.log());
    }

    async fn ended(&mut self) -> ExitStatus {
        let ended = within(async {
            loop {
                match self.served.child.try_wait().unwrap() {
                    Some(status) => return status,
                    None => SystemClock::start().sleep(Duration::from_millis(20)).await,
                }
            }
        });
        ended.await.unwrap_or_else(|| panic!("it does not end: {}", self.log()))
    }
}

async fn rest(mut stream: TcpStream) -> String {
    let mut said = Vec::new();
    within(stream.read_to_end(&mut said)).await.expect("it ends").unwrap();
    String::from_utf8(said).unwrap()
}

/// What comes up to and with these words.
async fn heard(stream: &mut TcpStream, words: &str) {
    let mut said = Vec::new();
    while !String::from_utf8_lossy(&said).contains(words) {
        let mut more = [0; 4_096];
        let count = within(stream.read(&mut more)).await.expect("it comes").unwrap();
        assert!(count > 0, "it ended: {}", String::from_utf8_lossy(&said));
        said.extend_from_slice(&more[..count]);
    }
}

const BODY: &str = r#"{"slug": "oak", "reason": "the last one before the stop"}"#;

/// The head of a write, and the first half of its body.
fn half() -> String {
    let head = format!("content-type: application/json\r\ncontent-length: {}\r\n\r\n", BODY.len());
    head + &BODY[..20]
}

async fn kept(folder: &Path, token: &str) -> String {
    let served = serve(folder, "127.0.0.1:0", &[]).await;
    let mut command = program(folder);
    command.args(["audit", "show", "--api", &served.url]).env("KURA_CONSOLE_TOKEN", token);
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_begun_is_finished_and_everything_held_comes_to_a_proper_end() {
    let mut stage = Stage::with(&[]).await;
    let uuid = uuid::Uuid::nil();
    let mut stream = stage.ask("GET /api/changes", "viewer", "\r\n").await;
    heard(&mut stream, "event: presence").await;
    let machine = stage
        .ask(
            "POST /api/provisioning/machines/",
            "owner",
            "connection: close\r\ncontent-type: application/json\r\ncontent-length: 19\r\n\r\n{\"hostname\": \"ash\"}",
        )
        .await;
    let machine: Value = serde_json::from_str(rest(machine).await.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    let machine = format!("x-machine: {}\r\n\r\n", machine["uuid"].as_str().unwrap());
    let poll = stage.ask("GET /api/agent/assignment?wait=25", "agent", &machine).await;
    let mut verb = stage.ask("POST /api/config/environments/", "owner", &half()).await;
    let idle = TcpStream::connect(stage.address()).await.unwrap();
    // A round trip more, so that everything before it has arrived.
    stage.ready().await;
    stage.says("listening").await;

    stage.signal(Signal::TERM);
    stage.says("requests in flight are finished first").await;
    assert!(rest(stream).await.ends_with("0\r\n\r\n"), "a stream ends as HTTP says, it does not break off");
    let poll = rest(poll).await;
    assert!(poll.starts_with("HTTP/1.1 200 ") && poll.contains("\"assignment\":null"), "{poll}");
    assert_eq!(rest(idle).await, "");
    verb.write_all(&BODY.as_bytes()[20..]).await.unwrap();
    let answer = rest(verb).await;
    assert!(answer.starts_with("HTTP/1.1 201 ") && answer.contains("\"slug\":\"oak\""), "{answer}");
    assert!(stage.ended().await.success());
    let log = stage.log();
    assert!(log.contains("the seat is given up") && !log.contains("not finished in time"), "{log}");
    let audit = kept(stage.folder.path(), stage.token("viewer")).await;
    assert!(audit.contains("the last one before the stop"), "{audit} {uuid}");
}

#[tokio::test(flavor = "multi_thread")]
async fn readiness_goes_first_and_one_more_signal_is_heard_at_every_step() {
    let mut stage = Stage::with(&["--drain-seconds", "300"]).await;
    let stuck = stage.ask("POST /api/config/environments/", "owner", &half()).await;
    stage.ready().await;
    stage.signal(Signal::TERM);
    stage.says("not ready any more").await;
    assert!(stage.answer("GET /readyz", "viewer").await.starts_with("HTTP/1.1 503 "));
    for line in ["GET /healthz", "GET /api/seat"] {
        assert!(stage.answer(line, "viewer").await.starts_with("HTTP/1.1 200 "), "it serves on: {line}");
    }
    stage.signal(Signal::TERM);
    stage.says("requests in flight are finished first").await;
    assert!(stage.served.child.try_wait().unwrap().is_none(), "a body is still on its way");
    stage.signal(Signal::TERM);
    assert!(stage.ended().await.success());
    assert!(stage.log().contains("leaving at once"), "{}", stage.log());
    drop(stuck);
}
