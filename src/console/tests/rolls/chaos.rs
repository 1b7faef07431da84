//! Whatever comes: every size, hostile words of the cluster, and keys in any order. It never panics, what is drawn steers
//! no terminal, and an order is what its dialog asked.

use proptest::prelude::*;

use super::super::chaos::{WORDS, draw_any_size, press_any};
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
        draw_any_size(&mut bed.stage, keys);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_order_misses_and_nothing_reaches_the_terminal_as_it_is(
        words in WORDS,
        keys in prop::collection::vec(prop::sample::select(KEYS.as_slice()), 1..24),
    ) {
        let mut bed = said(100, 30, &words);
        press_any(&mut bed.stage, &keys, |verb| matches!(verb, Verb::Roll(_)))?;
    }
}
