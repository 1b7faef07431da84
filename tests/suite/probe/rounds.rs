//! Endpoints looked at again and again: those of servers, while they stay, as a host of the control plane would have it.

use std::time::Duration;

use jiff::Timestamp;
use kura_console::adapters::clock::SystemClock;
use kura_console::adapters::probe::handshake::Trust;
use kura_console::adapters::probe::names::Names;
use kura_console::adapters::probe::probing::Probing;
use kura_console::adapters::probe::reach::Reach;
use kura_console::control::ports::{Clock, Cluster};
use kura_console::domain::ids::ServerId;
use kura_console::domain::kura::deployment::Deployment;
use kura_console::domain::kura::estate::Estate;
use kura_console::domain::kura::server::{Server, ServerStatus};
use kura_console::domain::kura::sight::Sight;
use kura_console::domain::kura::step::{Outcome, Step};
use kura_console::domain::kura::traffic::Up;
use uuid::Uuid;

use super::endpoint::{Endpoint, Manner};
use super::papers::Authority;
use super::resolver::Resolver;

/// How long something may take to be seen, on a machine that builds at the same time.
const SEEN_WITHIN: Duration = Duration::from_secs(60);

/// A clock that runs faster than all others.
#[derive(Debug, Clone, Copy)]
struct Fast {
    clock: SystemClock,
    start: Timestamp,
}

impl Fast {
    const FACTOR: u32 = 50;

    fn start() -> Self {
        let clock = SystemClock::start();
        Self { clock, start: clock.now() }
    }
}

impl Clock for Fast {
    fn now(&self) -> Timestamp {
        self.start + self.clock.now().duration_since(self.start) * i32::try_from(Self::FACTOR).expect("a factor")
    }

    async fn sleep(&self, span: Duration) {
        self.clock.sleep(span / Self::FACTOR).await;
    }
}

/// A cluster with nothing in it.
#[derive(Clone)]
struct Bare;

impl Cluster for Bare {
    fn sight(&self) -> Option<Sight> {
        Some(Sight::default())
    }

    async fn run(&self, _: &Step) -> Outcome {
        Outcome::Done
    }
}

fn server(n: u128, host: &str, status: ServerStatus) -> Server {
    let at = Timestamp::UNIX_EPOCH;
    let mut server = Server::new(ServerId(Uuid::from_u128(n)), "acme", &format!("r{n}"), at);
    server.spec_mut().public_host = Some(host.to_owned());
    server.status = status;
    let row = Deployment::pending(server.next_deployment(), "0.20.0", "scheduler", at);
    server.deployments.push_back(row);
    server
}

fn estate(servers: impl IntoIterator<Item = Server>) -> Estate {
    Estate { servers: servers.into_iter().map(|server| (server.id, server)).collect(), ..Estate::default() }
}

async fn until(probing: &mut Probing<Bare>, what: &str, holds: impl Fn(&Sight) -> bool) -> Sight {
    let seen = tokio::time::timeout(SEEN_WITHIN, async {
        loop {
            let sight = probing.sight().expect("a cluster");
            if holds(&sight) {
                return sight;
            }
            probing.probed().await;
        }
    });
    seen.await.unwrap_or_else(|_| panic!("not seen within {SEEN_WITHIN:?}: {what}"))
}

#[tokio::test]
async fn endpoints_of_servers_are_looked_at_while_the_servers_stay() {
    // K29, K32
    let (resolver, authority) = (Resolver::start().await, Authority::make("known"));
    let (good, leaving) = ("good.kura.example", "leaving.kura.example");
    resolver.lead_here(good);
    resolver.lead_here(leaving);
    let endpoint = Endpoint::start(Some(authority.certify(good, false)), Manner::Status(200)).await;
    let reach = Reach {
        names: Names::at(&[resolver.address]).expect("a resolver"),
        trust: Trust::in_roots(authority.roots()).expect("an authority"),
        port: endpoint.port,
    };
    let mut probing = Probing::start(Bare, reach, Fast::start());
    assert!(probing.sight().expect("a cluster").endpoints.is_empty(), "nobody asked for anything yet");

    probing.attend(&estate([server(1, good, ServerStatus::Active), server(2, leaving, ServerStatus::Destroying)]));
    let seen =
        until(&mut probing, "it is up", |sight| sight.endpoints.get(good).is_some_and(|one| one.up.is_up())).await;
    assert_eq!(seen.endpoints.len(), 1, "a server on its way out is not looked at");
    let first = seen.endpoints[good].as_of;

    let again = tokio::time::timeout(SEEN_WITHIN, async {
        while probing.sight().expect("a cluster").endpoints[good].as_of == first {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    again.await.expect("it is looked at again, though nothing changed");

    drop(endpoint);
    until(&mut probing, "nobody is there", |sight| matches!(sight.endpoints[good].up, Up::Failed { .. })).await;
    probing.attend(&estate([]));
    until(&mut probing, "nothing is wanted any more", |sight| sight.endpoints.is_empty()).await;
}
