//! The way to run: a verb. Aimed, planned, asked back, sent once, and what came of it.

use std::time::Duration;

use super::aim::{Aim, Aimed, Deed};
use super::args::Act;
use super::friction::{Friction, friction, is_start};
use super::manner::Manner;
use super::record::{Outcome, Record};
use super::send::{Came, Errand};
use super::witness::{Given, Witness};
use super::{ask, tell};
use crate::adapters::clock::SystemClock;
use crate::adapters::local_audit::Book;
use crate::adapters::remote::basic::reading::offers_no_world;
use crate::adapters::remote::client::{Client, Failure, Sent};
use crate::adapters::remote::link::reply_of;
use crate::app::console::person;
use crate::app::shell;
use crate::app::status::Output;
use crate::control::answer;
use crate::control::link::Answer;
use crate::control::ports::Clock;
use crate::domain::ids::RolloutId;
use crate::domain::input::Verb;
use crate::domain::observed::Observed;
use crate::domain::preflight::{Check, Grade, Plan, preflight};
use crate::domain::world::World;
use crate::terminal::logfile::state_directory;
use crate::wire::plan::PlanBody;
use crate::wire::problem::{Problem, ProblemKind};
use crate::wire::reason;
use crate::wire::world::{PATH as WORLD_PATH, WorldBody};

/// How long a stop waits for its plan; then it goes without one.
const STOP_PLAN_WAIT: Duration = Duration::from_secs(3);

/// Runs it.
pub fn run(act: &Act) -> Result<(), Problem> {
    let (aim, manner) = act.parts();
    let asks = ask::can_ask() && !manner.yes && !manner.dry_run;
    let (reason, key) = (manner.reason()?, manner.key()?);
    aim.check()?;
    allowed(aim, manner, reason.is_some(), asks)?;
    let target = manner.target.resolve()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| Problem::new(ProblemKind::Internal, "runtime", format!("no threads: {e}")))?;
    let ended = runtime.block_on(async {
        let api = target.endpoint.to_string();
        let client = Client::new(target.endpoint, &target.token)?;
        let (clock, rollout) = (SystemClock::start(), target.rollout);
        let mut session = Session { client, clock, api, rollout, aim, manner, asks, reason, key };
        session.go().await
    });
    // Somebody who was asked and left may never press a key again.
    runtime.shutdown_background();
    ended
}

/// Whether it may go on at all where nobody can be asked. Stopping always may.
fn allowed(aim: &dyn Aim, manner: &Manner, has_reason: bool, asks: bool) -> Result<(), Problem> {
    if asks || manner.dry_run || aim.is_stop() {
        return Ok(());
    }
    let verb = aim.verb();
    if !manner.yes {
        let message = format!("{verb} asks back, and there is no terminal to ask on");
        return Err(Problem::new(ProblemKind::Usage, "no_terminal", message)
            .hint("look at what would follow: --dry-run")
            .hint("then give it without a question: --yes --reason TEXT"));
    }
    if !has_reason {
        let message = format!("{verb} needs a reason: it is kept with the change");
        return Err(Problem::new(ProblemKind::Usage, "no_reason", message)
            .hint("say why: --reason TEXT")
            .hint("only halt, pause ring and pause environment go without one"));
    }
    Ok(())
}

/// One run of a verb.
pub(super) struct Session<'a> {
    pub(super) client: Client,
    pub(super) clock: SystemClock,
    pub(super) api: String,
    /// What is looked at where the control plane offers no world.
    pub(super) rollout: Option<RolloutId>,
    pub(super) aim: &'a dyn Aim,
    pub(super) manner: &'a Manner,
    /// There is somebody to ask, and they want to be asked.
    pub(super) asks: bool,
    pub(super) reason: Option<String>,
    key: String,
}

/// What names can be looked up in.
enum Seen {
    /// A world.
    World(Box<WorldBody>),
    /// The control plane offers none: it may have the runbook's endpoints.
    NoneOffered,
    /// None can be read, and the verb can be given without.
    Nothing,
}

