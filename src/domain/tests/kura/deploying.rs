//! What a person deploys (K24, K25).

use super::rig::{Rig, facts};
use crate::domain::ids::ServerId;
use crate::domain::kura::deployment::DeploymentStatus as Status;
use crate::domain::kura::server::{MovePhase, ServerStatus};
use crate::domain::kura::step::Deed;
use crate::domain::kura::verb::KuraVerb;

#[test]
fn force_displaces_the_open_row_of_its_own_tag_and_applies_once() {
    // K24
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    rig.stop_answering("acme");
    rig.reconcile();
    let agreed = rig.tick();
    assert!(agreed.steps.is_empty(), "all is applied, only the endpoint is missing");
    assert_eq!(rig.refused(deploy("0.20.0", false)), "already_open");
    rig.steps.clear();
    rig.verb(deploy("0.20.0", true));
    let rows: Vec<Status> = rig.rows("acme").into_iter().map(|(_, status)| status).collect();
    assert_eq!(rows, [Status::Succeeded, Status::Superseded, Status::Pending]);
    rig.reconcile();
    rig.reconcile();
    rig.reconcile();
    let [step] = &rig.steps[..] else { panic!("applied once: {:?}", rig.written()) };
    assert!(matches!(&step.deed, Deed::Apply { force: true, from: Some(_), .. }));
    let row = rig.open("acme");
    assert_eq!((row.status, row.applied, row.reason.as_deref()), (Status::Running, true, Some("tested")));
    assert_eq!((row.requested_by.as_str(), row.inserted_at < rig.now), ("jane", true), "K25: who, when, why");
}

fn deploy(tag: &str, force: bool) -> KuraVerb {
    KuraVerb::Deploy { server: ServerId::named("acme"), tag: tag.to_owned(), force }
}

#[test]
fn what_runs_already_closes_at_once_and_says_why() {
    // K24
    let mut rig = Rig::serving(&[], "0.19.0");
    rig.verb(deploy("0.19.0", false));
    let row = rig.server("acme").deployments.last().unwrap().clone();
    assert_eq!((row.status, row.detail.as_deref()), (Status::Succeeded, Some("same image, not forced")));
    rig.reconcile();
    assert!(rig.steps.is_empty());
}

#[test]
fn force_reapply_is_a_forced_row_of_the_tag_the_server_is_brought_to() {
    // K24
    let mut rig = Rig::serving(&["0.18.0"], "0.19.0");
    let again = KuraVerb::ForceReapply { server: ServerId::named("acme") };
    rig.verb(again.clone());
    assert_eq!((rig.open("acme").image_tag.as_str(), rig.open("acme").force), ("0.19.0", true));
    rig.release("0.20.0");
    rig.tick();
    assert_eq!(rig.open("acme").image_tag, "0.20.0", "newest intent wins over it as over any");
    rig.verb(again);
    assert_eq!((rig.open("acme").image_tag.as_str(), rig.open("acme").force), ("0.20.0", true));
}

#[test]
fn nothing_is_forced_while_a_server_moves_or_leaves() {
    // K25, K13
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    let (server, before) = (ServerId::named("acme"), rig.rows("acme"));
    let forced =
        |rig: &mut Rig| [deploy("0.20.0", true), KuraVerb::ForceReapply { server }].map(|verb| rig.refused(verb));
    rig.verb(KuraVerb::MoveServer { server, phase: MovePhase::MovingOut });
    assert_eq!(forced(&mut rig), ["moving", "moving"]);
    for status in [ServerStatus::Destroying, ServerStatus::Destroyed] {
        rig.edit("acme", |server| server.status = status);
        assert_eq!(forced(&mut rig), ["leaving", "leaving"]);
    }
    assert_eq!(rig.rows("acme"), before);
}

