//! Figures of the mirror: a real API server with thousands of instances and pods, a process of its own that looks at them,
//! and `curl` beside it. Nothing passes or fails by time. `eval "$(tests/envtest/provision)"` first, then
//! `cargo run --release --example mirror`.
// Parts of the tests' cluster stand in for a cluster here, with more of them than are used.
#![allow(clippy::expect_used, clippy::panic, dead_code, unreachable_pub)]

#[path = "../../tests/suite/envtest/assets.rs"]
mod assets;
#[path = "../../tests/suite/envtest/cluster.rs"]
mod cluster;
#[path = "../../tests/suite/envtest/objects.rs"]
mod objects;
#[path = "../../tests/suite/envtest/papers.rs"]
mod papers;
#[path = "../../tests/suite/envtest/programs.rs"]
mod programs;
#[path = "../../tests/suite/envtest/rest.rs"]
mod rest;

mod crowd;
mod look;
mod watcher;

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use cluster::Cluster;
use crowd::{Crowd, owner};
use kura_console::adapters::clock::SystemClock;
use watcher::Watcher;

/// What fails here fails the run.
pub(crate) type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Flags; every one of them has a limit, so that nothing is filled for long by mistake.
#[derive(Debug, Clone, Parser)]
pub(crate) struct Flags {
    /// Instances.
    #[arg(long, default_value_t = 5_000, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    instances: u32,
    /// Pods of them.
    #[arg(long, default_value_t = 15_000, value_parser = clap::value_parser!(u32).range(1..=30_000))]
    pods: u32,
    /// Pods of a namespace that is read from nothing, by us and by curl.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    read: u32,
    /// Pods that change, one after the other.
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..=5_000))]
    changes: u32,
    /// How often the read is repeated.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=50))]
    rounds: u32,
    /// Only look: what the process that looks is started with.
    #[arg(long, hide = true, num_args = 2, value_names = ["KUBECONFIG", "NAMESPACE"])]
    look: Option<Vec<String>>,
}

fn main() -> ExitCode {
    let flags = Flags::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let ran = runtime.map_err(Into::into).and_then(|runtime| {
        runtime.block_on(async {
            match &flags.look {
                Some(at) => look::look(at).await.map(|()| String::new()),
                None => measure(&flags).await,
            }
        })
    });
    match ran {
        Ok(text) => say(&text, ExitCode::SUCCESS),
        Err(error) => say(&format!("mirror: {error}\n"), ExitCode::FAILURE),
    }
}

/// To whoever reads the output.
pub(crate) fn say(text: &str, code: ExitCode) -> ExitCode {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => code,
        Err(_) => ExitCode::FAILURE,
    }
}

async fn measure(flags: &Flags) -> Fallible<String> {
    let cluster = Cluster::start("mirror").await.ok_or("no programs: tests/envtest/provision brings them")?;
    cluster.define().await;
    let clock = SystemClock::start();
    let manifest = || ("mirror", |n| objects::instance(&owner(n), "0.20.0", 3));
    let big = Crowd::make(&cluster, "big", (flags.instances, flags.pods), manifest()).await?;
    let small = Crowd::make(&cluster, "small", (1, flags.read), manifest()).await?;

    let mut watcher = Watcher::start(&cluster, &big).await?;
    let first = watcher.until_complete().await?;
    let at_rest = watcher.resident().await?;
    let latencies = watcher.follow_changes(&big, flags.changes, clock).await?;
    let after = watcher.resident().await?;
    drop(watcher);
    let empty = watcher::of_nothing(&cluster).await?;
    let reads = watcher::reads(&cluster, &small, flags.rounds, clock).await?;
    Ok(format!(
        "{} instances and {} pods: complete after {first} ms; resident {} MB (of an empty namespace {} MB), {} MB after {} changes\n\
         pod change to picture: {}\n\
         {} pods from nothing: ours {}; curl {}\n",
        flags.instances,
        flags.pods,
        at_rest / 1_024,
        empty / 1_024,
        after / 1_024,
        flags.changes,
        spread(latencies),
        flags.read,
        spread(reads.ours),
        spread(reads.curl),
    ))
}

/// Median, 99 of 100 and the worst of some milliseconds.
fn spread(mut all: Vec<f64>) -> String {
    all.sort_by(f64::total_cmp);
    let at = |share: usize| all.get((all.len().saturating_sub(1)) * share / 100).copied().unwrap_or(f64::NAN);
    format!("median {:.1} ms, p99 {:.1} ms, worst {:.1} ms", at(50), at(99), at(100))
}