impl Session<'_> {
    /// Until it is done, or is not; asked again where the world moved and somebody can be asked.
    async fn go(&mut self) -> Result<(), Problem> {
        let mut first = None;
        loop {
            let world = match self.world().await? {
                Seen::World(world) => *world,
                Seen::NoneOffered => return self.by_the_runbook().await,
                Seen::Nothing => return self.stop_blindly().await,
            };
            let (deed, target) = self.aim.aim(&world.world)?;
            same(first.get_or_insert_with(|| target.clone()), &target)?;
            let mut record = record(self.aim.verb(), target, world.account.name.clone());
            match self.carry_out(&deed, world, &mut record).await {
                Ok(()) => return tell::document(&record, self.manner.output),
                Err(problem) if problem.kind == ProblemKind::Moved && self.asks => {
                    tell::note("this changed after the plan was made, so nothing was done:");
                    tell::aside(&tell::moved(&problem.moved));
                    self.key = self.manner.key()?;
                }
                Err(problem) => return self.failed(record, problem),
            }
        }
    }

    pub(super) fn failed(&self, mut record: Record, problem: Problem) -> Result<(), Problem> {
        if self.manner.output == Output::Text {
            tell::aside(&tell::moved(&problem.moved));
        }
        record.outcome = tell::outcome(&problem);
        record.problem = Some(problem.body());
        tell::document(&record, self.manner.output)?;
        Err(advised(problem))
    }

    async fn world(&self) -> Result<Seen, Problem> {
        match self.client.get(WORLD_PATH).await {
            Ok(world) => Ok(Seen::World(Box::new(world))),
            Err(failure) if offers_no_world(&failure) => Ok(Seen::NoneOffered),
            Err(failure) if !turns_away(&failure) && !self.manner.dry_run && self.aim.blind().is_some() => {
                tell::note(&format!("the world cannot be read: {}; going on by uuid", failure.into_problem()));
                Ok(Seen::Nothing)
            }
            Err(failure) => Err(failure.into_problem()),
        }
    }

    /// A stop of something that is named by its whole uuid, while nothing can be looked up: it is sent as it is.
    async fn stop_blindly(&mut self) -> Result<(), Problem> {
        let Some((deed, target)) = self.aim.blind() else { return Ok(()) };
        let mut record = record(self.aim.verb(), target, String::new());
        if self.asks {
            self.confirmed(Friction::Stop, &record.target).await?;
        }
        match self.send(&deed, &mut record).await {
            Ok(sent) => {
                self.finished(&mut record, &sent, "it is stopped")?;
                tell::document(&record, self.manner.output)
            }
            Err(problem) => self.failed(record, problem),
        }
    }

    /// Plans it, asks, sends it; what is known of it by then is in the record.
    async fn carry_out(&mut self, deed: &Deed, mut world: WorldBody, record: &mut Record) -> Result<(), Problem> {
        record.plan = self.plan(deed).await?;
        record.revision = record.plan.as_ref().map(|plan| plan.revision);
        if record.revision > Some(world.revision) {
            // The harm is judged by a world that is no older than the plan.
            world = if let Seen::World(newer) = self.world().await? { *newer } else { world };
        }
        if is_start(deed) {
            record.checks = Self::checks(deed, &world);
        }
        let takes = record.plan.as_ref().map_or(Friction::Stop, |plan| friction(deed, plan, &world.world));
        let headline = format!("{} {}", phrase(record.verb), record.target.told());
        self.show(&tell::plan(record, &headline, &self.api, takes == Friction::Uncap))?;
        if self.manner.dry_run {
            self.say(&tell::writes(record)?)?;
            return self.say(&tell::planned(record));
        }
        if self.asks {
            self.confirmed(takes, &record.target).await?;
        }
        let sent = self.send(deed, record).await?;
        self.finished(record, &sent, &sentence(&world.world, deed, &sent))
    }

    fn finished(&self, record: &mut Record, sent: &Sent, sentence: &str) -> Result<(), Problem> {
        record.outcome = Outcome::Done;
        (record.revision, record.replayed) = (sent.revision, sent.replayed);
        record.answer = serde_json::from_slice(&sent.body).ok();
        self.say(&tell::done(sentence, record))
    }

    /// What would follow. A stop goes without it where it does not come.
    async fn plan(&self, deed: &Deed) -> Result<Option<PlanBody>, Problem> {
        let mut call = deed.call(self.reason.as_deref());
        call.path += "?dry_run=true";
        let asked = self.client.call(&call, None, self.reason.as_deref(), None);
        if !deed.is_stop() || self.manner.dry_run {
            return read(&asked.await.map_err(Failure::into_problem)?).map(Some);
        }
        let told = tokio::select! {
            told = asked => told,
            () = self.clock.sleep(STOP_PLAN_WAIT) => return Ok(None),
        };
        match told {
            Ok(sent) => Ok(read(&sent).ok()),
            Err(Failure::Answered(problem)) if is_refusal(problem.kind) => Err(problem),
            Err(_) => Ok(None),
        }
    }

    /// Checks of the runbook before a start that did not pass, those that fail first (R167).
    fn checks(deed: &Deed, world: &WorldBody) -> Vec<Check> {
        let Deed::Verb(verb) = deed else { return Vec::new() };
        let Verb::Start { release, protected, .. } = **verb else { return Vec::new() };
        let secrets: Vec<String> = world.world.secrets.keys().cloned().collect();
        let plan = Plan { release, protected: protected.unwrap_or(false), secrets: Some(&secrets) };
        // Who ticks is told beside what is observed.
        let observed = Observed { last_tick: world.seat.last_tick, ..world.observed.clone() };
        let mut checks = preflight(&world.world, &observed, &plan, world.now);
        checks.retain(|check| check.grade != Grade::Pass);
        checks.sort_by_key(|check| std::cmp::Reverse(check.grade));
        checks
    }

    pub(super) async fn confirmed(&mut self, takes: Friction, target: &Aimed) -> Result<(), Problem> {
        if takes != Friction::Stop && self.reason.is_none() {
            self.reason = reason::checked(Some(asked(ask::reason).await?))?;
        }
        let (phrase, target) = (phrase(self.aim.verb()), target.clone());
        asked(move || ask::confirm(takes, phrase, &target)).await
    }

    async fn send(&self, deed: &Deed, record: &mut Record) -> Result<Sent, Problem> {
        let (key, reason) = (self.key.as_str(), self.reason.as_deref());
        record.key = Some(key.to_owned());
        let planned_at = record.plan.as_ref().map(|plan| plan.revision).filter(|_| !deed.is_stop());
        let (call, repeatable) = (deed.call(reason), deed.is_repeatable());
        let errand = Errand { call: &call, key, reason, planned_at, repeatable };
        let witness = self.witness(deed, record);
        self.written_before(&witness).await?;
        let came = tokio::select! {
            came = errand.send(&self.client, &self.clock, tell::note) => came,
            _ = tokio::signal::ctrl_c() => errand.interrupted(),
        };
        let sent = match came {
            Came::Done(sent) => Ok(sent),
            Came::No(problem) | Came::Unknown(problem) => Err(problem),
        };
        self.written_after(&witness, sent.as_ref().map(drop)).await;
        sent
    }

    /// Who writes it down on this machine.
    pub(super) fn witness(&self, deed: &Deed, record: &Record) -> Witness {
        let book = match self.manner.no_local_audit {
            true => Book::of_nobody(),
            false => Book::of(state_directory().as_deref()),
        };
        let (by, reason) = (person(), self.reason.as_deref());
        Witness::of(book, Given { deed, api: &self.api, by, reason }, record)
    }

    /// Shows what somebody decides by: on the terminal they are asked on, else where the outcome goes.
    pub(super) fn show(&self, text: &str) -> Result<(), Problem> {
        match self.asks {
            true => {
                tell::aside(text);
                Ok(())
            }
            false => self.say(text),
        }
    }

    /// Prints what came of it, where people read it.
    pub(super) fn say(&self, text: &str) -> Result<(), Problem> {
        if self.manner.output == Output::Text { shell::print(text.as_bytes()) } else { Ok(()) }
    }
}

