//! B13: halt and yank.

use super::rig::{Rig, capped};
use crate::domain::ids::{ReleaseId, RolloutId};
use crate::domain::input::Verb;
use crate::domain::refusal::Refusal;
use crate::domain::rollout::Ending;

fn running() -> Rig {
    let mut rig = Rig::line("oak", capped(1, 0, 0, 10), &["a", "b"]);
    rig.start_protected("v1");
    rig.poll("a");
    rig
}

#[test]
fn halt_works_on_a_protected_rollout_and_withdraws_everything() {
    // R114, R115
    let mut rig = running();
    let had = rig.poll("a");
    let rollout = rig.rollout().id;
    rig.verb(Verb::Halt { rollout });
    assert_eq!(rig.rollout().status(), "halted");
    assert_eq!(rig.poll_having("a", had), (None, true));
    assert!(rig.holders().is_empty());
    rig.tick_until(600);
    assert_eq!(rig.rollout().status(), "halted", "nothing promotes or completes it");
    rig.start("v1");
    assert_eq!(rig.rollout().status(), "running");
}

#[test]
fn yanking_the_running_release_halts_and_bars_it() {
    // R114, R116
    let mut rig = running();
    rig.verb(Verb::Yank { release: ReleaseId::named("v1") });
    assert!(matches!(&rig.rollout().ending, Some(Ending::Halted { reason }) if reason == "release yanked"));
    assert!(rig.holders().is_empty());
    let again = rig.start_verb("v1");
    assert!(matches!(rig.refused(again), Refusal::Yanked { .. }));
    rig.verb(Verb::Yank { release: ReleaseId::named("v1") });
    assert!(rig.changes.is_empty(), "twice is once");
}

#[test]
fn yanking_another_release_leaves_the_rollout_alone() {
    // R116
    let mut rig = running();
    rig.verb(Verb::Yank { release: ReleaseId::named("v2") });
    assert_eq!((rig.rollout().status(), rig.holders()), ("running", vec!["a".to_owned()]));
}

#[test]
fn a_rollout_that_is_over_cannot_be_halted() {
    // R115
    let mut rig = running();
    let rollout = rig.rollout().id;
    rig.verb(Verb::Halt { rollout });
    assert!(matches!(rig.refused(Verb::Halt { rollout }), Refusal::NotRunning { status: "halted", .. }));
    assert!(matches!(rig.refused(Verb::Halt { rollout: RolloutId::named("no") }), Refusal::NoRollout(_)));
}
