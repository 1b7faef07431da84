//! One path for force, drift and what is missing (K23, K26, K27, K34).

use super::rig::{Rig, facts, instance, lose};
use crate::domain::kura::change::KuraChange;
use crate::domain::kura::deployment::DeploymentStatus as Status;
use crate::domain::kura::server::ServerStatus;
use crate::domain::kura::source::Contact;
use crate::domain::kura::step::{Deed, Outcome, Ran};

#[test]
fn a_manifest_that_is_rendered_otherwise_is_applied_with_a_row_open_and_without() {
    // K23, K34, K22 (I1, A05)
    for open in [false, true] {
        let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
        if open {
            rig.stop_answering("acme");
            rig.reconcile();
            assert_eq!(rig.open("acme").status, Status::Running);
        } else {
            rig.settle();
        }
        rig.steps.clear();
        rig.render_otherwise("acme", "storageSize", "40Gi");
        rig.reconcile();
        rig.reconcile();
        assert_eq!(rig.written(), ["apply KuraInstance kura-acme-eu"], "once, open: {open}");
        let revision = rig.revision("acme");
        assert_eq!(rig.live("acme").revision, Some(revision));
        assert_eq!(rig.server("acme").open().is_some(), open, "a drift opens and closes nothing");
    }
}

#[test]
fn a_write_names_the_version_it_was_planned_from_and_a_create_names_none() {
    // K28, K37
    let mut rig = Rig::new(&["0.19.0"]);
    rig.add("acme");
    let created = rig.tick().steps;
    assert!(matches!(&created[..], [step] if matches!(step.deed, Deed::Apply { from: None, force: false, .. })));
    rig.settle();
    let version = rig.live("acme").stamp.version();
    rig.render_otherwise("acme", "storageSize", "40Gi");
    let verdict = rig.tick();
    let [step] = &verdict.steps[..] else { panic!() };
    assert!(matches!(&step.deed, Deed::Apply { from: Some(from), force: false, .. } if *from == version));
    assert_eq!(step.object, instance("acme"));
}

#[test]
fn an_instance_that_is_missing_is_applied_with_a_row_open_and_without() {
    // K26 (I12)
    let mut rig = Rig::serving(&[], "0.19.0");
    rig.edit("acme", |server| server.status = ServerStatus::Failed);
    rig.sight.instances.rows.clear();
    rig.reconcile();
    assert_eq!(rig.written(), ["apply KuraInstance kura-acme-eu"]);
    assert_eq!(rig.server("acme").status, ServerStatus::Active, "failed does not stick");
}

#[test]
fn what_cannot_be_read_fails_nothing_and_writes_nothing() {
    // K27
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    rig.stop_answering("acme");
    rig.reconcile();
    let (before, status) = (rig.open("acme").clone(), rig.server("acme").status);
    rig.render_otherwise("acme", "storageSize", "40Gi");
    for contact in [
        Contact::Never,
        Contact::Lost { as_of: Some(rig.now), why: "401".to_owned() },
        Contact::Forbidden { as_of: rig.now, why: "no".to_owned() },
        Contact::Live { as_of: rig.now },
    ] {
        rig.pass_time(90);
        rig.sight.instances.contact = contact;
        let verdict = rig.tick_as_it_is();
        assert!(verdict.steps.is_empty() && facts(&verdict).is_empty());
    }
    assert_eq!((rig.open("acme"), rig.server("acme").status), (&before, status));
    let told = rig.sight.troubles(rig.now);
    assert_eq!(told[0], ("instances", "stale, no contact for 6m".to_owned()), "shown with its age");
    assert_eq!(rig.tick().steps.len(), 1, "retried as soon as it can be read");
}

#[test]
fn nothing_is_applied_over_what_is_on_its_way_out() {
    // K23, K26
    let mut rig = Rig::serving(&[], "0.19.0");
    let since = rig.now;
    rig.live("acme").stamp.deleting_since = Some(since);
    rig.live("acme").revision = Some("somebody's".to_owned());
    rig.reconcile();
    assert!(rig.steps.is_empty(), "it would be applied to something that goes all the same");
    rig.sight.instances.rows.clear();
    rig.reconcile();
    assert_eq!(rig.written(), ["apply KuraInstance kura-acme-eu"], "once it is gone it is made anew");
}

