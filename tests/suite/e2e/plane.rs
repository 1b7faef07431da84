//! The control plane as a process: started the way an operator starts it, killed the way an accident kills it.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use reqwest::Method;
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::super::agent::node::lines;
use super::super::pty::driver::{Launch, PATIENCE};

/// Between two looks at something that only HTTP can tell.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// Ports the system gives to nobody by itself, so that the one of a control plane that is away stays free.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

/// A control plane in a folder of its own: journal, tokens, and releases to build.
pub(super) struct Plane {
    folder: TempDir,
    port: u16,
    tokens: BTreeMap<String, String>,
    child: Option<Child>,
    log: Receiver<String>,
    runtime: Runtime,
    http: reqwest::Client,
}

impl Plane {
    /// Started for the first time: it makes its tokens and shows them.
    pub(super) fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for release in ["v1", "v2"] {
            let states = folder.path().join("releases").join(release);
            std::fs::create_dir_all(&states).expect("a release");
            std::fs::write(states.join("top.sls"), format!("base: {{'*': [{release}]}}\n")).expect("a state");
        }
        let port = free_port();
        let (child, log) = launch(folder.path(), port, &["--create-tokens"]);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let _ = rustls::crypto::ring::default_provider().install_default();
        // No connection is kept: one of a control plane that was killed must not be used again.
        let http = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).timeout(PATIENCE);
        let http = http.build().expect("a client");
        let mut plane = Self { folder, port, tokens: BTreeMap::new(), child: Some(child), log, runtime, http };
        plane.read_tokens();
        plane.says("listening");
        plane
    }

    /// Started again, on what the last one left and at the same address.
    pub(super) fn start_again(&mut self) {
        let (child, log) = launch(self.folder.path(), self.port, &[]);
        (self.child, self.log) = (Some(child), log);
        self.says("listening");
    }

    /// SIGKILL: nothing is finished, nothing is said.
    pub(super) fn kill(&mut self) {
        let mut child = self.child.take().expect("it runs");
        child.kill().expect("it lives");
        child.wait().expect("it is gone");
    }

    /// Tokens come on standard output, with the address, once it has a journal and a port.
    fn read_tokens(&mut self) {
        let stdout = self.child.as_mut().and_then(|child| child.stdout.take()).expect("its standard output");
        let said = lines(stdout);
        let api = format!("KURA_CONSOLE_API={}", self.url());
        loop {
            let line = said.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no tokens: {}", self.rest_of_log()));
            match line.split_whitespace().collect::<Vec<_>>()[..] {
                [role, secret] if secret.starts_with("kura_") => {
                    self.tokens.insert(role.to_owned(), secret.to_owned());
                }
                ["export", address, ..] => {
                    assert_eq!(address, api, "it names the address it listens on");
                    return;
                }
                _ => {}
            }
        }
    }

    fn says(&self, words: &str) {
        let mut said = String::new();
        while !said.contains(words) {
            match self.log.recv_timeout(PATIENCE) {
                Ok(line) => said = said + &line + "\n",
                Err(_) => panic!("it never says {words}, but\n{said}"),
            }
        }
    }

    fn rest_of_log(&self) -> String {
        self.log.try_iter().collect::<Vec<_>>().join("\n")
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(super) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The token it made for a role.
    pub(super) fn token(&self, role: &str) -> &str {
        self.tokens.get(role).unwrap_or_else(|| panic!("no token for {role} among {:?}", self.tokens.keys()))
    }

    /// A console attached to it, with the token of a role.
    pub(super) fn console(&self, role: &str) -> Launch {
        Launch::console(&[]).env("KURA_CONSOLE_API", self.url()).env("KURA_CONSOLE_TOKEN", self.token(role))
    }

    /// What it answers to a request of the owner: status and body.
    pub(super) fn call(&self, method: Method, path: &str, body: &Value) -> (u16, Value) {
        let request = self.http.request(method, format!("{}{path}", self.url())).bearer_auth(self.token("owner"));
        let request = if body.is_null() { request } else { request.json(body) };
        let answered = self.runtime.block_on(async {
            let answer = request.send().await?;
            Ok::<_, reqwest::Error>((answer.status().as_u16(), answer.text().await?))
        });
        let (status, text) = answered.unwrap_or_else(|error| panic!("{path}: {error}\n{}", self.rest_of_log()));
        (status, serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    /// Makes or does something that must work.
    pub(super) fn post(&self, path: &str, body: &Value) -> Value {
        let (status, answer) = self.call(Method::POST, path, body);
        assert!((200..300).contains(&status), "POST {path} {body}: {status} {answer}");
        answer
    }

    pub(super) fn get(&self, path: &str) -> Value {
        let (status, answer) = self.call(Method::GET, path, &Value::Null);
        assert_eq!(status, 200, "GET {path}: {answer}");
        answer
    }

    /// Reads until it is as wanted.
    pub(super) fn get_until(&self, path: &str, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let mut left = PATIENCE.as_millis() / LOOK_AGAIN.as_millis();
        loop {
            let body = self.get(path);
            if wanted(&body) {
                return body;
            }
            assert!(left > 0, "waited for {what} in vain: {body:#}\n{}", self.rest_of_log());
            left -= 1;
            std::thread::sleep(LOOK_AGAIN);
        }
    }
}

impl Drop for Plane {
    /// Of a test that fails, what the control plane said is part of the story.
    #[allow(clippy::print_stderr)]
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
        if std::thread::panicking() {
            eprintln!("the control plane said at last:\n{}", self.rest_of_log());
        }
    }
}

fn launch(folder: &Path, port: u16, more: &[&str]) -> (Child, Receiver<String>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kura-console"));
    command.args(["serve", "--journal", "sqlite:kura.db", "--tokens", "tokens.yaml", "--releases", "releases"]);
    command.args(["--tick-seconds", "1", "--listen", &format!("127.0.0.1:{port}")]).args(more);
    command.env_clear().env("HOME", folder).env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program");
    let log = lines(child.stderr.take().expect("its log"));
    (child, log)
}

/// A port that nobody listens on.
pub(super) fn free_port() -> u16 {
    let tried = (0..1_000).map(|_| fastrand::u16(PORTS));
    let mut free = tried.filter(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    free.next().expect("a free port")
}
