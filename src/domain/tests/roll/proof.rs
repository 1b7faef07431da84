//! The green gate: what is read, what is proven, and what neither says anything.

use jiff::Timestamp;

use super::rig::{Rig, spec};
use crate::domain::roll::fleet_roll::RollState;
use crate::domain::roll::manifest::probe;
use crate::domain::roll::node::{StepName, StepState, Verdict};
use crate::domain::roll::partition::Partition;
use crate::domain::roll::probe::{Judged, START_DEADLINE, judge};
use crate::domain::roll::spec::{RollSpec, Selector};
use crate::domain::span::Seconds;

/// The canary is back, and its probe waits for `stuck`.
fn back_with(stuck: &'static str) -> Rig {
    let mut rig = Rig::rolling(3);
    rig.stuck.insert("wk-1".to_owned(), stuck);
    rig.until(|rig| rig.state_of("wk-1", StepName::Green).is_some());
    rig
}

#[test]
fn what_is_read_passes_nobody_without_a_probe_that_ran() {
    // F1, F2, F4, F8, F48
    let mut rig = back_with("");
    assert!(rig.fleet.nodes.rows["wk-1"].ready, "every passive signal is fine");
    assert_eq!(rig.state_of("wk-1", StepName::Green), Some(StepState::Running));
    assert!(rig.of_node("wk-1").findings.is_empty());
    rig.stuck.clear();
    rig.keep_pods(|pod| !pod.is_ours());
    rig.until(|rig| rig.roll().gate.is_some());
    let proof = rig.of_node("wk-1").findings.iter().find(|finding| !finding.passive).cloned().unwrap();
    assert_eq!(proof.verdict, Verdict::Proven);
    assert!(proof.started_at >= rig.of_node("wk-1").back_since().unwrap(), "it began after the uncordon");
}

#[test]
fn a_probe_that_does_not_start_within_a_minute_is_a_broken_runtime() {
    // F3, F7, F11
    let mut rig = back_with("");
    rig.tick();
    assert_eq!(rig.state(), RollState::Blocked);
    let reason = rig.reason();
    assert!(reason.contains("wk-1 is Ready and cannot start containers"), "{reason}");
    assert!(reason.contains("probe"), "{reason}");
    assert_eq!(rig.turns(), ["wk-1"]);
}

#[test]
fn a_container_that_cannot_be_made_fails_at_once_and_recovers_when_one_can() {
    // F11
    let mut rig = back_with("CreateContainerError");
    assert_eq!(rig.of_node("wk-1").last_finding().unwrap().verdict, Verdict::Broken);
    assert_eq!(rig.state(), RollState::Blocked);
    rig.stuck.clear();
    rig.until(|rig| rig.roll().gate.is_some());
    assert!(rig.roll().blocked.is_none());
}

#[test]
fn pulls_and_admissions_say_nothing_about_the_runtime() {
    // F11
    for stuck in ["ErrImagePull", "ImagePullBackOff", "OutOfpods"] {
        let mut rig = back_with(stuck);
        rig.tick();
        let finding = rig.of_node("wk-1").last_finding().unwrap().clone();
        assert_eq!(finding.verdict, Verdict::NotProven, "{stuck}");
        assert!(!finding.reason.contains("cannot start"), "never called wedged: {}", finding.reason);
        assert_eq!(rig.state_of("wk-1", StepName::Green), Some(StepState::Running), "nor is it green");
        rig.stuck.clear();
        rig.until(|rig| rig.roll().gate.is_some());
    }
}

#[test]
fn a_gate_that_is_not_reached_in_half_an_hour_ends_the_roll() {
    // F11
    let mut rig = back_with("ErrImagePull");
    let began = rig.now;
    rig.until(|rig| !rig.roll().is_live());
    assert_eq!(Seconds::between(began, rig.now), Seconds(30 * 60));
    assert!(rig.reason().contains("wk-1 did not become green within"), "{}", rig.reason());
}

#[test]
fn a_gate_that_nobody_looked_after_is_tried_before_it_is_late() {
    // F8, F11
    for stuck in ["", "ErrImagePull"] {
        let mut rig = back_with(stuck);
        rig.stuck.clear();
        rig.keep_pods(|pod| !pod.is_ours());
        rig.tick_after(2 * 3_600);
        assert!(rig.roll().is_live(), "no control plane ran: {}", rig.reason());
        rig.until(|rig| rig.roll().gate.is_some());
    }
    let mut rig = back_with("ErrImagePull");
    rig.tick_after(2 * 3_600);
    rig.until(|rig| !rig.roll().is_live());
    assert!(rig.reason().contains("wk-1 did not become green within 30m"), "{}", rig.reason());
}

