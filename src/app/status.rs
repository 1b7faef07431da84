//! The way to run: status. The current rollout without a screen, for people and for programs.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use super::report;
use super::target::{Target, TargetArgs};
use crate::adapters::clock::SystemClock;
use crate::adapters::remote::basic::reading::offers_no_world;
use crate::adapters::remote::basic::watch::{Reader, Wishes};
use crate::adapters::remote::client::{Client, Failure};
use crate::adapters::remote::far_clock::FarClock;
use crate::adapters::remote::link::RemoteLink;
use crate::control::link::Link;
use crate::control::picture::{Freshness, Picture};
use crate::control::ports::Clock;
use crate::domain::explain::{Subject, explain, told};
use crate::domain::glimpse::Glimpse;
use crate::domain::observed::Observed;
use crate::domain::world::World;
use crate::wire::explain::ExplanationBody;
use crate::wire::problem::{Problem, ProblemKind};
use crate::wire::roll::shown::RollBody;
use crate::wire::status::{StatusBody, status};
use crate::wire::world::{PATH as WORLD_PATH, WorldBody};

/// How often `--watch` prints at most.
const WATCH_EVERY: Duration = Duration::from_secs(1);

/// How it is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Output {
    /// For people, at 80 columns.
    #[default]
    Text,
    /// For programs: one object on a line.
    Json,
    /// For people and programs: one document.
    Yaml,
}

/// Flags.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: TargetArgs,
    /// How it is printed.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: Output,
    /// Print again whenever something changes, until it is interrupted.
    #[arg(long)]
    watch: bool,
}

/// One look at an account.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Look {
    /// Its name.
    pub account: String,
    /// Where it was looked at.
    pub api: String,
    /// What the account waits for.
    pub explain: ExplanationBody,
    /// The current rollout; null before the first one.
    pub status: Option<StatusBody>,
    /// What people call its release.
    pub git_ref: Option<String>,
    /// Who started it.
    pub started_by: Option<String>,
    /// When.
    pub started_at: Option<Timestamp>,
    /// When it was looked at, by the clock the ages are counted with.
    pub now: Timestamp,
    /// Set while nothing new arrives: why.
    pub stale: Option<String>,
    /// Fleet rolls that go on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rolls: Vec<RollBody>,
    /// Over a basic link: what is not known, one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<String>,
}

/// What one look is made of.
struct Seen<'a> {
    account: &'a str,
    api: String,
    world: &'a World,
    observed: &'a Observed,
    /// Set where the world is only sketched.
    glimpse: Option<&'a Glimpse>,
    now: Timestamp,
    stale: Option<String>,
}

/// Runs it.
pub fn run(args: Args) -> Result<(), Problem> {
    let target = args.target.resolve()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| Problem::new(ProblemKind::Internal, "runtime", format!("no threads: {e}")))?;
    runtime.block_on(async {
        let look = once(&target).await?;
        print(&look, args.output, false)?;
        if args.watch { watch(target, args.output).await } else { Ok(()) }
    })
}

async fn once(target: &Target) -> Result<Look, Problem> {
    let client = Client::new(target.endpoint.clone(), &target.token)?;
    let api = target.endpoint.to_string();
    match client.get::<WorldBody>(WORLD_PATH).await {
        Ok(body) => Ok(look(Seen {
            account: &body.account.name,
            api,
            world: &body.world,
            observed: &body.observed,
            glimpse: None,
            now: body.now,
            stale: body.journal.map(|trouble| trouble.why),
        })),
        Err(failure) if offers_no_world(&failure) => glimpse(&client, target).await,
        Err(failure) => Err(failure.into_problem()),
    }
}

/// One look at a control plane that tells only its status.
async fn glimpse(client: &Client, target: &Target) -> Result<Look, Problem> {
    let clock = SystemClock::start();
    let read = Reader::new(&Wishes::of(target.rollout)).read(client, &clock).await.map_err(Failure::into_problem)?;
    Ok(look(Seen {
        account: &read.account,
        api: target.endpoint.to_string(),
        world: &read.world,
        observed: &read.observed,
        glimpse: Some(&read.glimpse),
        now: clock.now(),
        stale: None,
    }))
}

