//! The first broken link, and since when (K29, K30).

use super::rig::{ADDRESS, Rig};
use crate::domain::kura::chain::{LinkName, Standing, chain};
use crate::domain::kura::deployment::{DeploymentStatus, WaitKind};
use crate::domain::kura::object::Stamp;
use crate::domain::kura::server::GatewayMode;
use crate::domain::kura::source::Contact;
use crate::domain::kura::traffic::{Certificate, Dns, Endpoint, Tls, Up};
use crate::domain::kura::ways::Ways;
use crate::domain::kura::workload::NodePort;

/// On its way to 0.20.0, pods and all; the endpoint is what the test makes of it.
fn arriving() -> Rig {
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    rig.stop_answering("acme");
    rig.reconcile();
    rig.pods_follow();
    rig.reconcile();
    rig
}

fn addresses(list: &[&str]) -> Dns {
    Dns::Addresses { addresses: list.iter().map(|one| (*one).to_owned()).collect() }
}

#[test]
fn every_link_is_named_by_its_own_wait_in_the_order_of_the_chain() {
    // K29, K30 (A23, I5)
    let mut rig = arriving();
    let class = "kura-eu";
    let expect = |rig: &mut Rig, kind: &str, detail: &str| {
        rig.reconcile();
        assert_eq!(rig.wait("acme"), (kind.to_owned(), detail.to_owned()));
    };
    rig.endpoint("acme").tls = Tls::Invalid { why: "unknown authority".to_owned() };
    rig.endpoint("acme").dns = Dns::NxDomain;
    rig.sight.ingresses.rows.get_mut("kura-acme-eu").unwrap().addresses.clear();
    rig.sight.classes.rows.get_mut(class).unwrap().has_controller = Some(false);
    rig.live("acme").observed_image = Some("0.19.0".to_owned());
    expect(&mut rig, "not_observed", "the controller reports 0.19.0, not 0.20.0");
    rig.live("acme").observed_image = Some("0.20.0".to_owned());
    rig.pod("kura-acme-eu", 0, "0.20.0", false);
    rig.pod("kura-acme-eu", 1, "0.20.0", false);
    let reasons = "kura-acme-eu-0 CrashLoopBackOff, kura-acme-eu-1 CrashLoopBackOff";
    expect(&mut rig, "workload_not_ready", &format!("none of 2 pods is Ready: {reasons}"));
    rig.pod("kura-acme-eu", 0, "0.20.0", true);
    expect(&mut rig, "ingress_class_without_controller", "ingress class kura-eu has no controller");
    let row = rig.sight.classes.rows.remove(class).unwrap();
    expect(&mut rig, "ingress_class_without_controller", "there is no ingress class kura-eu");
    rig.sight.classes.rows.insert(class.to_owned(), row);
    rig.sight.classes.rows.get_mut(class).unwrap().has_controller = None;
    expect(&mut rig, "ingress_without_address", "its ingress has no address");
    rig.sight.ingresses.rows.get_mut("kura-acme-eu").unwrap().addresses = vec![ADDRESS.to_owned()];
    expect(&mut rig, "public_host_not_resolvable", "acme-eu.kura.tuist.dev: NXDOMAIN");
    rig.endpoint("acme").dns = Dns::Failed { why: "timed out".to_owned() };
    expect(&mut rig, "resolver_error", "resolver: timed out");
    rig.endpoint("acme").dns = addresses(&["10.0.0.9", ADDRESS]);
    expect(&mut rig, "address_mismatch", "10.0.0.9 is stale, the ingress has 10.0.0.7");
    rig.endpoint("acme").dns = addresses(&[ADDRESS]);
    expect(&mut rig, "certificate_not_ready", "unknown authority");
    rig.endpoint("acme").tls = Tls::Valid;
    expect(&mut rig, "public_endpoint_not_ready", "/up answered 503");
    rig.endpoint("acme").up = Up::Timeout;
    expect(&mut rig, "public_endpoint_not_ready", "/up did not answer in 5s");
    rig.endpoint("acme").up = Up::Status { status: 200 };
    rig.reconcile();
    assert!(rig.server("acme").open().is_none());
}