#[test]
fn a_gate_whose_probe_cannot_be_made_is_late_all_the_same() {
    // F11
    let mut rig = Rig::rolling(3);
    rig.until(|rig| !rig.fleet.jobs.rows.is_empty());
    rig.forbidden.insert("apply");
    rig.until(|rig| !rig.roll().is_live());
    assert!(rig.reason().contains("wk-1 did not become green within 30m"), "{}", rig.reason());
}

#[test]
fn what_was_seen_broken_a_moment_ago_is_proven_anew_before_it_is_green() {
    // F13
    let mut rig = Rig::of(3);
    rig.start("r", "x", RollSpec { canary_settle_seconds: Some(Seconds(90)), ..spec(3) });
    rig.until(|rig| rig.of_node("wk-1").last_finding().is_some_and(|finding| finding.verdict == Verdict::Proven));
    rig.fingerprints("wk-1", 1, "CreateContainerError");
    rig.tick_after(30);
    assert!(rig.of_node("wk-1").broken().is_some_and(|finding| finding.passive), "{:?}", rig.of_node("wk-1").findings);
    let seen = rig.now;
    rig.keep_pods(|pod| pod.reason.is_none());
    rig.stuck.insert("wk-1".to_owned(), "");
    (0..2).for_each(|_| rig.tick_after(30));
    assert_eq!(rig.state_of("wk-1", StepName::Green), Some(StepState::Running), "its dwell is over, and it is clean");
    rig.stuck.clear();
    rig.keep_pods(|pod| !pod.is_ours());
    rig.until(|rig| rig.roll().gate.is_some());
    let proof = rig.of_node("wk-1").last_finding().cloned().unwrap();
    assert!(proof.verdict == Verdict::Proven && proof.started_at >= seen, "{proof:?}");
}

#[test]
fn pods_that_cannot_be_made_fail_the_gate_and_are_counted() {
    // F5, F12, A13
    let mut rig = Rig::rolling(3);
    rig.held.insert(("wk-1".to_owned(), StepName::Drain));
    rig.until(|rig| rig.state_of("wk-1", StepName::Drain).is_some());
    rig.fingerprints("wk-1", 2, "CreateContainerError");
    rig.held.clear();
    rig.pass_time(60);
    rig.stuck.insert("wk-1".to_owned(), "ErrImagePull");
    rig.until(|rig| rig.state_of("wk-1", StepName::Green).is_some());
    rig.fingerprints("wk-1", 3, "CreateContainerError");
    rig.fingerprints("wk-1", 31, "ContainerStatusUnknown");
    rig.tick();
    assert_eq!(rig.state(), RollState::Blocked);
    assert!(rig.reason().contains("wk-1") && rig.reason().contains("34 pods"), "{}", rig.reason());
    rig.tick();
    let looks = rig.of_node("wk-1").findings.iter().filter(|finding| finding.passive).count();
    assert_eq!(looks, 1, "told once, not with each look");
}

#[test]
fn leftovers_of_the_drain_other_nodes_and_config_errors_fail_nobody() {
    // F5, F6, A13
    let mut rig = Rig::rolling(3);
    rig.fingerprints("wk-2", 1, "CreateContainerError");
    rig.held.insert(("wk-1".to_owned(), StepName::Boot));
    rig.until(|rig| rig.state_of("wk-1", StepName::Boot).is_some());
    rig.fingerprints("wk-1", 4, "ContainerStatusUnknown");
    rig.held.clear();
    rig.fleet.jobs.rows.clear();
    rig.tick();
    rig.fingerprints("wk-1", 5, "CreateContainerConfigError");
    rig.until(|rig| rig.roll().gate.is_some());
}

#[test]
fn a_dwell_alone_and_a_proof_alone_are_not_enough() {
    // F14
    let mut rig = Rig::of(3);
    rig.start(
        "r",
        "x",
        RollSpec { settle_seconds: Seconds(300), canary_settle_seconds: Some(Seconds(900)), ..spec(3) },
    );
    rig.until(|rig| rig.of_node("wk-1").last_finding().is_some());
    let back = rig.of_node("wk-1").back_since().unwrap();
    rig.until(|rig| rig.roll().gate.is_some());
    let waited = |rig: &Rig, node: &str| {
        let row = rig.of_node(node).step(StepName::Green).unwrap();
        Seconds::between(rig.of_node(node).back_since().unwrap(), row.ended_at.unwrap())
    };
    assert_eq!(waited(&rig, "wk-1"), Seconds(900));
    assert!(Seconds::between(back, rig.now) >= Seconds(900));
    rig.approve("r", "x", None);
    rig.until(|rig| rig.state_of("wk-2", StepName::Green) == Some(StepState::Done));
    assert_eq!(waited(&rig, "wk-2"), Seconds(300));
}

