//! The way to run: serve. The control plane: journal in a file, agents and people over HTTP.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use super::host::{ServerHost, process_name};
use super::listen::{self, Guard};
use super::logging::LogArgs;
use super::releases::{ReleaseArgs, Releases, follower};
use super::reload::Reload;
use super::tls::{Certificate, TlsArgs};
use super::token_file;
use crate::adapters::clock::SystemClock;
use crate::adapters::journal::open::JournalUrl;
use crate::control::host::Host;
use crate::control::service::{Loop, Service, Settings};
use crate::control::stop::Stop;
use crate::domain::ids::AccountId;
use crate::server::rate::{RATE_DEFAULT, Rates};
use crate::server::router;
use crate::server::shared::{Setup, Shared};
use crate::server::tls::TlsListener;
use crate::server::tokens::{NewToken, Tokens};
use crate::wire::problem::{Problem, ProblemKind};

/// How long answers that were begun may take once the process is to stop.
const STOP_LIMIT: Duration = Duration::from_secs(15);

/// Flags.
#[derive(Debug, clap::Args)]
#[command(after_long_help = FIRST_STEPS)]
pub struct Args {
    /// Address to listen on.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:7777")]
    listen: String,
    /// Where everything is kept: sqlite:PATH. The file is made where it does not exist.
    #[arg(long, value_name = "URL", env = "KURA_CONSOLE_JOURNAL")]
    journal: String,
    /// Who may come in: a YAML list of {name, role, account, sha256}, or one JSON object per line.
    #[arg(long, value_name = "FILE")]
    tokens: PathBuf,
    /// Make the tokens file if it does not exist, with one token per role; they are printed once.
    #[arg(long)]
    create_tokens: bool,
    #[command(flatten)]
    releases: ReleaseArgs,
    /// Period of the tick.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    tick_seconds: u64,
    /// Listen beyond this host without TLS: tokens travel readable unless something in front encrypts.
    #[arg(long, conflicts_with = "tls_cert")]
    insecure_listen: bool,
    /// Requests a second that one token may send in the long run, ten seconds' worth at once; 0 = no limit.
    #[arg(long, value_name = "N", default_value_t = RATE_DEFAULT)]
    rate_limit: u32,
    #[command(flatten)]
    tls: TlsArgs,
    #[command(flatten)]
    log: LogArgs,
}

/// What a new user needs to know.
const FIRST_STEPS: &str = "\
A control plane of your own, from nothing:

  mkdir -p releases/v1 && echo 'base: {}' > releases/v1/top.sls
  kura-console serve --releases releases --journal sqlite:kura.db --tokens tokens.yaml \\
    --create-tokens

It prints its tokens once. In another shell:

  export KURA_CONSOLE_API=http://127.0.0.1:7777 KURA_CONSOLE_TOKEN=...
  kura-console status
  kura-console";

/// Runs it.
pub fn run(args: Args) -> Result<(), Problem> {
    args.log.start();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|e| Problem::new(ProblemKind::Internal, "runtime", format!("no threads: {e}")))?;
    let ended = runtime.block_on(serve(args));
    runtime.shutdown_timeout(Duration::from_secs(1));
    ended
}

/// What is wrong with flags and files comes to light before anything is made.
async fn serve(args: Args) -> Result<(), Problem> {
    let path = journal_file(&args.journal)?;
    let releases = Releases::open(&args.releases, &path).await?;
    let certificate = args.tls.open()?;
    let listener = listen::bind(listen::address(&args.listen, guard(&args)).await?).await?;
    let address = listener.local_addr().map_err(|error| listen::problem(&args.listen, &error))?;
    let known = known_tokens(&args)?;
    let host = Arc::new(ServerHost::open(&path, SystemClock::start(), process_name("serve")).await?);
    let tokens = known.map_or_else(|| made_tokens(&args, address), Ok)?;
    let tick_every = Duration::from_secs(args.tick_seconds);
    let (services, loops) =
        services(&host, &tokens, tick_every, &|service| follower(&releases, &args.releases, service));
    let stop = Stop::default();
    let (sender, tokens) = watch::channel(Arc::new(tokens));
    let rates = Rates::new(args.rate_limit);
    let setup = Setup { tokens, rates, builder: releases, stop: stop.clone(), tick_every };
    let shared = Shared::new(Arc::clone(&host), services, setup);
    tracing::info!(%address, journal = %path.display(), process = host.process(), "listening");
    let reload = Reload { path: args.tokens.clone(), tokens: sender, certificate: certificate.clone() };
    let reload = tokio::spawn(reload.run(*host.clock()));
    let ended = live(Front { listener, certificate }, &shared, loops, &stop).await;
    reload.abort();
    host.close().await;
    ended
}

fn guard(args: &Args) -> Guard {
    match (&args.tls.tls_cert, args.insecure_listen) {
        (Some(_), _) => Guard::Tls,
        (None, true) => Guard::Word,
        (None, false) => Guard::None,
    }
}

/// Where requests come in.
struct Front {
    listener: TcpListener,
    certificate: Option<Arc<Certificate>>,
}

