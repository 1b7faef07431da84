//! Whatever comes: random keys, sizes, names and pictures. It never panics, and an order only ever goes to what its
//! dialog named.

use std::sync::Arc;

use proptest::prelude::*;

use super::super::chord::{Chord, Key};
use super::super::deed::Deed;
use super::super::dialog::{Ask, Question};
use super::super::effect::Effect;
use super::super::layer::Layer;
use super::super::msg::{Answer, Level, Msg, Notice};
use super::super::snapshot::Freshness;

use super::stage::Stage;
use crate::domain::change::Level as Held;
use crate::domain::ids::{MachineId, RingId};
use crate::domain::input::Verb;
use crate::domain::observed::Telemetry;
use crate::domain::release::Outcome;
use crate::domain::span::Seconds;

/// One thing that happens.
#[derive(Debug, Clone)]
enum Step {
    Keys(String),
    Type(char),
    Paste(String),
    Resize(u16, u16),
    Pass(u64),
    Poll(usize),
    Report(usize, bool),
    Remove(usize),
    Hold(bool),
    Lose,
    Blind(bool),
    Answer(u8),
    Unseen(String),
}

const NAMES: [&str; 6] = ["ash", "birch", "cedar", "fir", "larch", "maple"];

const KEYS: [&str; 45] = [
    "j", "k", "g", "G", "h", "l", "space", "enter", "esc", "tab", "1", "2", "0", "?", ":", "/", "w", "c", "a", "A",
    "x h", "x l", "s c", "s w", "s o", "s m", "s n", "s d", "s a", "u f", "x w", "6", "x r", "x e", "x m", "u r",
    "u e", "u m", "u x", "y", "n", "q", "left", "right", "ctrl-d",
];

fn step() -> impl Strategy<Value = Step> {
    let keys = || prop::sample::select(KEYS.as_slice()).prop_map(str::to_owned);
    prop_oneof![
        12 => keys().prop_map(Step::Keys),
        3 => any::<char>().prop_map(Step::Type),
        3 => prop::sample::select(NAMES.as_slice()).prop_map(|n| Step::Keys(n.chars().map(|c| format!("{c} ")).collect())),
        1 => any::<String>().prop_map(Step::Paste),
        2 => (1u16..200, 1u16..60).prop_map(|(w, h)| Step::Resize(w, h)),
        2 => (0u64..7_000).prop_map(Step::Pass),
        3 => (0usize..6).prop_map(Step::Poll),
        2 => ((0usize..6), any::<bool>()).prop_map(|(m, ok)| Step::Report(m, ok)),
        1 => (0usize..6).prop_map(Step::Remove),
        1 => any::<bool>().prop_map(Step::Hold),
        1 => Just(Step::Lose),
        1 => any::<bool>().prop_map(Step::Blind),
        2 => (0u8..5).prop_map(Step::Answer),
        2 => keys().prop_map(Step::Unseen),
    ]
}

/// Does a step and says which orders left.
fn play(stage: &mut Stage, step: &Step) -> Vec<Effect> {
    match step {
        Step::Keys(keys) => return stage.press(keys),
        Step::Type(c) => return stage.send(Msg::Key(Chord::plain(Key::Char(*c)))),
        Step::Paste(text) => return stage.send(Msg::Paste(text.clone())),
        Step::Resize(width, height) => return stage.send(Msg::Resize { width: *width, height: *height }),
        Step::Unseen(keys) => {
            let chords = keys.split(' ').map(|c| Msg::Key(c.parse().unwrap()));
            return chords.collect::<Vec<_>>().into_iter().flat_map(|msg| stage.send(msg)).collect();
        }
        Step::Pass(seconds) => stage.pass(*seconds),
        Step::Poll(n) => poll(stage, NAMES[*n]),
        Step::Report(n, ok) if stage.picture.world.running().is_some() => {
            let outcome = if *ok { Outcome::Success } else { Outcome::Failed };
            stage.report(NAMES[*n], outcome, Some("drain"));
        }
        Step::Remove(n) if known(stage, NAMES[*n]) => {
            stage.verb(Verb::RemoveMachine { machine: MachineId::named(NAMES[*n]) });
        }
        Step::Hold(true) => stage.verb(Verb::Pause(Held::Ring(RingId::named("pine-cp")))),
        Step::Hold(false) => stage.verb(Verb::Unpause(Held::Ring(RingId::named("pine-cp")))),
        Step::Lose => {
            let since = Seconds(50).before(stage.now);
            stage.picture.api = Freshness::Lost { since, why: "reset\u{1b}[31m".to_owned(), retry_at: None };
        }
        Step::Blind(blind) => {
            let telemetry = if *blind { Telemetry::Unreadable } else { Telemetry::Readable };
            Arc::make_mut(&mut stage.picture.observed).telemetry = telemetry;
        }
        Step::Answer(kind) => {
            let effects = answer(stage, *kind);
            stage.show();
            return effects;
        }
        Step::Report(..) | Step::Remove(_) => {}
    }
    stage.show();
    Vec::new()
}

