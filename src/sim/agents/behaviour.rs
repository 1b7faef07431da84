//! How a simulated agent behaves; the defaults are those of a scenario.

use crate::control::ports::FailedState;
use crate::domain::release::Outcome;
use crate::domain::span::Seconds;

/// A fixed character: the same inputs give the same polls and results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Behaviour {
    /// Between two polls; 0 = it polls when it is nudged, and only then.
    pub poll: Seconds,
    /// From the start to the first poll.
    pub first_poll: Seconds,
    /// From a nudge to the poll it causes.
    pub nudge: Seconds,
    /// From the assignment to the result.
    pub apply: Seconds,
    /// How its runs end, unless a deadline ends them first.
    pub outcome: Outcome,
    /// Assignments that end with `outcome`, after which the agent is healed and succeeds; none = it never heals.
    pub heals_after: Option<u32>,
    /// Further runs after a failed one, before it latches (R63).
    pub retries: u32,
    /// From a failed run to the next.
    pub retry: Seconds,
    /// From a success to the next anti-drift success; 0 = none (R9).
    pub drift: Seconds,
    /// What a failed run reports.
    pub failed_state: FailedState,
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            poll: Seconds(10),
            first_poll: Seconds(0),
            nudge: Seconds(0),
            apply: Seconds(600),
            outcome: Outcome::Success,
            heals_after: None,
            retries: 0,
            retry: Seconds(60),
            drift: Seconds(0),
            failed_state: FailedState {
                id: "upgrade".to_owned(),
                name: "upgrade".to_owned(),
                comment: "the command exited with 1".to_owned(),
            },
        }
    }
}
