//! What a console of a test carries on with, and what a test makes of it.

use std::future::{Future, pending};
use std::sync::{Arc, Mutex};

use super::store::TestHost;
use crate::control::embedded::{Embedded, Standby};
use crate::control::known::Known;
use crate::control::local::LocalLink;
use crate::control::seat::Bid;
use crate::control::service::Service;
use crate::domain::fallback::AgentRoutes;

/// What a console carries on with: a service that leaves the seat alone.
#[derive(Clone)]
pub(super) struct Beneath {
    pub(super) service: Service<TestHost>,
    pub(super) link: LocalLink<TestHost>,
    pub(super) told: Arc<Mutex<Told>>,
}

/// What was asked of it, and what it says.
#[derive(Default)]
pub(super) struct Told {
    /// What was known each time the journal was opened.
    pub(super) opened: Vec<Option<Known>>,
    pub(super) closed: usize,
    /// Why it cannot be read.
    pub(super) trouble: Option<String>,
    pub(super) is_unnamed: bool,
    /// Nobody hears whether it could be read.
    pub(super) is_slow: bool,
}

impl Standby for Beneath {
    type Link = LocalLink<TestHost>;

    fn over(&self) -> Option<String> {
        (!self.told.lock().unwrap().is_unnamed).then(|| "the journal".to_owned())
    }

    fn agents(&self) -> AgentRoutes {
        AgentRoutes::Nowhere
    }

    fn look(&self, _: Option<Known>) -> impl Future<Output = Result<(), String>> + Send + 'static {
        let (is_slow, trouble) = {
            let told = self.told.lock().unwrap();
            (told.is_slow, told.trouble.clone())
        };
        async move { if is_slow { pending().await } else { trouble.map_or(Ok(()), Err) } }
    }

    fn open(
        &self,
        known: Option<Known>,
    ) -> impl Future<Output = Result<Embedded<Self::Link>, String>> + Send + 'static {
        let mut told = self.told.lock().unwrap();
        told.opened.push(known);
        let (bidding, held, told_later) =
            (self.service.bidding.clone(), self.service.held.clone(), Arc::clone(&self.told));
        let close = async move {
            bidding.set(Bid::Abstain);
            let _ = held.epochs().wait_for(Option::is_none).await;
            told_later.lock().unwrap().closed += 1;
        };
        let embedded = Embedded::of(&self.service, self.link.clone());
        let embedded = embedded.ordered_by(Some("ann".to_owned())).closed_by(close);
        let opened = match &told.trouble {
            Some(why) => Err(why.clone()),
            None => Ok(embedded),
        };
        async move { opened }
    }
}
