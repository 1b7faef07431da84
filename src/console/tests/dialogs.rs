//! Verbs and their dialogs: what is asked, what is refused, and what leaves.

use super::super::effect::{Effect, Sealed};
use super::super::layer::Layer;
use super::super::msg::{Answer, Msg};
use super::super::snapshot::{Access, Freshness};
use super::stage::Stage;
use crate::domain::change::Level;
use crate::domain::ids::{MachineId, RingId, RolloutId};
use crate::domain::input::{Order, Verb};
use crate::domain::observed::Telemetry;
use crate::domain::span::Seconds;

/// The one order among effects.
fn order(effects: &[Effect]) -> Option<&Order> {
    let mut orders = effects.iter().filter_map(|effect| match effect {
        Effect::SendOrder(sealed) => Some(Sealed::order(sealed)),
        _ => None,
    });
    let first = orders.next();
    assert!(orders.next().is_none(), "two orders from one key");
    first
}

fn at_ash() -> Stage {
    let mut stage = Stage::rolling(80, 24);
    stage.press("2 j j");
    stage
}

fn says(stage: &Stage, text: &str) {
    let screen = stage.screen();
    let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(text), "{text:?} is not on the screen:\n{screen}");
}

#[test]
fn stopping_needs_one_key_of_its_own_and_nothing_else() {
    let cases = [
        ("x h", Verb::Halt { rollout: RolloutId::named("r1") }),
        ("x r", Verb::Pause(Level::Ring(RingId::named("pine-cp")))),
        ("x e", Verb::Pause(Level::Environment(crate::domain::ids::EnvironmentId::named("pine-cp")))),
    ];
    for (keys, verb) in cases {
        let mut stage = at_ash();
        assert_eq!(order(&stage.press(keys)), None);
        assert_eq!(order(&stage.press("enter")), None, "enter leaves it as it is");
        let effects = stage.press(&format!("{keys} y"));
        let sent = order(&effects).unwrap();
        assert_eq!((&sent.verb, sent.by.as_str(), sent.key.as_deref()), (&verb, "op-a", Some("test-1")));
        assert!(stage.model.layers.is_empty());
    }
}

#[test]
fn a_reason_may_be_given_with_a_stop() {
    let mut stage = at_ash();
    stage.press("x r tab tab");
    stage.type_text("yes, storage work");
    let effects = stage.press("enter y");
    assert_eq!(order(&effects).unwrap().reason.as_deref(), Some("yes, storage work"));
}

#[test]
fn other_verbs_are_refused_until_the_console_is_armed() {
    let mut stage = at_ash();
    stage.press("x m");
    assert!(stage.model.layers.is_empty());
    says(&stage, "verbs are not armed: press a first");
    stage.press("a enter");
    says(&stage, "a reason is needed");
    stage.press("esc");
    stage.arm();
    says(&stage, "ARMED 10m");
    stage.press("x m");
    assert_eq!(stage.model.layers.len(), 1);
}

// R110, R113
#[test]
fn skipping_a_holder_takes_its_name_and_cancel_comes_first() {
    let mut stage = at_ash();
    stage.arm();
    stage.press("x m");
    for consequence in ["gives back its slot", "may stay cordoned", "birch is next", "keeps holding the cursor"] {
        says(&stage, consequence);
    }
    assert_eq!(order(&stage.press("tab tab enter")), None, "the way round the field is no way around the name");
    says(&stage, "type ash to go on");
    stage.press("tab");
    stage.type_text("birch");
    assert_eq!(order(&stage.press("enter")), None);
    says(&stage, "type ash to go on");
    stage.press("ctrl-w");
    stage.type_text("ash");
    assert_eq!(order(&stage.press("enter enter")), None, "cancel is what is selected first");
    assert!(stage.model.layers.is_empty());
    stage.press("x m");
    stage.type_text("ash");
    let effects = stage.press("enter right enter");
    let sent = order(&effects).unwrap();
    assert_eq!(sent.verb, Verb::Pause(Level::Machine(MachineId::named("ash"))));
    assert_eq!(sent.reason.as_deref(), Some("drain test"), "the reason of the arming goes along");
}

#[test]
fn a_name_cannot_be_pasted() {
    let mut stage = at_ash();
    stage.arm();
    stage.press("x m");
    stage.send(Msg::Paste("ash".to_owned()));
    says(&stage, "typed, not pasted");
    assert_eq!(order(&stage.press("enter right enter")), None);
}

#[test]
fn harmless_verbs_take_enter() {
    let mut stage = at_ash();
    stage.press("j");
    stage.arm();
    let effects = stage.press("x m enter");
    assert_eq!(order(&effects).unwrap().verb, Verb::Pause(Level::Machine(MachineId::named("birch"))));
}

