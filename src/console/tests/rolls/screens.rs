//! What the screen of rolls looks like, at both sizes, and what it says where there is little or nothing to see.

use insta::assert_snapshot;

use super::super::super::model::Screen;
use super::super::super::snapshot::Access;
use super::super::stage::Stage;
use super::bed::Bed;
use crate::domain::roll::node::StepName;
use crate::domain::roll::partition::Partition;
use crate::domain::roll::spec::Selector;
use crate::domain::tests::roll::rig::{ROLL, Rig, spec};

/// Three of five are green, and the fourth is booted.
fn under_way(width: u16, height: u16) -> Bed {
    let mut bed = Bed::at_gate(width, height);
    bed.approve();
    bed.rig.held.insert(("wk-6".to_owned(), StepName::Boot));
    bed.rig.until(|rig| rig.state_of("wk-6", StepName::Boot).is_some());
    bed.rig.pass_time(44);
    bed.rig.look();
    bed.shown()
}

#[test]
fn an_account_without_rolls_is_not_told_of_them() {
    let mut fleet = Stage::fleet(80, 24);
    assert!(!fleet.screen().contains(" rolls") && !fleet.screen().contains(" nodes"), "{}", fleet.screen());
    fleet.press("4");
    assert_eq!(fleet.model.screen, Screen::Rolls);
    assert!(fleet.screen().contains("no roll was ever started: kura-console start-roll PROJECT/TARGET --help"));
    fleet.picture.access = Access::Viewer;
    fleet.show();
    assert!(fleet.screen().contains("no roll was ever started; an operator starts them, your token can look"));
    fleet.press("5");
    assert!(fleet.screen().contains("no node is seen: connect a cluster"), "{}", fleet.screen());
}

#[test]
fn a_gate_says_for_how_long_it_waits_and_what_opens_it() {
    // F41, F43
    for (width, height) in [(80, 24), (120, 36)] {
        let mut bed = Bed::at_gate(width, height);
        bed.stage.press("4");
        assert_snapshot!(format!("rolls_gate_{width}x{height}"), bed.stage.screen());
        bed.says("waiting on canary gate 14m");
        bed.says("0/5 · wk-1 (gate)");
        bed.says("u g approve the canary gate: wk-2 goes next");
        bed.stage.press("enter");
        bed.stage.press(if height < 30 { "ctrl-d" } else { "g" });
        bed.says("ETA unknown while a person is waited for");
    }
}

#[test]
fn a_roll_under_way_says_its_place_its_step_and_when_it_may_be_through() {
    // F41, F59
    for (width, height) in [(80, 24), (120, 36), (160, 50)] {
        let mut bed = under_way(width, height);
        bed.stage.press("4");
        assert_snapshot!(format!("rolls_{width}x{height}"), bed.stage.screen());
        bed.says("3/5 · wk-6 (boot)");
        bed.says("boot 44s");
        bed.says("ETA about");
    }
    let mut bed = under_way(120, 36);
    bed.stage.model.setup.ascii = true;
    bed.stage.press("4");
    let screen = bed.stage.screen();
    assert!(screen.is_ascii() && screen.contains("3/5 - wk-6 (boot)"), "{screen}");
    assert!(screen.contains("######") && screen.contains("#*"), "the bars have a plain form too: {screen}");
}

#[test]
fn a_roll_in_full_has_its_steps_its_times_and_every_verdict() {
    // F12, F57
    let mut bed = under_way(100, 110);
    bed.stage.press("4 enter");
    assert_snapshot!("roll_100x110", bed.stage.screen());
    for part in ["canary opened by jane after 14m", "drain 0s, boot 44s", "proven, probed", "wk-3, which goes last"] {
        bed.says(part);
    }
}

#[test]
fn what_was_only_looked_at_is_never_called_proven() {
    // F12
    let mut bed = Bed::at_gate(120, 36);
    bed.rig.fingerprints("wk-1", 3, "CreateContainerError");
    bed.rig.tick();
    let mut bed = bed.shown();
    bed.stage.press("4");
    bed.says("✗ broken");
    bed.stage.press("enter G");
    bed.says("wk-1 broken, looked at: wk-1 cannot start containers: 3 pods say so");
    let mut bed = Bed::of(Rig::rolling(3), 120, 36);
    bed.rig.stuck.insert("wk-1".to_owned(), "");
    bed.rig.until(|rig| rig.of_node("wk-1").back_since().is_some());
    let mut bed = bed.shown();
    bed.stage.press("4");
    bed.says("· passive");
    assert!(!bed.words().contains("proven 0s"), "{}", bed.stage.screen());
}