impl Front {
    fn serve(self, shared: Arc<Shared<ServerHost, Releases>>) -> Result<JoinHandle<io::Result<()>>, Problem> {
        let Some(certificate) = self.certificate else {
            return Ok(tokio::spawn(router::serve(router::quick(self.listener), shared)));
        };
        let listener = TlsListener::new(self.listener, certificate.config()?);
        let listener = listener.map_err(|error| listen::problem("the listener", &error))?;
        Ok(tokio::spawn(router::serve(listener, shared)))
    }
}

fn journal_file(url: &str) -> Result<PathBuf, Problem> {
    match url.parse::<JournalUrl>().map_err(|error| error.problem())? {
        JournalUrl::Sqlite(path) => Ok(path),
        JournalUrl::Memory => {
            Err(Problem::new(ProblemKind::Usage, "journal", "a control plane keeps its journal in a file")
                .hint("--journal sqlite:kura.db")
                .hint("to try things out without a trace: kura-console demo"))
        }
    }
}

/// Tokens that are there; none where they are to be made, last of all: what nobody could use is not shown.
fn known_tokens(args: &Args) -> Result<Option<Tokens>, Problem> {
    let to_be_made = args.create_tokens && token_file::is_to_be_made(&args.tokens)?;
    if to_be_made { Ok(None) } else { token_file::read(&args.tokens).map(Some) }
}

/// Makes tokens and shows them at once: there is no second chance.
fn made_tokens(args: &Args, address: SocketAddr) -> Result<Tokens, Problem> {
    if let Some(made) = token_file::create(&args.tokens)? {
        io::stdout().lock().write_all(welcome(args, address, &made).as_bytes()).map_err(|error| {
            Problem::new(ProblemKind::Internal, "stdout", format!("the new tokens could not be shown: {error}"))
                .hint(format!("delete {} and start again", args.tokens.display()))
        })?;
    }
    token_file::read(&args.tokens)
}

/// One service per account that somebody has a token of.
fn services(
    host: &Arc<ServerHost>,
    tokens: &Tokens,
    tick_every: Duration,
    follower: &dyn Fn(&Service<ServerHost>) -> Option<Loop>,
) -> (Vec<(String, Service<ServerHost>)>, JoinSet<&'static str>) {
    let mut loops = JoinSet::new();
    let mut services = Vec::new();
    for name in tokens.accounts() {
        let settings = Settings { tick_every, ..Settings::default() };
        let (service, its_loops) = Service::new(Arc::clone(host), AccountId::named(&name), settings);
        for each in its_loops.into_iter().chain(follower(&service)) {
            loops.spawn(async move {
                each.future.await;
                each.name
            });
        }
        services.push((name, service));
    }
    (services, loops)
}

/// Serves until a signal, a broken listener or a loop that ends before its time; then lets everything finish.
async fn live(
    front: Front,
    shared: &Arc<Shared<ServerHost, Releases>>,
    mut loops: JoinSet<&'static str>,
    stop: &Stop,
) -> Result<(), Problem> {
    let broken = |code, why: String| Problem::new(ProblemKind::Internal, code, why);
    let mut server = front.serve(Arc::clone(shared))?;
    let mut signals = Signals::listen()?;
    let ended = tokio::select! {
        name = signals.next() => {
            tracing::info!(signal = name, "stopping: requests in flight are finished first");
            Ok(())
        }
        ended = &mut server => Err(broken("listener", format!("the listener broke: {ended:?}"))),
        ended = loops.join_next() => Err(broken("loop", format!("a loop ended before its time: {ended:?}"))),
    };
    stop.ask();
    shared.accounts().for_each(|account| account.service.stop.ask());
    let finish = async {
        if !server.is_finished() {
            let _ = (&mut server).await;
        }
        while loops.join_next().await.is_some() {}
    };
    tokio::select! {
        finished = timeout(STOP_LIMIT, finish) => if finished.is_err() {
            tracing::warn!(seconds = STOP_LIMIT.as_secs(), "some answers were not finished in time");
        },
        _ = signals.next() => tracing::warn!("a second signal: leaving at once"),
    }
    ended
}

/// TERM and INT.
struct Signals {
    term: tokio::signal::unix::Signal,
    int: tokio::signal::unix::Signal,
}

impl Signals {
    fn listen() -> Result<Self, Problem> {
        let on =
            |kind| signal(kind).map_err(|e| Problem::new(ProblemKind::Internal, "signals", format!("no signals: {e}")));
        Ok(Self { term: on(SignalKind::terminate())?, int: on(SignalKind::interrupt())? })
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.term.recv() => "TERM",
            _ = self.int.recv() => "INT",
        }
    }
}

fn welcome(args: &Args, address: SocketAddr, made: &[NewToken]) -> String {
    let scheme = if guard(args) == Guard::Tls { "https" } else { "http" };
    let token = |token: &NewToken| format!("  {:<9} {}\n", token.entry.role.word(), token.secret);
    let tokens: String = made.iter().map(token).collect();
    format!(
        "New tokens, shown only now (the file keeps their digests):\n{tokens}\nIn another shell:\n  \
         export KURA_CONSOLE_API={scheme}://{address} KURA_CONSOLE_TOKEN=OWNER-TOKEN\n  kura-console status\n"
    )
}
