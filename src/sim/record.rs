//! What an all-seeing witness notes of a simulation besides the journal: what was handed out, reported and answered.

use jiff::Timestamp;

use crate::control::door::DoorError;
use crate::control::ports::ApplyResult;
use crate::domain::ids::{MachineId, Revision};
use crate::domain::input::{Edition, Order};
use crate::domain::verdict::Reply;

/// Between which revisions of its process's world something was decided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    /// When it was asked.
    pub since: Revision,
    /// When the answer came.
    pub until: Revision,
}

/// An assignment that left the control plane, whether or not it arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handed {
    /// When.
    pub at: Timestamp,
    /// To which machine.
    pub machine: MachineId,
    /// What.
    pub edition: Edition,
    /// On which world.
    pub span: Span,
}

/// A report as an agent sent it; one that is sent again is noted again.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// What it says.
    pub result: ApplyResult,
    /// The journal's head when it went into the post.
    pub head: Revision,
}

/// An order and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// When.
    pub at: Timestamp,
    /// What was asked for.
    pub order: Order,
    /// What was answered; `Stopped` also where no process lived, or died over it.
    pub reply: Result<Reply, DoorError>,
    /// On which world.
    pub span: Span,
}

impl Answer {
    /// Why it was not carried out, as one sentence.
    pub fn complaint(&self) -> Option<String> {
        let name = self.order.verb.name();
        match &self.reply {
            Ok(Reply::Refused(refusal)) => Some(format!("{name}: {refusal}")),
            Ok(_) => None,
            Err(error) => Some(format!("{name}: {error}")),
        }
    }
}

/// Everything noted since the record was last emptied, in order.
#[derive(Debug, Default)]
pub struct Record {
    /// Assignments.
    pub handed: Vec<Handed>,
    /// Reports.
    pub told: Vec<Told>,
    /// Answers to orders.
    pub answers: Vec<Answer>,
}