/// A verb as it is said in front of the kind of thing it is done to.
pub(super) fn phrase(verb: &'static str) -> &'static str {
    match verb {
        "ring" | "environment" | "account" | "assign" | "server" => "change",
        "deploy" => "deploy to",
        "force-reapply" => "force a re-apply of",
        "strip-finalizer" => "take a finalizer off",
        verb => verb.split('-').next().unwrap_or(verb),
    }
}

/// Puts a question while an interrupt still counts as a no.
async fn asked<T: Send + 'static>(
    question: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    tokio::select! {
        answer = tokio::task::spawn_blocking(question) => answer.unwrap_or_else(|_| Err(ask::left())),
        _ = tokio::signal::ctrl_c() => {
            tell::aside("\n");
            Err(ask::left())
        }
    }
}

/// What is meant is fixed by the first look: the same name of something else is not it.
fn same(first: &Aimed, now: &Aimed) -> Result<(), Problem> {
    if first.uuid == now.uuid {
        return Ok(());
    }
    let message = format!("{} is {} by now, so nothing was done", first.told(), now.told());
    Err(Problem::new(ProblemKind::Moved, "another_thing", message).hint("look again, and give it anew"))
}

/// The control plane says no to whoever asks.
fn turns_away(failure: &Failure) -> bool {
    use ProblemKind::{Forbidden, Unauthenticated};
    matches!(failure, Failure::Answered(problem) if matches!(problem.kind, Forbidden | Unauthenticated))
}

