//! The way to run: agent. The reference node agent of one machine.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tracing_subscriber::EnvFilter;
use uuid::Uuid;

use crate::adapters::clock::SystemClock;
use crate::agent::body::{self, Setup};
use crate::agent::client::Client;
use crate::agent::mind::Habits;
use crate::agent::store::Store;
use crate::agent::token::{TOKEN_VARIABLE, Token, TokenSource};
use crate::control::ports::Clock;
use crate::domain::ids::MachineId;
use crate::domain::span::Seconds;
use crate::wire::agent::WAIT_MAX;
use crate::wire::problem::{Problem, ProblemKind};

/// Flags.
#[derive(Debug, clap::Args)]
#[command(after_long_help = CONTRACT)]
pub struct Args {
    /// Converges the machine; run with `sh -c` in a process group of its own.
    #[arg(long, value_name = "CMD")]
    exec: String,
    /// Address of the control plane.
    #[arg(long, value_name = "URL", env = "KURA_CONSOLE_API")]
    api: String,
    /// Which machine this is.
    #[arg(long, value_name = "UUID", env = "KURA_CONSOLE_MACHINE", value_parser = uuid)]
    machine: Uuid,
    /// File that holds the agent's token; it is read again for every request.
    #[arg(long, value_name = "FILE", conflicts_with = "token_command")]
    token_file: Option<PathBuf>,
    /// Command that prints the agent's token. Without either flag: the variable KURA_CONSOLE_AGENT_TOKEN.
    #[arg(long, value_name = "CMD")]
    token_command: Option<String>,
    /// Certificates of the authorities to trust, in PEM, instead of the system's.
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Where the agent keeps what it knows; contents lie in the directory FILE.d beside it.
    #[arg(long, value_name = "FILE")]
    state: PathBuf,
    /// Time between drift runs, drawn anew each time: `SHORTEST..LONGEST`, or one number; 0 = no drift runs.
    #[arg(long, value_name = "SECONDS", default_value = "900..1800", value_parser = drift)]
    drift_seconds: Drift,
    /// Further runs after a failed one, before the agent latches until a new generation is served.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=100))]
    retries: u32,
    /// Time between a failed run and the next.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(0..=86_400))]
    retry_seconds: u64,
    /// How long the control plane may hold a poll; 0 = not at all, a withdrawal then arrives later.
    #[arg(long, value_name = "SECONDS", default_value_t = WAIT_MAX.0, value_parser = clap::value_parser!(u64).range(0..=WAIT_MAX.0))]
    wait: u64,
    /// Time a run has to end after TERM, before KILL.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(0..=3_600))]
    grace_seconds: u64,
    /// This machine was reimaged with this version: forget what the old system proved and tell the control plane, once.
    #[arg(long, value_name = "VERSION")]
    rebuilt: Option<String>,
    /// Ask once, run once what follows from the answer, report it and leave; fails if the run fails.
    #[arg(long)]
    once: bool,
}

/// What a command and a unit file have to know.
const CONTRACT: &str = "\
The command finds in its environment: KURA_CONTENT (file with the content, readable by its owner only), KURA_RESULT \
(where it may write {\"changed_count\": N, \"failed_states\": [{\"id\", \"name\", \"comment\"}]}), KURA_RELEASE, \
KURA_GENERATION, KURA_MACHINE and KURA_RUN (arc, drift or last-good). Exit code 0 is success. Past the release's \
deadline, or when its assignment is withdrawn, its process group gets TERM, then KILL.

On TERM or INT the agent leaves after the run in flight; a second signal stops the run. In a systemd unit set \
KillMode=mixed and TimeoutStopSec= to more than the longest release deadline, so that a restart of the agent never \
ends a drain in the middle.";

/// Shortest and longest time between drift runs.
type Drift = Option<(Seconds, Seconds)>;

/// Runs it.
pub fn run(args: Args) -> Result<(), Problem> {
    log_to_stderr();
    let setup = setup(args)?;
    let clock = SystemClock::start();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|e| Problem::new(ProblemKind::Internal, "runtime", format!("no threads: {e}")))?;
    let ended = runtime.block_on(body::live(setup, move || clock.now()));
    runtime.shutdown_timeout(Duration::from_secs(1));
    ended
}

