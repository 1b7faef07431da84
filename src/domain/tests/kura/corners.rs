//! Corners: outcomes that come late, writes that succeed by halves, readings that are not there, and what is forgotten.

use super::rig::{Rig, lose};
use crate::domain::ids::ServerId;
use crate::domain::kura::change::KuraChange;
use crate::domain::kura::deployment::{Closing, Deployment, DeploymentStatus as Status};
use crate::domain::kura::estate::RUNTIME_TAGS_KEPT;
use crate::domain::kura::object::{ObjectKind, ObjectRef};
use crate::domain::kura::orphans::orphans;
use crate::domain::kura::server::{DEPLOYMENTS_KEPT, GatewayMode, ServerStatus};
use crate::domain::kura::source::Contact;
use crate::domain::kura::step::{Outcome, Ran, Step};
use crate::domain::kura::traffic::IngressClass;
use crate::domain::kura::verb::KuraVerb;

fn acme() -> ServerId {
    ServerId::named("acme")
}

fn failed(step: Step) -> Vec<Ran> {
    vec![Ran { step, outcome: Outcome::Failed { why: "timeout".to_owned() } }]
}

/// Destroys the server at once, as far as the fold is concerned.
fn is_gone(rig: &mut Rig) {
    let change = KuraChange::StatusChanged { server: acme(), status: ServerStatus::Destroyed };
    rig.world.kura.apply(rig.now, &change);
}

#[test]
fn an_outcome_that_comes_after_the_row_was_displaced_is_none_of_its_successor() {
    // K5, K27
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    let step = rig.tick().steps.remove(0);
    rig.deploy("acme", "0.19.0", true);
    let displaced = rig.server("acme").deployments[1].clone();
    assert_eq!(displaced.status, Status::Superseded);
    rig.tell(vec![Ran { step: step.clone(), outcome: Outcome::Done }]);
    assert_eq!(rig.server("acme").deployments[1], displaced, "what has ended stays as it is");
    rig.tell(vec![Ran { step, outcome: Outcome::Invalid { why: "no such class".to_owned() } }]);
    assert_eq!(rig.open("acme").image_tag, "0.19.0", "the refused manifest was that of the other row");
}

#[test]
fn a_write_that_nobody_wants_any_more_is_no_trouble() {
    // K27, K39
    let mut rig = Rig::serving(&[], "0.19.0");
    rig.edit("acme", |server| server.spec_mut().gateway = GatewayMode::Dedicated);
    let steps = rig.tick().steps;
    rig.tell(failed(steps[0].clone()));
    let troubled = |rig: &Rig| rig.server("acme").troubles.keys().cloned().collect::<Vec<_>>();
    assert_eq!(troubled(&rig), ["KuraGateway kgw-acme-eu"]);
    rig.edit("acme", |server| server.spec_mut().gateway = GatewayMode::Shared);
    lose(&mut rig.sight.gateways, rig.now);
    rig.tick_as_it_is();
    assert_eq!(troubled(&rig).len(), 1, "whether it is wanted cannot be told");
    rig.tick();
    assert!(troubled(&rig).is_empty(), "it is not rendered any more");

    // The answer was lost, the write was not.
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    let apply = rig.tick().steps.remove(0);
    rig.obey(&apply);
    rig.tell(failed(apply));
    assert!(troubled(&rig).is_empty(), "what is wanted is there");
}

#[test]
fn a_delete_that_failed_is_no_trouble_once_its_pod_is_gone() {
    // K39
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    rig.world.kura.apply(
        rig.now,
        &KuraChange::WriteTroubled {
            server: acme(),
            object: ObjectRef::new(ObjectKind::Pod, "kura-acme-eu-7"),
            trouble: Some("forbidden".to_owned()),
        },
    );
    lose(&mut rig.sight.pods, rig.now);
    rig.tick_as_it_is();
    assert_eq!(rig.server("acme").troubles.len(), 1, "whether it is gone cannot be told");
    rig.tick();
    assert!(rig.server("acme").troubles.is_empty());
}

#[test]
fn a_gateway_that_could_not_be_applied_is_applied_with_the_next_pass() {
    // K23, K26
    let mut rig = Rig::serving(&[], "0.19.0");
    rig.edit("acme", |server| server.spec_mut().gateway = GatewayMode::Dedicated);
    let steps = rig.tick().steps;
    assert_eq!(rig.written(), ["apply KuraGateway kgw-acme-eu", "apply KuraInstance kura-acme-eu"]);
    rig.obey(&steps[1]);
    let mut ran = failed(steps[0].clone());
    ran.push(Ran { step: steps[1].clone(), outcome: Outcome::Done });
    rig.tell(ran);
    rig.steps.clear();
    rig.reconcile();
    assert_eq!(rig.written(), ["apply KuraGateway kgw-acme-eu"], "only what is missing");
    rig.reconcile();
    assert_eq!(rig.written().len(), 1, "and once");
    rig.sight.gateways.rows.clear();
    rig.reconcile();
    assert_eq!(rig.written().len(), 2, "somebody deleted it");
}

