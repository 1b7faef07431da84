//! What the screens look like, at both sizes, and what they say where there is little or nothing to see.

use insta::assert_snapshot;
use serde_json::json;

use super::super::super::model::Screen;
use super::super::stage::Stage;
use super::bed::{Bed, row, veil};
use crate::domain::kura::source::Contact;
use crate::domain::kura::traffic::Up;
use crate::domain::kura::workload::{Progress, UpdateStrategy};

const ESTATE: [(&str, &str); 7] = [
    ("tuist", "eu-central-1"),
    ("tuist", "us-east-1"),
    ("ash", "eu-central-1"),
    ("birch", "eu-central-1"),
    ("cedar", "us-east-1"),
    ("fir", "us-east-1"),
    ("larch", "us-east-1"),
];

/// One of everything: a deployment that is stuck, one that progresses, an edit by hand, a pause that was forgotten, a dead
/// node, a gateway that is stuck and one that nobody uses, and an orphan.
fn everything(width: u16, height: u16) -> Bed {
    let mut bed = Bed::serving(width, height, &ESTATE);
    bed.stage.pass(3_600);
    bed.release("0.20.0");
    bed.agree();
    for ordinal in 0..2 {
        bed.pod(&format!("kura-tuist-eu-central-1-{ordinal}"), |pod| {
            (pod.ready, pod.image) = (false, Some("0.19.0".to_owned()));
            pod.reason = Some("CrashLoopBackOff".to_owned());
        });
    }
    let host = "tuist-eu-central-1.kura.tuist.dev".to_owned();
    bed.probe(&host, |probe| probe.up = Up::Status { status: 503 });
    bed.pod("kura-ash-eu-central-1-0", |pod| pod.ready = false);
    bed.pod("kura-ash-eu-central-1-1", |pod| pod.ready = false);
    let progress = Progress { text: "4.1 of 9.8 GiB".to_owned(), at: bed.stage.now };
    bed.sight.instances.rows.get_mut("kura-ash-eu-central-1").unwrap().progress = Some(progress);
    bed.pass(7_200);
    let edited = bed.sight.instances.rows.get_mut("kura-birch-eu-central-1").unwrap();
    edited.spec.edit(|spec| spec["ingressClassName"] = json!("kgw-birch"));
    edited.stamp.resource_version = "8".to_owned();
    let held = bed.sight.sets.rows.get_mut("kura-tuist-us-east-1").unwrap();
    (held.strategy, held.strategy_since) = (UpdateStrategy::OnDelete, Some(bed.stage.now));
    bed.pod("kura-tuist-us-east-1-1", |pod| pod.image = Some("0.19.0".to_owned()));
    bed.dead_node(
        "oak-7",
        &["kura-cedar-us-east-1-0", "kura-cedar-us-east-1-1", "kura-fir-us-east-1-0", "kura-fir-us-east-1-1"],
    );
    bed.gateway(
        "kgw-799b0dea3467",
        json!({"stamp": {
        "deleting_since": "2026-06-20T02:00:00Z", "finalizers": ["kuragateways.kura.tuist.dev/finalizer"],
    }, "last_reconciled_at": "2026-06-20T02:00:00Z"}),
    );
    bed.gateway("kgw-left-over", json!({}));
    bed.sight.instances.rows.extend([row("kura-nobody-eu", json!({"spec": {"image": "0.18.4"}}))]);
    let progress = Progress { text: "4.1 of 9.8 GiB".to_owned(), at: bed.stage.now };
    bed.sight.instances.rows.get_mut("kura-ash-eu-central-1").unwrap().progress = Some(progress);
    bed.shown()
}

#[test]
fn an_account_without_kura_is_not_told_of_it() {
    let mut fleet = Stage::fleet(80, 24);
    assert!(!fleet.screen().contains(" kura"), "{}", fleet.screen());
    fleet.press("3");
    assert_eq!(fleet.model.screen, Screen::Kura);
    assert!(fleet.screen().contains("no server yet; add one: kura-console add-server TENANT REGION"));
    assert!(!fleet.screen().contains("no rollout"), "nothing else is explained: {}", fleet.screen());
}

#[test]
fn every_fact_of_a_server_stands_in_its_row_or_in_words() {
    // K8, K20, K45
    for (width, height) in [(80, 24), (120, 36), (160, 50), (50, 18)] {
        let mut bed = everything(width, height);
        bed.stage.press("3");
        assert_snapshot!(format!("kura_{width}x{height}"), bed.stage.screen());
    }
}

#[test]
fn incidents_stand_on_the_first_screen_each_once() {
    // I4, I7, I8, I10
    for (width, height) in [(80, 24), (120, 36)] {
        let bed = everything(width, height);
        assert_snapshot!(format!("kura_now_{width}x{height}"), bed.stage.screen());
    }
}

#[test]
fn a_server_in_full_has_its_chain_its_manifests_and_its_lineage() {
    // K7, K29, K48
    let mut bed = everything(100, 90);
    bed.stage.press("3 /");
    bed.stage.type_text("tuist-eu");
    bed.stage.press("enter j enter");
    assert_snapshot!("kura_server_100x90", bed.stage.screen());
    let screen = bed.words();
    for part in
        ["✗ pods", "broken for 2h", "· /up", "0.19.0 succeeded", "pods are deleted together by this control plane"]
    {
        assert!(screen.contains(part), "{part}\n{}", bed.stage.screen());
    }
}

#[test]
fn a_source_that_cannot_be_relied_on_is_said_with_its_age_and_nothing_is_guessed() {
    // K27 (A20)
    let mut bed = everything(120, 36);
    let why = "pods is forbidden: User jane cannot list".to_owned();
    veil(&mut bed.sight.pods, Contact::Forbidden { as_of: bed.stage.now, why });
    let lost = Contact::Lost { as_of: Some(bed.stage.now), why: "connection refused".to_owned() };
    veil(&mut bed.sight.gateways, lost);
    bed.pass(600);
    let mut bed = bed.shown();
    bed.stage.press("3");
    let screen = bed.words();
    assert!(screen.contains("pods forbidden 10m (pods is forbidden: User jane cannot list)"), "{}", bed.stage.screen());
    assert!(screen.contains("gateways lost 10m (connection refused)") && screen.contains("?/2"), "{screen}");
    bed.stage.press("1");
    assert!(bed.words().contains("UNSEEN cluster pods, gateways forbidden"), "{}", bed.stage.screen());
    bed.sight = crate::domain::kura::sight::Sight::default();
    let observed = std::sync::Arc::make_mut(&mut bed.stage.picture.observed);
    observed.cluster = None;
    bed.stage.show();
    bed.stage.press("3 enter");
    let screen = bed.words();
    assert!(screen.contains("not seen from here: no cluster is connected"), "{}", bed.stage.screen());
    assert!(!screen.contains("✓ pods"), "nothing is guessed: {screen}");
}

#[test]
fn colour_is_never_alone_and_plain_glyphs_are_enough() {
    let mut bed = everything(120, 60);
    bed.stage.model.setup.ascii = true;
    bed.stage.press("3");
    let screen = bed.stage.screen();
    assert!(screen.is_ascii(), "{screen}");
    for word in ["replicating", "active", "edited", "oak-7 is not Ready", "stuck", "unused", "orphan", "operator"] {
        assert!(screen.contains(word), "{word}\n{screen}");
    }
}
