//! A control plane on a free port of the loopback, with the tokens and calls tests need.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use kura_console::adapters::clock::SystemClock;
use kura_console::adapters::journal::memory::MemoryJournal;
use kura_console::adapters::presence::memory::MemoryPresence;
use kura_console::adapters::results::memory::MemoryResults;
use kura_console::adapters::vault::memory::MemoryVault;
use kura_console::control::host::Host;
use kura_console::control::ports::{Clock, NoCluster};
use kura_console::control::service::{Loop, Service, Settings};
use kura_console::control::stop::Stop;
use kura_console::domain::ids::AccountId;
use kura_console::server::build::{Builder, Built};
use kura_console::server::connections::{self, Offer};
use kura_console::server::paced::{WRITE_LIMIT, quick};
use kura_console::server::rate::Rates;
use kura_console::server::shared::{Setup, Shared};
use kura_console::server::tokens::{NewToken, TokenRole, Tokens, file_of};
use kura_console::wire::problem::{Problem, ProblemKind};
use reqwest::{Method, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Period of the tick: short, since these tests run in real time.
pub const TICK: Duration = Duration::from_millis(40);

/// Who calls where a test does not say.
pub const OWNER: TokenRole = TokenRole::Owner;

/// How long anything may take before a test gives up on it.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A host that keeps everything in memory.
pub struct MemoryHost {
    pub journal: MemoryJournal,
    pub presence: MemoryPresence,
    pub results: MemoryResults,
    pub vault: MemoryVault,
    pub clock: SystemClock,
}

impl Default for MemoryHost {
    fn default() -> Self {
        Self {
            journal: MemoryJournal::default(),
            presence: MemoryPresence::default(),
            results: MemoryResults::default(),
            vault: MemoryVault::default(),
            clock: SystemClock::start(),
        }
    }
}

impl Host for MemoryHost {
    type Journal = MemoryJournal;
    type Heartbeats = MemoryJournal;
    type Presence = MemoryPresence;
    type Results = MemoryResults;
    type Vault = MemoryVault;
    type Cluster = NoCluster;
    type Clock = SystemClock;

    fn journal(&self) -> &MemoryJournal {
        &self.journal
    }
    fn heartbeats(&self) -> &MemoryJournal {
        &self.journal
    }
    fn presence(&self) -> &MemoryPresence {
        &self.presence
    }
    fn results(&self) -> &MemoryResults {
        &self.results
    }
    fn vault(&self) -> &MemoryVault {
        &self.vault
    }
    fn cluster(&self) -> &NoCluster {
        &NoCluster
    }

    fn clock(&self) -> &SystemClock {
        &self.clock
    }
    fn fresh(&self) -> uuid::Uuid {
        uuid::Uuid::new_v4()
    }
    fn process(&self) -> &'static str {
        "serve@test:1"
    }
}

/// Builds any reference that begins with `v`.
pub struct AnyV;

/// A release that drains without a guard.
pub const UNGUARDED: &str = "v-unguarded";

impl Builder for AnyV {
    fn source(&self) -> Option<String> {
        Some("memory".to_owned())
    }

    async fn build(&self, git_ref: &str) -> Result<Built, Problem> {
        if !git_ref.starts_with('v') {
            return Err(
                Problem::new(ProblemKind::NotFound, "no_ref", format!("there is no {git_ref}")).field("git_ref")
            );
        }
        let content = match git_ref {
            UNGUARDED => r#"{"files":[{"path":"k8s.sls","content":"cordon_drain:\n  cmd.run: []\n"}]}"#.to_owned(),
            _ => format!("content of {git_ref}"),
        };
        Ok(Built { commit: format!("commit-of-{git_ref}"), content: content.into_bytes() })
    }
}

/// One token per role, in two accounts.
#[derive(Clone)]
pub struct Keys {
    tokens: Vec<NewToken>,
}

impl Keys {
    pub fn make() -> Self {
        let of = |account: &str| TokenRole::ALL.map(|role| NewToken::make(role.word(), role, account));
        Self { tokens: [of("default"), of("other")].concat() }
    }

