//! The way to run: serve. The control plane: journal in a file or a database, agents and people over HTTP.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::accounts::Accounts;
use super::cluster::{ServedClusterArgs, ServerCluster};
use super::front::Front;
use super::host::{Footing, ServerHost, process_name};
use super::listen::{self, Guard};
use super::logging::LogArgs;
use super::releases::{ReleaseArgs, Releases};
use super::reload::Reload;
use super::shortening::Keeping;
use super::store::open::Store;
use super::tls::TlsArgs;
use super::token_file;
use crate::adapters::clock::SystemClock;
use crate::adapters::journal::open::JournalUrl;
use crate::control::host::Host;
use crate::control::stop::Stop;
use crate::domain::ids::AccountId;
use crate::server::connections::Offer;
use crate::server::rate::{RATE_DEFAULT, Rates};
use crate::server::shared::{Setup, Shared};
use crate::server::tokens::{NewToken, Tokens};
use crate::wire::problem::{Problem, ProblemKind};

/// How long answers that were begun may take once the process is to stop.
const ANSWERS_LIMIT: Duration = Duration::from_secs(10);

/// How long loops may take behind that: what was asked is decided, the seat given up, presence written.
const LOOPS_LIMIT: Duration = Duration::from_secs(5);

/// Flags.
#[derive(Debug, clap::Args)]
#[command(after_long_help = FIRST_STEPS)]
pub struct Args {
    /// Address to listen on.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:7777")]
    listen: String,
    /// Where everything is kept: sqlite:PATH, a file on this host; postgres://USER@HOST/NAME, a database for servers on
    /// several hosts; kubernetes://NAMESPACE/NAME, objects of a cluster. File, tables and objects are made where they do
    /// not exist.
    #[arg(long, value_name = "URL", env = "KURA_CONSOLE_JOURNAL", hide_env_values = true)]
    journal: String,
    /// Who may come in: a YAML list of {name, role, account, sha256}, or one JSON object per line.
    #[arg(long, value_name = "FILE")]
    tokens: PathBuf,
    /// Make the tokens file if it does not exist, with one token per role; they are printed once.
    #[arg(long)]
    create_tokens: bool,
    #[command(flatten)]
    releases: ReleaseArgs,
    #[command(flatten)]
    cluster: ServedClusterArgs,
    /// Period of the tick.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    tick_seconds: u64,
    /// Listen beyond this host without TLS: tokens travel readable unless something in front encrypts.
    #[arg(long, conflicts_with = "tls_cert")]
    insecure_listen: bool,
    /// Requests a second that one token may send in the long run, ten seconds' worth at once; 0 = no limit.
    #[arg(long, value_name = "N", default_value_t = RATE_DEFAULT)]
    rate_limit: u32,
    /// After TERM: serve on for so long while /readyz says 503, so that whatever sends requests here goes elsewhere.
    #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=300))]
    drain_seconds: u64,
    #[command(flatten, next_help_heading = "Compaction, once an hour by whoever has the seat")]
    keeping: Keeping,
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
    listen::make_room();
    let journal = args.journal.parse::<JournalUrl>().map_err(|error| error.problem())?;
    refuse_memory(&journal)?;
    let releases = Releases::open(&args.releases, &journal).await?;
    let certificate = args.tls.open()?;
    let wanted = args.cluster.wanted().await?;
    let listener = listen::bind(listen::address(&args.listen, guard(&args)).await?).await?;
    let address = listener.local_addr().map_err(|error| listen::problem(&args.listen, &error))?;
    let known = known_tokens(&args)?;
    let clock = SystemClock::start();
    let footing = Footing {
        cluster: Arc::new(ServerCluster::start(wanted, clock)),
        store: Store::open(&journal).await?,
        account: AccountId::named(&args.cluster.kura_account),
        process: process_name("serve"),
        serves_agents: true,
    };
    let host = Arc::new(ServerHost::on(footing, clock));
    let tokens = known.map_or_else(|| made_tokens(&args, address), Ok)?;
    warn_of_nobody(&args, host.cluster(), &tokens);
    let tick_every = Duration::from_secs(args.tick_seconds);
    let keeping = args.keeping.by_itself(&journal);
    let following = (releases.clone(), args.releases.clone());
    let mut accounts = Accounts::new(Arc::clone(&host), following, tick_every, keeping);
    let services = accounts.adopt(&tokens);
    let (read, fresh) = watch::channel(Arc::new(tokens));
    let (admit, admitted) = watch::channel(Arc::clone(&fresh.borrow()));
    let rates = Rates::new(args.rate_limit);
    // Whoever hears that it listens may end it at once, and in order.
    let signals = Signals::listen()?;
    let stop = Stop::default();
    let setup = Setup { tokens: admitted, rates, builder: releases, stop: stop.clone(), tick_every };
    let shared = Shared::new(Arc::clone(&host), services, setup);
    tracing::info!(%address, journal = %host.journal().place(), process = host.process(), "listening");
    let reload = Reload { path: args.tokens.clone(), tokens: read, certificate: certificate.clone() };
    let reload = tokio::spawn(reload.run(*host.clock()));
    let server = Front { listener, certificate }.serve(Arc::clone(&shared), Offer::Everything)?;
    let drain = Duration::from_secs(args.drain_seconds);
    let ended = Live { server, shared, accounts, fresh, admit, stop, drain }.run(signals).await;
    reload.abort();
    host.close().await;
    ended
}