#[test]
fn a_gateway_of_another_manifest_is_applied_again_though_its_instance_agrees() {
    // K23, K34
    let mut rig = Rig::serving(&[], "0.19.0");
    rig.edit("acme", |server| server.spec_mut().gateway = GatewayMode::Dedicated);
    rig.reconcile();
    let revision = rig.revision("acme");
    for stale in [Some("00c0ffee00c0ffee".to_owned()), None] {
        rig.sight.gateways.rows.get_mut("kgw-acme-eu").unwrap().revision = stale;
        rig.steps.clear();
        rig.reconcile();
        assert_eq!(rig.written(), ["apply KuraGateway kgw-acme-eu"]);
        assert_eq!(rig.sight.gateways.rows["kgw-acme-eu"].revision.as_ref(), Some(&revision));
    }
}

#[test]
fn another_manifest_is_applied_whatever_was_written_back_before() {
    // K28, K10
    let mut rig = Rig::serving(&[], "0.19.0");
    rig.edit("acme", |server| {
        let edit = crate::domain::kura::server::ForeignEdit { manager: "flux".to_owned(), times: 3, counted: true };
        server.foreign.insert("spec.replicas".to_owned(), edit);
    });
    rig.live("acme").revision = Some("somebody's".to_owned());
    rig.reconcile();
    assert!(rig.steps.is_empty(), "this one was written back too often");
    rig.release("0.20.0");
    rig.reconcile();
    assert_eq!(rig.written(), ["apply KuraInstance kura-acme-eu"], "that one never was");
}

#[test]
fn a_class_that_could_not_be_deleted_goes_later_unless_somebody_stands_on_it_again() {
    // K43
    let mut rig = Rig::serving(&[], "0.19.0");
    rig.pass_time(1);
    rig.put_gateway("kgw-acme-eu", "acme");
    let stamp = rig.sight.gateways.rows["kgw-acme-eu"].stamp.clone();
    let class = IngressClass { stamp, controller: "c".to_owned(), has_controller: Some(true) };
    rig.sight.classes.rows.insert("kgw-acme-eu".to_owned(), class);
    rig.verb(KuraVerb::DeleteGateway { name: "kgw-acme-eu".to_owned() });
    let step = rig.tick().steps.remove(0);
    let outcome = rig.obey(&step);
    let step = rig.tell(vec![Ran { step, outcome }]).steps.remove(0);
    assert_eq!((step.object.kind, step.object.name.as_str()), (ObjectKind::IngressClass, "kgw-acme-eu"));
    rig.tell(failed(step));
    let now = rig.now;
    lose(&mut rig.sight.classes, now);
    rig.tick_as_it_is();
    assert_eq!(rig.world.kura.asked.len(), 1, "what cannot be read is not gone");
    let mut again = Rig::new(&[]);
    (again.world, again.sight, again.now) = (rig.world.clone(), rig.sight.clone(), rig.now);
    again.edit("acme", |server| server.spec_mut().gateway = GatewayMode::Dedicated);
    again.tick();
    assert!(again.world.kura.asked.is_empty(), "a manifest names it again");
    rig.reconcile();
    assert!(rig.sight.classes.get("kgw-acme-eu").is_none() && rig.world.kura.asked.is_empty());
}

#[test]
fn what_a_person_asked_for_waits_while_its_kind_cannot_be_read() {
    // K44
    let mut rig = Rig::serving(&[], "0.19.0");
    rig.put_gateway("kgw-x", "stranger");
    rig.verb(KuraVerb::DeleteGateway { name: "kgw-x".to_owned() });
    let kept = std::mem::take(&mut rig.sight.gateways);
    rig.tick_as_it_is();
    assert_eq!(rig.world.kura.asked.len(), 1, "nothing was read yet");
    rig.sight.gateways = kept;
    rig.reconcile();
    assert_eq!(rig.written(), ["delete KuraGateway kgw-x"]);
}

#[test]
fn nothing_is_taken_down_on_a_reading_that_shows_no_instance_of_anybody() {
    // K51, K43
    let mut rig = Rig::serving(&[], "0.19.0");
    rig.add("other");
    rig.settle();
    rig.put_gateway("kgw-acme-eu", "acme");
    rig.verb(KuraVerb::DestroyServer { server: acme() });
    let rows = std::mem::take(&mut rig.sight.instances.rows);
    rig.steps.clear();
    rig.tick();
    assert!(rig.written().iter().all(|line| !line.starts_with("delete")), "{:?}", rig.written());
    assert_eq!(rig.server("acme").status, ServerStatus::Destroying);
    rig.sight.instances.rows = rows;
    rig.reconcile();
    rig.reconcile();
    assert_eq!(rig.server("acme").status, ServerStatus::Destroyed);
}

