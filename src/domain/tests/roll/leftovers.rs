//! What an ended roll left behind counts: nobody goes meanwhile, and it is given back when that harms nobody.

use super::rig::{Rig, id, spec};
use crate::domain::kura::object::FIELD_MANAGER;
use crate::domain::kura::step::{Deed, Purpose, RollWork, Step};
use crate::domain::roll::fleet_roll::RollState;
use crate::domain::roll::host::{Runtime, host};
use crate::domain::roll::node::{StepName, StepState, Verdict};
use crate::domain::roll::spec::RollSpec;
use crate::domain::roll::verb::RollVerb;
use crate::domain::roll::wanted::is_wanted;
use crate::domain::verdict::Reply;

/// `wk-2` is being booted, and its roll was aborted over that.
fn aborted_in_a_boot() -> Rig {
    let mut rig = Rig::at_gate(3);
    rig.approve("r", "x", None);
    rig.held.insert(("wk-2".to_owned(), StepName::Boot));
    rig.until(|rig| rig.state_of("wk-2", StepName::Boot).is_some());
    rig.verb(RollVerb::Abort { roll: id("r") });
    rig.held.clear();
    rig
}

fn uncordon(rig: &mut Rig, node: &str) -> Reply {
    rig.verb(RollVerb::Uncordon { node: node.to_owned() })
}

fn next(rig: &Rig) -> String {
    rig.world.rolls.roll(id("s")).unwrap().reason().unwrap_or_default()
}

#[test]
fn nobody_goes_while_a_boot_of_an_ended_roll_is_under_way() {
    // F24
    let mut rig = aborted_in_a_boot();
    rig.start("s", "y", spec(3));
    (0..3).for_each(|_| rig.tick());
    let begun = rig.world.rolls.roll(id("s")).unwrap();
    assert!(begun.turns.is_empty() && next(&rig).contains("wk-2 is being booted"), "{}", next(&rig));
    rig.end_jobs();
    (0..2).for_each(|_| rig.tick());
    assert!(next(&rig).contains("wk-2 is still cordoned"), "{}", next(&rig));
    uncordon(&mut rig, "wk-2");
    (0..3).for_each(|_| rig.tick());
    assert_eq!(rig.world.rolls.roll(id("s")).unwrap().turns[0].node, "wk-1");
}

#[test]
fn who_was_left_cordoned_may_go_first() {
    // F24
    let mut rig = aborted_in_a_boot();
    rig.end_jobs();
    let nodes = vec!["wk-1".to_owned(), "wk-3".to_owned()];
    rig.start("s", "y", RollSpec { canary: Some("wk-2".to_owned()), nodes, ..spec(3) });
    rig.until(|rig| rig.world.rolls.roll(id("s")).unwrap().gate.is_some());
    assert!(!rig.fleet.nodes.rows["wk-2"].unschedulable, "and gets back what was taken from it");
}

#[test]
fn a_node_is_not_given_back_while_it_boots() {
    // A11
    let mut rig = aborted_in_a_boot();
    uncordon(&mut rig, "wk-2");
    (0..3).for_each(|_| rig.tick());
    assert!(rig.fleet.nodes.rows["wk-2"].unschedulable, "a node that is about to go down gets no load");
    rig.end_jobs();
    rig.tick();
    assert!(!rig.fleet.nodes.rows["wk-2"].unschedulable && rig.world.rolls.ledger.is_empty());
}

#[test]
fn a_node_that_another_roll_takes_over_is_looked_at_by_that_one() {
    // F13, F60
    let mut rig = Rig::at_gate(2);
    rig.verb(RollVerb::Abort { roll: id("r") });
    rig.tick();
    rig.start("s", "y", spec(2));
    rig.held.insert(("wk-1".to_owned(), StepName::Boot));
    let of_s = |rig: &Rig| rig.world.rolls.roll(id("s")).unwrap().nodes["wk-1"].clone();
    rig.until(|rig| of_s(rig).step(StepName::Boot).is_some());
    let probed = rig.of_node("wk-1").probed;
    rig.fingerprints("wk-1", 2, "CreateContainerError");
    rig.stuck.insert("wk-1".to_owned(), "");
    (0..4).for_each(|_| rig.tick());
    assert_eq!(rig.of_node("wk-1").probed, probed, "nobody probes a node that is booted");
    assert!(rig.of_node("wk-1").findings.iter().all(|finding| finding.verdict == Verdict::Proven));
    assert!(rig.ours().iter().all(|name| !name.contains("-probe-")), "{:?}", rig.ours());
    let seen = host(&rig.world, &rig.observed(), "wk-1", rig.now).unwrap();
    assert!(seen.runtime() != Runtime::Broken && seen.watched_by.is_none(), "nor is it called broken: {seen:?}");
}

