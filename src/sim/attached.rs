//! A console in virtual time: what it has of its control plane from afar, and a ladder to carry on by itself over the service
//! that it is when that is gone.

use std::future::{Future, ready};

use super::host::SimHost;
use super::renderer::SimRenderer;
use crate::control::afar::{self, Afar, afar};
use crate::control::embedded::{Embedded, Standby};
use crate::control::host::Host;
use crate::control::known::Known;
use crate::control::ladder::{Ladder, Resolve, ladder};
use crate::control::link::Link;
use crate::control::local::{Introduction, LocalLink};
use crate::control::seat::Bid;
use crate::control::service::{Loop, Service};
use crate::domain::fallback::AgentRoutes;

/// A server, while it answers.
pub type Answering = afar::Answering<SimHost, SimRenderer>;

/// A console's end of a ladder in a simulation.
pub type SimLadder = Ladder<Afar<SimHost, SimRenderer>, LocalLink<SimHost>>;

/// Attaches the console that `service` is to a server. Its end, and the loops that have to run for it.
pub(super) fn attach(
    service: &Service<SimHost, SimRenderer>,
    introduction: Introduction,
    server: &Answering,
    resolve: Resolve,
) -> (SimLadder, [Loop; 3]) {
    let clock = service.host().clock().clone();
    let (link, painter) = service.link(introduction.clone());
    let first = link.pictures().borrow().clone();
    let (far, hearing) = afar(server, introduction, first, clock.clone());
    let (ladder, climbing) = ladder(far, Beneath { service: service.clone(), link }, clock, resolve);
    (ladder, [painter, Loop::new("api", hearing), Loop::new("ladder", climbing)])
}

/// The process a console is: its service leaves the seat alone until the console stands for it.
struct Beneath {
    service: Service<SimHost, SimRenderer>,
    link: LocalLink<SimHost>,
}

impl Standby for Beneath {
    type Link = LocalLink<SimHost>;

    fn over(&self) -> Option<String> {
        Some("the journal main".to_owned())
    }

    fn agents(&self) -> AgentRoutes {
        match self.service.host().serves_agents() {
            true => AgentRoutes::At("this console".to_owned()),
            false => AgentRoutes::Nowhere,
        }
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
