//! What came of a verb, as one document for programs.

use serde::Serialize;
use serde_json::Value;

use super::aim::Aimed;
use crate::domain::ids::Revision;
use crate::domain::preflight::Check;
use crate::wire::plan::PlanBody;
use crate::wire::problem::ProblemBody;

/// How far it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// A dry run: nothing was changed.
    Planned,
    /// It was done.
    Done,
    /// It was refused; nothing was done.
    Refused,
    /// What the plan names has changed since; nothing was done.
    Moved,
    /// The person did not confirm it; nothing was done.
    Left,
    /// It could not be sent; nothing was done.
    Unsent,
    /// No answer: it may have been done.
    Unknown,
}

/// One verb, from its plan to its outcome.
#[derive(Debug, Clone, Serialize)]
pub struct Record {
    /// In the words of the command line.
    pub verb: &'static str,
    /// What it is done to.
    pub target: Aimed,
    /// Whose account.
    pub account: String,
    /// What follows; null where nobody could say so, which holds up no stop.
    pub plan: Option<PlanBody>,
    /// Of a start: checks of the runbook that did not pass.
    pub checks: Vec<Check>,
    /// How far it came.
    pub outcome: Outcome,
    /// The revision of the journal it was planned at, or has come to; null where it is not known.
    pub revision: Option<Revision>,
    /// The idempotency key it was sent under; null where it was not sent.
    pub key: Option<String>,
    /// It had been done before under this key, and was not done again.
    pub replayed: bool,
    /// The thing as it is now; null where there is nothing to show.
    pub answer: Option<Value>,
    /// Why not.
    pub problem: Option<ProblemBody>,
}