    pub fn of(&self, account: &str, role: TokenRole) -> &str {
        let fits = |token: &&NewToken| token.entry.account == account && token.entry.role == role;
        &self.tokens.iter().find(fits).expect("every role has a token").secret
    }

    pub fn tokens(&self) -> Tokens {
        self.and(&[])
    }

    /// These, and some more.
    pub fn and(&self, more: &[NewToken]) -> Tokens {
        Tokens::parse(&file_of(&[&self.tokens, more].concat())).expect("what was made can be read")
    }
}

/// A running control plane.
pub struct Bed<H: Host> {
    pub url: String,
    pub host: Arc<H>,
    pub keys: Keys,
    /// Who is let in, to be changed while it runs.
    pub listed: watch::Sender<Arc<Tokens>>,
    pub shared: Arc<Shared<H, AnyV>>,
    stop: Stop,
    tasks: JoinSet<()>,
    http: reqwest::Client,
}

/// An answer, taken apart.
#[derive(Debug)]
pub struct Told {
    pub status: u16,
    pub body: Value,
    pub headers: reqwest::header::HeaderMap,
}

impl Told {
    /// The text of a field.
    pub fn text(&self, field: &str) -> &str {
        self.body[field].as_str().unwrap_or_else(|| panic!("no text {field} in {:#}", self.body))
    }

    /// The same answer, if it has this status.
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{:#}", self.body);
        self
    }
}

impl Bed<MemoryHost> {
    /// On a free port, in memory.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        Self::on(listener, Arc::new(MemoryHost::default()), Keys::make())
    }
}

impl<H: Host> Bed<H> {
    /// On this listener and host.
    pub fn on(listener: TcpListener, host: Arc<H>, keys: Keys) -> Self {
        let (mut bed, loops) = Self::asleep(listener, host, keys);
        bed.wake(loops);
        bed
    }

    /// The same, but it answers before anything of its loops has run.
    pub fn asleep(listener: TcpListener, host: Arc<H>, keys: Keys) -> (Self, Vec<Loop>) {
        Self::patient(listener, host, keys, WRITE_LIMIT)
    }

    /// The same, with this much patience for readers that take nothing.
    pub fn patient(listener: TcpListener, host: Arc<H>, keys: Keys, patience: Duration) -> (Self, Vec<Loop>) {
        let mut tasks = JoinSet::new();
        let mut all_loops = Vec::new();
        let mut services = Vec::new();
        for name in ["default", "other"] {
            let settings = Settings { tick_every: TICK, ..Settings::default() };
            let (service, loops) = Service::new(Arc::clone(&host), AccountId::named(name), settings);
            all_loops.extend(loops);
            services.push((name.to_owned(), service));
        }
        let stop = Stop::default();
        let (listed, tokens) = watch::channel(Arc::new(keys.tokens()));
        let setup = Setup { tokens, rates: Rates::new(0), builder: AnyV, stop: stop.clone(), tick_every: TICK };
        let shared = Shared::new(Arc::clone(&host), services, setup);
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let served = Arc::clone(&shared);
        tasks.spawn(async move {
            connections::serve(quick(listener, patience), served, Offer::Everything).await.expect("it serves")
        });
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().expect("a client");
        (Self { url, host, keys, listed, shared, stop, tasks, http }, all_loops)
    }

    pub fn wake(&mut self, loops: Vec<Loop>) {
        loops.into_iter().for_each(|each| drop(self.tasks.spawn(each.future)));
    }

    /// Stops it, as a signal would, and waits until nothing of it runs any more.
    pub async fn stop(mut self) {
        self.stop.ask();
        self.shared.accounts().iter().for_each(|account| account.service.stop.ask());
        let gone = async { while self.tasks.join_next().await.is_some() {} };
        tokio::time::timeout(PATIENCE, gone).await.expect("it stops in time");
    }

    pub fn token(&self, role: TokenRole) -> &str {
        self.keys.of("default", role)
    }