#[test]
fn a_certificate_that_is_not_good_comes_with_what_its_issuer_says() {
    // K30 (I5)
    let mut rig = arriving();
    rig.endpoint("acme").tls = Tls::Invalid { why: "unknown authority".to_owned() };
    let (hosts, message) = (vec!["acme-eu.kura.tuist.dev".to_owned()], Some("rate limited until 18:00".to_owned()));
    let stamp: Stamp = rig.sight.pods.rows["kura-acme-eu-0"].stamp.clone();
    rig.sight.certificates.rows.insert("c".to_owned(), Certificate { stamp, hosts, ready: false, message });
    rig.reconcile();
    let detail = "unknown authority; the issuer says: rate limited until 18:00";
    assert_eq!(rig.wait("acme"), ("certificate_not_ready".to_owned(), detail.to_owned()));
}

#[test]
fn a_pod_that_holds_up_those_behind_it_is_named_with_them() {
    // K29 (I3)
    let mut rig = arriving();
    rig.pod("kura-acme-eu", 0, "0.19.0", true);
    rig.pod("kura-acme-eu", 1, "0.20.0", false);
    rig.reconcile();
    let detail = "kura-acme-eu-0 runs 0.19.0; kura-acme-eu-1 CrashLoopBackOff";
    assert_eq!(rig.wait("acme"), ("workload_not_ready".to_owned(), detail.to_owned()));
    rig.sight.pods.rows.get_mut("kura-acme-eu-1").unwrap().reason = None;
    rig.reconcile();
    assert_eq!(rig.wait("acme").1, "kura-acme-eu-0 runs 0.19.0", "it only starts");
}

#[test]
fn only_the_issuer_of_a_certificate_for_the_host_that_is_not_ready_is_quoted() {
    // K30 (I5)
    let mut rig = arriving();
    rig.endpoint("acme").tls = Tls::Invalid { why: "expired".to_owned() };
    let stamp: Stamp = rig.sight.pods.rows["kura-acme-eu-0"].stamp.clone();
    let mut put = |name: &str, host: &str, ready: bool| {
        let (hosts, message) = (vec![host.to_owned()], Some(format!("of {name}")));
        let row = Certificate { stamp: stamp.clone(), hosts, ready, message };
        rig.sight.certificates.rows.insert(name.to_owned(), row);
    };
    put("a", "other-eu.kura.tuist.dev", false);
    put("b", "acme-eu.kura.tuist.dev", true);
    rig.reconcile();
    assert_eq!(rig.wait("acme"), ("certificate_not_ready".to_owned(), "expired".to_owned()));
}

#[test]
fn a_name_without_an_address_is_not_one_that_does_not_exist() {
    // K30
    let mut rig = arriving();
    rig.endpoint("acme").dns = addresses(&[]);
    rig.reconcile();
    assert_eq!(rig.wait("acme"), ("address_mismatch".to_owned(), format!("{ADDRESS} is not in the DNS yet")));
    rig.endpoint("acme").dns = Dns::NxDomain;
    rig.reconcile();
    assert_eq!(rig.wait("acme").0, "public_host_not_resolvable");
    let balancer = vec!["lb.example".to_owned()];
    rig.sight.ingresses.rows.get_mut("kura-acme-eu").unwrap().addresses = balancer;
    rig.reconcile();
    assert!(rig.wait("acme").1.ends_with("NXDOMAIN"), "also where nothing can be compared: {:?}", rig.wait("acme"));
}

#[test]
fn a_wait_never_expires_and_tells_since_when_its_link_is_broken() {
    // K29, K30, K31
    let mut rig = arriving();
    let since = rig.open("acme").wait.as_ref().unwrap().since;
    rig.endpoint("acme").up = Up::Timeout;
    rig.reconcile();
    assert_eq!(rig.open("acme").wait.as_ref().unwrap().since, since, "another detail of the same link");
    for _ in 0..14 * 60 {
        let verdict = rig.tick();
        assert!(verdict.changes.is_empty(), "a wait that goes on appends nothing");
    }
    assert_eq!(rig.open("acme").status, DeploymentStatus::Running, "fourteen hours later");
    rig.endpoint("acme").dns = Dns::NxDomain;
    rig.reconcile();
    assert!(rig.open("acme").wait.as_ref().unwrap().since > since);
}

