//! Asks once, or again whenever something changes.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use super::super::shell::print;
use super::super::status::Output;
use super::super::target::TargetArgs;
use super::ask::{Ask, Flags, Wanted};
use super::fetch::{Fetched, fetch};
use super::output::printed;
use super::pages::Reach;
use crate::adapters::clock::SystemClock;
use crate::adapters::remote::client::Client;
use crate::adapters::remote::far_clock::FarClock;
use crate::adapters::remote::link::RemoteLink;
use crate::console::text::escape;
use crate::control::link::Link;
use crate::control::picture::Freshness;
use crate::control::ports::Clock;
use crate::wire::problem::{Problem, ProblemKind};

/// How often `--watch` asks at most.
const WATCH_EVERY: Duration = Duration::from_secs(1);

/// Home, and nothing on screen.
const CLEAR: &str = "\x1b[H\x1b[2J";

/// Runs it.
///
/// # Errors
/// Where the control plane cannot be reached or refuses, or where nothing has a name. While it watches, a control plane
/// that is lost is waited for.
pub fn run(ask: &Ask) -> Result<(), Problem> {
    let (wanted, flags) = ask.parts();
    look(wanted, flags).map_err(|problem| ask.hinted(problem))
}

/// Shows the account: its switches, and what starts by itself next.
///
/// # Errors
/// Where the control plane cannot be reached or refuses.
pub fn account(target: TargetArgs, output: Output) -> Result<(), Problem> {
    look(Wanted::Account, &Flags { target, output, watch: false })
}

fn look(wanted: Wanted<'_>, flags: &Flags) -> Result<(), Problem> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| Problem::new(ProblemKind::Internal, "runtime", format!("no threads: {e}")))?;
    runtime.block_on(async {
        let target = flags.target.resolve()?;
        let client = Client::new(target.endpoint.clone(), &target.token)?;
        let clock = SystemClock::start();
        let reach = if flags.watch { Reach::AtHand } else { Reach::Everything };
        let first = fetch(&client, wanted, reach).await?;
        print(printed(wanted, &first, flags.output, clock.now())?.as_bytes())?;
        say_gone(&first);
        if !flags.watch {
            return Ok(());
        }
        let link = RemoteLink::start(target.endpoint, &target.token, target.rollout, FarClock::of(clock))?;
        watch(&client, &link, wanted, flags, first, clock).await
    })
}

/// Prints for ever; the reader that goes away is its end.
async fn watch(
    client: &Client,
    link: &RemoteLink,
    wanted: Wanted<'_>,
    flags: &Flags,
    first: Fetched,
    clock: SystemClock,
) -> Result<(), Problem> {
    let clear = flags.output == Output::Text && io::stdout().is_terminal();
    let (mut pictures, mut last, mut lost) = (link.pictures(), first.body, None);
    while pictures.changed().await.is_ok() {
        let api = pictures.borrow_and_update().api.clone();
        let read = match api {
            Freshness::Connecting => continue,
            Freshness::Live(_) => fetch(client, wanted, Reach::AtHand).await,
            Freshness::Lost { why, .. } => Err(Problem::new(ProblemKind::Unreachable, "lost", why)),
            Freshness::Refused { why, hint } => {
                return Err(Problem::new(ProblemKind::Forbidden, "refused", why).hint(hint));
            }
        };
        match read {
            Ok(fetched) => {
                if fetched.body != last || lost.take().is_some() {
                    let text = printed(wanted, &fetched, flags.output, clock.now())?;
                    print(format!("{}{text}", if clear { CLEAR } else { "" }).as_bytes())?;
                    last = fetched.body;
                }
            }
            Err(problem) if problem.kind.exit_code() == LOST => say_once(&mut lost, problem.message),
            Err(problem) => return Err(problem),
        }
        clock.sleep(WATCH_EVERY).await;
    }
    Ok(())
}

/// The exit code of what may come back by itself.
const LOST: u8 = 3;

/// Programs read standard output; what they read last is old is said beside it.
fn say_once(lost: &mut Option<String>, why: String) {
    if lost.as_ref() != Some(&why) {
        let _ = writeln!(io::stderr().lock(), "kura-console: STALE: {}", escape(&why));
        *lost = Some(why);
    }
}

/// What is not in the list any more is said beside it, for the same reason.
fn say_gone(fetched: &Fetched) {
    let Some(problem) = &fetched.gone else { return };
    let mut said = format!("kura-console: {}\n", escape(&problem.message));
    problem.hints.iter().for_each(|hint| said += &format!("  hint: {}\n", escape(hint)));
    let _ = io::stderr().lock().write_all(said.as_bytes());
}