#[test]
fn an_image_that_is_reported_early_is_not_believed() {
    // K33 (I9)
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    rig.reconcile();
    assert_eq!(rig.live("acme").observed_image.as_deref(), Some("0.20.0"));
    assert_eq!(rig.open("acme").status, Status::Running, "both pods are old");
    let (kind, detail) = rig.wait("acme");
    assert_eq!(kind, "workload_not_ready");
    assert_eq!(detail, "kura-acme-eu-0 runs 0.19.0, kura-acme-eu-1 runs 0.19.0");
    rig.pod("kura-acme-eu", 1, "0.20.0", true);
    rig.reconcile();
    assert_eq!(rig.wait("acme").1, "kura-acme-eu-0 runs 0.19.0");
    let old = rig.sight.pods.rows.get_mut("kura-acme-eu-0").unwrap();
    old.stamp.deleting_since = Some(rig.now);
    rig.reconcile();
    assert!(rig.server("acme").open().is_none(), "a pod on its way out does not count");
}

#[test]
fn a_deployment_succeeds_once_its_endpoint_answers() {
    // K32, K5, K2
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    rig.stop_answering("acme");
    rig.reconcile();
    rig.pods_follow();
    rig.reconcile();
    assert_eq!(rig.wait("acme"), ("public_endpoint_not_ready".to_owned(), "/up answered 503".to_owned()));
    for (up, done) in [(302, false), (204, true)] {
        rig.endpoint("acme").up = crate::domain::kura::traffic::Up::Status { status: up };
        rig.reconcile();
        assert_eq!(rig.server("acme").open().is_none(), done, "{up}");
    }
    let server = rig.server("acme");
    assert_eq!(server.current_image_tag.as_deref(), Some("0.20.0"));
    assert_eq!((server.url.as_deref(), server.status), (Some("https://acme-eu.kura.tuist.dev"), ServerStatus::Active));
    assert_eq!(crate::domain::kura::traffic::UP_TIMEOUT.0, 5);
}

#[test]
fn an_answer_from_before_the_apply_proves_nothing() {
    // K32
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    rig.reconcile();
    rig.pods_follow();
    rig.pass_time(60);
    let applied = rig.server("acme").applied.clone().unwrap().at;
    let probe = rig.endpoint("acme").clone();
    rig.look();
    rig.endpoint("acme").as_of = crate::domain::span::Seconds(1).before(applied);
    rig.tick_as_it_is();
    assert!(rig.server("acme").open().is_some(), "{probe:?}");
    rig.reconcile();
    assert!(rig.server("acme").open().is_none());
}

#[test]
fn what_the_cluster_can_never_take_fails_the_row_and_a_refused_or_lost_write_does_not() {
    // K27, K12
    let outcomes = [
        (Outcome::Stale, Status::Pending, None),
        (Outcome::Forbidden { why: "no".to_owned() }, Status::Pending, Some("forbidden: no")),
        (Outcome::Failed { why: "timeout".to_owned() }, Status::Pending, Some("timeout")),
        (Outcome::Invalid { why: "replicas".to_owned() }, Status::Failed, Some("the cluster refuses it: replicas")),
    ];
    for (outcome, status, trouble) in outcomes {
        let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
        let step = rig.tick().steps.remove(0);
        rig.tell(vec![Ran { step: step.clone(), outcome: outcome.clone() }]);
        let again = rig.tell(vec![Ran { step, outcome }]);
        assert!(facts(&again).is_empty(), "trouble is told once: {again:?}");
        let server = rig.server("acme");
        assert_eq!(server.deployments.last().unwrap().status, status);
        assert_eq!(server.troubles.get("KuraInstance kura-acme-eu").map(String::as_str), trouble);
        rig.reconcile();
        assert!(status == Status::Failed || rig.server("acme").troubles.is_empty(), "and its end is told");
    }
}

#[test]
fn what_was_tried_is_not_tried_again_before_the_next_tick() {
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    let step = rig.tick().steps.remove(0);
    let verdict = rig.tell(vec![Ran { step, outcome: Outcome::Done }]);
    assert!(verdict.steps.is_empty(), "the reading lags behind what was written");
    assert!(facts(&verdict).iter().any(|fact| matches!(fact, KuraChange::ManifestApplied { .. })));
}

#[test]
fn an_idle_pass_appends_nothing() {
    // K23
    let mut rig = Rig::serving(&["0.20.0"], "0.19.0");
    rig.settle();
    for _ in 0..3 {
        let verdict = rig.tick();
        assert!(verdict.changes.is_empty() && verdict.steps.is_empty());
    }
    lose(&mut rig.sight.pods, rig.now);
    assert!(rig.tick_as_it_is().changes.is_empty());
}
