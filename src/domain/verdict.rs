//! What the core answers: facts to keep, steps to take and a reply. Deciding cannot fail; a refusal is an answer.

use super::change::Change;
use super::ids::{DeploymentId, EnvironmentId, Epoch, MachineId, ReleaseId, RingId, RollId, RolloutId, ServerId};
use super::input::Edition;
use super::kura::step::Step;
use super::refusal::Refusal;
use super::release::Digest;
use super::span::Seconds;

/// The decision on one input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Facts to append, in order, all or none.
    pub changes: Vec<Change>,
    /// Writes to the cluster, to be carried out in order once the facts are kept.
    pub steps: Vec<Step>,
    /// For whoever asked.
    pub reply: Reply,
}

impl Verdict {
    /// Nothing follows but a reply.
    pub fn saying(reply: Reply) -> Self {
        Self { changes: Vec::new(), steps: Vec::new(), reply }
    }
}

/// What is served to a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// What it is known by.
    pub edition: Edition,
    /// Deadline of one apply; 0 = none (R4).
    pub timeout_seconds: Seconds,
    /// Where the Vault keeps the content.
    pub content: Digest,
    /// How often the machine was reimaged until now; it goes back with the report (R153).
    pub rebuilds: u32,
}

/// The answer to an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Nothing to say.
    Done,
    /// To a poll.
    Assignment {
        /// What to converge on; none = nothing is served now.
        assignment: Option<Assignment>,
        /// The run in flight was withdrawn: stop it.
        cancel: bool,
    },
    /// To a poll whose rendering was outrun by a start: render again, ask again.
    RenderAgain,
    /// A new environment.
    Environment(EnvironmentId),
    /// A new ring.
    Ring(RingId),
    /// A new machine.
    Machine(MachineId),
    /// A new release.
    Release(ReleaseId),
    /// A new rollout (R99: 201).
    Started(RolloutId),
    /// The running rollout, reset in place (R99: 200).
    Reset(RolloutId),
    /// The seat is taken.
    Seated(Epoch),
    /// A new Kura server.
    Server(ServerId),
    /// A new deployment of a Kura server.
    Deployment(ServerId, DeploymentId),
    /// A new fleet roll.
    Roll(RollId),
    /// No, with the reason and what to do instead.
    Refused(Refusal),
}
