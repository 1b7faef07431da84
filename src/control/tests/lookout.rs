//! The lookout in virtual time: soon, not often, and never in a loop with whatever stands in the way.

use super::bed::{Bed, account, verb};
use super::driver::Driver;
use super::store::TestHost;
use crate::control::ports::Clock;
use crate::control::service::{Service, Settings};
use crate::domain::ids::{AccountId, ServerId};
use crate::domain::input::Verb;
use crate::domain::kura::server::ServerSpec;
use crate::domain::kura::step::Outcome;
use crate::domain::kura::verb::KuraVerb;
use crate::domain::verdict::Reply;

/// A service whose account has one server, and what drives it.
struct Running {
    bed: Bed,
    service: Service<TestHost>,
    driver: Driver,
}

fn server() -> ServerId {
    ServerId::named("acme-eu")
}

impl Running {
    /// It holds the seat; the first tick is nearly a minute away.
    fn start(account: AccountId) -> Self {
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

    fn give(&mut self, wanted: KuraVerb) {
        let reply = self.driver.until(self.service.door.ask(verb(Verb::Kura(wanted)))).unwrap();
        assert!(!matches!(reply, Reply::Refused(_)), "{reply:?}");
    }

    fn deploy(&mut self, force: bool) {
        self.give(KuraVerb::Deploy { server: server(), tag: "0.20.0".to_owned(), force });
    }

    fn show(&self) {
        self.bed.store.cluster.show(self.bed.clock.now());
    }

    /// How many writes were tried.
    fn tried(&self) -> usize {
        self.bed.store.cluster.lock().ran.len()
    }
}

#[test]
fn what_is_seen_and_what_a_person_wants_is_acted_upon_without_waiting_for_the_tick() {
    // K26
    let mut running = Running::start(account());
    running.deploy(false);
    running.driver.run(5);
    assert_eq!(running.tried(), 0, "nothing is written to what is not seen");
    running.show();
    running.driver.run(2);
    assert_eq!(running.tried(), 1, "it is seen, and the instance is not there");

    let mut running = Running::start(account());
    running.show();
    running.driver.run(2);
    assert_eq!(running.tried(), 0, "nobody wants anything yet");
    running.deploy(false);
    running.driver.run(2);
    assert_eq!(running.tried(), 1);
}

#[test]
fn a_write_that_does_not_succeed_is_tried_again_by_the_tick_or_by_a_person_and_by_nobody_else() {
    // K24, K28
    let mut running = Running::start(account());
    running.bed.store.cluster.lock().outcome = Outcome::Failed { why: "no".to_owned() };
    running.deploy(false);
    for _ in 0..20 {
        running.show();
        running.driver.run(2);
    }
    assert_eq!(running.tried(), 1, "whatever changes meanwhile");
    running.show();
    running.driver.run(30);
    assert_eq!(running.tried(), 2, "the tick tries again");
    running.show();
    running.driver.run(2);
    assert_eq!(running.tried(), 2);
    running.deploy(true);
    running.driver.run(2);
    assert_eq!(running.tried(), 3, "a person does not wait for it");
}

#[test]
fn an_account_whose_cluster_it_is_not_neither_sees_nor_touches_it() {
    let mut running = Running::start(AccountId::named("other"));
    running.show();
    running.deploy(true);
    running.driver.run(120);
    assert_eq!(running.tried(), 0);
    assert_eq!(running.service.observer.observe().cluster, None);
}
