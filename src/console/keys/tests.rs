//! Keymaps: reading, linting, and what the built-in ones promise.

use super::super::chord::Chord;
use super::super::command::{COMMANDS, Command, Reach};
use super::*;

fn chords(text: &str) -> Vec<Chord> {
    text.split_whitespace().map(|c| c.parse().unwrap()).collect()
}

fn faults(text: &str) -> Vec<String> {
    Keymap::parse(text).unwrap_err().iter().map(ToString::to_string).collect()
}

fn built_in() -> impl Iterator<Item = (&'static str, Keymap)> {
    Keymap::names().map(|name| (name, Keymap::parse(Keymap::text(name).unwrap()).unwrap()))
}

#[test]
fn a_prefix_waits_for_the_rest() {
    let keymap = Keymap::shipped("default").unwrap();
    assert_eq!(keymap.find(Mode::List, &chords("x")), Found::Prefix);
    assert_eq!(keymap.find(Mode::List, &chords("x h")), Found::Command(Command::HaltRollout));
    assert_eq!(keymap.find(Mode::List, &chords("x q")), Found::Nothing);
    assert_eq!(keymap.find(Mode::List, &chords("1")), Found::Command(Command::ScreenNow));
    assert_eq!(keymap.find(Mode::Dialog, &chords("1")), Found::Nothing);
    let after: Vec<String> = keymap.after(Mode::List, &chords("x")).into_iter().map(|(keys, _)| keys).collect();
    assert_eq!(after, ["a", "d", "e", "f", "g", "h", "k", "l", "m", "o", "r", "s", "w"]);
    assert_eq!(keymap.prefix_title(&chords("x")), Some("stop"));
}

#[test]
fn the_mode_of_its_own_comes_before_any() {
    let keymap = Keymap::shipped("default").unwrap();
    assert_eq!(keymap.find(Mode::Page, &chords("q")), Found::Command(Command::Back));
    assert_eq!(keymap.find(Mode::List, &chords("q")), Found::Command(Command::Quit));
    assert!(!keymap.keys_of(Mode::Page, Command::Quit).contains(&"q".to_owned()));
}

#[test]
fn a_file_of_ones_own_changes_what_it_names() {
    let keymap = Keymap::parse("inherits: default\nmodes:\n  list: {j: none, J: down, k: none}\n").unwrap();
    assert_eq!(keymap.find(Mode::List, &chords("j")), Found::Nothing);
    assert_eq!(keymap.find(Mode::List, &chords("J")), Found::Command(Command::Down));
    assert_eq!(keymap.find(Mode::List, &chords("up")), Found::Command(Command::Up));
}

#[test]
fn faults_are_named_with_their_places() {
    let text = "inherits: default\nmodes:\n  list:\n    J: jump\n    hyper-x: down\n    tab tab tab tab: down\n    \
                ctrl-s: down\n    backtab: up\n    shift-tab: down\n  lists: {}\n  text: {j: down}\nunbound: [fly]\n";
    assert_eq!(
        faults(text),
        [
            "4:8: there is no command jump",
            "5:5: there is no key named hyper-x",
            "6:5: a sequence has at most 3 chords",
            "7:5: ctrl-s cannot be bound: flow control takes it",
            "9:5: backtab is bound twice",
            "10:3: lists is none of the modes any, list, page, dialog, text",
            "11:10: j is typed in a text field",
            "12:11: there is no command fly",
        ]
    );
}

#[test]
fn shadows_and_lost_commands_are_found() {
    let shadowed = faults("inherits: default\nmodes:\n  list: {x: copy}\n");
    assert!(shadowed.contains(&"3:10: x (list) shadows x h (list)".to_owned()), "{shadowed:?}");
    let across = faults("inherits: default\nmodes:\n  any: {u: redraw}\n");
    assert!(across.contains(&"3:9: u (any) shadows u m (list)".to_owned()), "{across:?}");
    let lost = faults("inherits: default\nmodes:\n  list: {c: none}\n  page: {c: none}\n");
    assert_eq!(lost, ["copy has no key; bind it or list it under unbound"]);
    let both = faults("inherits: default\nmodes: {}\nunbound: [copy]\n");
    assert_eq!(both, ["copy is listed under unbound but has a key"]);
    assert_eq!(faults("inherits: emacs\n")[0], "1:11: there is no built-in keymap emacs");
    assert_eq!(faults("modes: {list: {j: down, j: up}}\n")[0].split(':').next(), Some("1"));
}

/// Rows of a keyboard, to know which keys a slip of the finger hits.
const ROWS: [&str; 4] = ["1234567890-=", "qwertyuiop[]", "asdfghjkl;'", "zxcvbnm,./"];

fn neighbours(a: char, b: char) -> bool {
    let at = |c: char| {
        let found = ROWS.iter().enumerate().find_map(|(row, keys)| Some((row, keys.find(c)?)))?;
        Some((found.0.cast_signed(), found.1.cast_signed()))
    };
    let (Some(a), Some(b)) = (at(a.to_ascii_lowercase()), at(b.to_ascii_lowercase())) else { return false };
    (a.0 - b.0).abs() <= 1 && (a.1 - b.1).abs() <= 1
}

/// One slip next to a key that looks never opens a verb: verbs take two chords, or sit away from every key that looks.
#[test]
fn view_and_destroy_keys_are_not_neighbours() {
    for (name, keymap) in built_in() {
        let single = |mode: Mode, reach: &[Reach]| -> Vec<char> {
            let specs = COMMANDS.iter().filter(|s| reach.contains(&s.reach) && s.command != Command::Arm);
            let keys = specs.flat_map(|s| keymap.keys_of(mode, s.command));
            keys.filter_map(|k| chords(&k).first().filter(|_| !k.contains(' ')).and_then(|c| c.typed())).collect()
        };
        for mode in [Mode::List, Mode::Page] {
            for verb in single(mode, &[Reach::Stop, Reach::Act]) {
                for look in single(mode, &[Reach::View]) {
                    assert!(!neighbours(verb, look), "{name}: {verb} is next to {look}");
                }
            }
        }
    }
}

#[test]
fn built_in_keymaps_confirm_a_stop_with_a_key_of_its_own() {
    for (name, keymap) in built_in() {
        let stop = keymap.keys_of(Mode::Dialog, Command::ConfirmStop);
        assert!(!stop.is_empty() && !stop.contains(&"enter".to_owned()), "{name}: {stop:?}");
        assert!(!keymap.keys_of(Mode::Dialog, Command::Back).is_empty(), "{name}");
        assert!(!keymap.keys_of(Mode::Text, Command::Back).is_empty(), "{name}");
    }
}
