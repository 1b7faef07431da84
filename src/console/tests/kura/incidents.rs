//! The incidents of §9: each stands on the first screen with its sentence, what to do, and what to verify afterwards.

use serde_json::json;

use super::super::super::need::NeedKind;
use super::bed::{Bed, row};
use crate::domain::ids::ServerId;
use crate::domain::kura::source::Contact;
use crate::domain::kura::traffic::{Dns, Tls, Up};
use crate::domain::kura::verb::KuraVerb;
use crate::domain::kura::workload::{Progress, UpdateStrategy};

const TWO: [(&str, &str); 2] = [("ash", "eu"), ("birch", "us")];

/// 0.20.0 on its way to both, and everything as it should be so far.
fn deploying() -> Bed {
    let mut bed = Bed::serving(80, 24, &TWO);
    bed.stage.pass(60);
    bed.release("0.20.0");
    bed.agree();
    bed
}

/// The only need is this one, and the screen says these things about it.
fn says(bed: Bed, kind: NeedKind, parts: &[&str]) {
    let bed = bed.shown();
    let needs = bed.needs();
    assert_eq!(needs.iter().map(|need| need.0).collect::<Vec<_>>(), [kind], "{needs:?}");
    let words = bed.words();
    for part in parts.iter().chain(&["THEN VERIFY"]) {
        assert!(words.contains(part), "{part:?} is not on the screen:\n{}", bed.stage.screen());
    }
}

#[test]
fn i1_a_silent_manifest_deadlock_names_the_field_and_the_key_that_heals_it() {
    // K24, K29
    let mut bed = deploying();
    let live = bed.sight.instances.rows.get_mut("kura-ash-eu").unwrap();
    live.spec.edit(|spec| spec["ingressClassName"] = json!("kgw-799b"));
    bed.sight.classes.rows.extend([row("kgw-799b", json!({"controller": "gone", "has_controller": false}))]);
    bed.sight.ingresses.rows.get_mut("kura-ash-eu").unwrap().addresses.clear();
    let host = "ash-eu.kura.tuist.dev".to_owned();
    bed.probe(&host, |probe| (probe.dns, probe.up) = (Dns::NxDomain, Up::Timeout));
    bed.pass(21_600);
    let parts = [
        "DOWN ash-eu does not serve",
        "0.20.0 has waited 6h for a controller of its ingress class",
        "somebody edited spec.ingressClassName: live kgw-799b, rendered kura-eu",
        "→ u a force a re-apply of what is rendered",
        "its fields read as rendered, and the chain to /up holds",
    ];
    says(bed, NeedKind::Down, &parts);
}

#[test]
fn i2_a_deployment_that_has_been_open_for_hours_says_what_its_pods_say() {
    let mut bed = deploying();
    for ordinal in 0..2 {
        bed.pod(&format!("kura-ash-eu-{ordinal}"), |pod| {
            (pod.ready, pod.reason) = (false, Some("CrashLoopBackOff".to_owned()));
        });
    }
    let host = "ash-eu.kura.tuist.dev".to_owned();
    bed.probe(&host, |probe| probe.up = Up::Status { status: 503 });
    bed.pass(50_400);
    let parts = [
        "0.20.0 has waited 14h for its pods",
        "kura-ash-eu-0 CrashLoopBackOff",
        "→ u t release a newer runtime tag; what is not Ready rolls to it together",
        "→ C read why the pods are not Ready",
    ];
    says(bed, NeedKind::Down, &parts);
}

#[test]
fn i3_i9_old_pods_under_a_new_status_are_stuck_although_the_endpoint_serves() {
    // K33
    let mut bed = deploying();
    bed.pod("kura-ash-eu-0", |pod| pod.image = Some("0.19.0".to_owned()));
    bed.pass(7_200);
    let parts = ["STUCK ash-eu 0.20.0 waits for its pods", "ash-eu serves 0.19.0", "kura-ash-eu-0 runs 0.19.0"];
    says(bed, NeedKind::Stuck, &parts);
}

