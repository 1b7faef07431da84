//! What the loop says when it did not do what was asked, as problems.

use super::call::UNKNOWN_OUTCOME;
use super::plan::MovedBody;
use super::problem::{ARCHIVED, CLOCK_AHEAD, Problem, ProblemKind};
use crate::control::desk::DeskError;
use crate::control::door::{AHEAD_HINTS, DoorError};
use crate::control::past::reading::PastError;
use crate::control::ports::JournalError;
use crate::control::trouble::sentence;
use crate::domain::refusal::Refusal;

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        Self::from(&refusal)
    }
}

impl From<DoorError> for Problem {
    fn from(error: DoorError) -> Self {
        let code = match &error {
            DoorError::Moved(stale) => {
                let problem = Self::new(ProblemKind::Moved, "plan_moved", error.to_string());
                let problem = problem.field("if-match").hint("look at its plan again: send it with ?dry_run=true");
                return Self { moved: stale.moved.iter().map(MovedBody::from).collect(), ..problem };
            }
            DoorError::KeyReused => {
                let problem = Self::new(ProblemKind::Malformed, "key_reused", error.to_string());
                return problem.hint("send every order under a key of its own");
            }
            DoorError::Ahead(_) => {
                let problem = Self::new(ProblemKind::Unavailable, CLOCK_AHEAD, error.to_string());
                return AHEAD_HINTS.iter().fold(problem, |problem, hint| problem.hint(*hint));
            }
            DoorError::Busy => "busy",
            DoorError::Journal(_) => "journal",
            DoorError::Unknown(_) => UNKNOWN_OUTCOME,
            DoorError::Deposed => "deposed",
            DoorError::Stopped => "stopping",
        };
        Self::new(ProblemKind::Unavailable, code, error.to_string())
    }
}

impl From<DeskError> for Problem {
    fn from(error: DeskError) -> Self {
        let unavailable = |code| Self::new(ProblemKind::Unavailable, code, error.to_string());
        match error {
            DeskError::Refused(refusal) => refusal.into(),
            DeskError::Door(error) => error.into(),
            DeskError::Outrun => unavailable("outrun"),
            DeskError::Vault(_) => unavailable("vault"),
            DeskError::Gone(_) => Self::new(ProblemKind::Internal, "content_gone", error.to_string())
                .hint("build the release again and start it: this one cannot be served any more"),
        }
    }
}

impl From<JournalError> for Problem {
    fn from(error: JournalError) -> Self {
        Self::new(ProblemKind::Unavailable, "store", sentence(&error))
    }
}

impl From<PastError> for Problem {
    fn from(error: PastError) -> Self {
        let message = error.to_string();
        match error {
            PastError::Journal(error) => Self::from(error),
            PastError::Archived { oldest, .. } => Self::new(ProblemKind::Gone, ARCHIVED, message)
                .hint(format!(
                    "entries before revision {oldest} went with a compaction; kura-console journal export keeps them"
                ))
                .hint("who began what is kept all the same: kura-console audit show"),
            PastError::TooFar { .. } => Self::new(ProblemKind::Gone, "too_far", message)
                .hint("kura-console journal export prints every entry there is"),
        }
    }
}

impl Problem {
    /// The same; a 503 that does not say itself what to do says it by its code.
    #[must_use]
    pub fn advised(self) -> Self {
        if self.kind != ProblemKind::Unavailable || !self.hints.is_empty() {
            return self;
        }
        let hint = match self.code.as_str() {
            UNKNOWN_OUTCOME => "look whether it was done, or send it again under the same idempotency key",
            "journal" | "store" | "vault" => {
                "the log of the control plane says more; GET /readyz tells when it is back"
            }
            _ => "try again in a moment",
        };
        self.hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_told_to_come_again_has_a_reason_to() {
        let come_again = |code: &str| Problem::new(ProblemKind::Unavailable, code, "no").retry_after();
        assert_eq!((come_again("busy"), come_again(CLOCK_AHEAD)), (Some(1), None), "a clock is set right by a person");
    }
}
