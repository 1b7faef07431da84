//! The acting part of an agent: brings what happens to the mind and does what the mind wants.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::domain::ids::MachineId;
use crate::domain::input::Edition;
use crate::domain::span::Seconds;
use crate::wire::agent::PollAnswer;
use crate::wire::problem::{Problem, ProblemKind};

use super::client::{Client, Fault};
use super::heard::{Answer, Deed, Heard, Mail, Setback};
use super::memory::{Memory, Offer, Run};
use super::mind::{Habits, Mind};
use super::process;
use super::runner::{self, Job, Leash};
use super::store::{Store, digest_of};

/// Things that were heard and wait for the mind. What talks into it is few and slow.
const HEARD_MAX: usize = 32;

/// The longest sleep; whoever wakes earlier than needed goes to sleep again.
const NAP: Duration = Duration::from_secs(3_600);

/// What an agent needs to live.
#[derive(Debug)]
pub struct Setup {
    /// To the control plane.
    pub client: Client,
    /// Its memory on disk.
    pub store: Store,
    /// What was in it.
    pub memory: Memory,
    /// How to behave.
    pub habits: Habits,
    /// Version of the image, if the machine was just reimaged (R152).
    pub rebuilt: Option<String>,
    /// For `sh -c`.
    pub command: String,
    /// Between TERM and KILL.
    pub grace: Duration,
    /// Of the dice.
    pub seed: u64,
}

/// What the control plane said, or why it did not.
#[derive(Debug)]
enum Said {
    Polled { number: u64, answer: Result<PollAnswer, Fault> },
    Posted(Result<(), Fault>),
}

struct Body<N> {
    mind: Mind,
    store: Store,
    client: Arc<Client>,
    machine: MachineId,
    command: String,
    grace: Duration,
    now: N,
    /// The memory as it is on disk.
    saved: Option<Memory>,
    /// Why the disk does not have the memory as it is.
    unsaved: Option<String>,
    leash: Option<Leash>,
    poll: Option<AbortHandle>,
    tell: mpsc::Sender<Heard>,
    say: mpsc::Sender<Said>,
    /// What the body has to tell the mind itself.
    echo: VecDeque<Heard>,
    /// The last thing that was complained about in the log.
    complaint: Option<String>,
    /// The first poll came to nothing.
    failure: Option<Problem>,
}

/// Lives until it is told to leave, or, where the habits say `once`, through one answer. `now` must never go back.
pub async fn live<N: Fn() -> Timestamp>(setup: Setup, now: N) -> Result<(), Problem> {
    let Setup { client, store, mut memory, habits, rebuilt, command, grace, seed } = setup;
    end_orphan(&memory, grace).await?;
    if let Some(version) = rebuilt.filter(|version| memory.reimage(version)) {
        tracing::info!("this machine was reimaged with {version}: what the old system proved is forgotten");
    }
    let once = habits.once;
    let machine = memory.machine;
    let mind = Mind::new(memory, habits, seed, now());
    let (tell, mut heard) = mpsc::channel(HEARD_MAX);
    let (say, mut said) = mpsc::channel(HEARD_MAX);
    tokio::spawn(hear_signals(signals()?, tell.clone()));
    let mut body = Body {
        mind,
        store,
        client: Arc::new(client),
        machine,
        command,
        grace,
        now,
        saved: None,
        unsaved: None,
        leash: None,
        poll: None,
        tell,
        say,
        echo: VecDeque::from([Heard::Woke]),
        complaint: None,
        failure: None,
    };
    loop {
        let heard = match body.echo.pop_front() {
            Some(heard) => heard,
            None => tokio::select! {
                Some(heard) = heard.recv() => heard,
                Some(said) = said.recv() => body.understand(said),
                () = tokio::time::sleep(body.nap()) => Heard::Woke,
            },
        };
        body.react(heard);
        if let Some(problem) = body.failure.take().filter(|_| once && !body.mind.is_leaving()) {
            return Err(problem);
        }
        if body.mind.may_leave() && body.echo.is_empty() {
            return body.farewell(once);
        }
    }
}