#[test]
fn a_tag_that_failed_long_ago_still_counts_as_tried() {
    // K9, K12
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    rig.tick();
    let (server, deployment) = (acme(), rig.open("acme").id);
    let closing = Closing::Failed { error: "no".to_owned() };
    rig.world.kura.apply(rig.now, &KuraChange::DeploymentClosed { server, deployment, closing });
    for _ in 0..=DEPLOYMENTS_KEPT {
        let id = rig.server("acme").next_deployment();
        let deployment = Box::new(Deployment::pending(id, "0.19.0", "jane", rig.now));
        rig.world.kura.apply(rig.now, &KuraChange::DeploymentOpened { server, deployment });
        let closing = Closing::Succeeded { detail: None, url: None };
        rig.world.kura.apply(rig.now, &KuraChange::DeploymentClosed { server, deployment: id, closing });
    }
    assert_eq!(rig.server("acme").deployments.len(), DEPLOYMENTS_KEPT);
    rig.tick();
    assert!(rig.server("acme").open().is_none(), "a failed row is never tried again by itself");
}

#[test]
fn a_version_that_carries_tags_which_are_none_is_not_forgotten() {
    // K8
    let mut rig = Rig::new(&["9.0.0"]);
    (0..=RUNTIME_TAGS_KEPT).for_each(|n| rig.release(&format!("sha-{n}")));
    rig.release("8.0.1");
    assert_eq!(rig.world.kura.tags.len(), RUNTIME_TAGS_KEPT);
    assert_eq!(rig.world.kura.target(), Some(format!("sha-{RUNTIME_TAGS_KEPT}").as_str()));
}

#[test]
fn an_instance_that_goes_missing_comes_back_though_its_only_row_failed() {
    // K26 (I12)
    let mut rig = Rig::new(&["0.20.0"]);
    rig.add("acme");
    rig.reconcile();
    let (server, deployment) = (acme(), rig.open("acme").id);
    let closing = Closing::Failed { error: "401".to_owned() };
    rig.world.kura.apply(rig.now, &KuraChange::DeploymentClosed { server, deployment, closing });
    rig.sight.instances.rows.clear();
    rig.steps.clear();
    rig.reconcile();
    assert_eq!(rig.written(), ["apply KuraInstance kura-acme-eu"]);
    assert_eq!(rig.rows("acme").len(), 1, "without a row of its own");
}

#[test]
fn a_link_that_may_never_be_read_holds_nothing_up() {
    // K29, K32
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    rig.reconcile();
    rig.pods_follow();
    let why = || "rbac".to_owned();
    rig.pass_time(60);
    rig.look();
    rig.sight.classes.contact = Contact::Forbidden { as_of: rig.now, why: why() };
    rig.sight.ingresses.contact = Contact::Absent { as_of: rig.now };
    rig.tick_as_it_is();
    assert_eq!(rig.rows("acme")[1].1, Status::Succeeded, "the endpoint answers, which is proof enough");
    rig.release("0.21.0");
    rig.reconcile();
    rig.pods_follow();
    rig.pass_time(60);
    rig.look();
    let now = rig.now;
    lose(&mut rig.sight.classes, now);
    rig.tick_as_it_is();
    assert!(rig.server("acme").open().is_some(), "what only broke off is waited for");
}

#[test]
fn who_serves_is_told_though_instances_cannot_be_read() {
    // K2, K27
    let mut rig = Rig::serving(&[], "0.19.0");
    rig.pass_time(30);
    rig.look();
    rig.stop_answering("acme");
    let now = rig.now;
    lose(&mut rig.sight.instances, now);
    let verdict = rig.tick_as_it_is();
    assert_eq!((rig.server("acme").status, verdict.steps.len()), (ServerStatus::Replicating, 0));
}

#[test]
fn a_destroyed_server_claims_no_instance() {
    // K45
    let mut rig = Rig::serving(&[], "0.19.0");
    is_gone(&mut rig);
    let found = orphans(&rig.world.kura, &rig.sight, rig.now);
    assert_eq!(found.len(), 1, "it came back, or never went: {found:?}");
    rig.verb(KuraVerb::DeleteOrphan { name: "kura-acme-eu".to_owned() });
    rig.reconcile();
    assert_eq!(rig.written(), ["delete KuraInstance kura-acme-eu"]);
}

#[test]
fn the_force_key_leads_to_the_tag_the_server_is_brought_to() {
    // K24, K25
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    rig.verb(KuraVerb::ForceReapply { server: acme() });
    assert_eq!(rig.open("acme").image_tag, "0.20.0");
    rig.deploy("acme", "0.19.0", false);
    rig.verb(KuraVerb::ForceReapply { server: acme() });
    assert_eq!(rig.open("acme").image_tag, "0.19.0", "a person holds it there");
    rig.edit("acme", |server| (server.pin, server.current_image_tag) = (None, Some("0.21.0".to_owned())));
    rig.edit("acme", |server| server.deployments.clear());
    rig.verb(KuraVerb::ForceReapply { server: acme() });
    assert_eq!(rig.open("acme").image_tag, "0.21.0", "never back by itself");
}