#[test]
fn the_job_of_a_boot_stays_while_its_roll_goes_on() {
    // F57, A11
    let mut rig = Rig::at_gate(2);
    (0..5).for_each(|_| rig.tick());
    assert_eq!(rig.fleet.jobs.rows.len(), 1, "nobody who froze over making it makes it again");
    rig.verb(RollVerb::Abort { roll: id("r") });
    rig.tick();
    assert!(rig.fleet.jobs.rows.is_empty(), "and it goes with the roll");
}

#[test]
fn a_cordon_somebody_lifts_and_another_sets_while_it_boots_is_not_ours() {
    // A11
    let mut rig = Rig::at_gate(2);
    rig.approve("r", "x", None);
    rig.held.insert(("wk-2".to_owned(), StepName::Boot));
    rig.until(|rig| rig.state_of("wk-2", StepName::Boot).is_some());
    rig.node("wk-2").unschedulable = false;
    rig.tick();
    assert!(rig.world.rolls.ledger.is_empty() && rig.roll().is_live(), "the boot goes on: {}", rig.reason());
    rig.node("wk-2").unschedulable = true;
    rig.held.clear();
    rig.fleet.jobs.rows.clear();
    rig.until(|rig| rig.state() == RollState::Soaking);
    assert!(rig.fleet.nodes.rows["wk-2"].unschedulable, "it is theirs");
    let row = rig.of_node("wk-2").step(StepName::Uncordon).unwrap().clone();
    assert_eq!((row.state, row.detail.as_deref()), (StepState::Skipped, Some("cordoned by somebody else since")));
}

#[test]
fn a_bit_that_somebody_else_is_known_to_have_written_is_theirs_whatever_the_ledger_says() {
    // A11
    let mut rig = aborted_in_a_boot();
    rig.end_jobs();
    rig.node("wk-2").cordoned_by = Some("kubectl-cordon".to_owned());
    uncordon(&mut rig, "wk-2");
    rig.tick();
    assert!(rig.world.rolls.ledger.is_empty() && rig.fleet.nodes.rows["wk-2"].unschedulable);
}

#[test]
fn a_cordon_that_took_effect_after_its_roll_had_ended_is_ours_all_the_same() {
    // A11
    let mut rig = Rig::rolling(2);
    rig.held.insert(("wk-1".to_owned(), StepName::Cordon));
    rig.until(|rig| rig.state_of("wk-1", StepName::Cordon).is_some());
    rig.verb(RollVerb::Abort { roll: id("r") });
    rig.tick();
    assert!(rig.world.rolls.ledger.is_empty(), "it never happened, as far as can be seen");
    let node = rig.node("wk-1");
    (node.unschedulable, node.cordoned_by) = (true, Some(FIELD_MANAGER.to_owned()));
    rig.tick();
    assert!(rig.world.rolls.ledger.contains_key("wk-1"));
    uncordon(&mut rig, "wk-1");
    rig.tick();
    assert!(!rig.fleet.nodes.rows["wk-1"].unschedulable);
}

#[test]
fn giving_back_waits_for_nobody_who_does_not_want_it_any_more() {
    // A11
    let mut rig = aborted_in_a_boot();
    let seen = rig.fleet.nodes.rows["wk-2"].stamp.clone();
    let step = Step {
        object: crate::domain::kura::object::ObjectRef::new(crate::domain::kura::object::ObjectKind::Node, "wk-2"),
        deed: Deed::Cordon { from: seen.version(), unschedulable: false },
        purpose: Purpose::Roll { roll: Some(id("r")), node: "wk-2".to_owned(), work: RollWork::GiveBack },
    };
    assert!(!is_wanted(&step, &rig.world.rolls), "nobody asked");
    uncordon(&mut rig, "wk-2");
    assert!(is_wanted(&step, &rig.world.rolls));
}

#[test]
fn trouble_with_a_write_that_nobody_wants_any_more_is_over() {
    let mut rig = Rig::rolling(2);
    rig.failing.insert("evict");
    rig.until(|rig| !rig.roll().troubles.is_empty());
    assert!(rig.roll().troubles.contains_key("Pod app-wk-1"), "{:?}", rig.roll().troubles);
    rig.fleet.pods.rows.remove("apps/app-wk-1");
    rig.tick();
    assert!(rig.roll().troubles.is_empty(), "the pod left by itself: {:?}", rig.roll().troubles);
}

#[test]
fn a_probe_that_was_asked_for_and_can_never_be_made_is_answered() {
    let mut rig = Rig::of(2);
    rig.verb(RollVerb::Probe { node: "wk-2".to_owned() });
    rig.forbidden.insert("apply");
    rig.tick();
    assert!(rig.world.rolls.asked.is_empty());
    let found = rig.world.rolls.findings["wk-2"].clone();
    assert!(found.verdict == Verdict::NotProven && found.reason.contains("cannot be made"), "{found:?}");
}
