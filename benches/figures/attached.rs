//! The real binary: how soon the first frame is there, and how soon a committed change is on the screen.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use reqwest::{Client, Method};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::runtime::Runtime;

use super::driver::{Driver, Launch};
use super::{print_spread, timed};

/// The token of the operator of this measurement.
const TOKEN: &str = "figures-figures-figures-figures-figures";

/// The account it is of.
pub(super) const ACCOUNT: &str = "bench";

/// The file of its journal.
pub(super) const JOURNAL: &str = "kura.db";

/// Longest wait for a screen.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) fn first_frame() {
    let times = (0..50).map(|_| {
        let mut console = None;
        let taken = timed(|| {
            let mut started = launch("http://127.0.0.1:9", (80, 24));
            started.wait_until("a first frame", PATIENCE, |screen| screen.contents().contains("quit"));
            console = Some(started);
        });
        drop(console);
        taken
    });
    print_spread("first frame after exec, 80x24", times.collect());
}

pub(super) fn change_to_screen() {
    let folder = tempfile::tempdir().expect("a folder");
    let plane = Plane::start(folder.path(), &[]);
    let ring = plane.prepare();
    let mut console = launch(&plane.api, (120, 36));
    console.wait_for("live");
    console.send("2");
    console.wait_for("oak");
    let mut times = Vec::new();
    for n in 0..200 {
        let (verb, paused) = if n % 2 == 0 { ("pause", true) } else { ("unpause", false) };
        plane.call(Method::POST, &format!("/api/config/rings/{ring}/{verb}"), json!({}));
        times.push(timed(|| {
            let shown = |screen: &vt100::Screen| screen.contents().contains("PAUSED") == paused;
            console.wait_until("the change", PATIENCE, shown);
        }));
    }
    print_spread("from a committed change to the screen, attached on loopback", times);
}

pub(super) fn launch(api: &str, (columns, rows): (u16, u16)) -> Driver {
    Launch::console(&["--api", api]).env("KURA_CONSOLE_TOKEN", TOKEN).size(columns, rows).start()
}

/// A control plane as a process of its own.
pub(super) struct Plane {
    process: Child,
    pub(super) api: String,
    client: Client,
    runtime: Runtime,
}

impl Plane {
    /// In this folder, with more flags than it needs.
    pub(super) fn start(folder: &Path, flags: &[&str]) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port").port();
        let fingerprint: String = Sha256::digest(TOKEN.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        let tokens = json!({"name": "jane", "role": "operator", "account": ACCOUNT, "sha256": fingerprint});
        std::fs::write(folder.join("tokens"), format!("{tokens}\n")).expect("a tokens file");
        std::fs::create_dir_all(folder.join("releases/v1")).expect("a release");
        std::fs::write(folder.join("releases/v1/top.sls"), "base: {}\n").expect("a release");
        let process = Command::new(env!("CARGO_BIN_EXE_kura-console"))
            .current_dir(folder)
            .args(["serve", "--journal", &format!("sqlite:{JOURNAL}"), "--tokens", "tokens", "--releases", "releases"])
            .args(["--listen", &format!("127.0.0.1:{port}")])
            .args(flags)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a control plane");
        let runtime = Runtime::new().expect("a runtime");
        let plane = Self { process, api: format!("http://127.0.0.1:{port}"), client: Client::new(), runtime };
        plane.wait_ready();
        plane
    }

    /// Which process it is.
    pub(super) fn pid(&self) -> u32 {
        self.process.id()
    }

    fn wait_ready(&self) {
        self.runtime.block_on(async {
            while !self.client.get(format!("{}/readyz", self.api)).send().await.is_ok_and(|r| r.status().is_success()) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
    }

    /// One environment, one capped ring, six machines, a running rollout; the ring's uuid.
    fn prepare(&self) -> String {
        self.call(
            Method::POST,
            "/api/config/environments/",
            json!({"name": "oak", "slug": "oak", "promotion_order": 1}),
        );
        let ring =
            self.call(Method::POST, "/api/config/rings/", json!({"name": "oak", "slug": "oak", "max_in_flight": 1}));
        for n in 0..6 {
            let machine = json!({"hostname": format!("oak-{n}"), "environment": "oak", "ring": "oak"});
            self.call(Method::POST, "/api/provisioning/machines/", machine);
        }
        let build = json!({"git_ref": "v1", "engine": "saltstack", "timeout_seconds": 0, "notes": ""});
        let release = self.call(Method::POST, "/api/config/releases/build-from-git", build);
        let start = json!({"config_release_uuid": release["uuid"], "protected": true});
        self.call(Method::POST, "/api/config/rollouts/", start);
        ring["uuid"].as_str().expect("a uuid").to_owned()
    }

    fn call(&self, method: Method, path: &str, body: Value) -> Value {
        self.runtime.block_on(async {
            let request = self.client.request(method, format!("{}{path}", self.api)).bearer_auth(TOKEN).json(&body);
            let answer = request.send().await.expect("an answer");
            assert!(answer.status().is_success(), "{path}: {}", answer.status());
            answer.json().await.unwrap_or(Value::Null)
        })
    }
}

impl Drop for Plane {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
