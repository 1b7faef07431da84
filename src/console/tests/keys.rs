//! What keys do outside of dialogs: `(before, keys, after)`.

use super::super::chord::Chord;
use super::super::effect::Effect;
use super::super::facts::Node;
use super::super::model::{Screen, Subject};
use super::super::msg::Msg;
use super::stage::Stage;
use crate::domain::ids::{EnvironmentId, MachineId, RingId};
use crate::domain::input::Verb;

fn machine(name: &str) -> Subject {
    Subject::Node(Node::Machine(MachineId::named(name)))
}

fn lane(slug: &str) -> Subject {
    Subject::Node(Node::Lane((EnvironmentId::named(slug), RingId::named(slug))))
}

fn remove(stage: &mut Stage, name: &str) {
    stage.verb(Verb::RemoveMachine { machine: MachineId::named(name) });
    stage.show();
}

#[test]
fn keys_move_the_selection() {
    let cases = [
        ("2", Subject::Node(Node::Environment(EnvironmentId::named("pine-cp")))),
        ("2 j", lane("pine-cp")),
        ("2 j j", machine("ash")),
        ("2 G", machine("maple")),
        ("2 G g", Subject::Node(Node::Environment(EnvironmentId::named("pine-cp")))),
        ("2 j j left", lane("pine-cp")),
        ("2 j j left left j", Subject::Node(Node::Environment(EnvironmentId::named("pine-workers")))),
        ("2 j left right right", machine("ash")),
        ("2 k k k down down", machine("ash")),
        ("2 pagedown", machine("maple")),
    ];
    for (keys, selected) in cases {
        let mut stage = Stage::rolling(80, 24);
        stage.press(keys);
        assert_eq!(stage.model.subject(), selected, "{keys}");
    }
}

// A18
#[test]
fn the_selection_stays_on_its_machine_and_never_becomes_another() {
    let mut stage = Stage::rolling(80, 24);
    stage.press("2 j j j");
    assert_eq!(stage.model.subject(), machine("birch"));
    remove(&mut stage, "ash");
    assert_eq!(stage.model.subject(), machine("birch"));
    remove(&mut stage, "birch");
    assert_eq!(stage.model.subject(), Subject::Nothing);
    assert!(stage.screen().contains("the selected row is no longer listed"));
    stage.arm();
    let effects = stage.press("x m");
    assert!(effects.is_empty() && stage.model.layers.is_empty(), "a verb went to the row in its place");
    assert!(stage.screen().contains("no longer listed: select one first"));
    stage.press("j");
    assert_eq!(stage.model.subject(), machine("cedar"));
}

#[test]
fn digits_and_names_switch_screens() {
    let mut stage = Stage::rolling(80, 24);
    let cases = [
        ("2", Screen::Rollout),
        ("3", Screen::Kura),
        ("6", Screen::Releases),
        ("7", Screen::History),
        ("0", Screen::Log),
        ("1", Screen::Now),
    ];
    for (key, screen) in cases {
        stage.press(key);
        assert_eq!(stage.model.screen, screen);
    }
    stage.press(":");
    stage.type_text("log");
    stage.press("enter");
    assert_eq!((stage.model.screen, stage.model.layers.len()), (Screen::Log, 0));
}

#[test]
fn a_need_opens_at_its_row_even_if_that_is_folded_and_filtered_away() {
    let mut stage = Stage::rolling(80, 24);
    stage.report("ash", crate::domain::release::Outcome::Failed, Some("drain"));
    stage.show();
    stage.press("2 left / ");
    stage.type_text("maple");
    stage.press("enter 1 g enter");
    assert_eq!((stage.model.screen, stage.model.subject()), (Screen::Rollout, lane("pine-cp")));
    assert!(stage.model.filter.is_empty());
}

#[test]
fn the_filter_works_while_it_is_typed_and_escape_takes_it_back() {
    let mut stage = Stage::rolling(80, 24);
    let listed = |stage: &Stage| stage.model.lines.iter().filter(|l| matches!(l.node, Node::Machine(_))).count();
    stage.press("2 /");
    stage.type_text("state=queued !cedar");
    assert_eq!(listed(&stage), 1);
    stage.press("enter");
    assert_eq!((listed(&stage), stage.model.layers.len()), (1, 0));
    stage.press("/");
    stage.type_text(" state=fast");
    stage.press("enter");
    assert_eq!(stage.model.layers.len(), 1, "a filter that makes no sense is not accepted");
    stage.press("esc");
    assert_eq!((listed(&stage), stage.model.layers.len()), (6, 0));
}

#[test]
fn filters_know_slots_rings_and_words() {
    let cases = [
        ("holding", 1),
        ("!holding", 5),
        ("held>10s", 0),
        ("held<10s", 1),
        ("ring=workers", 3),
        ("env=cp waiting", 0),
        ("waiting", 3),
        ("MAPLE", 1),
        ("failures>0", 0),
        ("offline", 0),
    ];
    for (filter, expected) in cases {
        let mut stage = Stage::rolling(80, 24);
        stage.press("2 /");
        stage.type_text(filter);
        let listed = stage.model.lines.iter().filter(|l| matches!(l.node, Node::Machine(_))).count();
        assert_eq!(listed, expected, "{filter}");
    }
}

#[test]
fn folds_are_kept_by_identity() {
    let mut stage = Stage::rolling(80, 24);
    stage.press("2 j space");
    let rows = stage.model.lines.len();
    stage.pass_polling(5);
    stage.show();
    assert_eq!(stage.model.lines.len(), rows);
    remove(&mut stage, "maple");
    assert_eq!(stage.model.lines.len(), rows - 1);
}