#[test]
fn nothing_is_said_about_the_end_of_a_roll_that_stands_still_or_that_is_not_seen() {
    let mut bed = under_way(120, 36);
    bed.rig.fingerprints("wk-2", 1, "CreateContainerError");
    bed.rig.tick();
    let mut bed = bed.shown();
    bed.stage.press("4 enter");
    bed.says("ETA unknown while blocked");
    let mut bed = under_way(120, 36);
    bed.rig.pass_time(600);
    let mut bed = bed.shown();
    bed.stage.press("4");
    bed.says("nodes stale 10m");
    bed.says("the fleet cannot be judged now: nodes: stale, no contact for 10m");
    bed.stage.press("enter");
    bed.says("ETA unknown while the fleet is not seen");
    let mut bed = Bed::of(Rig::rolling(3), 120, 36);
    bed.stage.press("4 enter");
    bed.says("ETA unknown until a node went through");
}

#[test]
fn a_soak_says_when_it_ends_and_an_end_says_how_it_came() {
    // F55
    let mut bed = Bed::at_gate(80, 24);
    bed.approve();
    bed.rig.until(|rig| rig.roll().soaking_since.is_some());
    let mut bed = bed.shown();
    bed.stage.press("4");
    bed.says("◐ soaking");
    bed.says("soak ends in 30m");
    bed.says("5/5 (soak)");
    bed.rig.until(|rig| !rig.roll().is_live());
    bed.show();
    bed.says("✓ succeeded");
    bed.says("kernel/fleet is through: every node is green on x and stayed so");
}

#[test]
fn workloads_that_the_gate_never_waits_for_are_reported() {
    // F31
    let mut rig = Rig::of(3);
    let class = |value: &str| Selector::new("class", value);
    for node in ["wk-1", "wk-2", "wk-3"] {
        rig.fleet.pods.rows.remove(&format!("apps/app-{node}"));
        rig.put_pod(&format!("infra-{node}"), node, &[("class", "infra")]);
    }
    let spec = crate::domain::roll::spec::RollSpec {
        partition: Some(Partition { infra: class("infra"), others: class("other") }),
        settle_seconds: crate::domain::span::Seconds(600),
        ..spec(3)
    };
    rig.start(ROLL, "x", spec);
    rig.until(|rig| rig.of_node("wk-1").back_since().is_some());
    rig.put_pod("batch", "wk-1", &[("class", "other")]).ready = false;
    rig.tick();
    let mut bed = Bed::of(rig, 120, 60);
    bed.stage.press("4 enter");
    bed.says("REPORTED, NOT WAITED FOR");
    bed.says("apps/batch is not Ready");
}

#[test]
fn lists_are_filtered_and_sorted_and_a_large_fleet_is_shown_around_its_turn() {
    let mut rig = Rig::of(30);
    rig.start(ROLL, "x", spec(30));
    rig.start_at("edge", "e", "y", crate::domain::roll::spec::RollSpec { canary: None, ..spec(4) }, false);
    rig.until(|rig| rig.roll().gate.is_some());
    rig.approve(ROLL, "x", None);
    rig.until(|rig| rig.state_of("wk-12", StepName::Cordon).is_some());
    let mut bed = Bed::of(rig, 80, 24);
    bed.stage.press("4");
    let screen = bed.stage.screen();
    assert!(screen.contains("kernel/edge") && screen.contains("wk-12") && !screen.contains("wk-30"), "{screen}");
    bed.says("more nodes: open the roll");
    bed.stage.press("/");
    bed.stage.type_text("state=rolling edge");
    bed.stage.press("enter");
    assert!(!bed.stage.screen().contains("kernel/fleet  "), "{}", bed.stage.screen());
    bed.stage.press("esc o o");
    bed.says("rolls sorted by name");
}
