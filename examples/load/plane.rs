//! The control plane under load: the release binary beside this one, on a journal of its own in a folder that goes away.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::Fallible;
use super::http::{Connection, request};

/// Machines of one ring.
const PER_RING: u32 = 1_000;

/// Machines that are made at a time.
const AT_ONCE: usize = 64;

/// Until it says that it listens.
const START_LIMIT: Duration = Duration::from_secs(30);

/// Clock ticks of the kernel's statistics a second; 100 on every Linux this runs on.
const TICKS: f64 = 100.0;

/// A machine of the load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Machine {
    pub(crate) id: Uuid,
}

/// Processor time of the server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    pub(crate) user: f64,
    pub(crate) system: f64,
}

impl Usage {
    pub(crate) fn since(self, before: Self) -> Self {
        Self { user: self.user - before.user, system: self.system - before.system }
    }
}

/// The server as this process started it.
#[derive(Debug)]
pub(crate) struct Plane {
    folder: TempDir,
    pub(crate) address: String,
    tokens: BTreeMap<String, String>,
    child: Mutex<Child>,
    pid: u32,
}

impl Plane {
    pub(crate) async fn start() -> Fallible<Self> {
        let folder = tempfile::tempdir()?;
        let states = folder.path().join("releases/v1");
        std::fs::create_dir_all(&states)?;
        std::fs::write(states.join("top.sls"), "base: {'*': [v1]}\n")?;
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let address = format!("127.0.0.1:{port}");
        let mut command = Command::new(program()?);
        command.args(["serve", "--journal", "sqlite:kura.db", "--tokens", "tokens.yaml", "--create-tokens"]);
        command.args(["--releases", "releases", "--listen", &address, "--tick-seconds", "5"]);
        // The operator and whoever furnishes the fleet are one token; agents keep the limit they always have.
        command.args(["--rate-limit", "100000", "--log", "warn"]);
        command.current_dir(folder.path()).kill_on_drop(true).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let stdout = child.stdout.take().ok_or("no standard output")?;
        let tokens = tokio::time::timeout(START_LIMIT, tokens(BufReader::new(stdout))).await??;
        let pid = child.id().ok_or("it is gone")?;
        Ok(Self { folder, address, tokens, child: Mutex::new(child), pid })
    }

    pub(crate) fn token(&self, role: &str) -> Fallible<&str> {
        Ok(self.tokens.get(role).ok_or_else(|| format!("no token for {role}"))?)
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.folder.path().join("kura.db")
    }

    /// One request of the owner that has to work.
    pub(crate) async fn call(&self, method: &str, path: &str, body: &Value) -> Fallible<Value> {
        let mut connection = Connection::open(&self.address).await?;
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let key = format!("idempotency-key: {}\r\n", Uuid::new_v4());
        let answer = connection.ask(&request(method, path, self.token("owner")?, &key, &body)).await?;
        let said = connection.body(answer);
        if !(200..300).contains(&answer.status) {
            return Err(format!("{method} {path}: {} {}", answer.status, String::from_utf8_lossy(said)).into());
        }
        Ok(if said.is_empty() { Value::Null } else { serde_json::from_slice(said)? })
    }

    /// One environment, a ring per thousand machines, and the machines.
    pub(crate) async fn furnish(self: &std::sync::Arc<Self>, machines: u32, cap: u32) -> Fallible<Vec<Machine>> {
        let tier = json!({"name": "load", "slug": "load", "promotion_order": 1});
        self.call("POST", "/api/config/environments/", &tier).await?;
        for ring in 0..machines.div_ceil(PER_RING) {
            let brakes = json!({"name": format!("ring-{ring}"), "max_in_flight": cap, "failure_count_threshold": 1});
            self.call("POST", "/api/config/rings/", &brakes).await?;
        }
        let (mut made, mut adding) = (Vec::new(), JoinSet::new());
        for n in 0..machines {
            let plane = std::sync::Arc::clone(self);
            adding.spawn(async move {
                let ring = format!("ring-{}", n / PER_RING);
                let body = json!({"hostname": format!("m{n}"), "environment": "load", "ring": ring});
                plane.call("POST", "/api/provisioning/machines/", &body).await
            });
            if adding.len() >= AT_ONCE {
                made.extend(adding.join_next().await.transpose()?.transpose()?);
            }
        }
        while let Some(added) = adding.join_next().await {
            made.push(added??);
        }
        let id = |body: &Value| body["uuid"].as_str().and_then(|id| id.parse().ok()).ok_or("no uuid");
        made.iter().map(|body| Ok(Machine { id: id(body)? })).collect()
    }

    pub(crate) async fn revision(&self) -> Fallible<u64> {
        let world = self.call("GET", "/api/world", &Value::Null).await?;
        Ok(world["revision"].as_u64().ok_or("no revision")?)
    }

    /// Processor time it has used so far.
    pub(crate) fn usage(&self) -> Fallible<Usage> {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.pid))?;
        // The name of the program is in parentheses and may have blanks in it.
        let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let field = |n: usize| fields.get(n).and_then(|text| text.parse::<f64>().ok()).ok_or("no statistics");
        Ok(Usage { user: field(11)? / TICKS, system: field(12)? / TICKS })
    }

    /// Ends it as an operator does, and waits for its end.
    pub(crate) async fn stop(&self) -> Fallible<()> {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw).ok_or("no process")?;
        kill_process(pid, Signal::TERM)?;
        let status = tokio::time::timeout(START_LIMIT, self.child.lock().await.wait()).await??;
        if status.success() { Ok(()) } else { Err(format!("the server ended with {status}").into()) }
    }
}

/// The release binary: beside the folder of this example.
fn program() -> Fallible<PathBuf> {
    let here = std::env::current_exe()?;
    let program = here.parent().and_then(|examples| examples.parent()).map(|target| target.join("kura-console"));
    let program = program.ok_or("this program lies nowhere")?;
    if program.exists() {
        Ok(program)
    } else {
        Err(format!("{} is not built: see scripts/load", program.display()).into())
    }
}

async fn tokens(stdout: BufReader<tokio::process::ChildStdout>) -> Fallible<BTreeMap<String, String>> {
    let (mut lines, mut tokens) = (stdout.lines(), BTreeMap::new());
    while let Some(line) = lines.next_line().await? {
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            [role, secret] if secret.starts_with("kura_") => drop(tokens.insert(role.to_owned(), secret.to_owned())),
            ["kura-console", "status"] => return Ok(tokens),
            _ => {}
        }
    }
    Err("it never told its tokens".into())
}