    /// A request as it is, for what `call` cannot say.
    pub fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}{path}", self.url))
    }

    /// A call of an owner.
    pub async fn call(&self, method: &str, path: &str, body: Value) -> Told {
        self.call_as(TokenRole::Owner, method, path, body).await
    }

    pub async fn call_as(&self, role: TokenRole, method: &str, path: &str, body: Value) -> Told {
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        let request = self.request(method, path).bearer_auth(self.token(role));
        let request = if body.is_null() { request } else { request.json(&body) };
        tell(request.send().await.expect("an answer")).await
    }

    pub async fn get(&self, path: &str) -> Value {
        self.call("GET", path, Value::Null).await.expect(200).body
    }

    pub async fn post(&self, path: &str, body: Value) -> Told {
        self.call("POST", path, body).await
    }

    /// A call of the agent of a machine.
    pub async fn agent(&self, machine: &str, method: &str, path: &str, body: Value) -> Told {
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        let request = self.request(method, path).bearer_auth(self.token(TokenRole::Agent)).header("x-machine", machine);
        let request = if body.is_null() { request } else { request.json(&body) };
        tell(request.send().await.expect("an answer")).await
    }

    pub async fn poll(&self, machine: &str) -> Value {
        self.agent(machine, "GET", "/api/agent/assignment", Value::Null).await.expect(200).body
    }

    /// A machine says that its run ended; `started` tells one run from another.
    pub async fn report(&self, machine: &str, assignment: &Value, outcome: &str, started: &str) -> Told {
        let body = json!({
            "release_uuid": assignment["release_uuid"], "generation": assignment["generation"], "outcome": outcome,
            "started_at": started, "finished_at": "2026-07-01T12:00:00Z", "changed_count": 2,
            "failed_states": if outcome == "failed" { json!([{"id": "drain", "name": "drain", "comment": "429"}]) }
                             else { json!([]) },
            "log_tail": "the end",
        });
        self.agent(machine, "POST", "/api/agent/apply-results", body).await
    }

    /// One environment, one ring that is capped, and machines in it.
    pub async fn fleet(&self, ring: Value, hostnames: &[&str]) -> Fleet {
        let environment = self
            .post("/api/config/environments/", json!({"name": "Oak", "slug": "oak", "promotion_order": 10}))
            .await
            .expect(201);
        let ring = self.post("/api/config/rings/", ring).await.expect(201);
        let (environment, ring) = (environment.text("uuid").to_owned(), ring.text("uuid").to_owned());
        let mut machines = Vec::new();
        for hostname in hostnames {
            let new = json!({"hostname": hostname, "environment": environment, "ring": ring});
            machines.push(self.post("/api/provisioning/machines/", new).await.expect(201).text("uuid").to_owned());
        }
        Fleet { environment, ring, machines }
    }

    pub async fn release(&self, git_ref: &str) -> String {
        let built = self.post("/api/config/releases/build-from-git", json!({"git_ref": git_ref})).await.expect(201);
        built.text("uuid").to_owned()
    }

    pub async fn roll(&self, release: &str) -> String {
        let wanted = json!({"config_release_uuid": release, "protected": true});
        self.post("/api/config/rollouts/", wanted).await.expect(201).text("uuid").to_owned()
    }

    pub async fn status(&self, rollout: &str) -> Value {
        self.get(&format!("/api/config/rollouts/{rollout}/status")).await
    }

    /// Waits until `holds` is true of the status; the tick is what moves it.
    pub async fn until(&self, rollout: &str, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let mut last = Value::Null;
        let wait = async {
            loop {
                last = self.status(rollout).await;
                if holds(&last) {
                    return;
                }
                self.host.clock().sleep(TICK).await;
            }
        };
        if within(wait).await.is_none() {
            panic!("never: {what}; the status is {last:#}");
        }
        last
    }
}

/// What `fleet` made.
pub struct Fleet {
    pub environment: String,
    pub ring: String,
    pub machines: Vec<String>,
}

/// What a future gives, unless it takes longer than `PATIENCE`.
pub async fn within<T>(future: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(PATIENCE, future).await.ok()
}

/// The row of a machine in a status.
pub fn row<'a>(status: &'a Value, machine: &str) -> &'a Value {
    let rows = status["machines"].as_array().expect("rows");
    rows.iter().find(|row| row["uuid"] == machine).expect("the machine has a row")
}

pub async fn tell(response: Response) -> Told {
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let bytes = response.bytes().await.expect("a body");
    let body = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).unwrap_or(Value::Null) };
    Told { status, body, headers }
}
