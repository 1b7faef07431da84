//! Whatever comes: every size, hostile words of the cluster, and keys in any order. It never panics, what is drawn steers
//! no terminal, and an order is what its dialog asked.

use proptest::prelude::*;

use super::super::super::dialog::Question;
use super::super::super::effect::Effect;
use super::super::super::layer::Layer;
use super::super::super::msg::Msg;
use super::bed::Bed;
use crate::domain::input::Verb;

const KEYS: [&str; 25] = [
    "4", "5", "1", "j", "k", "g", "G", "left", "right", "enter", "esc", "tab", "w", "C", "c", "o", "O", "u g", "x k",
    "x a", "u p", "u n", "u i", "a", "y",
];

/// A roll at its gate, and a cluster that says what it likes.
fn said(width: u16, height: u16, words: &str) -> Bed {
    let mut bed = Bed::at_gate(width, height);
    let mut node = bed.rig.node("wk-6").clone();
    node.stamp.name = words.to_owned();
    bed.rig.fleet.nodes.rows.insert(words.to_owned(), node);
    bed.rig.fingerprints("wk-1", 1, "CreateContainerError");
    let pod = bed.rig.put_pod(words, "wk-1", &[]);
    (pod.ready, pod.reason, pod.message) = (false, Some(words.to_owned()), Some(words.to_owned()));
    bed.rig.tick();
    bed.shown()
}

#[test]
fn every_size_can_be_drawn_with_whatever_lies_on_top() {
    for keys in ["1", "4", "4 enter", "5", "5 enter", "4 /", "4 u g", "4 u i", "5 u p", "4 ?"] {
        let mut bed = said(80, 24, "wk-7");
        bed.stage.arm();
        bed.stage.press(keys);
        for (width, height) in (1..=160u16).step_by(7).flat_map(|w| (1..=40u16).step_by(3).map(move |h| (w, h))) {
            bed.stage.send(Msg::Resize { width, height });
            bed.stage.draw();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_order_misses_and_nothing_reaches_the_terminal_as_it_is(
        words in "\\PC{1,20}|[\\x00-\\x1f\\u{7f}-\\u{9f}\\u{200b}-\\u{202e}a-z]{1,20}",
        keys in prop::collection::vec(prop::sample::select(KEYS.as_slice()), 1..24),
    ) {
        let mut bed = said(100, 30, &words);
        bed.stage.arm();
        for key in keys.iter().flat_map(|keys| keys.split_whitespace()) {
            let asked = match bed.stage.model.layers.last() {
                Some(Layer::Dialog(dialog)) => match &dialog.question {
                    Question::Verb(ask) => ask.deed.verb(),
                    Question::Arm | Question::Quit => None,
                },
                _ => None,
            };
            for effect in bed.stage.press(key) {
                let Effect::SendOrder(sealed) = effect else { continue };
                prop_assert!(matches!(sealed.order().verb, Verb::Roll(_)));
                prop_assert_eq!(Some(&sealed.order().verb), asked.as_ref());
            }
            let (buffer, _) = bed.stage.draw();
            for cell in &buffer.content {
                let bad = |c: char| c.is_control() || ('\u{200b}'..='\u{200f}').contains(&c) || ('\u{202a}'..='\u{202e}').contains(&c);
                prop_assert!(!cell.symbol().chars().any(bad), "{:?}", cell.symbol());
            }
        }
    }
}