#[test]
fn i4_a_server_that_releases_flow_past_is_flagged() {
    // K20
    let mut bed = Bed::serving(80, 24, &TWO);
    for tag in ["0.20.0", "0.20.1", "0.20.2", "0.20.3"] {
        bed.release(tag);
        bed.agree();
        bed.pod("kura-ash-eu-0", |pod| pod.ready = false);
        bed.pod("kura-ash-eu-1", |pod| pod.ready = false);
        bed.pass(600);
    }
    let parts = [
        "LEFT BEHIND ash-eu 3 deployments superseded, none succeeded",
        "releases flow, this server does not",
        "find out what this instance never gets over",
    ];
    says(bed, NeedKind::LeftBehind, &parts);
}

#[test]
fn i5_a_certificate_that_is_not_issued_says_what_its_issuer_says() {
    // K30
    let mut bed = deploying();
    let host = "ash-eu.kura.tuist.dev".to_owned();
    let bad = Tls::Invalid { why: "unknown authority".to_owned() };
    bed.probe(&host, |probe| probe.tls = bad);
    let certificate = json!({"hosts": [host], "ready": false, "message": "too many certificates already issued"});
    bed.sight.certificates.rows.extend([row("ash-eu", certificate)]);
    bed.pass(7_200);
    let parts = ["for its certificate", "the issuer says: too many certificates already issued", "a rate limit passes"];
    says(bed, NeedKind::Stuck, &parts);
}

#[test]
fn i6_a_pod_that_cannot_leave_its_node_is_shown_with_its_pin_and_age() {
    let mut bed = Bed::serving(80, 24, &TWO);
    bed.pod("kura-ash-eu-1", |pod| {
        (pod.phase, pod.ready) = ("Pending".to_owned(), false);
        (pod.started_at, pod.reason) = (None, Some("Unschedulable".to_owned()));
    });
    bed.sight.claims.rows.extend([row("data-kura-ash-eu-1", json!({"volume": "pv-1"}))]);
    bed.sight.volumes.rows.extend([row("pv-1", json!({"pinned_to": "oak-3"}))]);
    bed.pass(60);
    let parts =
        ["PINNED ash-eu kura-ash-eu-1 is pending, tied to oak-3", "has been pending for 11d", "make room on the node"];
    says(bed, NeedKind::Pinned, &parts);
}

#[test]
fn i7_a_pause_that_an_operator_forgot_is_shown_as_such_with_its_age() {
    // K38
    let mut bed = deploying();
    bed.pod("kura-ash-eu-1", |pod| pod.image = Some("0.19.0".to_owned()));
    let set = bed.sight.sets.rows.get_mut("kura-ash-eu").unwrap();
    (set.strategy, set.strategy_since) = (UpdateStrategy::OnDelete, Some("2026-06-28T03:00:00Z".parse().unwrap()));
    bed.pass(60);
    let parts =
        ["HELD ash-eu by an operator, 1 pod on the old image", "held by an operator for 3d", "let the update go on"];
    says(bed, NeedKind::Held, &parts);
}

#[test]
fn i10_a_gateway_that_waits_for_a_dead_controller_takes_a_person_with_a_reason() {
    // K44
    let mut bed = Bed::serving(80, 24, &TWO);
    let stuck = json!({"stamp": {
        "deleting_since": "2026-05-15T03:00:00Z", "finalizers": ["kuragateways.kura.tuist.dev/finalizer"],
    }, "last_reconciled_at": "2026-05-15T03:00:00Z"});
    bed.gateway("kgw-old", stuck);
    bed.pass(60);
    let parts = [
        "GATEWAY kgw-old stuck on its way out, held by a",
        "leaving for 47d",
        "its controller was last heard of 47d",
        "→ x f bring its controller back, or take the finalizer off",
    ];
    says(bed, NeedKind::GatewayStuck, &parts);
}