#[test]
fn what_cannot_be_told_leaves_the_wait_as_it_is() {
    // K27, K30
    let mut rig = arriving();
    let before = rig.open("acme").wait.clone();
    rig.pass_time(30);
    rig.sight.classes.contact = Contact::Forbidden { as_of: rig.now, why: "no".to_owned() };
    rig.tick_as_it_is();
    rig.sight.endpoints.clear();
    rig.look();
    rig.tick_as_it_is();
    assert_eq!(rig.open("acme").wait, before);
}

#[test]
fn a_server_without_an_ingress_waits_for_its_node_port_and_a_private_one_for_neither() {
    // K30
    let mut rig = arriving();
    rig.edit("acme", |server| server.spec_mut().gateway = GatewayMode::NodePort);
    rig.reconcile();
    rig.reconcile();
    assert_eq!(rig.wait("acme").0, "node_port_endpoint_not_ready");
    rig.edit("acme", |server| server.spec_mut().private = true);
    rig.reconcile();
    rig.reconcile();
    assert!(rig.server("acme").open().is_none());
}

#[test]
fn a_port_of_a_node_is_waited_for_and_asked_under_its_own_address() {
    // K30, K32
    let mut rig = arriving();
    rig.edit("acme", |server| server.spec_mut().gateway = GatewayMode::NodePort);
    rig.reconcile();
    rig.reconcile();
    let missing = "instance kura-acme-eu reports no port of a node yet";
    assert_eq!(rig.wait("acme"), ("node_port_endpoint_not_ready".to_owned(), missing.to_owned()));
    rig.live("acme").node_port = Some(NodePort { address: "172.16.0.2".to_owned(), port: 30_080 });
    let probe = Endpoint { as_of: rig.now, dns: Dns::Unknown, tls: Tls::Unknown, up: Up::Status { status: 503 } };
    rig.sight.endpoints.insert("172.16.0.2:30080".to_owned(), probe);
    rig.reconcile();
    assert_eq!(rig.wait("acme"), ("node_port_endpoint_not_ready".to_owned(), "/up answered 503".to_owned()));
    rig.sight.endpoints.get_mut("172.16.0.2:30080").unwrap().up = Up::Status { status: 200 };
    rig.reconcile();
    let server = rig.server("acme");
    assert_eq!((server.open(), server.url.as_deref()), (None, Some("http://172.16.0.2:30080")));
}

#[test]
fn a_name_without_an_address_is_not_resolvable_even_where_nothing_can_be_compared() {
    // K30
    let mut rig = arriving();
    rig.sight.ingresses.rows.get_mut("kura-acme-eu").unwrap().addresses = vec!["lb-1.example.net".to_owned()];
    rig.endpoint("acme").dns = addresses(&[]);
    rig.reconcile();
    let detail = "acme-eu.kura.tuist.dev has no address in the DNS";
    assert_eq!(rig.wait("acme"), ("public_host_not_resolvable".to_owned(), detail.to_owned()));
}

#[test]
fn a_load_balancer_that_goes_by_name_is_not_compared() {
    // K30
    let mut rig = arriving();
    let ingress = rig.sight.ingresses.rows.get_mut("kura-acme-eu").unwrap();
    ingress.addresses = vec!["lb-1.example.net".to_owned()];
    rig.endpoint("acme").dns = addresses(&["10.9.9.9"]);
    let (server, sight, now) = (rig.server("acme").clone(), rig.sight.clone(), rig.now);
    let dns =
        chain(&server, "0.20.0", &Ways::of(&sight), now).into_iter().find(|link| link.link == LinkName::Dns).unwrap();
    assert_eq!(dns.standing, Standing::Whole);
    rig.sight.ingresses.rows.get_mut("kura-acme-eu").unwrap().addresses = vec!["10.9.9.8".to_owned()];
    rig.endpoint("acme").dns = addresses(&[]);
    rig.reconcile();
    assert_eq!(rig.wait("acme"), ("address_mismatch".to_owned(), "10.9.9.8 is not in the DNS yet".to_owned()));
}

#[test]
fn waits_have_ten_kinds_and_each_a_word_of_its_own() {
    // K30
    let words: std::collections::BTreeSet<&str> = WaitKind::ALL.iter().map(|kind| kind.word()).collect();
    assert_eq!(words.len(), 10);
    for kind in WaitKind::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.word());
    }
}
