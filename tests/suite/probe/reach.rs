//! One round of probes: each link that can break is told apart from every other one.

use kura_console::adapters::clock::SystemClock;
use kura_console::adapters::probe::handshake::Trust;
use kura_console::adapters::probe::names::Names;
use kura_console::adapters::probe::reach::Reach;
use kura_console::domain::kura::front::Front;
use kura_console::domain::kura::traffic::{Dns, Endpoint as Found, Tls, Up};

use super::endpoint::{Endpoint, Manner};
use super::papers::Authority;
use super::resolver::{Answer, Resolver, loopback};
use crate::envtest::eyes::Hurried;

const HOST: &str = "acme-eu.kura.example";

/// A resolver, an authority that is trusted, and nobody who listens yet.
struct Bed {
    resolver: Resolver,
    authority: Authority,
}

impl Bed {
    async fn make() -> Self {
        let resolver = Resolver::start().await;
        resolver.lead_here(HOST);
        Self { resolver, authority: Authority::make("known") }
    }

    async fn look(&self, port: u16) -> Found {
        let names = Names::at(&[self.resolver.address]).expect("a resolver");
        let trust = Trust::in_roots(self.authority.roots()).expect("an authority");
        let clock = Hurried(SystemClock::start());
        Reach { names, trust, port }.look(&Front::Host(HOST.to_owned()), &clock).await
    }

    /// Behind a good certificate.
    async fn up(&self, manner: Manner) -> Up {
        let endpoint = Endpoint::start(Some(self.authority.certify(HOST, false)), manner).await;
        let found = self.look(endpoint.port).await;
        assert_eq!(found.dns, Dns::Addresses { addresses: vec![loopback()] });
        assert_eq!(found.tls, Tls::Valid);
        found.up
    }

    /// What is wrong with what a server shows; nobody is asked for `/up` behind it.
    async fn fault(&self, authority: &Authority, host: &str, expired: bool) -> String {
        let endpoint = Endpoint::start(Some(authority.certify(host, expired)), Manner::Status(200)).await;
        let found = self.look(endpoint.port).await;
        let Tls::Invalid { why } = found.tls else { panic!("{found:?}") };
        assert_eq!((found.up, endpoint.asked()), (Up::Unknown, 0));
        why
    }
}

#[tokio::test]
async fn only_2xx_is_up_and_nothing_is_followed() {
    // K32
    let bed = Bed::make().await;
    for status in [200, 204, 301, 404, 503] {
        let up = bed.up(Manner::Status(status)).await;
        assert_eq!(up, Up::Status { status });
        assert_eq!(up.is_up(), status < 300);
    }
}

#[tokio::test]
async fn whoever_says_nothing_or_nonsense_is_not_up_and_holds_nobody_up() {
    // K32
    let bed = Bed::make().await;
    assert_eq!(bed.up(Manner::Hangs).await, Up::Timeout);
    let failed = |why: &str| Up::Failed { why: why.to_owned() };
    assert_eq!(bed.up(Manner::HangsUp).await, failed("the connection broke before an answer"));
    assert_eq!(bed.up(Manner::Babbles).await, failed("what came back is no HTTP"));
}

#[tokio::test]
async fn what_is_wrong_with_a_certificate_is_told_apart() {
    // K30 (I5)
    let bed = Bed::make().await;
    assert_eq!(bed.fault(&Authority::make("stranger"), HOST, false).await, "unknown authority");
    let impostor = "unknown authority: it is not signed by whom it names";
    assert_eq!(bed.fault(&Authority::make("known"), HOST, false).await, impostor);
    assert_eq!(bed.fault(&bed.authority, HOST, true).await, "expired since 2025-01-01T00:00:00Z");
    let other = "other.kura.example";
    assert_eq!(bed.fault(&bed.authority, other, false).await, format!("name mismatch: it is for {other}"));
}

#[tokio::test]
async fn nobody_there_is_no_fault_of_a_certificate() {
    // K29, K30
    let bed = Bed::make().await;
    let gone = Endpoint::start(None, Manner::Status(200)).await.port;
    let found = bed.look(gone).await;
    assert_eq!((found.tls, found.up), (Tls::Unknown, Up::Failed { why: "connection refused".to_owned() }));
    let plain = Endpoint::start(None, Manner::Babbles).await;
    let found = bed.look(plain.port).await;
    assert!(matches!((&found.tls, &found.up), (Tls::Unknown, Up::Failed { .. } | Up::Timeout)), "{found:?}");
}

#[tokio::test]
async fn a_resolver_that_fails_is_not_a_name_that_is_not_there() {
    // K30 (A23)
    let bed = Bed::make().await;
    let endpoint = Endpoint::start(Some(bed.authority.certify(HOST, false)), Manner::Status(200)).await;
    for (answer, expected) in [
        (Answer::NxDomain, Dns::NxDomain),
        (Answer::Nothing, Dns::Addresses { addresses: Vec::new() }),
        (Answer::ServerFailure, Dns::Failed { why: "it answered Server Failure".to_owned() }),
        (Answer::Silence, Dns::Failed { why: "no answer in time".to_owned() }),
    ] {
        bed.resolver.say(HOST, answer.clone());
        let found = bed.look(endpoint.port).await;
        assert_eq!(found.dns, expected, "{answer:?}");
        assert_eq!((found.tls, found.up), (Tls::Unknown, Up::Unknown), "{answer:?}");
    }
    assert_eq!(endpoint.asked(), 0, "nobody goes on without a name");
}

#[tokio::test]
async fn a_port_of_a_node_is_asked_without_a_name_and_without_a_certificate() {
    // K30
    let bed = Bed::make().await;
    let names = Names::at(&[bed.resolver.address]).expect("a resolver");
    let trust = Trust::in_roots(bed.authority.roots()).expect("an authority");
    let clock = Hurried(SystemClock::start());
    let endpoint = Endpoint::start(None, Manner::Status(204)).await;
    let reach = Reach { names, trust, port: 1 };
    let front = Front::NodePort { address: loopback(), port: endpoint.port };
    let found = reach.look(&front, &clock).await;
    assert_eq!((found.dns, found.tls, found.up), (Dns::Unknown, Tls::Unknown, Up::Status { status: 204 }));
}
