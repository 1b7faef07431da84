//! A service in virtual time whose account has one Kura server.

use super::bed::{Bed, verb};
use super::driver::Driver;
use super::store::TestHost;
use crate::control::ports::Clock;
use crate::control::service::{Service, Settings};
use crate::domain::ids::{AccountId, ServerId};
use crate::domain::input::{Input, Order, Verb};
use crate::domain::kura::server::ServerSpec;
use crate::domain::kura::verb::KuraVerb;
use crate::domain::verdict::Reply;

/// A service whose account has one server, and what drives it.
pub(super) struct Running {
    pub(super) bed: Bed,
    pub(super) service: Service<TestHost>,
    pub(super) driver: Driver,
}

pub(super) fn server() -> ServerId {
    ServerId::named("acme-eu")
}

impl Running {
    /// It holds the seat; the first tick is nearly a minute away.
    pub(super) fn start(account: AccountId) -> Self {
        let bed = Bed::new();
        let (service, loops) = Service::new(bed.host("a"), account, Settings::default());
        let mut driver = Driver::new(&bed.clock);
        loops.into_iter().for_each(|l| driver.add(l.future));
        driver.run(2);
        let mut running = Self { bed, service, driver };
        let (tenant, region) = ("acme".to_owned(), "eu".to_owned());
        let spec = Box::new(ServerSpec::default());
        running.give(KuraVerb::ReleaseTag { tag: "0.20.0".to_owned() });
        running.give(KuraVerb::AddServer { id: server(), tenant, tenant_id: None, region, cluster_id: None, spec });
        running
    }

    pub(super) fn give(&mut self, wanted: KuraVerb) {
        let reply = self.driver.until(self.service.door.ask(verb(Verb::Kura(wanted)))).unwrap();
        assert!(!matches!(reply, Reply::Refused(_)), "{reply:?}");
    }

    pub(super) fn deploy(&mut self, force: bool) {
        self.give(KuraVerb::Deploy { server: server(), tag: "0.20.0".to_owned(), force });
    }

    pub(super) fn show(&self) {
        self.bed.store.cluster.show(self.bed.clock.now());
    }

    pub(super) fn show_as(&self, uid: &str) {
        self.bed.store.cluster.show_as(Some(uid), self.bed.clock.now());
    }

    /// Where everything is.
    pub(super) fn home(&self) -> Option<String> {
        self.service.door.world().kura.home.as_ref().map(|home| home.uid.clone())
    }

    pub(super) fn accept(&mut self, uid: &str, reason: Option<&str>) -> Reply {
        let (verb, reason) = (Verb::Kura(KuraVerb::AcceptCluster { uid: uid.to_owned() }), reason.map(str::to_owned));
        let order = Order { verb, by: "ann".to_owned(), reason, key: None };
        self.driver.until(self.service.door.ask(Input::Verb(order))).unwrap()
    }

    /// How many writes were tried.
    pub(super) fn tried(&self) -> usize {
        self.bed.store.cluster.lock().ran.len()
    }
}
