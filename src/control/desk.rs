//! The agents' desk: polls that are held until there is news, reports that are decided first and filed second.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::contents::Contents;
use super::door::{Door, DoorError};
use super::host::Host;
use super::nudges::Nudges;
use super::ports::{ApplyResult, Clock, Presence, Results};
use super::render::Renderer;
use super::render::rendering::Rendering;
use super::stop::Stop;
use super::time::{later, until};
use super::trouble::sentence;
use crate::domain::ids::{AccountId, MachineId, ReleaseId};
use crate::domain::input::{Edition, Input, Poll, Rendered, Report};
use crate::domain::observed::POLL_AFTER;
use crate::domain::refusal::Refusal;
use crate::domain::release::Digest;
use crate::domain::span::Seconds;
use crate::domain::verdict::{Assignment, Reply};

/// Longest time a poll is held.
pub const HELD_AT_MOST: Duration = Duration::from_secs(30);

/// How often a poll is rendered anew because starts kept outrunning it.
pub const RENDERED_AT_MOST: usize = 8;

/// When an agent is asked to come again after an answer that was news: soon, to hear of a cancel.
pub const POLL_AFTER_NEWS: Seconds = Seconds(1);

/// Why an agent got no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeskError {
    /// The core says no: the machine is not known.
    #[error("{0}")]
    Refused(Refusal),
    /// The core was not asked, or its answer is not known.
    #[error(transparent)]
    Door(#[from] DoorError),
    /// The release was started again and again while this poll was being rendered.
    #[error("rollouts are started faster than they can be rendered, ask again")]
    Outrun,
    /// The Vault does not answer.
    #[error("the content cannot be read: {0}")]
    Vault(String),
    /// The Vault never had it, or lost it.
    #[error("content {0} is not in the vault")]
    Gone(Digest),
}

/// What a machine is to converge on, content included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handout {
    /// What it is known by.
    pub edition: Edition,
    /// Deadline of one apply; 0 = none (R4).
    pub timeout_seconds: Seconds,
    /// SHA-256 of the content.
    pub digest: Digest,
    /// The content.
    pub content: Arc<[u8]>,
    /// How often the machine was reimaged until now (R153).
    pub rebuilds: u32,
}

/// The answer to a poll.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PollAnswer {
    /// None = nothing is served now.
    pub assignment: Option<Handout>,
    /// The run in flight was withdrawn: stop it.
    pub cancel: bool,
    /// How long to wait before the next poll; 0 = none, this one was held long enough.
    pub poll_after: Seconds,
}

/// Where the agents of one account ask and answer. Cheap to clone.
pub struct Desk<H, R = Rendering<H>> {
    pub(super) host: Arc<H>,
    pub(super) account: AccountId,
    pub(super) door: Door,
    pub(super) nudges: Nudges,
    pub(super) renderer: Arc<R>,
    pub(super) contents: Contents,
    pub(super) stop: Stop,
    /// Once it is asked no poll is held any more, while everything else goes on.
    pub let_go: Stop,
}

impl<H, R> Clone for Desk<H, R> {
    fn clone(&self) -> Self {
        Self {
            host: Arc::clone(&self.host),
            account: self.account,
            door: self.door.clone(),
            nudges: self.nudges.clone(),
            renderer: Arc::clone(&self.renderer),
            contents: self.contents.clone(),
            stop: self.stop.clone(),
            let_go: self.let_go.clone(),
        }
    }
}

/// What the core answered to a poll.
struct Served {
    assignment: Option<Assignment>,
    cancel: bool,
}

impl<H: Host, R: Renderer> Desk<H, R> {
    /// A poll: a sign of life, and the moment a lease is granted (R18). Held until the answer differs from `have`, at
    /// most `wait` and `HELD_AT_MOST`; zero is answered at once.
    pub async fn poll(
        &self,
        machine: MachineId,
        have: Option<Edition>,
        wait: Duration,
    ) -> Result<PollAnswer, DeskError> {
        let began = self.steady();
        let end = later(began, wait.min(HELD_AT_MOST));
        // Enlisted before it asks, so that no nudge falls between the two.
        let mut held = self.nudges.enlist(machine);
        self.see(machine);
        loop {
            let served = self.ask(machine, have).await?;
            if served.is_news(have) {
                return self.hand_out(served, POLL_AFTER_NEWS).await;
            }
            let now = self.steady();
            let (Some(held), true) = (&mut held, now < end) else {
                return self.hand_out(served, rest_of_pause(began, now)).await;
            };
            tokio::select! {
                biased;
                () = self.stop.asked() => return self.hand_out(served, rest_of_pause(began, self.steady())).await,
                () = self.let_go.asked() => return self.hand_out(served, rest_of_pause(began, self.steady())).await,
                () = held.nudged() => {}
                () = self.host.clock().sleep(until(end, now)) => {
                    return self.hand_out(served, rest_of_pause(began, self.steady())).await;
                }
            }
        }
    }

