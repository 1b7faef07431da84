//! What is said of a server: one sentence, on what, since when, what to do, what to verify.

use super::rig::{Rig, lose};
use crate::domain::explain::{Explanation, Subject, explain};
use crate::domain::ids::ServerId;
use crate::domain::kura::change::KuraChange;
use crate::domain::kura::deployment::Closing;
use crate::domain::kura::server::{MovePhase, ServerStatus};
use crate::domain::kura::traffic::Up;
use crate::domain::kura::verb::KuraVerb;
use crate::domain::observed::Observed;

fn acme() -> ServerId {
    ServerId::named("acme")
}

fn told(rig: &Rig) -> Explanation {
    let observed = Observed { cluster: Some(rig.sight.clone()), ..Observed::starting_at(rig.now) };
    explain(&rig.world, &observed, Subject::Server(acme()), rig.now)
}

fn said(rig: &Rig) -> String {
    told(rig).sentence
}

#[test]
fn a_deployment_is_explained_by_its_first_broken_link_since_when_and_what_to_do() {
    // K29
    let mut rig = Rig::serving(&[], "0.19.0");
    rig.stop_answering("acme");
    rig.release("0.20.0");
    rig.tick();
    assert_eq!(said(&rig), "acme-eu is scheduled for 0.20.0: the next pass applies it");
    rig.reconcile();
    rig.pods_follow();
    rig.reconcile();
    let since = rig.open("acme").wait.as_ref().unwrap().since;
    rig.reconcile();
    let told = told(&rig);
    assert_eq!(told.sentence, "acme-eu waits on its way to 0.20.0: /up answered 503");
    assert_eq!((told.on.as_deref(), told.since), (Some("public_endpoint_not_ready"), Some(since)));
    assert!(
        told.next.iter().any(|next| next.contains("curl")) && told.next.contains(&"deploy a newer runtime tag".into())
    );
    assert!(!told.verify.is_empty());
}

#[test]
fn a_server_at_rest_says_why_it_rests() {
    // K2, K12, K13, K25, K31, K51
    let mut rig = Rig::new(&[]);
    rig.add("acme");
    assert_eq!(said(&rig), "acme-eu is new and waits until a runtime tag is released");
    rig.release("0.19.0");
    assert_eq!(said(&rig), "acme-eu is new: the next tick schedules 0.19.0");
    rig.settle();
    assert_eq!(said(&rig), "acme-eu serves 0.19.0");
    rig.release("0.20.0");
    rig.deploy("acme", "0.19.0", false);
    assert_eq!(
        said(&rig),
        "acme-eu serves 0.19.0: jane holds it on 0.19.0 until something newer than 0.20.0 is released"
    );
    rig.endpoint("acme").up = Up::Timeout;
    rig.reconcile();
    assert_eq!(said(&rig), "acme-eu does not serve 0.19.0: /up did not answer in 5s");
    rig.verb(KuraVerb::MoveServer { server: acme(), phase: MovePhase::MovingOut });
    assert_eq!(said(&rig), "acme-eu: it is being moved (moving_out): nothing is deployed to it until the move is over");
    rig.verb(KuraVerb::DestroyServer { server: acme() });
    assert_eq!(said(&rig), "acme-eu is being taken down: its instance is still there");
    rig.live("acme").stamp.finalizers = vec!["f/cleanup".to_owned()];
    assert!(said(&rig).ends_with("is still there, which waits for f/cleanup"));
    rig.edit("acme", |server| server.status = ServerStatus::Destroyed);
    assert_eq!(said(&rig), "acme-eu is destroyed");
    rig.world.kura.servers.clear();
    assert_eq!(said(&rig), "this server does not exist");
}

#[test]
fn failures_write_backs_and_what_cannot_be_read_are_said_beside_it() {
    // K20, K27, K28
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    rig.tick();
    let (server, deployment) = (acme(), rig.open("acme").id);
    let closing = Closing::Failed { error: "no such class".to_owned() };
    rig.world.kura.apply(rig.now, &KuraChange::DeploymentClosed { server, deployment, closing });
    assert_eq!(said(&rig), "the deployment of 0.20.0 to acme-eu failed: no such class");
    rig.edit("acme", |server| {
        let edit = crate::domain::kura::server::ForeignEdit { manager: "flux".to_owned(), times: 3, counted: true };
        server.foreign.insert("spec.replicas".to_owned(), edit);
        server.troubles.insert("Pod kura-acme-eu-1".to_owned(), "forbidden: rbac".to_owned());
    });
    let seen = told(&rig);
    assert_eq!(seen.on.as_deref(), Some("flux"));
    assert!(seen.sentence.contains("flux writes spec.replicas back") && seen.sentence.contains("forbidden: rbac"));
    let now = rig.now;
    lose(&mut rig.sight.instances, now);
    assert!(said(&rig).contains("the cluster cannot be judged now: instances: no contact for 0s: 401 Unauthorized"));
    let blind = explain(&rig.world, &Observed::starting_at(now), Subject::Server(acme()), now);
    assert!(blind.sentence.ends_with("no cluster is connected"), "{}", blind.sentence);
}
