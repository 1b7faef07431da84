//! How long a probe may take to start and a node to become green: usually so long, and as long as the roll says.

use serde_json::json;

use super::rig::{ROLL, Rig, refused, spec};
use crate::domain::roll::fleet_roll::RollState;
use crate::domain::roll::node::{StepName, Verdict};
use crate::domain::roll::partition::Partition;
use crate::domain::roll::spec::{RollSpec, Selector};
use crate::domain::span::Seconds;

/// The canary is back, its probe waits for `stuck`, and its roll has deadlines of its own.
fn back_with(stuck: &'static str, deadlines: impl Fn(RollSpec) -> RollSpec) -> Rig {
    let mut rig = Rig::of(3);
    rig.start(ROLL, "x", deadlines(spec(3)));
    rig.stuck.insert("wk-1".to_owned(), stuck);
    rig.until(|rig| rig.state_of("wk-1", StepName::Green).is_some());
    rig
}

#[test]
fn a_probe_is_given_as_long_to_start_as_its_roll_says() {
    // F11
    for (seconds, told) in [(30, "30s"), (300, "5m")] {
        let mut rig = back_with("", |spec| RollSpec { probe_start_seconds: Some(Seconds(seconds)), ..spec });
        rig.tick_after(seconds - 1);
        assert!(rig.state() != RollState::Blocked, "{seconds}: {}", rig.reason());
        rig.tick_after(1);
        assert_eq!(rig.state(), RollState::Blocked, "{seconds}");
        assert!(rig.reason().contains(&format!("did not start within {told}")), "{}", rig.reason());
        assert_eq!(rig.of_node("wk-1").last_finding().map(|finding| finding.verdict), Some(Verdict::Broken));
    }
}

#[test]
fn a_node_is_given_as_long_to_become_green_as_its_roll_says() {
    // F11
    for minutes in [5, 90] {
        let deadline = Seconds(minutes * 60);
        let mut rig = back_with("ErrImagePull", |spec| RollSpec { green_deadline_seconds: Some(deadline), ..spec });
        let began = rig.now;
        rig.until(|rig| !rig.roll().is_live());
        assert_eq!(Seconds::between(began, rig.now), deadline);
        let told = format!("wk-1 did not become green within {deadline}");
        assert!(rig.reason().contains(&told), "{}", rig.reason());
    }
}

#[test]
fn a_gate_that_nobody_looked_after_is_tried_as_long_as_a_slow_probe_takes() {
    // F8, F11
    let slow = |spec| RollSpec { probe_start_seconds: Some(Seconds(600)), ..spec };
    let mut rig = back_with("", slow);
    rig.tick_after(22 * 60);
    assert_eq!(rig.of_node("wk-1").last_finding().map(|finding| finding.verdict), Some(Verdict::Broken));
    // The one that is out by now is not judged before its own time is up: the last one still counts.
    rig.tick_after(8 * 60);
    assert!(!rig.roll().is_live(), "{}", rig.reason());
}

#[test]
fn a_deadline_that_proves_nothing_is_refused_with_its_field() {
    // F11
    let of = |probe: Option<u64>, green: Option<u64>| RollSpec {
        probe_start_seconds: probe.map(Seconds),
        green_deadline_seconds: green.map(Seconds),
        ..spec(2)
    };
    for (given, field, words) in [
        (of(Some(0), None), "probe_start_seconds", "is less than 5s"),
        (of(Some(601), None), "probe_start_seconds", "is more than 10m"),
        // Before a probe that never starts is judged nobody can be late.
        (of(None, Some(119)), "green_deadline_seconds", "is less than 2m"),
        (of(Some(600), Some(600)), "green_deadline_seconds", "is less than 11m"),
        (of(None, Some(86_401)), "green_deadline_seconds", "is more than 1d"),
    ] {
        let refusal = refused(Rig::of(2).start(ROLL, "x", given));
        assert_eq!(refusal.field(), Some(field), "{refusal}");
        assert!(refusal.to_string().contains(words), "{refusal}");
    }
    for given in [of(Some(5), Some(65)), of(Some(600), Some(86_400))] {
        Rig::of(2).start(ROLL, "x", given);
    }
}

#[test]
fn a_gate_that_judges_nothing_that_can_be_is_refused_with_its_field() {
    // F31, F47
    let label = |value: &str| Selector::new("tier", value);
    let classes = |infra: &str, others: &str| Partition { infra: label(infra), others: label(others) };
    for (given, field) in [
        (RollSpec { partition: Some(classes("infra", "infra")), ..spec(2) }, "partition"),
        (RollSpec { partition: Some(classes("infra", "")), ..spec(2) }, "partition"),
        (RollSpec { registry: Some(Selector::new("", "zot")), ..spec(2) }, "registry"),
        (RollSpec { probe_image: String::new(), ..spec(2) }, "probe_image"),
    ] {
        let refusal = refused(Rig::of(2).start(ROLL, "x", given));
        assert_eq!(refusal.field(), Some(field), "{refusal}");
    }
}

#[test]
fn a_roll_of_before_there_were_deadlines_reads_and_writes_as_it_did() {
    // F57
    let written = json!(RollSpec::default());
    assert!(!written.to_string().contains("deadline") && !written.to_string().contains("probe_start"), "{written}");
    assert_eq!(serde_json::from_value::<RollSpec>(written).unwrap(), RollSpec::default());
}
