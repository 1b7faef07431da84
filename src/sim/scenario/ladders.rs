//! Consoles on a ladder: what a console has of its server from afar, and what it carries on with when that is gone.

use std::future::{Future, ready};

use super::super::host::SimHost;
use super::super::renderer::SimRenderer;
use crate::control::afar;
use crate::control::embedded::{Embedded, Standby};
use crate::control::ladder::{Known, Ladder};
use crate::control::link::{Answer, Link, Pictures, SeatOrder};
use crate::control::local::LocalLink;
use crate::control::ports::ApplyResult;
use crate::control::seat::Bid;
use crate::control::service::Service;
use crate::domain::change::Entry;
use crate::domain::ids::{MachineId, Revision, RolloutId};
use crate::domain::input::Order;

/// A server, while it answers.
pub(super) type Answering = afar::Answering<SimHost, SimRenderer>;

/// A console's end of a ladder in a simulation.
pub type SimLadder = Ladder<afar::Afar<SimHost, SimRenderer>, LocalLink<SimHost>>;

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

/// The process a console is: its service leaves the seat alone until the console stands for it.
pub(super) struct Beneath {
    pub(super) service: Service<SimHost, SimRenderer>,
    pub(super) link: LocalLink<SimHost>,
    pub(super) serves_agents: bool,
}

impl Standby for Beneath {
    type Link = LocalLink<SimHost>;

    fn over(&self) -> Option<String> {
        Some("the journal main".to_owned())
    }

    fn agents(&self) -> Option<String> {
        self.serves_agents.then(|| "this console".to_owned())
    }

    fn look(&self, _: Option<Known>) -> impl Future<Output = Result<(), String>> + Send + 'static {
        ready(Ok(()))
    }

    fn open(&self, _: Option<Known>) -> impl Future<Output = Result<Embedded<Self::Link>, String>> + Send + 'static {
        let (bidding, held) = (self.service.bidding.clone(), self.service.held.clone());
        let embedded = Embedded::of(&self.service, self.link.clone());
        let embedded = embedded.closed_by(async move {
            bidding.set(Bid::Abstain);
            // Given back once nobody in this process has it.
            let _ = held.epochs().wait_for(Option::is_none).await;
        });
        ready(Ok(embedded))
    }
}
