//! Newest intent wins (K6-K20).

use super::rig::{Rig, facts};
use crate::domain::ids::ServerId;
use crate::domain::kura::change::KuraChange;
use crate::domain::kura::deployment::{Closing, DeploymentStatus as Status};
use crate::domain::kura::server::{DEPLOYMENTS_KEPT, MovePhase, ServerStatus};
use crate::domain::kura::verb::KuraVerb;
use crate::domain::verdict::Reply;

fn row(tag: &str, status: Status) -> (String, Status) {
    (tag.to_owned(), status)
}

#[test]
fn a_newer_tag_displaces_what_is_open_in_the_commit_that_schedules_it() {
    // K10, K4
    let mut rig = Rig::serving(&[], "0.18.0");
    rig.stop_answering("acme");
    rig.release("0.19.0");
    rig.reconcile();
    assert_eq!(rig.open("acme").status, Status::Running);
    rig.release("0.20.0");
    let verdict = rig.tick();
    let facts = facts(&verdict);
    let [closed, opened] = facts[..2] else { panic!("{facts:?}") };
    assert!(
        matches!(closed, KuraChange::DeploymentClosed { closing: Closing::Superseded { by }, .. } if by == "0.20.0")
    );
    assert!(matches!(opened, KuraChange::DeploymentOpened { deployment, .. } if deployment.image_tag == "0.20.0"));
    let rows = [row("0.18.0", Status::Succeeded), row("0.19.0", Status::Superseded), row("0.20.0", Status::Pending)];
    assert_eq!(rig.rows("acme"), rows, "K7: nothing is deleted, and the order is that of the intents");
    let displaced = &rig.server("acme").deployments[1];
    assert_eq!(displaced.displaced_by.as_deref(), Some("0.20.0"));
    assert_eq!(displaced.finished_at, Some(rig.now));
    assert_eq!(displaced.wait, None);
}

#[test]
fn an_ended_deployment_never_changes_and_the_history_keeps_its_order() {
    // K5, K7
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    rig.settle();
    let before = rig.server("acme").clone();
    let (server, deployment) = (ServerId::named("acme"), before.deployments[0].id);
    for closing in [
        Closing::Cancelled,
        Closing::Failed { error: "late".to_owned() },
        Closing::Superseded { by: "0.21.0".to_owned() },
        Closing::Succeeded { detail: None, url: Some("https://elsewhere".to_owned()) },
    ] {
        let change = KuraChange::DeploymentClosed { server, deployment, closing };
        rig.world.kura.apply(rig.now, &change);
    }
    assert_eq!(*rig.server("acme"), before, "neither its rows nor what they once came to");
    for n in 0..DEPLOYMENTS_KEPT {
        rig.deploy("acme", "0.19.0", n.is_multiple_of(2));
        rig.deploy("acme", "0.20.0", true);
    }
    assert_eq!(rig.server("acme").deployments.len(), DEPLOYMENTS_KEPT, "older ones are in the journal");
}

#[test]
fn a_back_port_displaces_nothing() {
    // K11, K8
    let mut rig = Rig::serving(&[], "4.2.0");
    rig.release("4.1.9");
    assert!(facts(&rig.tick()).is_empty());
    rig.add("later");
    rig.tick();
    assert_eq!(rig.open("later").image_tag, "4.2.0", "the newest is the target, not what was released last");
    rig.release("sha-abc");
    assert!(matches!(facts(&rig.tick())[0], KuraChange::DeploymentOpened { .. }), "released after 4.2.0: above it");
}

#[test]
fn a_failed_row_neither_blocks_nor_is_tried_again() {
    // K12, K9
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    rig.tick();
    let deployment = rig.open("acme").id;
    let (server, closing) = (ServerId::named("acme"), Closing::Failed { error: "invalid".to_owned() });
    rig.world.kura.apply(rig.now, &KuraChange::DeploymentClosed { server, deployment, closing });
    rig.tick();
    assert!(rig.server("acme").open().is_none(), "once per tag");
    assert!(matches!(rig.deploy("acme", "0.20.0", false), Reply::Deployment(..)), "a person may try it again");
    rig.release("0.20.1");
    rig.tick();
    assert_eq!(rig.open("acme").image_tag, "0.20.1");
}

#[test]
fn a_cancelled_row_is_no_try() {
    // K9
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    rig.tick();
    let (server, deployment) = (ServerId::named("acme"), rig.open("acme").id);
    rig.world.kura.apply(rig.now, &KuraChange::DeploymentClosed { server, deployment, closing: Closing::Cancelled });
    rig.tick();
    assert_eq!(rig.open("acme").image_tag, "0.20.0");
}