pub(super) fn record(verb: &'static str, target: Aimed, account: String) -> Record {
    Record {
        verb,
        target,
        account,
        plan: None,
        checks: Vec::new(),
        outcome: Outcome::Planned,
        revision: None,
        key: None,
        replayed: false,
        answer: None,
        problem: None,
    }
}

/// In earnest it would be refused as well; anything else may be the plan's trouble alone.
fn is_refusal(kind: ProblemKind) -> bool {
    use ProblemKind::{Conflict, Forbidden, Invalid, Malformed, NotFound, Unauthenticated};
    matches!(kind, Conflict | Forbidden | Invalid | Malformed | NotFound | Unauthenticated)
}

fn read(sent: &Sent) -> Result<PlanBody, Problem> {
    let plan: Option<PlanBody> = serde_json::from_slice(&sent.body).ok();
    plan.filter(|plan| plan.dry_run).ok_or_else(|| {
        Problem::new(ProblemKind::Unavailable, "no_plan", "the control plane did not answer with a plan")
            .hint("its version may be older than this one's: kura-console --version, GET /api/version")
    })
}

/// What is true once it was done.
pub(super) fn sentence(world: &World, deed: &Deed, sent: &Sent) -> String {
    match deed {
        Deed::Verb(verb) => match answer::to_reply(world, verb, &reply_of(verb, sent.status)) {
            Answer::Done { sentence } => sentence,
            _ => "done".to_owned(),
        },
        Deed::SetSecret { name, .. } => format!("the secret {name} is set"),
        Deed::LeaveSeat => "the process gives the seat back".to_owned(),
    }
}

/// The same with what to type instead, before what to send instead.
fn advised(mut problem: Problem) -> Problem {
    let typed = match problem.code.as_str() {
        "would_reset" => "to begin it again: kura-console reset",
        "would_start" => "to start it as a new rollout: kura-console start RELEASE",
        "protected" => "kura-console halt stops it; kura-console start RELEASE --force supersedes it on purpose",
        "plan_moved" => "look again: --dry-run",
        _ => return problem,
    };
    problem.hints.insert(0, typed.to_owned());
    problem
}
