//! A console's end of whatever it looks at: a process of its own, or a server with a ladder behind it.

use super::super::attached::SimLadder;
use super::super::host::SimHost;
use crate::control::link::{Answer, Link, Pictures, SeatOrder};
use crate::control::local::LocalLink;
use crate::control::ports::ApplyResult;
use crate::domain::change::Entry;
use crate::domain::ids::{MachineId, Revision, RolloutId};
use crate::domain::input::Order;

/// A console's end of whatever it looks at.
#[derive(Clone)]
pub enum ConsoleLink {
    /// A process of its own, or the one it is beside.
    Local(LocalLink<SimHost>),
    /// A server, with a ladder behind it.
    Attached(SimLadder),
}

/// The same for whichever it is.
macro_rules! each {
    ($link:expr, $one:ident => $answer:expr) => {
        match $link {
            Self::Local($one) => $answer,
            Self::Attached($one) => $answer,
        }
    };
}

impl Link for ConsoleLink {
    fn pictures(&self) -> Pictures {
        each!(self, link => link.pictures())
    }

    async fn order(&self, order: Order, planned_at: Option<Revision>) -> Answer {
        each!(self, link => link.order(order, planned_at).await)
    }

    async fn seat(&self, order: SeatOrder) -> Answer {
        each!(self, link => link.seat(order).await)
    }

    async fn results(&self, rollout: RolloutId, machine: MachineId) -> Result<Vec<ApplyResult>, String> {
        each!(self, link => link.results(rollout, machine).await)
    }

    async fn past(&self, before: Revision) -> Result<Vec<Entry>, String> {
        each!(self, link => link.past(before).await)
    }
}