    /// An agent says how a run ended. Decided first and filed second: an outage of the results store loses a row of
    /// telemetry, never a decision (R145). Refused where the machine is not known.
    pub async fn report(&self, result: ApplyResult) -> Result<Reply, DeskError> {
        let mut result = self.renderer.conceal(&self.door.world(), result).await;
        result.received_at = self.now();
        self.see(result.machine);
        let report = Report {
            machine: result.machine,
            edition: Edition { release: result.release, generation: result.generation },
            outcome: result.outcome,
            failed_state: result.failed_states.first().map(|state| state.id.clone()),
            run: Some(result.started_at),
            rebuilds: result.rebuilds,
        };
        let reply = self.decided(Input::Report(report)).await?;
        if let Err(error) = self.host.results().file(self.account, result).await {
            tracing::warn!(account = %self.account, why = %sentence(&error), "a result could not be filed");
        }
        Ok(reply)
    }

    /// An agent says that its machine was reimaged (R152).
    pub async fn rebuilt(&self, machine: MachineId, version: Option<String>) -> Result<Reply, DeskError> {
        self.see(machine);
        self.decided(Input::Rebuilt { machine, version }).await
    }

    fn now(&self) -> Timestamp {
        self.host.clock().now()
    }

    /// What waits are measured by: nobody is held longer because a clock was set (R168).
    fn steady(&self) -> Timestamp {
        self.host.clock().steady()
    }

    /// A sign of life, of machines that are known only: strangers must not fill the memory. It is judged by the time
    /// of decisions, so it bears that (R168).
    fn see(&self, machine: MachineId) {
        let world = self.door.world();
        if world.machines.contains_key(&machine) {
            self.host.presence().saw(self.account, machine, self.now().max(world.at));
        }
    }

    async fn decided(&self, input: Input) -> Result<Reply, DeskError> {
        match self.door.ask(input).await? {
            Reply::Refused(refusal) => Err(DeskError::Refused(refusal)),
            reply => Ok(reply),
        }
    }

    /// Renders and asks, again for as long as a start gets between the two.
    async fn ask(&self, machine: MachineId, have: Option<Edition>) -> Result<Served, DeskError> {
        for _ in 0..RENDERED_AT_MOST {
            let (release, rendered) = self.render(machine).await;
            let poll = Poll { machine, have, rendered, release };
            match self.decided(Input::Poll(poll)).await? {
                Reply::RenderAgain => {}
                Reply::Assignment { assignment, cancel } => return Ok(Served { assignment, cancel }),
                _ => return Ok(Served { assignment: None, cancel: false }),
            }
        }
        Err(DeskError::Outrun)
    }

    /// What the running release is for this machine, in the newest world.
    async fn render(&self, machine: MachineId) -> (Option<ReleaseId>, Rendered) {
        let world = self.door.world();
        let release = world.running().and_then(|rollout| world.releases.get(&rollout.release));
        match release {
            None => (None, Rendered::Nothing),
            Some(release) => (Some(release.id), self.renderer.render(&world, release, machine).await),
        }
    }

    async fn hand_out(&self, served: Served, poll_after: Seconds) -> Result<PollAnswer, DeskError> {
        let Served { assignment, cancel } = served;
        let assignment = match assignment {
            None => None,
            Some(Assignment { edition, timeout_seconds, content, rebuilds }) => Some(Handout {
                edition,
                timeout_seconds,
                content: self.contents.fetch(self.host.vault(), &content).await?,
                digest: content,
                rebuilds,
            }),
        };
        Ok(PollAnswer { assignment, cancel, poll_after })
    }
}

impl Served {
    /// True where the agent must be told now. That nothing is served is no news to an agent that runs nothing.
    fn is_news(&self, have: Option<Edition>) -> bool {
        match &self.assignment {
            Some(assignment) => self.cancel || have != Some(assignment.edition),
            None => self.cancel,
        }
    }
}

/// What is left of the pause between two polls that changed nothing.
fn rest_of_pause(began: Timestamp, now: Timestamp) -> Seconds {
    Seconds(POLL_AFTER.0.saturating_sub(Seconds::between(began, now).0))
}