impl<N: Fn() -> Timestamp> Body<N> {
    fn nap(&self) -> Duration {
        let Some(at) = self.mind.wake_at() else { return NAP };
        Duration::try_from(at.duration_since((self.now)())).unwrap_or(Duration::ZERO).min(NAP)
    }

    /// Nothing is done that is not written down.
    fn react(&mut self, heard: Heard) {
        if matches!(heard, Heard::Ended(_) | Heard::ContentLost) {
            self.leash = None;
        }
        let deeds = self.mind.hear(heard, (self.now)());
        self.save();
        for deed in deeds {
            self.perform(deed);
        }
    }

    fn save(&mut self) {
        let memory = self.mind.memory();
        if self.saved.as_ref() == Some(memory) {
            return;
        }
        match self.store.save(memory) {
            Ok(()) => {
                self.store.sweep(&memory.digests());
                self.saved = Some(memory.clone());
                self.unsaved = None;
            }
            Err(error) => {
                let problem = Problem::from(error);
                tracing::error!("{problem}");
                self.unsaved = Some(problem.message);
            }
        }
    }

    fn perform(&mut self, deed: Deed) {
        match deed {
            Deed::Ask { number, have, wait } => self.ask(number, have, wait),
            Deed::Start(run) => self.start(run),
            Deed::LetGo => {
                let verdict = self.unsaved.clone().map_or(Ok(()), Err);
                self.leash.as_mut().into_iter().for_each(|leash| leash.let_go(verdict.clone()));
            }
            Deed::Stop => self.leash.as_mut().into_iter().for_each(Leash::stop),
            Deed::Send(mail) => self.send(mail),
            Deed::Say(words) => tracing::info!("{words}"),
        }
    }

    fn ask(&mut self, number: u64, have: Option<Edition>, wait: Seconds) {
        let (client, say) = (Arc::clone(&self.client), self.say.clone());
        let poll = tokio::spawn(async move {
            let answer = client.ask(have, wait).await;
            let _ = say.send(Said::Polled { number, answer }).await;
        });
        if let Some(given_up) = self.poll.replace(poll.abort_handle()) {
            given_up.abort();
        }
    }

    fn send(&self, mail: Mail) {
        let (client, say) = (Arc::clone(&self.client), self.say.clone());
        tokio::spawn(async move {
            let _ = say.send(Said::Posted(client.send(&mail).await)).await;
        });
    }

    fn start(&mut self, run: Run) {
        if let Some(why) = &self.unsaved {
            return self.echo.push_back(Heard::Ended(runner::not_started(why.clone())));
        }
        let Some(content) = self.store.content(&run.offer.digest) else {
            return self.echo.push_back(Heard::ContentLost);
        };
        match self.store.place_for_result() {
            Ok(result) => {
                let (command, machine, grace) = (self.command.clone(), self.machine, self.grace);
                let job = Job { command, machine, run, content, result, grace };
                self.leash = Some(runner::begin(job, self.tell.clone()));
            }
            Err(error) => {
                let why = format!("there is no place for KURA_RESULT: {error}");
                self.echo.push_back(Heard::Ended(runner::not_started(why)));
            }
        }
    }

    fn understand(&mut self, said: Said) -> Heard {
        match said {
            Said::Polled { number, answer } => match answer.and_then(|answer| self.take(answer)) {
                Ok(answer) => {
                    if self.complaint.take().is_some() {
                        tracing::info!("the control plane answers again");
                    }
                    Heard::Answer { number, answer }
                }
                Err(fault) => {
                    self.failure = Some(problem(&fault));
                    Heard::NoAnswer { number, setback: self.complain(&fault) }
                }
            },
            Said::Posted(Ok(())) => Heard::Delivered,
            Said::Posted(Err(Fault::Refused { status, said })) => Heard::Refused(format!("{said} (HTTP {status})")),
            Said::Posted(Err(fault)) => Heard::Undelivered(self.complain(&fault)),
        }
    }

