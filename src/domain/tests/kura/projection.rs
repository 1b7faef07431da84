//! The status of a server is a projection (K2, K31).

use super::rig::Rig;
use crate::domain::ids::ServerId;
use crate::domain::kura::change::KuraChange;
use crate::domain::kura::deployment::Closing;
use crate::domain::kura::server::ServerStatus as Status;
use crate::domain::kura::traffic::{Dns, Up};

#[test]
fn a_server_is_active_while_its_endpoint_answers_and_replicating_when_it_does_not() {
    // K31, K2, K14
    let mut rig = Rig::new(&["0.19.0"]);
    rig.add("acme");
    rig.reconcile();
    assert_eq!(rig.server("acme").status, Status::Provisioning, "it never served, whatever answers there");
    rig.pods_follow();
    rig.reconcile();
    assert_eq!(rig.server("acme").status, Status::Active);
    rig.release("0.20.0");
    rig.reconcile();
    assert!(rig.server("acme").open().is_some());
    assert_eq!(rig.server("acme").status, Status::Active, "a deployment does not trample an endpoint that serves");
    rig.stop_answering("acme");
    rig.reconcile();
    assert_eq!(rig.server("acme").status, Status::Replicating);
    rig.endpoint("acme").up = Up::Status { status: 200 };
    rig.reconcile();
    assert_eq!(rig.server("acme").status, Status::Active);
}

#[test]
fn failed_does_not_stick() {
    // K2
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    rig.stop_answering("acme");
    rig.reconcile();
    let deployment = rig.open("acme").id;
    let (server, closing) = (ServerId::named("acme"), Closing::Failed { error: "invalid".to_owned() });
    rig.world.kura.apply(rig.now, &KuraChange::DeploymentClosed { server, deployment, closing });
    rig.tick();
    assert_eq!(rig.server("acme").status, Status::Failed);
    rig.endpoint("acme").up = Up::Status { status: 200 };
    rig.tick();
    assert_eq!(rig.server("acme").status, Status::Active);
}

#[test]
fn a_resolver_that_fails_here_or_a_probe_that_is_late_flips_nothing() {
    // K31 (A23)
    let mut rig = Rig::serving(&[], "0.19.0");
    rig.endpoint("acme").up = Up::Unknown;
    rig.endpoint("acme").dns = Dns::Failed { why: "timed out".to_owned() };
    rig.tick();
    assert_eq!(rig.server("acme").status, Status::Active);
    rig.sight.endpoints.clear();
    rig.tick();
    assert_eq!(rig.server("acme").status, Status::Active);
    let host = "acme-eu.kura.tuist.dev".to_owned();
    let (as_of, dns, tls, up) = (rig.now, Dns::NxDomain, crate::domain::kura::traffic::Tls::Unknown, Up::Unknown);
    rig.sight.endpoints.insert(host, crate::domain::kura::traffic::Endpoint { as_of, dns, tls, up });
    rig.tick();
    assert_eq!(rig.server("acme").status, Status::Replicating, "without a name nobody is served");
}

#[test]
fn the_image_the_controller_reports_is_kept_as_a_tag() {
    // K1
    let mut rig = Rig::serving(&[], "0.19.0");
    assert_eq!(rig.server("acme").observed_image_tag.as_deref(), Some("0.19.0"));
    rig.live("acme").observed_image = Some("ghcr.io/tuist/kura:0.20.0".to_owned());
    rig.tick();
    assert_eq!(rig.server("acme").observed_image_tag.as_deref(), Some("0.20.0"));
}
