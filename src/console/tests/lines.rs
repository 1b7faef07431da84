//! A line that is held: who is skipped, in which order, and what is said where it ends early.

use super::super::dialog::Question;
use super::super::effect::Sealed;
use super::super::layer::Layer;
use super::super::msg::{Answer, Msg};
use super::stage::Stage;
use super::verbs::{SIZES, at_ash, orders, pictures, pine_cp, says, verbs};
use crate::domain::change::Level;
use crate::domain::ids::MachineId;
use crate::domain::input::{RingPatch, Verb};
use crate::domain::release::Outcome;

fn skip(name: &str) -> Verb {
    Verb::Pause(Level::Machine(MachineId::named(name)))
}

/// One holds the slot, two wait, and their line is confirmed: the first skip is on its way.
fn held() -> (Stage, Sealed) {
    let mut stage = at_ash(SIZES[0]);
    stage.press("x l");
    let sent = orders(stage.press("enter"));
    assert_eq!(sent.len(), 1, "one after the other: {}", stage.screen());
    (stage, sent.into_iter().next().unwrap())
}

fn answer(stage: &mut Stage, key: &str, answer: Answer) -> Vec<Sealed> {
    orders(stage.send(Msg::Answer { key: key.to_owned(), answer }))
}

fn done() -> Answer {
    Answer::Done { sentence: "cedar is skipped".to_owned() }
}

#[test]
fn holding_the_line_stands_beside_uncapping_and_skips_who_waits_from_the_end() {
    pictures("dialog_hold_line", |size| {
        let mut stage = at_ash(size);
        stage.press("s c");
        stage.type_text("0");
        stage.press("enter tab tab enter");
        stage
    });
    let mut stage = at_ash(SIZES[0]);
    stage.press("x l");
    says(&stage, "skipped one by one: birch, cedar");
    says(&stage, "ash goes on and may finish its run");
    let planned_at = stage.picture.world.revision;
    let (mut stage, first) = held();
    assert_eq!((first.order().verb.clone(), first.order().key.as_deref()), (skip("cedar"), Some("test-1")));
    assert_eq!((first.planned_at(), first.order().reason.as_deref()), (Some(planned_at), Some("drain test")));
    says(&stage, "holding the line of ring pine-cp: skipping cedar (1 of 2)");
    stage.order(first.into_order());
    stage.show();
    let next = answer(&mut stage, "test-1", done());
    assert_eq!(next.len(), 1);
    assert_eq!((next[0].order().verb.clone(), next[0].order().key.as_deref()), (skip("birch"), Some("test-2")));
    assert_eq!(next[0].planned_at(), Some(planned_at), "of the plan that was confirmed");
    says(&stage, "skipping birch (2 of 2)");
    stage.press("x l");
    says(&stage, "skipping birch (2 of 2)");
    assert!(stage.model.layers.is_empty(), "the same line is not held twice at once");
    assert!(answer(&mut stage, "test-2", done()).is_empty());
    says(&stage, "the line of ring pine-cp is held: cedar, birch skipped");
    assert!(!stage.model.has_orders_in_flight());
    assert!(stage.picture.world.machines[&MachineId::named("ash")].lease.is_some(), "the holder goes on");
}

#[test]
fn the_first_skip_that_fails_ends_the_line_and_says_which_were_done() {
    let refused = Answer::Refused { sentence: "your token was revoked".to_owned(), hints: Vec::new() };
    let moved = Answer::Moved { sentence: "machine birch got a slot, by birch at revision 31".to_owned() };
    for (answered, why) in [
        (refused, "refused, your token was revoked"),
        (moved, "machine birch got a slot, by birch at revision 31"),
        (Answer::Unsent { why: "no route".to_owned() }, "not sent, no route"),
        (Answer::Unknown { why: "timeout".to_owned() }, "no answer (timeout), the journal will tell"),
    ] {
        let lost = matches!(answered, Answer::Unknown { .. });
        let (mut stage, _) = held();
        assert!(answer(&mut stage, "test-1", answered.clone()).is_empty(), "nobody after it is tried");
        assert_eq!(stage.model.has_orders_in_flight(), lost);
        let said = stage.model.status.clone().unwrap().text;
        let expected = format!(
            "the line of ring pine-cp is not held, it stopped at cedar: {why}; skipped: nobody; not tried: birch"
        );
        assert_eq!(said, expected);
        let (mut stage, _) = held();
        answer(&mut stage, "test-1", done());
        answer(&mut stage, "test-2", answered);
        let said = stage.model.status.clone().unwrap().text;
        assert!(said.contains("stopped at birch") && said.ends_with("skipped: cedar"), "{said}");
    }
}