#[test]
fn a_probe_is_pinned_tiny_and_goes_past_scheduler_and_cordons() {
    // F9, F10
    let pod = probe(None, "wk-1.example.com", 7, "pause:3", Timestamp::UNIX_EPOCH);
    assert_eq!(pod["spec"]["nodeName"], "wk-1.example.com");
    assert_eq!(pod["spec"]["restartPolicy"], "Never");
    assert_eq!(pod["spec"]["containers"][0]["imagePullPolicy"], "IfNotPresent");
    assert_eq!(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"], "1m");
    assert_eq!(pod["spec"]["tolerations"][0]["operator"], "Exists");
    let names: std::collections::BTreeSet<String> = (0..5)
        .map(|n| probe(None, "wk-1", n, "pause:3", Timestamp::UNIX_EPOCH)["metadata"]["name"].to_string())
        .collect();
    assert_eq!(names.len(), 5, "each has a name of its own");
}

#[test]
fn a_probe_is_open_until_it_started_or_its_time_is_up() {
    // F11
    let mut rig = back_with("");
    let pod = rig.fleet.pods.rows.values().find(|pod| pod.is_ours() && pod.stamp.name.contains("-probe-")).cloned();
    let (pod, node) = (pod.unwrap(), rig.fleet.nodes.get("wk-1").cloned());
    let at = |seconds| judge(&pod, node.as_ref(), START_DEADLINE, Seconds(seconds).after(pod.stamp.created_at));
    assert_eq!((at(0), at(59)), (Judged::Open, Judged::Open));
    assert!(matches!(at(60), Judged::As(Verdict::Broken, _)));
    rig.tick();
}

#[test]
fn the_gate_waits_for_infra_reports_the_others_and_wants_every_workload_in_one_class() {
    // F31, F47
    let partition = || {
        let (infra, others) = (Selector::new("tier", "infra"), Selector::new("tier", "tenant"));
        Some(Partition { infra, others })
    };
    let mut rig = Rig::of(2);
    let refusal = super::rig::refused(rig.start("r", "x", RollSpec { partition: partition(), ..spec(2) }));
    assert_eq!(refusal.code(), "not_partitioned", "{refusal}: without a label it is in no class");
    for pod in ["app-wk-1", "app-wk-2"] {
        let pod = rig.fleet.pods.rows.get_mut(&format!("apps/{pod}")).unwrap();
        pod.stamp.labels.insert("tier", "tenant");
    }
    rig.start("r", "x", RollSpec { partition: partition(), ..spec(2) });
    rig.until(|rig| rig.state_of("wk-1", StepName::Uncordon) == Some(StepState::Done) || rig.roll().gate.is_some());
    let mut rig = Rig::of(2);
    rig.fleet.pods.rows.clear();
    rig.start("r", "x", RollSpec { partition: partition(), ..spec(2) });
    rig.held.insert(("wk-1".to_owned(), StepName::Boot));
    rig.until(|rig| rig.state_of("wk-1", StepName::Boot).is_some());
    rig.put_pod("dns", "wk-1", &[("tier", "infra")]).ready = false;
    rig.put_pod("shop", "wk-1", &[("tier", "tenant")]).ready = false;
    rig.held.clear();
    rig.fleet.jobs.rows.clear();
    rig.until(|rig| rig.state() == RollState::Blocked);
    assert_eq!(rig.reason(), "wk-1: dns is not Ready");
    let told = crate::domain::roll::green::reported(rig.roll(), "wk-1", &rig.fleet);
    assert_eq!(told, ["apps/shop"]);
    rig.put_pod("lost", "wk-1", &[]);
    rig.fleet.pods.rows.get_mut("apps/dns").unwrap().ready = true;
    rig.tick();
    assert!(rig.reason().contains("apps/lost carries neither"), "{}", rig.reason());
    rig.fleet.pods.rows.remove("apps/lost");
    rig.until(|rig| rig.roll().gate.is_some());
}

#[test]
fn both_classes_at_once_are_none() {
    // F47
    let partition = Partition { infra: Selector::new("infra", "1"), others: Selector::new("tenant", "1") };
    let mut rig = Rig::of(1);
    rig.fleet.pods.rows.clear();
    rig.put_pod("both", "wk-1", &[("infra", "1"), ("tenant", "1")]);
    let refusal = super::rig::refused(rig.start("r", "x", RollSpec { partition: Some(partition), ..spec(1) }));
    assert!(refusal.to_string().contains("apps/both carries both"), "{refusal}");
}
