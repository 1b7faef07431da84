//! A verb on its way: sent under a key, and asked after under the same key where the answer was lost.

use std::time::Duration;

use crate::adapters::clock::SystemClock;
use crate::adapters::remote::client::{Client, Failure, Sent};
use crate::control::ports::Clock;
use crate::domain::ids::Revision;
use crate::wire::call::{Call, UNKNOWN_OUTCOME};
use crate::wire::problem::{Problem, ProblemKind};

/// Before each time it is asked what became of a verb, in milliseconds; half a minute in all.
const CHECKS: [u64; 8] = [100, 400, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000];

/// Code of an answer that came from something else than a control plane.
const FOREIGN: &str = "foreign_answer";

/// One request with the key it is known by.
#[derive(Debug)]
pub struct Errand<'a> {
    /// What is asked for.
    pub call: &'a Call,
    /// Under which key; the same every time.
    pub key: &'a str,
    /// Why; the body of most requests has it too.
    pub reason: Option<&'a str>,
    /// The revision of the plan it relies on.
    pub planned_at: Option<Revision>,
    /// The control plane knows it again by its key.
    pub repeatable: bool,
}

/// What came of it.
#[derive(Debug)]
pub enum Came {
    /// It was done, by this request or an earlier one under the same key.
    Done(Sent),
    /// It was not done.
    No(Problem),
    /// Nobody knows.
    Unknown(Problem),
}

impl Errand<'_> {
    /// Sends it. `tell` says what goes on where it takes longer.
    pub async fn send(&self, client: &Client, clock: &SystemClock, tell: impl Fn(&str)) -> Came {
        let mut why = match self.once(client).await {
            Ok(sent) => return Came::Done(sent),
            Err(failure) if !may_be_done(&failure) => return Came::No(failure.into_problem()),
            Err(failure) => failure.into_problem(),
        };
        if !self.repeatable {
            return Came::Unknown(self.unknown(&why));
        }
        tell(&format!("unknown whether it was done: {why}; checking"));
        for pause in CHECKS {
            clock.sleep(Duration::from_millis(pause)).await;
            match self.once(client).await {
                Ok(sent) => {
                    tell(if sent.replayed { "the journal says: it was done" } else { "it had not arrived: done now" });
                    return Came::Done(sent);
                }
                Err(failure) if settles(&failure) => return Came::No(failure.into_problem()),
                Err(failure) => why = failure.into_problem(),
            }
        }
        Came::Unknown(self.unknown(&why))
    }

    /// What is known where nobody waits for the answer any more.
    pub fn interrupted(&self) -> Came {
        Came::Unknown(self.unknown(&Problem::new(ProblemKind::Unavailable, UNKNOWN_OUTCOME, "it was interrupted")))
    }

    async fn once(&self, client: &Client) -> Result<Sent, Failure> {
        client.call(self.call, Some(self.key), self.reason, self.planned_at).await
    }

    fn unknown(&self, why: &Problem) -> Problem {
        let message = format!("unknown whether it was done: {why}");
        let problem = Problem::new(ProblemKind::Unavailable, UNKNOWN_OUTCOME, message);
        match self.repeatable {
            true => problem
                .hint(format!("repeat it with --key {}: under that key it is never done twice", self.key))
                .hint("kura-console audit show says what was done"),
            false => problem.hint("GET /api/seat says who holds the seat now"),
        }
    }
}

/// Whether the first request may have been carried out although it failed.
pub(super) fn may_be_done(failure: &Failure) -> bool {
    match failure {
        Failure::Unsent(_) => false,
        Failure::Lost(_) => true,
        Failure::Answered(problem) => problem.kind == ProblemKind::Internal || problem.code == UNKNOWN_OUTCOME,
    }
}

/// Whether a later answer under the same key says for certain that no request was carried out: one that was is answered
/// with what came of it, before anything else is looked at but the token.
fn settles(failure: &Failure) -> bool {
    let Failure::Answered(problem) = failure else { return false };
    let about_the_asker = matches!(
        problem.kind,
        ProblemKind::Unauthenticated | ProblemKind::Forbidden | ProblemKind::TooMany | ProblemKind::Unavailable
    );
    problem.code != FOREIGN && problem.kind != ProblemKind::Internal && !about_the_asker
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(kind: ProblemKind, code: &str) -> Failure {
        Failure::Answered(Problem::new(kind, code, "why"))
    }

    #[test]
    fn what_may_have_been_done_is_never_called_undone() {
        let lost = Problem::new(ProblemKind::Unreachable, "unreachable", "why");
        assert!(may_be_done(&Failure::Lost(lost.clone())));
        assert!(may_be_done(&answered(ProblemKind::Internal, "bug")));
        assert!(may_be_done(&answered(ProblemKind::Unavailable, UNKNOWN_OUTCOME)));
        assert!(!may_be_done(&Failure::Unsent(lost)));
        assert!(!may_be_done(&answered(ProblemKind::Unavailable, "busy")));
        assert!(!may_be_done(&answered(ProblemKind::Moved, "moved")));
    }

    #[test]
    fn only_the_control_plane_itself_settles_what_became_of_it() {
        assert!(settles(&answered(ProblemKind::Moved, "moved")));
        assert!(settles(&answered(ProblemKind::Conflict, "not_running")));
        for kind in [ProblemKind::Forbidden, ProblemKind::Unauthenticated, ProblemKind::TooMany, ProblemKind::Internal]
        {
            assert!(!settles(&answered(kind, "x")), "{kind:?}");
        }
        assert!(!settles(&answered(ProblemKind::NotFound, FOREIGN)), "a proxy knows nothing");
        assert!(!settles(&Failure::Unsent(Problem::new(ProblemKind::Unreachable, "unreachable", "why"))));
    }
}
