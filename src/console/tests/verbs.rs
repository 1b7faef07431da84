//! Verbs that set, move, withdraw and force: what they ask for, what they take, what leaves, and what comes of a plan
//! that is of yesterday.

use insta::assert_snapshot;

use super::super::effect::{Effect, Sealed};
use super::super::layer::Layer;
use super::super::msg::{Answer, Msg};
use super::stage::Stage;
use crate::domain::change::Level;
use crate::domain::ids::{EnvironmentId, MachineId, ReleaseId, RingId, RolloutId};
use crate::domain::input::{Intent, RingPatch, Verb};
use crate::domain::span::Seconds;

/// The usual size and the wide one.
pub(super) const SIZES: [(u16, u16); 2] = [(80, 24), (120, 36)];

/// Armed, on the machine that holds the slot.
pub(super) fn at_ash((width, height): (u16, u16)) -> Stage {
    let mut stage = Stage::rolling(width, height);
    stage.press("2 j j");
    stage.arm();
    stage
}

/// Armed, on a release that could only run in the place of the protected one.
fn at_hotfix((width, height): (u16, u16)) -> Stage {
    let mut stage = Stage::rolling(width, height);
    stage.release("hotfix-7");
    stage.show();
    stage.press("6 G");
    stage.arm();
    stage
}

/// The orders among effects.
pub(super) fn orders(effects: Vec<Effect>) -> Vec<Sealed> {
    let sealed = effects.into_iter().filter_map(|effect| match effect {
        Effect::SendOrder(sealed) => Some(*sealed),
        _ => None,
    });
    sealed.collect()
}

pub(super) fn verbs(effects: Vec<Effect>) -> Vec<Verb> {
    orders(effects).into_iter().map(|sealed| sealed.order().verb.clone()).collect()
}

