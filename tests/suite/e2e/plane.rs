//! The control plane as a process: started the way an operator starts it, killed the way an accident kills it.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use reqwest::Method;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::super::agent::node::lines;
use super::super::pty::driver::{Launch, PATIENCE};

/// Between two looks at something that only HTTP can tell.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// Ticks come every second, unless a test says otherwise.
const TICK_FLAG: &str = "--tick-seconds";

/// In a file in its folder, unless a test says otherwise.
const JOURNAL_FLAG: &str = "--journal";

/// Ports the system gives to nobody by itself, so that the one of a control plane that is away stays free.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

/// A control plane in a folder of its own: journal, tokens, and releases to build.
pub(crate) struct Plane {
    folder: TempDir,
    port: u16,
    tokens: BTreeMap<String, String>,
    child: Option<Child>,
    log: Receiver<String>,
    flags: Vec<String>,
    runtime: Runtime,
    http: reqwest::Client,
}

impl Plane {
    /// Started for the first time, with releases in folders: it makes its tokens and shows them.
    pub(crate) fn start() -> Self {
        Self::first(with_releases(), &["--releases", "releases"])
    }

    /// The same with its journal somewhere else than in its folder.
    pub(crate) fn on(journal: &str) -> Self {
        Self::first(with_releases(), &[JOURNAL_FLAG, journal, "--releases", "releases"])
    }

    /// Another control plane as one on another host would be: the same tokens, releases and flags, in a folder of its own.
    pub(crate) fn elsewhere(&self) -> Self {
        self.neighbour(self.flags.clone())
    }

    /// The same, which gets at the journal in another way.
    pub(crate) fn elsewhere_on(&self, journal: &str) -> Self {
        let mut flags = self.flags.clone();
        let place = flags.iter().position(|flag| flag == JOURNAL_FLAG).expect("a journal that is named");
        journal.clone_into(&mut flags[place + 1]);
        self.neighbour(flags)
    }

    fn neighbour(&self, flags: Vec<String>) -> Self {
        let folder = with_releases();
        std::fs::copy(self.folder().join("tokens.yaml"), folder.path().join("tokens.yaml")).expect("its tokens");
        let port = free_port();
        let told: Vec<&str> = flags.iter().map(String::as_str).collect();
        let (child, log) = launch(folder.path(), port, &told);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (tokens, http) = (self.tokens.clone(), self.http.clone());
        let plane = Self { folder, port, tokens, child: Some(child), log, flags, runtime, http };
        plane.says("listening");
        plane
    }

    /// The same with these flags, and no releases but those they name.
    pub(crate) fn with(flags: &[&str]) -> Self {
        Self::first(tempfile::tempdir().expect("a folder"), flags)
    }