fn known(stage: &Stage, name: &str) -> bool {
    stage.picture.world.machines.contains_key(&MachineId::named(name))
}

fn poll(stage: &mut Stage, name: &str) {
    if known(stage, name) {
        stage.poll(name);
    }
}

fn answer(stage: &mut Stage, kind: u8) -> Vec<Effect> {
    let Some(key) = stage.model.orders.first().map(|order| order.key.clone()) else { return Vec::new() };
    let answer = match kind {
        0 => Answer::Done { sentence: "done".to_owned() },
        1 => Answer::Refused { sentence: "no".to_owned(), hints: vec!["do this".to_owned()] },
        4 => Answer::Moved { sentence: "ring pine-cp was paused".to_owned() },
        2 => Answer::Unknown { why: "timeout".to_owned() },
        _ => Answer::Unsent { why: "no route".to_owned() },
    };
    stage.send(Msg::Answer { key, answer })
}

/// What the open dialog would do, if one is open.
fn asked(stage: &Stage) -> Option<Ask> {
    match stage.model.layers.last() {
        Some(Layer::Dialog(dialog)) => match &dialog.question {
            Question::Verb(ask) => Some(Ask::clone(ask)),
            Question::Arm | Question::Quit => None,
        },
        _ => None,
    }
}

/// The same, but for the identity that a start gets as it is confirmed.
fn alike(asked: &Verb, sent: &Verb) -> bool {
    match (asked, sent) {
        (Verb::Start { release, force, .. }, Verb::Start { release: sent, force: forced, .. }) => {
            (release, force) == (sent, forced)
        }
        (asked, sent) => asked == sent,
    }
}

/// The order that leaves first where it is confirmed.
fn first(ask: &Ask) -> Option<Verb> {
    ask.deed.verb().or_else(|| ask.line.first().map(|id| skip(*id)))
}

fn skip(machine: MachineId) -> Verb {
    Verb::Pause(Held::Machine(machine))
}

/// Plays single keys, so that the dialog before each of them is known; an order must be the one that was asked.
fn check(stage: &mut Stage, step: &Step) -> Result<(), TestCaseError> {
    let steps: Vec<Step> = match step {
        Step::Keys(keys) => keys.split_whitespace().map(|key| Step::Keys(key.to_owned())).collect(),
        Step::Unseen(keys) => keys.split_whitespace().map(|key| Step::Unseen(key.to_owned())).collect(),
        other => vec![other.clone()],
    };
    for step in &steps {
        let before = asked(stage);
        let line = stage.model.orders.first().and_then(|order| order.line.clone());
        let armed = stage.model.arming.until(stage.model.now).is_some();
        for effect in play(stage, step) {
            let Effect::SendOrder(sealed) = effect else { continue };
            if matches!(step, Step::Answer(_)) {
                let next = line.as_ref().and_then(|line| line.left.front()).map(|(id, _)| skip(*id));
                prop_assert!(armed && next.as_ref() == Some(&sealed.order().verb), "it was not the next of its line");
                prop_assert_eq!(sealed.planned_at(), line.as_ref().map(|line| line.planned_at));
                continue;
            }
            let asked = before.as_ref().and_then(first);
            prop_assert!(asked.is_some_and(|verb| alike(&verb, &sealed.order().verb)), "it was not what was asked");
            let stops = before.as_ref().is_some_and(|ask| matches!(ask.deed, Deed::Stop(_)));
            prop_assert!(armed || stops, "it was not armed");
            let planned = before.as_ref().map(|ask| ask.plan.revision).filter(|_| !stops);
            prop_assert_eq!(sealed.planned_at(), planned, "it carries another plan's revision");
        }
        stage.draw();
    }
    Ok(())
}