/// A cluster that is no account's is followed in vain.
fn warn_of_nobody(args: &Args, cluster: &ServerCluster, tokens: &Tokens) {
    let account = &args.cluster.kura_account;
    if !matches!(cluster, ServerCluster::Absent) && !tokens.accounts().contains(account) {
        tracing::warn!(account, "no token is of the account whose Kura servers are in the cluster: see --kura-account");
    }
}

fn guard(args: &Args) -> Guard {
    match (&args.tls.tls_cert, args.insecure_listen) {
        (Some(_), _) => Guard::Tls,
        (None, true) => Guard::Word,
        (None, false) => Guard::None,
    }
}

fn refuse_memory(url: &JournalUrl) -> Result<(), Problem> {
    if *url != JournalUrl::Memory {
        return Ok(());
    }
    Err(Problem::new(ProblemKind::Usage, "journal", "a control plane keeps its journal in a file or a database")
        .hint("--journal sqlite:kura.db, or --journal postgres://USER@HOST/NAME, or --journal kubernetes://NAMESPACE/NAME")
        .hint("to try things out without a trace: kura-console demo"))
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

/// A control plane that serves.
struct Live {
    server: JoinHandle<io::Result<()>>,
    shared: Arc<Shared<ServerHost, Releases>>,
    accounts: Accounts,
    /// Tokens as they were read last.
    fresh: watch::Receiver<Arc<Tokens>>,
    /// Whom requests are let in by.
    admit: watch::Sender<Arc<Tokens>>,
    stop: Stop,
    drain: Duration,
}

impl Live {
    /// Serves until a signal, a broken listener or a loop that ends before its time; then lets everything finish.
    async fn run(mut self, mut signals: Signals) -> Result<(), Problem> {
        let ended = self.serve(&mut signals).await;
        if let Ok(TERM) = ended {
            self.drain(&mut signals).await;
        }
        tokio::select! {
            () = self.finish() => {}
            _ = signals.next() => tracing::warn!("one more signal: leaving at once"),
        }
        ended.map(drop)
    }

    /// Until the signal that ends it.
    async fn serve(&mut self, signals: &mut Signals) -> Result<&'static str, Problem> {
        let broken = |code, why: String| Err(Problem::new(ProblemKind::Internal, code, why));
        loop {
            tokio::select! {
                signal = signals.next() => return Ok(signal),
                ended = &mut self.server => return broken("listener", format!("the listener broke: {ended:?}")),
                ended = self.accounts.loops.join_next() => {
                    return broken("loop", format!("a loop ended before its time: {ended:?}"));
                }
                Ok(()) = self.fresh.changed() => self.admit(),
            }
        }
    }

    /// Nobody is let in before the account is there.
    fn admit(&mut self) {
        let tokens = Arc::clone(&self.fresh.borrow_and_update());
        for (name, service) in self.accounts.adopt(&tokens) {
            tracing::info!(account = name, "one more account is served");
            self.shared.serve_account(name, service);
        }
        self.admit.send_replace(tokens);
    }

    /// Not ready any more, and serving on; another signal cuts it short.
    async fn drain(&mut self, signals: &mut Signals) {
        self.shared.leaving.ask();
        if self.drain.is_zero() {
            return;
        }
        tracing::info!(seconds = self.drain.as_secs(), "not ready any more, serving on");
        tokio::select! {
            () = tokio::time::sleep(self.drain) => {}
            _ = signals.next() => {}
            _ = &mut self.server => {}
        }
    }

    /// Nobody comes in; what was begun is answered, held polls and streams come to their end; then the loops, since
    /// answers need them: they decide what was asked, give up the seat and write presence.
    async fn finish(&mut self) {
        tracing::info!("stopping: requests in flight are finished first");
        self.shared.leaving.ask();
        self.stop.ask();
        let accounts = self.shared.accounts();
        accounts.iter().for_each(|account| account.service.desk.let_go.ask());
        if !self.server.is_finished() && timeout(ANSWERS_LIMIT, &mut self.server).await.is_err() {
            tracing::warn!(seconds = ANSWERS_LIMIT.as_secs(), "some answers were not finished in time");
        }
        accounts.iter().for_each(|account| account.service.stop.ask());
        let loops = async { while self.accounts.loops.join_next().await.is_some() {} };
        if timeout(LOOPS_LIMIT, loops).await.is_err() {
            tracing::warn!(seconds = LOOPS_LIMIT.as_secs(), "some loops were not finished in time");
        }
    }
}

const TERM: &str = "TERM";

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
            _ = self.term.recv() => TERM,
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
