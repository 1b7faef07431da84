//! Load: agents that poll, change streams that follow and one operator who drives a rollout, against the real `serve` on
//! loopback; then a look at the journal, whether a grant was lost or doubled. Started by `scripts/load`.

mod agents;
mod http;
mod operator;
mod plane;
mod report;
mod streams;
mod verdict;

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use agents::Fleet;
use clap::Parser;
use plane::Plane;
use report::Figures;

/// What fails here fails the run.
pub(crate) type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Flags; every one of them has a limit, so that nothing is loaded for long by mistake.
#[derive(Debug, Clone, Parser)]
pub(crate) struct Flags {
    /// Machines, each with an agent on a connection of its own.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    agents: u32,
    /// Change streams, spread over the tokens of the three kinds of readers.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(0..=600))]
    streams: u32,
    /// How long it is measured.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=300))]
    seconds: u64,
    /// Slots of each ring; a ring has a thousand machines.
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    cap: u32,
    /// Fail below this many polls a second; 0 = only measure.
    #[arg(long, default_value_t = 0)]
    at_least: u64,
    /// Wait at the end, so that a profiler can be stopped before the server is.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=60))]
    linger: u64,
}

/// A second more than any wait within the measurement, for what is still on its way.
const GRACE: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let flags = Flags::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let ran = runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(run(&flags)));
    match ran {
        Ok(text) => say(&text, ExitCode::SUCCESS),
        Err(error) => say(&format!("load: {error}\n"), ExitCode::FAILURE),
    }
}

fn say(text: &str, code: ExitCode) -> ExitCode {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Ok(()) => code,
        Err(_) => ExitCode::FAILURE,
    }
}

async fn run(flags: &Flags) -> Fallible<String> {
    let plane = Arc::new(Plane::start().await?);
    let machines = plane.furnish(flags.agents, flags.cap).await?;
    let fleet = Arc::new(Fleet::connect(&plane, machines).await?);
    let streams = streams::follow(&plane, flags.streams).await?;
    let before = plane.usage()?;
    let operator = tokio::spawn(operator::drive(Arc::clone(&plane), Duration::from_secs(flags.seconds)));
    let polled = fleet.poll_for(Duration::from_secs(flags.seconds)).await?;
    let used = plane.usage()?.since(before);
    let done = tokio::time::timeout(GRACE, operator).await???;
    let followed = streams.end(plane.revision().await?, GRACE).await;
    tokio::time::sleep(Duration::from_secs(flags.linger)).await;
    plane.stop().await?;
    let verdict = verdict::of(&plane.journal(), &fleet.served().await, flags.cap).await?;
    let figures = Figures { flags: flags.clone(), polled, used, followed, done, verdict };
    figures.judged()
}