pub(super) fn says(stage: &Stage, text: &str) {
    let screen = stage.screen();
    let words = screen.split(['│', '\n', ' ']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    assert!(words.contains(text), "{text:?} is not on the screen:\n{screen}");
}

pub(super) fn pine_cp(patch: RingPatch) -> Verb {
    Verb::PatchRing { ring: RingId::named("pine-cp"), patch }
}

/// Draws what a story comes to at both sizes.
pub(super) fn pictures(name: &str, story: impl Fn((u16, u16)) -> Stage) {
    for (width, height) in SIZES {
        assert_snapshot!(format!("{name}_{width}x{height}"), story((width, height)).screen());
    }
}

#[test]
fn a_setting_is_typed_planned_and_sent_with_the_revision_of_its_plan() {
    let patch = RingPatch::default;
    let cases = [
        ("s c", "2", pine_cp(RingPatch { max_in_flight: Some(2), ..patch() })),
        ("s w", "10m", pine_cp(RingPatch { min_settle_seconds: Some(Seconds(600)), ..patch() })),
        ("s t", "2h", pine_cp(RingPatch { stall_timeout_seconds: Some(Seconds(7200)), ..patch() })),
        ("s f", "3", pine_cp(RingPatch { failure_count_threshold: Some(3), ..patch() })),
    ];
    for (keys, typed, verb) in cases {
        let mut stage = at_ash(SIZES[0]);
        stage.press(keys);
        says(&stage, "a value comes first");
        stage.type_text(typed);
        let sent = orders(stage.press("enter enter"));
        assert_eq!(sent.len(), 1, "{keys}: {}", stage.screen());
        assert_eq!(sent[0].order().verb, verb);
        assert_eq!(sent[0].planned_at(), Some(stage.picture.world.revision));
        assert_eq!(sent[0].order().reason.as_deref(), Some("drain test"));
    }
    pictures("dialog_cap", |size| {
        let mut stage = at_ash(size);
        stage.press("s c");
        stage.type_text("2");
        stage
    });
}

#[test]
fn what_is_no_value_is_never_sent() {
    for (keys, typed, why) in [
        ("s c", "", "type a whole number from 0 on; 0 takes it away"),
        ("s c", "two", "type a whole number from 0 on"),
        ("s c", "1", "it is 1 already"),
        ("s f", "0", "type a whole number from 1 on"),
        ("s w", "soon", "type a time like 90s"),
        ("s m", "pine-cp", "type ENVIRONMENT/RING, such as"),
        ("s m", "pine-cp/nowhere", "type ENVIRONMENT/RING, such as"),
        ("s o", "first", "type a whole number, or none"),
    ] {
        let mut stage = at_ash(SIZES[0]);
        stage.press(keys);
        stage.type_text(typed);
        assert!(verbs(stage.press("enter tab tab enter")).is_empty(), "{keys} {typed}");
        says(&stage, why);
    }
    let mut stage = at_ash(SIZES[0]);
    stage.press("s c");
    stage.send(Msg::Paste("2".to_owned()));
    assert!(verbs(stage.press("enter tab tab enter")).is_empty());
}

/// What was typed last counts, not what was planned before it.
#[test]
fn a_value_that_was_spoiled_again_is_not_sent() {
    let mut stage = at_ash(SIZES[0]);
    stage.press("s c");
    stage.type_text("2x");
    assert!(verbs(stage.press("tab tab enter")).is_empty(), "{}", stage.screen());
}

// R125
#[test]
fn a_cap_of_zero_takes_its_word_and_lists_who_starts() {
    let story = |size: (u16, u16)| {
        let mut stage = at_ash(size);
        stage.press("s c");
        stage.type_text("0");
        stage
    };
    pictures("dialog_uncap", story);
    let mut stage = story(SIZES[0]);
    says(&stage, "2 machines start now, all at once: birch cedar");
    says(&stage, "[ hold the line ]");
    assert!(verbs(stage.press("tab tab tab tab enter")).is_empty(), "the way round the field is no way");
    for wrong in ["uncap", "pine-cp"] {
        let mut stage = story(SIZES[0]);
        stage.press("enter");
        stage.type_text(wrong);
        assert!(verbs(stage.press("enter tab tab tab enter")).is_empty(), "{wrong}");
        says(&stage, "type UNCAP to go on");
    }
    let mut stage = story(SIZES[0]);
    stage.press("enter");
    stage.type_text("UNCAP");
    let mut left = stage.clone();
    assert!(verbs(left.press("enter enter")).is_empty(), "cancel is what is selected first");
    let sent = verbs(stage.press("enter tab tab enter"));
    assert_eq!(sent, [pine_cp(RingPatch { max_in_flight: Some(0), ..RingPatch::default() })]);
}

// R116
#[test]
fn a_yank_of_what_runs_takes_its_name_and_a_reason_of_its_own() {
    let story = |size: (u16, u16)| {
        let mut stage = Stage::rolling(size.0, size.1);
        stage.press("6 g");
        stage.arm();
        stage.press("x w");
        stage
    };
    pictures("dialog_yank", story);
    let mut stage = story(SIZES[0]);
    stage.type_text("v1.31.2");
    assert!(verbs(stage.press("enter enter")).is_empty());
    says(&stage, "a reason is needed");
    assert!(verbs(stage.press("tab tab enter")).is_empty(), "the reason of the arming is not enough");
    stage.press("tab tab");
    stage.type_text("the CNI loses packets");
    let sent = orders(stage.press("enter tab enter"));
    assert_eq!(sent[0].order().verb, Verb::Yank { release: ReleaseId::named("v1.31.2") });
    assert_eq!(sent[0].order().reason.as_deref(), Some("the CNI loses packets"));
    let mut stage = at_hotfix(SIZES[0]);
    stage.press("x w");
    stage.type_text("hotfix-7");
    let sent = orders(stage.press("enter tab enter"));
    assert_eq!(sent[0].order().reason.as_deref(), Some("drain test"), "what does not run takes its name only");
}

/// The question about a release that starts to run under the eye asks for more.
#[test]
fn friction_grows_when_the_release_starts_to_run() {
    let mut stage = Stage::fleet(80, 24);
    stage.press("6 g");
    stage.arm();
    stage.press("x w");
    stage.type_text("v1.31.2");
    stage.start_rollout("v1.31.2");
    stage.show();
    assert!(verbs(stage.press("enter tab enter")).is_empty());
    says(&stage, "a reason is needed");
}

// R91
#[test]
fn a_protected_rollout_is_displaced_by_name_and_reason_only() {
    let story = |size: (u16, u16)| {
        let mut stage = at_hotfix(size);
        stage.press("u f");
        stage
    };
    pictures("dialog_force", story);
    let mut stage = story(SIZES[0]);
    stage.type_text("hotfix-7");
    stage.press("enter");
    stage.type_text("CVE-2026-1");
    let sent = orders(stage.press("enter tab enter"));
    let Verb::Start { id, release, protected, force, intent } = sent[0].order().verb.clone() else {
        panic!("no start")
    };
    assert_ne!(id.0, uuid::Uuid::nil());
    assert_eq!((release, protected, force), (ReleaseId::named("hotfix-7"), Some(true), true));
    assert_eq!((intent, sent[0].order().reason.as_deref()), (Some(Intent::Start), Some("CVE-2026-1")));
}

#[test]
fn an_older_release_takes_a_reason_too() {
    let mut stage = Stage::rolling(80, 24);
    stage.release("hotfix-7");
    let start = Verb::Start {
        id: RolloutId::named("r2"),
        release: ReleaseId::named("hotfix-7"),
        protected: Some(false),
        force: true,
        intent: None,
    };
    stage.verb(start);
    stage.show();
    stage.press("6 G");
    stage.arm();
    stage.press("u s");
    says(&stage, "it is older than hotfix-7, which ran last");
    stage.type_text("v1.31.2");
    assert!(verbs(stage.press("enter enter tab tab enter")).is_empty());
    says(&stage, "a reason is needed");
}

#[test]
fn machines_are_moved_taken_out_and_removed() {
    let ash = MachineId::named("ash");
    let place = |environment, ring| Verb::AssignMachine { machine: ash, environment, ring, node: None };
    let (tier, ring) = (EnvironmentId::named("pine-workers"), RingId::named("pine-workers"));
    let mut stage = at_ash(SIZES[0]);
    stage.press("s m");
    stage.type_text("pine-workers/pine-workers");
    says(&stage, "gives back its slot");
    stage.press("enter");
    stage.type_text("ash");
    assert_eq!(verbs(stage.press("enter tab enter")), [place(Some(Some(tier)), Some(Some(ring)))]);
    for (keys, verb) in [("s n", place(Some(None), Some(None))), ("s d", Verb::RemoveMachine { machine: ash })] {
        let mut stage = at_ash(SIZES[0]);
        stage.press(keys);
        assert!(verbs(stage.press("tab tab enter")).is_empty(), "{keys}: its name was not typed");
        stage.press("tab");
        stage.type_text("ash");
        assert_eq!(verbs(stage.press("enter tab enter")), [verb]);
    }
    let mut stage = at_ash(SIZES[0]);
    stage.press("j j s d");
    assert!(verbs(stage.press("tab tab enter")).is_empty(), "who waits is removed by name as well");
    for (name, keys) in [("dialog_move", "s m"), ("dialog_remove", "s d")] {
        pictures(name, |size| {
            let mut stage = at_ash(size);
            stage.press(keys);
            if keys == "s m" {
                stage.type_text("pine-workers/pine-workers");
            }
            stage
        });
    }
}

#[test]
fn the_path_and_the_switches_are_set_with_enter() {
    let mut stage = at_ash(SIZES[0]);
    stage.press("2 G s o");
    stage.type_text("20");
    let sent = verbs(stage.press("enter enter"));
    let environment = EnvironmentId::named("pine-workers");
    let order = Some(Some(20));
    assert_eq!(sent, [Verb::PatchEnvironment { environment, name: None, promotion_order: order, config_values: None }]);
    let mut stage = at_ash(SIZES[0]);
    let sent = verbs(stage.press("s a enter"));
    assert_eq!(sent, [Verb::PatchAccount { auto_deploy: Some(true), track_config_tags: None }]);
    let sent = verbs(at_ash(SIZES[0]).press("s g enter"));
    assert_eq!(sent, [Verb::PatchAccount { auto_deploy: None, track_config_tags: Some(true) }]);
    pictures("dialog_order", |size| {
        let mut stage = at_ash(size);
        stage.press("2 G s o");
        stage.type_text("20");
        stage
    });
    pictures("dialog_flip", |size| {
        let mut stage = at_ash(size);
        stage.press("s a");
        stage
    });
}

// R77
#[test]
fn what_the_core_would_refuse_cannot_be_confirmed() {
    let mut stage = at_ash(SIZES[0]);
    stage.press("s o");
    stage.type_text("12");
    says(&stage, "it cannot be confirmed");
    assert!(verbs(stage.press("enter enter tab tab enter")).is_empty());
}

#[test]
fn all_of_them_need_arming_and_fresh_data_and_a_row() {
    let keys = ["s c", "s w", "s t", "s f", "s o", "s m", "s n", "s d", "s a", "s g", "x l"];
    for keys in keys {
        let mut stage = Stage::rolling(80, 24);
        stage.press(&format!("2 j j {keys}"));
        assert!(stage.model.layers.is_empty(), "{keys}");
        says(&stage, "verbs are not armed: press a first");
        let mut stage = at_ash(SIZES[0]);
        stage.now = Seconds(42).after(stage.now);
        stage.send(Msg::Clock(stage.now));
        stage.press(keys);
        assert!(stage.model.layers.is_empty(), "{keys}");
        says(&stage, "42s old");
    }
    let mut stage = Stage::rolling(80, 24);
    stage.arm();
    for keys in ["x w", "u f"] {
        stage.press(&format!("2 {keys}"));
        assert!(stage.model.layers.is_empty(), "{keys}");
        says(&stage, "select a release first");
    }
}

// A18
#[test]
fn a_target_that_goes_while_its_value_is_typed_turns_confirm_off() {
    let mut stage = at_ash(SIZES[0]);
    stage.press("s m");
    stage.type_text("pine-workers/pine-workers");
    stage.verb(Verb::RemoveMachine { machine: MachineId::named("ash") });
    stage.show();
    says(&stage, "ash is no longer listed");
    says(&stage, "it cannot be confirmed");
    stage.press("enter");
    stage.type_text("ash");
    assert!(verbs(stage.press("enter tab enter")).is_empty());
}

/// 412: nothing was done, what moved is shown, and it is asked again with the plan of now.
#[test]
fn a_plan_of_yesterday_is_shown_again_with_what_moved() {
    let story = |size: (u16, u16)| {
        let mut stage = at_ash(size);
        stage.press("s c");
        stage.type_text("2");
        stage.press("enter enter");
        stage.pass(1);
        stage.verb(Verb::Pause(Level::Ring(RingId::named("pine-cp"))));
        let sentence = "ring pine-cp was paused, by op-b at revision 31".to_owned();
        stage.send(Msg::Answer { key: "test-1".to_owned(), answer: Answer::Moved { sentence } });
        stage.show();
        stage
    };
    pictures("dialog_moved", story);
    let mut stage = story(SIZES[0]);
    says(&stage, "ring pine-cp was paused, by op-b at revision 31");
    assert!(stage.send(Msg::Key("enter".parse().unwrap())).is_empty(), "it was typed ahead");
    stage.send(Msg::Drawn);
    let sent = orders(stage.press("enter"));
    assert_eq!(sent[0].order().verb, pine_cp(RingPatch { max_in_flight: Some(2), ..RingPatch::default() }));
    assert_eq!(sent[0].order().key.as_deref(), Some("test-2"), "a key press of its own");
    assert_eq!(sent[0].planned_at(), Some(stage.picture.world.revision));
}

#[test]
fn a_grave_verb_that_moved_is_typed_again_and_another_question_is_not_covered() {
    let mut stage = at_ash(SIZES[0]);
    stage.press("x m");
    stage.type_text("ash");
    stage.press("enter tab enter");
    let moved = Answer::Moved { sentence: "machine ash reported a result".to_owned() };
    stage.send(Msg::Answer { key: "test-1".to_owned(), answer: moved.clone() });
    stage.send(Msg::Drawn);
    assert!(verbs(stage.press("tab tab enter")).is_empty(), "its name was typed for the old plan");
    says(&stage, "type ash to go on");
    stage.press("esc");
    stage.press("x m");
    stage.type_text("ash");
    stage.press("enter tab enter");
    stage.press("x h");
    stage.send(Msg::Answer { key: "test-2".to_owned(), answer: moved });
    let dialogs = stage.model.layers.iter().filter(|layer| matches!(layer, Layer::Dialog(_))).count();
    assert_eq!(dialogs, 1, "a stop is never covered");
    assert_eq!(verbs(stage.press("y")), [Verb::Halt { rollout: RolloutId::named("r1") }]);
}

/// Stopping is never held up by what moved.
#[test]
fn stops_carry_no_revision() {
    for keys in ["x h", "x r", "x e"] {
        let sent = orders(at_ash(SIZES[0]).press(&format!("{keys} y")));
        assert_eq!((sent.len(), sent[0].planned_at()), (1, None), "{keys}");
    }
}

/// What is refused names the key that does what may be meant.
#[test]
fn a_start_that_is_none_names_the_key_that_is_meant() {
    let mut stage = Stage::rolling(80, 24);
    stage.press("6 g");
    stage.arm();
    stage.press("u s");
    says(&stage, "u x resets it: every lease ends");
    let mut stage = at_hotfix(SIZES[0]);
    stage.press("u s");
    says(&stage, "u f takes its place by force");
    assert!(stage.model.layers.is_empty());
}