fn setup(args: Args) -> Result<Setup, Problem> {
    let machine = MachineId(args.machine);
    let tokens = token_source(args.token_file, args.token_command)?;
    let _ = rustls::crypto::ring::default_provider().install_default();
    let authorities = args.ca_file.as_deref().map(authorities).transpose()?;
    let client = Client::new(&args.api, machine, tokens, authorities.as_deref()).map_err(|said| {
        Problem::new(ProblemKind::Usage, "client", said)
            .hint("check --api, such as https://kura.example.com, and --ca-file")
    })?;
    if client.is_exposed() {
        tracing::warn!("--api is plain HTTP to another computer: the token travels readable");
    }
    let (store, memory) = Store::open(&args.state, machine)?;
    let habits = Habits {
        retries: args.retries,
        retry_after: Seconds(args.retry_seconds),
        drift: args.drift_seconds,
        wait: Seconds(args.wait),
        once: args.once,
    };
    Ok(Setup {
        client,
        store,
        memory,
        habits,
        rebuilt: args.rebuilt,
        command: args.exec,
        grace: Duration::from_secs(args.grace_seconds),
        seed: fastrand::u64(..),
    })
}

fn authorities(path: &Path) -> Result<Vec<u8>, Problem> {
    let unreadable = |error: io::Error| format!("the certificates in {} cannot be read: {error}", path.display());
    std::fs::read(path).map_err(|error| Problem::new(ProblemKind::Usage, "ca_file", unreadable(error)))
}

/// A file or command may deliver later; a variable has to be right from the start.
fn token_source(file: Option<PathBuf>, command: Option<String>) -> Result<TokenSource, Problem> {
    match (file, command) {
        (Some(file), _) => Ok(TokenSource::File(file)),
        (None, Some(command)) => Ok(TokenSource::command(command)),
        (None, None) => {
            let missing = || {
                Problem::new(ProblemKind::Usage, "token_missing", "the agent has no token")
                    .hint("give --token-file FILE or --token-command CMD")
                    .hint(format!("or set {TOKEN_VARIABLE}"))
            };
            let text = std::env::var(TOKEN_VARIABLE).map_err(|_| missing())?;
            let place = format!("the variable {TOKEN_VARIABLE}");
            let token = Token::new(&text, &place).map_err(|e| {
                Problem::new(ProblemKind::Usage, "token_unfit", e.to_string()).hint("ask the owner for an agent token")
            })?;
            Ok(TokenSource::Given(token))
        }
    }
}

fn uuid(text: &str) -> Result<Uuid, String> {
    text.parse().map_err(|_| "it is no UUID; the control plane lists them: GET /api/provisioning/machines/".to_owned())
}

fn drift(text: &str) -> Result<Drift, String> {
    let number = |text: &str| text.trim().parse::<u64>().map(Seconds).map_err(|_| format!("{text} is no number"));
    let (shortest, longest) = match text.split_once("..") {
        Some((shortest, longest)) => (number(shortest)?, number(longest.trim_start_matches('='))?),
        None => (number(text)?, number(text)?),
    };
    if shortest > longest {
        return Err(format!("{} is longer than {}", shortest.0, longest.0));
    }
    match (shortest.is_off(), longest.is_off()) {
        (true, true) => Ok(None),
        (true, false) => Err("the shortest time is at least 1 second; 0 alone = no drift runs".to_owned()),
        _ => Ok(Some((shortest, longest))),
    }
}

/// `RUST_LOG` chooses what is shown; without it what an operator wants to know.
fn log_to_stderr() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let ansi = io::stderr().is_terminal();
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(ansi).with_writer(io::stderr).try_init();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_is_a_range_a_number_or_nothing() {
        assert_eq!(drift("900..1800"), Ok(Some((Seconds(900), Seconds(1800)))));
        assert_eq!(drift("900..=1800"), drift("900..1800"));
        assert_eq!(drift("60"), Ok(Some((Seconds(60), Seconds(60)))));
        assert_eq!(drift("0"), Ok(None));
        for nonsense in ["", "x", "10..5", "0..5", "-1", "5..", "1.5"] {
            assert!(drift(nonsense).is_err(), "{nonsense} is taken");
        }
    }
}