/// A harmless question turns grave under the eye: the head of the queue gets the slot.
#[test]
fn friction_grows_when_the_target_gets_a_slot() {
    let mut stage = at_ash();
    stage.press("j");
    stage.arm();
    stage.press("x m");
    stage.report("ash", crate::domain::release::Outcome::Success, None);
    stage.pass(301);
    stage.poll("birch");
    stage.show();
    says(&stage, "type birch:");
    assert_eq!(order(&stage.press("enter")), None);
    assert_eq!(order(&stage.press("enter right enter")), None, "its name was not typed");
}

// A18
#[test]
fn a_target_that_vanished_cannot_be_confirmed_and_never_changes() {
    let mut stage = at_ash();
    stage.press("j j");
    stage.arm();
    stage.press("x m");
    let cedar = MachineId::named("cedar");
    says(&stage, "cedar");
    says(&stage, &cedar.short());
    stage.verb(Verb::RemoveMachine { machine: cedar });
    stage.show();
    says(&stage, "cedar is no longer listed");
    says(&stage, "cannot be confirmed");
    assert_eq!(order(&stage.press("enter enter tab enter")), None);
}

#[test]
fn a_stop_of_what_is_over_cannot_be_confirmed() {
    let mut stage = at_ash();
    stage.press("x h");
    stage.verb(Verb::Halt { rollout: RolloutId::named("r1") });
    stage.show();
    says(&stage, "no longer listed");
    assert_eq!(order(&stage.press("y")), None);
}

#[test]
fn keys_typed_before_the_dialog_was_drawn_are_dropped() {
    let mut stage = at_ash();
    let mut effects = Vec::new();
    for chord in ["x", "h", "y", "y"] {
        effects.extend(stage.send(Msg::Key(chord.parse().unwrap())));
    }
    assert_eq!(order(&effects), None);
    stage.send(Msg::Drawn);
    assert!(order(&stage.press("y")).is_some());
}

#[test]
fn a_question_that_does_not_fit_can_only_be_left() {
    let mut stage = at_ash();
    stage.press("x h");
    stage.send(Msg::Resize { width: 20, height: 5 });
    assert!(stage.send(Msg::Key("y".parse().unwrap())).is_empty(), "it was not drawn at this size");
    stage.send(Msg::Drawn);
    assert_eq!(order(&stage.press("y")), None);
    says(&stage, "a question is open");
    stage.press("esc");
    assert!(stage.model.layers.is_empty());
}

#[test]
fn a_long_plan_in_a_small_frame_can_be_read_to_its_end() {
    let mut stage = Stage::rolling(40, 10);
    stage.press("2 j j x h");
    says(&stage, "more lines: j");
    stage.press("j j j j j j j j j j j j");
    says(&stage, "passed over");
    says(&stage, "that is all");
    assert!(order(&stage.press("y")).is_some());
}

#[test]
fn what_changed_in_a_dialog_has_to_be_seen_before_it_counts() {
    let mut stage = at_ash();
    stage.press("x h");
    stage.verb(Verb::RemoveMachine { machine: MachineId::named("ash") });
    stage.send(Msg::Picture(Box::new(stage.picture.clone())));
    assert!(stage.send(Msg::Key("y".parse().unwrap())).is_empty(), "the plan had changed unseen");
    stage.send(Msg::Drawn);
    assert!(order(&stage.press("y")).is_some());
}

#[test]
fn a_stale_picture_lets_only_stopping_through() {
    let mut stage = at_ash();
    stage.arm();
    stage.now = Seconds(42).after(stage.now);
    stage.send(Msg::Clock(stage.now));
    stage.press("x m");
    assert!(stage.model.layers.is_empty());
    says(&stage, "what you see is 42s old: only stopping verbs work now");
    assert!(order(&stage.press("x r y")).is_some());
}

#[test]
fn a_picture_that_turns_stale_under_a_dialog_stops_it() {
    let mut stage = at_ash();
    stage.press("j");
    stage.arm();
    stage.press("x m");
    let since = stage.now;
    stage.now = Seconds(60).after(since);
    stage.picture.api = Freshness::Lost { since, why: "reset".to_owned(), retry_at: None };
    stage.show();
    assert_eq!(order(&stage.press("enter")), None);
    says(&stage, "what you see is 1m old");
}

#[test]
fn viewers_and_read_only_consoles_order_nothing() {
    for keys in ["a", "x h", "x m", "u r"] {
        let mut stage = at_ash();
        stage.picture.access = Access::Viewer;
        stage.show();
        stage.press(keys);
        assert!(stage.model.layers.is_empty(), "{keys}");
        let mut stage = at_ash();
        stage.model.setup.read_only = true;
        stage.press(keys);
        assert!(stage.model.layers.is_empty(), "{keys}");
    }
    let mut stage = at_ash();
    stage.picture.access = Access::Viewer;
    stage.show();
    stage.press("a");
    says(&stage, "a viewer's");
}