    fn first(folder: TempDir, flags: &[&str]) -> Self {
        let port = free_port();
        let (child, log) = launch(folder.path(), port, &[flags, &["--create-tokens"]].concat());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let _ = rustls::crypto::ring::default_provider().install_default();
        // No connection is kept: one of a control plane that was killed must not be used again.
        let http = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).timeout(PATIENCE);
        let http = http.build().expect("a client");
        let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let mut plane = Self { folder, port, tokens: BTreeMap::new(), child: Some(child), log, flags, runtime, http };
        plane.read_tokens();
        plane.says("listening");
        plane
    }

    /// Started again, on what the last one left and at the same address.
    pub(crate) fn start_again(&mut self) {
        let flags: Vec<&str> = self.flags.iter().map(String::as_str).collect();
        let (child, log) = launch(self.folder.path(), self.port, &flags);
        (self.child, self.log) = (Some(child), log);
        self.says("listening");
    }

    /// Another control plane on the same journal, and the address it listens on. It ends with what is returned.
    pub(crate) fn another(&self) -> Other {
        let flags: Vec<&str> = self.flags.iter().map(String::as_str).collect();
        let port = free_port();
        let (child, log) = launch(self.folder.path(), port, &flags);
        Other { child, log }
    }

    /// Everything that lies in its folder, by path.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path)
                } else {
                    files.extend(std::fs::read(&path).map(|bytes| (path, bytes)))
                }
            }
        }
        files
    }

    /// What it has said since somebody asked last.
    pub(crate) fn log(&self) -> String {
        self.rest_of_log()
    }

    /// SIGKILL: nothing is finished, nothing is said.
    pub(crate) fn kill(&mut self) {
        let mut child = self.child.take().expect("it runs");
        child.kill().expect("it lives");
        child.wait().expect("it is gone");
    }

    /// SIGTERM: it finishes what it began; whether it ended well.
    pub(crate) fn ends_in_order(&mut self) -> bool {
        self.signal(Signal::TERM);
        self.child.take().expect("it runs").wait().expect("it ends").success()
    }

    /// SIGSTOP: it does nothing, and does not know.
    pub(crate) fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    /// SIGCONT: it goes on in the middle of whatever it did.
    pub(crate) fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(self.child.as_ref().expect("it runs")), signal).expect("it lives");
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

    /// Returns once it says these words.
    pub(crate) fn says(&self, words: &str) {
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

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The token it made for a role.
    pub(crate) fn token(&self, role: &str) -> &str {
        self.tokens.get(role).unwrap_or_else(|| panic!("no token for {role} among {:?}", self.tokens.keys()))
    }

    /// A console attached to it, with the token of a role.
    pub(crate) fn console(&self, role: &str) -> Launch {
        Launch::console(&[]).env("KURA_CONSOLE_API", self.url()).env("KURA_CONSOLE_TOKEN", self.token(role))
    }

    /// What it answers to a request of the owner: status and body.
    pub(crate) fn call(&self, method: Method, path: &str, body: &Value) -> (u16, Value) {
        let request = self.http.request(method, format!("{}{path}", self.url())).bearer_auth(self.token("owner"));
        let request = if body.is_null() { request } else { request.json(body) };
        let (status, _, text) = self.send(request);
        (status, serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    /// Any request: status, headers and body as text.
    pub(crate) fn send(&self, request: reqwest::RequestBuilder) -> (u16, String, String) {
        let answered = self.runtime.block_on(async {
            let answer = request.send().await?;
            let (status, headers) = (answer.status().as_u16(), format!("{:?}", answer.headers()));
            Ok::<_, reqwest::Error>((status, headers, answer.text().await?))
        });
        answered.unwrap_or_else(|error| panic!("{error}\n{}", self.rest_of_log()))
    }

    /// What a stream says up to and with these words.
    pub(crate) fn stream(&self, path: &str, words: &str) -> String {
        let request = self.request(Method::GET, path).bearer_auth(self.token("owner"));
        let read = self.runtime.block_on(async {
            let mut answer = request.send().await?;
            let mut said = Vec::new();
            while !String::from_utf8_lossy(&said).contains(words) {
                let Some(piece) = answer.chunk().await? else { break };
                said.extend_from_slice(&piece);
            }
            Ok::<_, reqwest::Error>(String::from_utf8_lossy(&said).into_owned())
        });
        read.unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// A request to a path, without a token.
    pub(crate) fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}{path}", self.url()))
    }

    /// What a machine is told when it asks for its assignment.
    pub(crate) fn poll(&self, machine: &str) -> Value {
        let request = self.request(Method::GET, "/api/agent/assignment").bearer_auth(self.token("agent"));
        let (status, _, text) = self.send(request.header("x-machine", machine));
        assert_eq!(status, 200, "{text}");
        serde_json::from_str(&text).expect("an answer")
    }

    /// Makes or does something that must work.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        let (status, answer) = self.call(Method::POST, path, body);
        assert!((200..300).contains(&status), "POST {path} {body}: {status} {answer}");
        answer
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        let (status, answer) = self.call(Method::GET, path, &Value::Null);
        assert_eq!(status, 200, "GET {path}: {answer}");
        answer
    }

    /// Reads until it is as wanted.
    pub(crate) fn get_until(&self, path: &str, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
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

/// A second process, killed when it is let go.
pub(crate) struct Other {
    child: Child,
    log: Receiver<String>,
}

impl Other {
    /// Returns once it says these words.
    pub(crate) fn says(&self, words: &str) {
        while !self.log.recv_timeout(PATIENCE).expect("it says it in time").contains(words) {}
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What `serve` says where it refuses to run with these flags.
pub(crate) fn refusal_to_serve(folder: &Path, flags: &[&str]) -> String {
    let (mut child, log) = launch(folder, free_port(), &[flags, &["--create-tokens"]].concat());
    let said: Vec<String> = log.iter().collect();
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(2), "{said:?}");
    said.join("\n")
}

fn launch(folder: &Path, port: u16, more: &[&str]) -> (Child, Receiver<String>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kura-console"));
    command.args(["serve", "--tokens", "tokens.yaml"]);
    if !more.contains(&JOURNAL_FLAG) {
        command.args([JOURNAL_FLAG, "sqlite:kura.db"]);
    }
    command.args(["--listen", &format!("127.0.0.1:{port}")]).args(more);
    if !more.contains(&TICK_FLAG) {
        command.args([TICK_FLAG, "1"]);
    }
    command.env_clear().env("HOME", folder).env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program");
    let log = lines(child.stderr.take().expect("its log"));
    (child, log)
}

fn with_releases() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for release in ["v1", "v2"] {
        let states = folder.path().join("releases").join(release);
        std::fs::create_dir_all(&states).expect("a release");
        std::fs::write(states.join("top.sls"), format!("base: {{'*': [{release}]}}\n")).expect("a state");
    }
    folder
}

/// A port that nobody listens on.
pub(crate) fn free_port() -> u16 {
    let tried = (0..1_000).map(|_| fastrand::u16(PORTS));
    let mut free = tried.filter(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    free.next().expect("a free port")
}
