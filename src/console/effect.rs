//! What the console asks the terminal half to do. Effects are values, so tests compare them.
//!
//! An order leaves in a sealed envelope. There are two ways to make one: a stopping verb needs nothing, every other
//! verb needs an `Armed` proof, which only an armed console hands out. A missing check does not compile.

use super::arming::Armed;
use crate::domain::change::Level;
use crate::domain::ids::{EnvironmentId, MachineId, Revision, RingId, RollId, RolloutId};
use crate::domain::input::{Order, Verb};
use crate::domain::roll::verb::RollVerb;

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Give an order over the link, once. The answer comes back as `Msg::Answer` under the order's key.
    SendOrder(Box<Sealed>),
    /// Take or leave the reconciler's seat, once. The answer comes back as `Msg::Answer` under its key.
    Seat(Box<SealedSeat>),
    /// Read the last results of a machine. The answer comes back as `Msg::Results`.
    LoadResults {
        /// Of which rollout.
        rollout: RolloutId,
        /// Of which machine.
        machine: MachineId,
    },
    /// Read what people did in front of a revision. The answer comes back as `Msg::Past`.
    LoadPast {
        /// The oldest revision that is known.
        before: Revision,
    },
    /// Put this text on the clipboard of the person's terminal (OSC 52).
    Copy(String),
    /// Draw every cell again: something else wrote to the terminal.
    Redraw,
    /// Give the terminal back and stop the process until it is continued.
    Suspend,
    /// Leave.
    Quit,
}

/// The verbs that only ever stop something: always allowed, on stale data and unarmed too.
///
/// Pausing a machine is none of them: it frees a slot and so starts the next machine (R110).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Halt a rollout (R115).
    Rollout(RolloutId),
    /// Hold a ring.
    Ring(RingId),
    /// Hold an environment.
    Environment(EnvironmentId),
    /// Stop a fleet roll: no node is touched any more.
    Roll(RollId),
}

impl Stop {
    /// The verb it stands for.
    pub fn verb(self) -> Verb {
        match self {
            Self::Rollout(rollout) => Verb::Halt { rollout },
            Self::Ring(ring) => Verb::Pause(Level::Ring(ring)),
            Self::Environment(environment) => Verb::Pause(Level::Environment(environment)),
            Self::Roll(roll) => Verb::Roll(RollVerb::Abort { roll }),
        }
    }
}

/// Who orders, why, and under which idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The person.
    pub by: String,
    /// In that person's words.
    pub reason: Option<String>,
    /// One per confirmation.
    pub key: String,
}

/// An order that passed the checks its verb needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    order: Order,
    planned_at: Option<Revision>,
}

impl Sealed {
    /// Seals a stopping verb; it is never held up by what moved meanwhile.
    pub fn stop(stop: Stop, signature: Signature) -> Self {
        Self { order: order(stop.verb(), signature), planned_at: None }
    }

    /// Seals any verb with the revision of the plan that the person saw; `armed` proves that the person armed the
    /// console.
    pub fn armed(verb: Verb, planned_at: Revision, _armed: Armed, signature: Signature) -> Self {
        Self { order: order(verb, signature), planned_at: Some(planned_at) }
    }

    /// What is inside.
    pub fn order(&self) -> &Order {
        &self.order
    }

    /// The revision of its plan; none where that does not matter.
    pub fn planned_at(&self) -> Option<Revision> {
        self.planned_at
    }

    /// Opens it, to send it whatever moved meanwhile.
    pub fn into_order(self) -> Order {
        self.order
    }

    /// Opens it, to send it: the order, and the revision of its plan.
    pub fn open(self) -> (Order, Option<Revision>) {
        (self.order, self.planned_at)
    }
}

/// A wish about the seat that passed the checks it needs: leaving it is a stop, taking it is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSeat {
    take: bool,
    signature: Signature,
}

impl SealedSeat {
    /// That this console takes it; `armed` proves that the person armed the console.
    pub fn take(_armed: Armed, signature: Signature) -> Self {
        Self { take: true, signature }
    }

    /// That this console leaves it.
    pub fn leave(signature: Signature) -> Self {
        Self { take: false, signature }
    }

    /// Opens it, to send it: whether the seat is to be taken, and by whom.
    pub fn open(self) -> (bool, Signature) {
        (self.take, self.signature)
    }
}

fn order(verb: Verb, signature: Signature) -> Order {
    Order { verb, by: signature.by, reason: signature.reason, key: Some(signature.key) }
}