#[test]
fn a_prefix_shows_its_box_and_escape_forgets_it() {
    let mut stage = Stage::rolling(80, 24);
    stage.press("2 x");
    assert!(stage.screen().contains("x stop"));
    stage.press("esc");
    assert!(!stage.screen().contains("x stop ─"));
    stage.press("x j");
    assert!(stage.screen().contains("x j means nothing here"));
    assert_eq!(stage.model.tree_pick.index(), Some(0), "the second key did not move anything");
}

#[test]
fn quitting_asks_nothing_while_nothing_is_on_its_way() {
    let mut stage = Stage::rolling(80, 24);
    assert_eq!(stage.press("q"), [Effect::Quit]);
    assert_eq!(stage.press("ctrl-c"), [Effect::Quit]);
    assert_eq!(stage.press("ctrl-z"), [Effect::Suspend]);
    stage.press("/");
    assert_eq!(stage.press("ctrl-c"), [Effect::Quit], "in a text field as well");
}

#[test]
fn copy_takes_the_identity_of_the_row() {
    let mut stage = Stage::rolling(80, 24);
    let id = MachineId::named("ash").to_string();
    assert_eq!(stage.press("2 j j c"), [Effect::Copy(id)]);
}

#[test]
fn the_detail_asks_for_results_once_and_again_when_there_are_new_ones() {
    let mut stage = Stage::rolling(80, 24);
    let loads = |effects: &[Effect]| effects.iter().filter(|e| matches!(e, Effect::LoadResults { .. })).count();
    assert_eq!(loads(&stage.press("2 j j enter")), 1);
    assert_eq!(loads(&stage.press("j j esc enter")), 0, "it is asked already");
    let rollout = crate::domain::ids::RolloutId::named("r1");
    let answered = Msg::Results { rollout, machine: MachineId::named("ash"), results: Ok(Vec::new()) };
    assert_eq!(loads(&stage.send(answered)), 0);
    stage.report("ash", crate::domain::release::Outcome::Failed, Some("drain"));
    let picture = Msg::Picture(Box::new(stage.picture.clone()));
    assert_eq!(loads(&stage.send(picture)), 1, "there is a newer result");
}

#[test]
fn results_that_never_come_are_given_up_and_asked_for_again() {
    let mut stage = Stage::rolling(80, 24);
    let loads = |effects: &[Effect]| effects.iter().filter(|e| matches!(e, Effect::LoadResults { .. })).count();
    stage.press("2 j j enter");
    stage.pass(31);
    stage.show();
    assert!(stage.screen().contains("no answer came within 30s"), "{}", stage.screen());
    assert_eq!(loads(&stage.press("esc enter")), 1);
}

#[test]
fn the_log_follows_until_somebody_looks_back() {
    let mut stage = Stage::rolling(80, 24);
    stage.press("0");
    stage.pass_polling(1);
    stage.report("ash", crate::domain::release::Outcome::Success, None);
    stage.show();
    assert!(stage.screen().contains("ash reported success"));
    stage.press("g");
    let before = stage.screen();
    stage.pass(400);
    stage.poll("birch");
    stage.show();
    assert_eq!(stage.screen().lines().nth(4), before.lines().nth(4), "the log moved under the reader");
    stage.press("G");
    assert!(stage.screen().contains("birch got a slot"));
}

#[test]
fn a_paste_never_acts() {
    let mut stage = Stage::rolling(80, 24);
    stage.press("2 j j");
    for text in ["xhy", "q", "\u{1b}[2Jxhy\n"] {
        assert!(stage.send(Msg::Paste(text.to_owned())).is_empty());
        assert!(stage.model.layers.is_empty(), "{text:?}");
    }
    stage.press("/");
    stage.send(Msg::Paste("cedar\nxhy".to_owned()));
    assert_eq!(stage.model.filter.text, "cedar");
}

#[test]
fn help_shows_the_keys_of_the_keymap_in_use() {
    let mut stage = Stage::rolling(80, 50);
    let own = "inherits: default\nmodes:\n  list: {c: none, C: copy}\n  page: {c: none}\n";
    let keymap = super::super::keys::Keymap::parse(own).unwrap();
    stage.send(Msg::Keymap(Box::new(keymap)));
    stage.press("?");
    let line = stage.screen().lines().find(|l| l.contains("Copies the identity")).unwrap().to_owned();
    assert!(line.trim_start().starts_with("C "), "{line}");
}

#[test]
fn keys_that_mean_nothing_do_nothing() {
    let mut stage = Stage::rolling(80, 24);
    let before = stage.screen();
    for chord in [Chord::char('Z'), Chord::ctrl('o'), "f9".parse().unwrap(), "alt-x".parse().unwrap()] {
        assert!(stage.send(Msg::Key(chord)).is_empty());
    }
    assert_eq!(stage.screen(), before);
}

/// A19: what was typed ahead is dropped and said to be; leaving is never held up.
#[test]
fn a_key_that_is_dropped_is_told_and_escape_leaves_at_once() {
    let mut stage = Stage::rolling(80, 24);
    stage.press("2 j j");
    for key in ["x", "h", "y"] {
        assert!(stage.send(Msg::Key(key.parse().unwrap())).is_empty(), "{key}");
    }
    assert!(
        stage.screen().contains("a key was dropped: it was pressed before this was on the screen"),
        "{}",
        stage.screen()
    );
    assert!(stage.send(Msg::Key("esc".parse().unwrap())).is_empty());
    assert!(stage.model.layers.is_empty(), "{}", stage.screen());
}