/// Words that a cluster or a person may say, and what no terminal should get to see.
pub(super) const WORDS: &str = "\\PC{1,20}|[\\x00-\\x1f\\u{7f}-\\u{9f}\\u{200b}-\\u{202e}a-z]{1,20}";

/// What is drawn has neither controls nor marks that turn the reading order around.
fn steers_no_terminal(stage: &Stage) -> Result<(), TestCaseError> {
    let (buffer, _) = stage.draw();
    let bad =
        |c: char| c.is_control() || ('\u{200b}'..='\u{200f}').contains(&c) || ('\u{202a}'..='\u{202e}').contains(&c);
    for cell in &buffer.content {
        prop_assert!(!cell.symbol().chars().any(bad), "{:?}", cell.symbol());
    }
    Ok(())
}

/// Presses keys on an armed console: an order is what its dialog asked and one of its family, and nothing that is drawn
/// steers the terminal.
pub(super) fn press_any(stage: &mut Stage, keys: &[&str], is_of: fn(&Verb) -> bool) -> Result<(), TestCaseError> {
    stage.arm();
    for key in keys.iter().flat_map(|keys| keys.split_whitespace()) {
        let asked = asked(stage).and_then(|ask| ask.deed.verb());
        for effect in stage.press(key) {
            let Effect::SendOrder(sealed) = effect else { continue };
            prop_assert!(is_of(&sealed.order().verb));
            prop_assert_eq!(Some(&sealed.order().verb), asked.as_ref());
        }
        steers_no_terminal(stage)?;
    }
    Ok(())
}

/// Draws every size, with whatever these keys put on top.
pub(super) fn draw_any_size(stage: &mut Stage, keys: &str) {
    stage.arm();
    stage.press(keys);
    for (width, height) in (1..=160u16).step_by(7).flat_map(|w| (1..=40u16).step_by(3).map(move |h| (w, h))) {
        stage.send(Msg::Resize { width, height });
        stage.draw();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_story_panics_and_no_order_misses(steps in prop::collection::vec(step(), 1..60)) {
        let mut stage = Stage::rolling(80, 24);
        stage.arm();
        for step in &steps {
            check(&mut stage, step)?;
        }
    }

    #[test]
    fn every_size_can_be_drawn(width in 1u16..=200, height in 1u16..=60, keys in prop::collection::vec(prop::sample::select(KEYS.as_slice()), 0..6)) {
        let mut stage = Stage::rolling(width, height);
        stage.arm();
        stage.press(&keys.join(" "));
        stage.draw();
    }

    #[test]
    fn nothing_from_outside_reaches_the_terminal_as_it_is(name in WORDS, reason in any::<String>()) {
        let mut stage = Stage::rolling(80, 24);
        let ash = MachineId::named("ash");
        stage.verb_because(Verb::Pause(Held::Machine(ash)), Some(&reason));
        stage.picture.account = name.clone();
        stage.picture.endpoint = reason.clone();
        stage.show();
        stage.send(Msg::Notice(Notice { at: stage.now, level: Level::Error, text: reason }));
        for keys in ["2 j j", "enter", "esc x h", "esc 0", "1"] {
            stage.press(keys);
            steers_no_terminal(&stage)?;
        }
    }
}

/// Every size there is, with every layer on top.
#[test]
fn sizes_from_one_cell_up_never_panic() {
    for keys in ["1", "2 j j", "2 j j enter", "2 x", "x h", "a", ":", "/", "?", "0"] {
        let mut stage = Stage::rolling(80, 24);
        stage.report("ash", Outcome::Failed, Some("drain"));
        stage.show();
        stage.press(keys);
        for (width, height) in (1..=130u16).step_by(3).flat_map(|w| (1..=40u16).map(move |h| (w, h))) {
            stage.send(Msg::Resize { width, height });
            stage.draw();
        }
    }
}