/// Prints for ever; the reader that goes away is its end.
async fn watch(target: Target, output: Output) -> Result<(), Problem> {
    let clock = FarClock::of(SystemClock::start());
    let link = RemoteLink::start(target.endpoint, &target.token, target.rollout, clock.clone())?;
    let mut pictures = link.pictures();
    let mut last = None;
    while pictures.changed().await.is_ok() {
        let picture = pictures.borrow_and_update().clone();
        if let Some(look) = look_at(&picture, clock.now())? {
            let shown = report::text(&look);
            if last.as_ref() != Some(&shown) {
                print(&look, output, io::stdout().is_terminal())?;
                last = Some(shown);
            }
        }
        clock.sleep(WATCH_EVERY).await;
    }
    Ok(())
}

/// What a picture shows; none before there is anything to see. A refusal is the end.
fn look_at(picture: &Picture, now: Timestamp) -> Result<Option<Look>, Problem> {
    let stale = match &picture.api {
        Freshness::Connecting => return Ok(None),
        Freshness::Live(_) => None,
        Freshness::Lost { why, .. } => Some(why.clone()),
        Freshness::Refused { why, hint } => {
            return Err(Problem::new(ProblemKind::Forbidden, "refused", why.clone()).hint(hint.clone()));
        }
    };
    Ok(Some(look(Seen {
        account: &picture.account,
        api: picture.endpoint.clone(),
        world: &picture.world,
        observed: &picture.observed,
        glimpse: picture.glimpse.as_deref(),
        now,
        stale,
    })))
}

fn look(seen: Seen<'_>) -> Look {
    let Seen { account, api, world, observed, glimpse, now, stale } = seen;
    let current = world.current();
    let explained = match glimpse {
        Some(glimpse) => told(world, observed, glimpse, Subject::Rollout, now),
        None => explain(world, observed, Subject::Rollout, now),
    };
    let told_in_full = |rollout| {
        let body = status(world, observed, rollout, now, usize::MAX);
        if glimpse.is_none_or(|glimpse| glimpse.tells_times) { body } else { without_ages(body) }
    };
    Look {
        account: account.to_owned(),
        api,
        explain: explained.into(),
        status: current.map(told_in_full),
        git_ref: current.map(|rollout| world.release_name(rollout.release).to_owned()),
        started_by: current.map(|rollout| rollout.started_by.clone()),
        started_at: current.filter(|_| glimpse.is_none_or(|g| g.tells_start)).map(|rollout| rollout.started_at),
        rolls: world
            .rolls
            .rolls
            .iter()
            .filter(|roll| roll.is_live())
            .map(|roll| RollBody::of(observed, roll, now))
            .collect(),
        now,
        stale,
        lacks: glimpse.map(|glimpse| glimpse.lacks.clone()).unwrap_or_default(),
    }
}

/// Since when slots are held is not told, and this look is the first.
fn without_ages(mut body: StatusBody) -> StatusBody {
    body.machines.iter_mut().for_each(|row| row.held_since = None);
    body
}

/// One document. By way of JSON, so that both formats have the same fields.
///
/// # Errors
/// Where something in it has no place in a document: a fault of the program.
pub fn yaml(shown: &impl Serialize) -> Result<String, String> {
    let body = serde_json::to_value(shown).map_err(|error| error.to_string())?;
    let text = serde_yaml::to_string(&body).map_err(|error| error.to_string())?;
    Ok(format!("---\n{text}"))
}

/// A reader that went away, as `head` does, is no problem.
fn print(look: &Look, output: Output, clear: bool) -> Result<(), Problem> {
    let unwritable =
        |why: String| Problem::new(ProblemKind::Internal, "stdout", format!("nothing can be printed: {why}"));
    let mut text = match output {
        Output::Text => report::text(look),
        Output::Yaml => yaml(look).map_err(unwritable)?,
        Output::Json => serde_json::to_string(look).map_err(|error| unwritable(error.to_string()))? + "\n",
    };
    if clear && output == Output::Text {
        text.insert_str(0, "\x1b[H\x1b[2J");
    }
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => Err(unwritable(error.to_string())),
        Ok(()) => Ok(()),
    }
}