    /// Puts the content into the store; the mind sees its digest only.
    fn take(&self, answer: PollAnswer) -> Result<Answer, Fault> {
        let offer = answer.assignment.map(|assignment| {
            let edition = assignment.edition();
            if !digest_of(assignment.content.as_bytes()).0.eq_ignore_ascii_case(&assignment.content_digest) {
                return Err(Fault::Broken("the content that is served does not have the digest it should".to_owned()));
            }
            let kept = self.store.keep(&assignment.content);
            let digest = kept.map_err(|error| Fault::Broken(Problem::from(error).message))?;
            Ok(Offer {
                edition,
                digest,
                timeout_seconds: assignment.timeout_seconds,
                rebuilds: Some(assignment.rebuilds),
            })
        });
        Ok(Answer { offer: offer.transpose()?, cancel: answer.cancel, poll_after: answer.poll_after_seconds })
    }

    /// The same complaint again is for those who look closely.
    fn complain(&mut self, fault: &Fault) -> Setback {
        let words = format!("{fault} ({})", fault.hint());
        if self.complaint.as_ref() == Some(&words) {
            tracing::debug!("{words}");
        } else {
            tracing::warn!("{words}; trying again");
            self.complaint = Some(words);
        }
        fault.setback()
    }

    fn farewell(&self, once: bool) -> Result<(), Problem> {
        let memory = self.mind.memory();
        if let Some(why) = &self.unsaved {
            return Err(Problem::new(ProblemKind::Internal, "state_unsaved", why.clone()));
        }
        let unsent = memory.reports.len();
        if once && unsent > 0 {
            let said = format!("{unsent} reports could not be sent; they are kept and sent by the next run");
            return Err(Problem::new(ProblemKind::Unavailable, "reports_unsent", said));
        }
        if once && self.mind.last_outcome().is_some_and(crate::domain::release::Outcome::is_failure) {
            return Err(Problem::new(ProblemKind::Invalid, "run_failed", "the run failed; its report is sent"));
        }
        tracing::info!("left; {unsent} reports wait to be sent");
        Ok(())
    }
}

/// A run of an agent that was killed may still be going on. Nobody would hear how it ends: it is stopped, and its arc
/// starts anew.
async fn end_orphan(memory: &Memory, grace: Duration) -> Result<(), Problem> {
    let Some(mark) = memory.run.as_ref().and_then(|run| run.process.as_ref()).filter(|mark| process::is_alive(mark))
    else {
        return Ok(());
    };
    tracing::warn!("the run of an agent that is gone still goes on in process group {}: stopping it", mark.pid);
    if process::end(mark, grace).await {
        return Ok(());
    }
    let said = format!("process group {} of an earlier run cannot be stopped", mark.pid);
    Err(Problem::new(ProblemKind::Conflict, "orphan", said)
        .hint("two runs at once could drain the node twice: end it by hand, then start the agent again"))
}

fn problem(fault: &Fault) -> Problem {
    let kind = match fault {
        Fault::Unreachable(_) => ProblemKind::Unreachable,
        Fault::Token(_) => ProblemKind::Usage,
        Fault::Denied { status, .. } | Fault::Refused { status, .. } => ProblemKind::of_status(*status),
        Fault::Later { .. } => ProblemKind::Unavailable,
        Fault::Broken(_) => ProblemKind::Internal,
    };
    Problem::new(kind, "no_answer", fault.to_string()).hint(fault.hint())
}

fn signals() -> Result<[tokio::signal::unix::Signal; 2], Problem> {
    let failed = |e: std::io::Error| Problem::new(ProblemKind::Internal, "signals", format!("no signals: {e}"));
    Ok([signal(SignalKind::terminate()).map_err(failed)?, signal(SignalKind::interrupt()).map_err(failed)?])
}

/// The first one asks to leave after the run in flight, every further one to stop it.
async fn hear_signals([mut terminate, mut interrupt]: [tokio::signal::unix::Signal; 2], tell: mpsc::Sender<Heard>) {
    let mut asked = false;
    loop {
        tokio::select! {
            Some(()) = terminate.recv() => {}
            Some(()) = interrupt.recv() => {}
            else => return,
        }
        let heard = if asked { Heard::LeaveNow } else { Heard::Leave };
        asked = true;
        if tell.send(heard).await.is_err() {
            return;
        }
    }
}