#[test]
fn arming_runs_out_and_can_be_taken_back() {
    let mut stage = at_ash();
    stage.arm();
    stage.press("j x m");
    stage.pass(601);
    stage.show();
    assert_eq!(order(&stage.press("enter")), None, "it ran out while the question was open");
    stage.press("esc");
    stage.arm();
    stage.press("A x m");
    assert!(stage.model.layers.is_empty());
}

#[test]
fn one_order_per_target_and_the_answer_is_shown() {
    let mut stage = at_ash();
    stage.press("x r y");
    says(&stage, "holding ring pine-cp");
    stage.press("x r");
    says(&stage, "holding ring pine-cp");
    assert!(stage.model.layers.is_empty(), "an order for it is on its way");
    let answer = Answer::Done { sentence: "pine-cp is paused".to_owned() };
    stage.send(Msg::Answer { key: "test-1".to_owned(), answer });
    says(&stage, "✓ pine-cp is paused");
    stage.press("x h y");
    let hints = vec!["start the release again".to_owned()];
    let answer = Answer::Refused { sentence: "it is not running".to_owned(), hints };
    stage.send(Msg::Answer { key: "test-2".to_owned(), answer });
    says(&stage, "refused, it is not running (start the release again)");
}

#[test]
fn a_lost_answer_is_looked_up_in_the_journal() {
    let mut stage = at_ash();
    let effects = stage.press("x r y");
    let sent = order(&effects).unwrap().clone();
    let lost = Answer::Unknown { why: "timeout".to_owned() };
    stage.send(Msg::Answer { key: "test-1".to_owned(), answer: lost.clone() });
    says(&stage, "unknown, checking the journal");
    stage.order(sent);
    stage.show();
    says(&stage, "holding ring pine-cp: done, the journal has it");
    stage.press("x h y");
    stage.send(Msg::Answer { key: "test-2".to_owned(), answer: lost });
    stage.pass(59);
    stage.show();
    says(&stage, "unknown, checking the journal");
    stage.pass(2);
    stage.show();
    says(&stage, "the journal has no trace of it");
}

#[test]
fn quitting_asks_while_an_order_is_on_its_way() {
    let mut stage = at_ash();
    stage.press("x r y");
    assert!(stage.press("q").is_empty());
    says(&stage, "Not answered yet: holding ring pine-cp");
    assert_eq!(stage.press("y"), [Effect::Quit]);
    let mut stage = at_ash();
    stage.press("x r y");
    assert_eq!(stage.press("ctrl-c ctrl-c"), [Effect::Quit], "twice is an answer");
}

// R146
#[test]
fn a_reset_is_refused_while_results_cannot_be_read() {
    let mut stage = at_ash();
    stage.arm();
    std::sync::Arc::make_mut(&mut stage.picture.observed).telemetry = Telemetry::Unreadable;
    stage.show();
    stage.press("u x");
    assert!(stage.model.layers.is_empty());
    says(&stage, "results cannot be read");
}

#[test]
fn a_clock_that_jumped_is_accepted_by_a_person() {
    // R168
    let mut stage = at_ash();
    stage.arm();
    stage.press("u c");
    says(&stage, "the clock is not in doubt");
    std::sync::Arc::make_mut(&mut stage.picture.observed).clock_suspect = true;
    stage.show();
    says(&stage, "CLOCK");
    let effects = stage.press("u c enter");
    assert_eq!(order(&effects).unwrap().verb, Verb::AcceptClock);
}

#[test]
fn a_clock_that_jumped_is_told_before_anything_was_started() {
    // R168
    let mut stage = Stage::blank(80, 24);
    stage.take_seat("serve@bastion-1", true);
    std::sync::Arc::make_mut(&mut stage.picture.observed).clock_suspect = true;
    stage.show();
    says(&stage, "CLOCK");
    says(&stage, "1 needs you");
}

#[test]
fn a_verb_that_would_change_nothing_says_so() {
    let mut stage = at_ash();
    stage.verb(Verb::Pause(Level::Ring(RingId::named("pine-cp"))));
    stage.show();
    stage.press("x r");
    says(&stage, "pine-cp: it is paused already, by op-a");
    stage.press("u e");
    says(&stage, "pine-cp: it is not paused");
    assert!(stage.model.layers.is_empty());
}

#[test]
fn verbs_need_a_row_of_their_kind() {
    let mut stage = Stage::rolling(80, 24);
    stage.arm();
    for (keys, why) in [("2 x m", "select a machine first"), ("2 x r", "select a ring or a machine in it first")] {
        stage.press(keys);
        says(&stage, why);
        assert!(!matches!(stage.model.layers.last(), Some(Layer::Dialog(_))));
    }
    let mut stage = Stage::fleet(80, 24);
    stage.press("x h");
    says(&stage, "no rollout is running");
}