#[test]
fn a_move_defers_and_its_end_schedules_at_the_next_tick() {
    // K13, K3, K15
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    let server = ServerId::named("acme");
    for phase in [MovePhase::MovingIn, MovePhase::MovingOut] {
        rig.verb(KuraVerb::MoveServer { server, phase });
        assert!(facts(&rig.tick()).is_empty());
        let deploy = KuraVerb::Deploy { server, tag: "0.20.0".to_owned(), force: false };
        assert_eq!(rig.refused(deploy), "moving");
    }
    rig.verb(KuraVerb::MoveServer { server, phase: MovePhase::None });
    rig.tick();
    assert_eq!(rig.open("acme").image_tag, "0.20.0");
}

#[test]
fn a_row_that_is_left_open_by_a_first_install_or_a_move_is_displaced_too() {
    // K15
    let mut rig = Rig::new(&["0.19.0"]);
    rig.add("acme");
    rig.tick();
    assert_eq!(rig.rows("acme"), [row("0.19.0", Status::Pending)], "the first install");
    rig.release("0.20.0");
    rig.tick();
    assert_eq!(rig.rows("acme"), [row("0.19.0", Status::Superseded), row("0.20.0", Status::Pending)]);
}

#[test]
fn a_server_has_at_most_one_open_row_and_one_row_per_release() {
    // K6, K16
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    rig.stop_answering("acme");
    for _ in 0..3 {
        rig.reconcile();
        let open = rig.server("acme").deployments.iter().filter(|row| row.status.is_open()).count();
        assert_eq!((open, rig.rows("acme").len()), (1, 2));
    }
}

#[test]
fn a_server_that_leaves_gets_nothing_any_more() {
    // K9
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    rig.edit("acme", |server| server.status = ServerStatus::Destroyed);
    assert!(facts(&rig.tick()).is_empty());
}

#[test]
fn a_tag_nobody_can_rank_is_never_provably_older() {
    // K9
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    rig.edit("acme", |server| server.current_image_tag = Some("sha-of-somebody".to_owned()));
    let opens = |rig: &mut Rig| {
        let verdict = rig.tick();
        facts(&verdict).iter().any(|fact| matches!(fact, KuraChange::DeploymentOpened { .. }))
    };
    assert!(!opens(&mut rig));
    rig.deploy("acme", "sha-of-somebody", true);
    rig.edit("acme", |server| (server.current_image_tag, server.pin) = (Some("0.19.0".to_owned()), None));
    assert!(!opens(&mut rig), "nor is one that is open displaced");
}

#[test]
fn a_hundred_servers_a_tick_the_oldest_first() {
    // K17
    let mut rig = Rig::new(&[]);
    for n in 0..150 {
        rig.add(&format!("t{n}"));
        rig.pass_time(1);
    }
    rig.release("0.1.0");
    rig.tick();
    let scheduled = |rig: &Rig| (0..150).filter(|n| rig.server(&format!("t{n}")).open().is_some()).collect::<Vec<_>>();
    assert_eq!(scheduled(&rig), (0..100).collect::<Vec<_>>());
    rig.tick();
    assert_eq!(scheduled(&rig).len(), 150);
}

#[test]
fn superseded_rows_are_counted_and_three_in_a_row_are_flagged() {
    // K19, K20 (I4)
    let mut rig = Rig::serving(&[], "0.18.4");
    rig.stop_answering("acme");
    for tag in ["0.19.0", "0.19.1", "0.20.0", "0.20.1"] {
        assert!(!rig.server("acme").is_left_behind());
        rig.release(tag);
        rig.reconcile();
    }
    let server = rig.server("acme");
    assert_eq!((server.consecutive_superseded(), server.is_left_behind()), (3, true));
    assert_eq!(server.superseded_total.get("0.19.1"), Some(&1));
    rig.endpoint("acme").up = crate::domain::kura::traffic::Up::Status { status: 200 };
    rig.pods_follow();
    rig.reconcile();
    let server = rig.server("acme");
    assert_eq!((server.consecutive_superseded(), server.superseded_total.len()), (0, 3), "a success ends the row");
}

#[test]
fn supersede_rewrites_intent_and_touches_no_endpoint() {
    // K14
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    let (url, ingresses) = (rig.server("acme").url.clone(), rig.sight.ingresses.clone());
    rig.tick();
    let server = rig.server("acme");
    assert_eq!((server.url.clone(), server.status), (url, ServerStatus::Active));
    assert_eq!(rig.sight.ingresses.rows, ingresses.rows);
    assert_eq!(rig.written(), ["apply KuraInstance kura-acme-eu"]);
}

#[test]
fn whoever_scheduled_the_open_row_it_makes_way() {
    // K18
    let mut rig = Rig::serving(&[], "0.18.0");
    rig.release("0.19.0");
    rig.deploy("acme", "0.19.0", false);
    assert_eq!(rig.open("acme").requested_by, "jane");
    rig.release("0.20.0");
    rig.tick();
    assert_eq!((rig.open("acme").image_tag.as_str(), rig.open("acme").requested_by.as_str()), ("0.20.0", "scheduler"));
    assert_eq!(rig.rows("acme")[1], row("0.19.0", Status::Superseded));
}