/// Between two skips the world goes on: who got the slot by now is not skipped, that would cancel its run.
#[test]
fn who_got_the_slot_meanwhile_is_not_skipped() {
    let (mut stage, first) = held();
    stage.order(first.into_order());
    stage.report("ash", Outcome::Success, None);
    stage.pass_polling(310);
    stage.poll("birch");
    stage.show();
    assert!(stage.picture.world.machines[&MachineId::named("birch")].lease.is_some());
    assert!(answer(&mut stage, "test-1", done()).is_empty());
    says(&stage, "it stopped at birch: it is in a run by now; skipped: cedar");
}

#[test]
fn disarming_and_a_lost_source_end_a_line_as_well() {
    let (mut stage, _) = held();
    stage.press("A");
    assert!(answer(&mut stage, "test-1", done()).is_empty());
    says(&stage, "verbs are not armed: press a first; skipped: cedar");
    let (mut stage, _) = held();
    stage.now = crate::domain::span::Seconds(42).after(stage.now);
    stage.send(Msg::Clock(stage.now));
    assert!(answer(&mut stage, "test-1", done()).is_empty());
    says(&stage, "only stopping verbs work now; skipped: cedar");
}

/// Leaving in the middle asks, and names what is not answered yet.
#[test]
fn a_line_under_way_is_not_left_by_accident() {
    let (mut stage, _) = held();
    stage.press("q");
    let Some(Layer::Dialog(dialog)) = stage.model.layers.last() else { panic!("no question") };
    assert!(matches!(dialog.question, Question::Quit));
    says(&stage, "skipping cedar (1 of 2)");
}

#[test]
fn a_line_that_changed_has_to_be_seen_and_an_empty_one_is_not_held() {
    let mut stage = at_ash(SIZES[0]);
    stage.press("x l");
    stage.verb(Verb::RemoveMachine { machine: MachineId::named("cedar") });
    stage.show();
    assert!(stage.send(Msg::Key("enter".parse().unwrap())).is_empty(), "the line had changed unseen");
    stage.send(Msg::Drawn);
    assert_eq!(verbs(stage.press("enter")), [skip("birch")]);
    let mut stage = at_ash(SIZES[0]);
    for name in ["birch", "cedar"] {
        stage.verb(skip(name));
    }
    stage.show();
    stage.press("x l");
    says(&stage, "nobody waits in its queue");
    assert!(stage.model.layers.is_empty());
}

/// Where there is no cap nobody who was served waits any more: a skip of those would cancel their runs.
#[test]
fn without_a_cap_only_those_wait_who_were_not_served_yet() {
    let mut stage = Stage::fleet(80, 24);
    stage.verb(pine_cp(RingPatch { max_in_flight: Some(0), ..RingPatch::default() }));
    stage.start_rollout("v1.31.2");
    stage.pass(30);
    stage.tick();
    stage.poll("ash");
    stage.show();
    stage.press("2 g j");
    stage.arm();
    stage.press("x l");
    says(&stage, "skipped one by one: birch, cedar");
    says(&stage, "ash goes on and may finish its run");
    stage.press("esc");
    stage.poll_all();
    stage.show();
    stage.press("x l");
    says(&stage, "nobody waits in its queue");
}