#[test]
fn i11_a_slow_bootstrap_is_none_of_those_that_are_stuck_and_deleting_it_is_warned_of() {
    let mut bed = deploying();
    for ordinal in 0..2 {
        bed.pod(&format!("kura-ash-eu-{ordinal}"), |pod| pod.ready = false);
    }
    bed.pass(10_800);
    let progress = Progress { text: "41 %".to_owned(), at: bed.stage.now };
    bed.sight.instances.rows.get_mut("kura-ash-eu").unwrap().progress = Some(progress);
    let mut bed = bed.shown();
    assert!(bed.needs().iter().all(|need| need.0 != NeedKind::Stuck), "{:?}", bed.needs());
    bed.stage.press("3");
    let words = bed.words();
    assert!(
        words.contains("its bootstrap progresses (41 %): deleting a pod throws that away"),
        "{}",
        bed.stage.screen()
    );
    bed.stage.pass(1_000);
    bed.hear();
    bed.stage.show();
    assert!(!bed.words().contains("progresses"), "a progress that stands still is none: {}", bed.stage.screen());
}

#[test]
fn i12_a_row_without_an_instance_needs_nobody_unless_it_cannot_be_written() {
    // K26, K45
    let mut bed = Bed::serving(80, 24, &TWO);
    bed.sight.instances.rows.remove("kura-ash-eu");
    bed.pass(60);
    let mut bed = bed.shown();
    assert_eq!(bed.needs(), []);
    bed.stage.press("3");
    let words = bed.words();
    assert!(words.contains("its instance is missing, and the next tick makes it"), "{}", bed.stage.screen());
    assert!(words.contains("a server claims it, and it does not run"), "{words}");
}

#[test]
fn an_instance_of_nobody_a_skewed_mesh_and_a_gateway_of_nobody_are_told_last() {
    // K8, K43, K45
    let mut bed = Bed::serving(80, 24, &[("ash", "eu"), ("ash", "us")]);
    for tag in ["0.20.0", "0.21.0"] {
        bed.verb(KuraVerb::ReleaseTag { tag: tag.to_owned() });
    }
    bed.gateway("kgw-old", json!({}));
    bed.sight.instances.rows.extend([row("kura-nobody-eu", json!({"spec": {"image": "0.18.4"}}))]);
    bed.pod("kura-ash-eu-1", |pod| pod.image = Some("0.21.0".to_owned()));
    bed.see();
    bed.stage.pass(30);
    bed.hear();
    let bed = bed.shown();
    let kinds: Vec<NeedKind> = bed.needs().into_iter().map(|need| need.0).collect();
    assert_eq!(kinds, [NeedKind::Skew, NeedKind::Orphan, NeedKind::GatewayUnused]);
    assert!(bed.words().contains("0.19.0 and 0.21.0 are no neighbours; one version of skew is the safety budget"));
}

#[test]
fn without_a_tick_or_a_look_at_the_cluster_that_comes_before_everything_else() {
    let mut bed = deploying();
    bed.pod("kura-ash-eu-0", |pod| pod.image = Some("0.19.0".to_owned()));
    bed.pass(7_200);
    let why = "401: log in again: aws sso login".to_owned();
    bed.sight.instances.contact = Contact::Lost { as_of: Some(bed.stage.now), why };
    bed.stage.now = crate::domain::span::Seconds(300).after(bed.stage.now);
    bed.stage.picture.api = super::super::super::snapshot::Freshness::Live(bed.stage.now);
    let bed = bed.shown();
    let kinds: Vec<NeedKind> = bed.needs().into_iter().map(|need| need.0).collect();
    assert_eq!(kinds[..2], [NeedKind::NoTick, NeedKind::Unseen], "{kinds:?}");
    assert!(bed.words().contains("nobody ticks: nothing is deployed and no drift heals"), "{}", bed.stage.screen());
    assert_eq!(bed.stage.model.facts.kura.servers[&ServerId::named("ash-eu")].drift, None, "it cannot be told");
}