#[test]
fn an_older_tag_stays_until_something_newer_is_released() {
    // K25
    let mut rig = Rig::serving(&["0.18.0"], "0.19.0");
    rig.verb(deploy("0.18.0", false));
    rig.settle();
    assert_eq!(rig.server("acme").current_image_tag.as_deref(), Some("0.18.0"));
    rig.tick();
    assert!(rig.server("acme").open().is_none(), "0.19.0 was the newest when 0.18.0 was chosen");
    rig.release("0.18.5");
    assert!(facts(&rig.tick()).is_empty(), "older than what was newest then");
    rig.release("0.20.0");
    rig.tick();
    assert_eq!((rig.open("acme").image_tag.as_str(), rig.server("acme").pin.is_none()), ("0.20.0", true));
}

#[test]
fn an_older_tag_that_is_still_on_its_way_is_not_displaced_by_what_was_newest_then() {
    // K25, K9, K10
    let mut rig = Rig::serving(&["0.18.5", "0.19.0"], "0.18.0");
    rig.verb(deploy("0.18.5", false));
    rig.stop_answering("acme");
    (0..3).for_each(|_| rig.reconcile());
    let open = rig.open("acme");
    assert_eq!((open.image_tag.as_str(), open.status), ("0.18.5", Status::Running), "it waits");
    let held = rig.server("acme").pin.clone();
    assert_eq!(rig.world.kura.target_of(rig.server("acme")), Some("0.18.5"));
    rig.release("0.18.9");
    rig.tick();
    assert_eq!(rig.open("acme").image_tag, "0.18.5", "older than what was newest then");
    assert_eq!(rig.server("acme").pin, held);
    rig.release("0.20.0");
    rig.tick();
    assert_eq!((rig.open("acme").image_tag.as_str(), &rig.server("acme").pin), ("0.20.0", &None));
    let rows: Vec<Status> = rig.rows("acme").into_iter().map(|(_, status)| status).rev().take(2).collect();
    assert_eq!(rows, [Status::Pending, Status::Superseded]);
}

#[test]
fn a_tag_that_was_never_tried_is_held_back_by_a_pin_all_the_same() {
    // K25
    let mut rig = Rig::serving(&["0.18.5", "0.19.0"], "0.18.0");
    rig.verb(deploy("0.18.5", false));
    rig.settle();
    rig.tick();
    assert_eq!(rig.server("acme").current_image_tag.as_deref(), Some("0.18.5"));
    assert!(rig.server("acme").open().is_none(), "0.19.0 was the newest when 0.18.5 was chosen");
}

#[test]
fn the_newest_tag_ends_a_pin_and_an_unknown_one_is_refused() {
    // K25
    let mut rig = Rig::serving(&["0.18.0"], "0.19.0");
    rig.verb(deploy("0.18.0", false));
    assert!(rig.server("acme").pin.is_some());
    rig.verb(deploy("0.19.0", true));
    assert!(rig.server("acme").pin.is_none());
    assert_eq!(rig.refused(deploy("0.21.0", false)), "no_tag");
    let nobody = KuraVerb::ForceReapply { server: ServerId::named("nobody") };
    assert_eq!(rig.refused(nobody), "no_server");
}

#[test]
fn names_are_checked_and_a_tenant_has_one_server_per_region() {
    // K1
    let mut rig = Rig::new(&[]);
    rig.add("acme");
    let add = |tenant: &str| KuraVerb::AddServer {
        id: ServerId::named("other"),
        tenant: tenant.to_owned(),
        tenant_id: None,
        region: "eu".to_owned(),
        cluster_id: None,
        spec: Box::default(),
    };
    assert_eq!(rig.refused(add("acme")), "duplicate");
    for bad in ["", "a b", "-a", "a/b", &"x".repeat(64)] {
        assert_eq!(rig.refused(add(bad)), "bad_name", "{bad:?}");
    }
    assert_eq!(rig.refused(KuraVerb::ReleaseTag { tag: "1.0 0".to_owned() }), "bad_name");
    assert_eq!(rig.refused(KuraVerb::ForceReapply { server: ServerId::named("acme") }), "nothing_to_apply");
    let server = rig.server("acme");
    assert_eq!((server.status, server.instance_name.as_str()), (ServerStatus::Provisioning, "kura-acme-eu"));
}
