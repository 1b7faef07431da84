//! The other end of the process that looks: starts it, reads what it says, and how much memory it has.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use kura_console::adapters::clock::SystemClock;
use kura_console::control::ports::Clock;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use super::Fallible;
use super::cluster::Cluster;
use super::crowd::Crowd;
use super::objects::pods;

/// How long it may take until something is said.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long it is left alone before its memory is read.
const REST: Duration = Duration::from_secs(5);

/// A process that looks at one namespace.
pub(crate) struct Watcher<'a> {
    cluster: &'a Cluster,
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl<'a> Watcher<'a> {
    pub(crate) async fn start(cluster: &'a Cluster, crowd: &Crowd) -> Fallible<Self> {
        Self::at(cluster, crowd.namespace).await
    }

    async fn at(cluster: &'a Cluster, namespace: &str) -> Fallible<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("--look").arg(cluster.admin_config()).arg(namespace);
        let mut child = command.stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let lines = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
        Ok(Self { cluster, child, lines })
    }

    async fn line(&mut self) -> Fallible<String> {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await??;
        line.ok_or_else(|| "it ended".into())
    }

    /// How many milliseconds it took, as it measured itself.
    pub(crate) async fn until_complete(&mut self) -> Fallible<u64> {
        let line = self.line().await?;
        let millis = line.strip_prefix("complete ").and_then(|rest| rest.split(' ').next());
        Ok(millis.ok_or("it said something else")?.parse()?)
    }

    /// Memory in KiB, once nothing has happened for a while.
    pub(crate) async fn resident(&self) -> Fallible<u64> {
        tokio::time::sleep(REST).await;
        let pid = self.child.id().ok_or("it ended")?;
        let text = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no memory")?;
        Ok(line.trim().trim_end_matches(" kB").trim().parse()?)
    }

    /// Pods that turn not Ready one after the other: from before the request to when the process that looks says so.
    pub(crate) async fn follow_changes(&mut self, crowd: &Crowd, count: u32, clock: SystemClock) -> Fallible<Vec<f64>> {
        let api = self.cluster.admin();
        let mut took = Vec::new();
        for n in 0..count.min(crowd.pods) {
            let n = n * (crowd.pods / count.min(crowd.pods));
            let begun = clock.now();
            let (changed, line) = tokio::join!(crowd.turn(&api, n, false), self.line());
            changed?;
            took.push(clock.now().duration_since(begun).as_secs_f64() * 1_000.0);
            let line = line?;
            if line != format!("pod {}", crowd.pod(n)) {
                return Err(format!("{} changed, it said {line}", crowd.pod(n)).into());
            }
        }
        Ok(took)
    }
}

/// Memory of a process that looks at nothing, in KiB.
pub(crate) async fn of_nothing(cluster: &Cluster) -> Fallible<u64> {
    let mut watcher = Watcher::at(cluster, "default").await?;
    watcher.until_complete().await?;
    watcher.resident().await
}

/// Reads of the same list from nothing, in milliseconds.
pub(crate) struct Reads {
    pub(crate) ours: Vec<f64>,
    pub(crate) curl: Vec<f64>,
}

/// One after the other in turns: from the start of the process to the complete picture, and to the last byte.
pub(crate) async fn reads(cluster: &Cluster, crowd: &Crowd, rounds: u32, clock: SystemClock) -> Fallible<Reads> {
    let mut reads = Reads { ours: Vec::new(), curl: Vec::new() };
    let config = cluster.admin_config();
    let papers = config.parent().ok_or("no papers")?;
    for _ in 0..rounds {
        let begun = clock.now();
        let mut watcher = Watcher::start(cluster, crowd).await?;
        watcher.until_complete().await?;
        reads.ours.push(clock.now().duration_since(begun).as_secs_f64() * 1_000.0);
        drop(watcher);
        let begun = clock.now();
        curl(papers, &format!("{}{}", cluster.server(), pods(crowd.namespace))).await?;
        reads.curl.push(clock.now().duration_since(begun).as_secs_f64() * 1_000.0);
    }
    Ok(reads)
}

async fn curl(papers: &Path, url: &str) -> Fallible<()> {
    let mut command = Command::new("curl");
    command.args(["--silent", "--show-error", "--fail", "--output", "/dev/null", "--cacert"]);
    command.arg(papers.join("authority.pem")).arg("--cert").arg(papers.join("admin.pem"));
    let status = command.arg("--key").arg(papers.join("admin-key.pem")).arg(url).status().await?;
    if status.success() { Ok(()) } else { Err(format!("curl ended with {status}").into()) }
}
