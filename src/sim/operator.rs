//! People of a simulation: their names, and the orders they give.

use crate::domain::change::Level;
use crate::domain::ids::{ReleaseId, RolloutId};
use crate::domain::input::{Intent, Order, Verb};

/// A person, or a program that acts for one.
#[derive(Debug, Clone, Copy)]
pub struct Operator(pub &'static str);

impl Operator {
    /// Any verb, with a reason in this person's words; an empty one is none.
    pub fn gives(self, verb: Verb, reason: &str) -> Order {
        let reason = (!reason.is_empty()).then(|| reason.to_owned());
        Order { verb, by: self.0.to_owned(), reason, key: None }
    }

    /// Starts a release as a protected rollout (R103).
    pub fn starts(self, rollout: RolloutId, release: ReleaseId, reason: &str) -> Order {
        let (protected, intent) = (Some(true), Some(Intent::Start));
        self.gives(Verb::Start { id: rollout, release, protected, force: false, intent }, reason)
    }

    /// Supersedes whatever runs.
    pub fn forces(self, rollout: RolloutId, release: ReleaseId, reason: &str) -> Order {
        let (protected, intent) = (Some(false), Some(Intent::Start));
        self.gives(Verb::Start { id: rollout, release, protected, force: true, intent }, reason)
    }

    /// Resets the rollout that runs `release` (R93).
    pub fn resets(self, release: ReleaseId, reason: &str) -> Order {
        let (id, intent) = (RolloutId(uuid::Uuid::nil()), Some(Intent::Reset));
        self.gives(Verb::Start { id, release, protected: None, force: false, intent }, reason)
    }

    /// Holds or skips (B12).
    pub fn pauses(self, what: Level, reason: &str) -> Order {
        self.gives(Verb::Pause(what), reason)
    }

    /// Ends a hold or a skip.
    pub fn unpauses(self, what: Level, reason: &str) -> Order {
        self.gives(Verb::Unpause(what), reason)
    }
}
