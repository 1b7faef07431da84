//! What reaches the mind of an agent, and what it wants done.

use crate::domain::input::Edition;
use crate::domain::span::Seconds;
use crate::wire::agent::{FailedStateBody, RebuiltBody, ReportBody};

use super::memory::{Offer, ProcessMark, Run};

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// Nothing but time passed.
    Woke,
    /// The control plane answered a poll.
    Answer {
        /// Which; answers to polls that were given up mean nothing.
        number: u64,
        /// What.
        answer: Answer,
    },
    /// A poll came to nothing.
    NoAnswer {
        /// Which.
        number: u64,
        /// Why.
        setback: Setback,
    },
    /// What was sent last is acknowledged.
    Delivered,
    /// What was sent last is refused for good.
    Refused(String),
    /// What was sent last did not arrive.
    Undelivered(Setback),
    /// The run in flight has a process group, which waits to be let go.
    Spawned(ProcessMark),
    /// The run in flight is over.
    Ended(Ending),
    /// The run in flight could not begin: its content is gone or damaged.
    ContentLost,
    /// Finish what is going on, then leave.
    Leave,
    /// Stop what is going on and leave.
    LeaveNow,
}

/// The answer to a poll. Its content is in the store already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What to converge on; none = nothing is served now.
    pub offer: Option<Offer>,
    /// The run in flight was withdrawn.
    pub cancel: bool,
    /// When to ask again if the control plane does not hold polls.
    pub poll_after: Seconds,
}

/// Why a request came to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setback {
    /// No connection, no sense, or a failure over there.
    Away,
    /// The token or the request is not accepted: a person has to do something.
    Denied,
    /// It said how long to wait.
    Wait(Seconds),
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// Of the command.
    pub exit: Exit,
    /// As the command says.
    pub changed_count: u64,
    /// As the command says.
    pub failed_states: Vec<FailedStateBody>,
    /// The end of what it wrote.
    pub log_tail: String,
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// By itself.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// It never began.
    NotStarted(String),
}

/// Something to do. Whatever the memory says is on disk before the first of them is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// Poll; a poll in flight is given up.
    Ask {
        /// Goes back with the answer.
        number: u64,
        /// What the machine has.
        have: Option<Edition>,
        /// How long the control plane may hold it.
        wait: Seconds,
    },
    /// Prepare this run and report its process group.
    Start(Run),
    /// Let the prepared run go.
    LetGo,
    /// End the run in flight, gently, then by force.
    Stop,
    /// Send this; there is one in flight at most.
    Send(Mail),
    /// Tell the log.
    Say(String),
}

/// What an agent sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mail {
    /// How a run ended.
    Report(ReportBody),
    /// The machine was reimaged.
    Rebuilt(RebuiltBody),
}
