//! Whatever comes: every size, hostile words of the cluster, and keys in any order. It never panics, what is drawn steers
//! no terminal, and an order is what its dialog asked.

use proptest::prelude::*;
use serde_json::json;

use super::super::chaos::{WORDS, draw_any_size, press_any};
use super::bed::{Bed, row};
use crate::domain::input::Verb;

const KEYS: [&str; 26] = [
    "3", "1", "j", "k", "g", "G", "left", "right", "space", "enter", "esc", "tab", "w", "C", "c", "o", "O", "u a",
    "u d", "u t", "x g", "x f", "x d", "x o", "a", "y",
];

/// Two servers of which one waits, a gateway that is stuck and an orphan; what the cluster says of them is up to it.
fn said(width: u16, height: u16, words: &str) -> Bed {
    let mut bed = Bed::serving(width, height, &[("ash", "eu"), ("birch", "us")]);
    bed.release("0.20.0");
    bed.agree();
    let reason = words.to_owned();
    bed.pod("kura-ash-eu-0", |pod| (pod.ready, pod.reason, pod.node) = (false, Some(reason.clone()), Some(reason)));
    bed.pod("kura-ash-eu-1", |pod| pod.image = Some(words.to_owned()));
    bed.gateway(words, json!({"stamp": {"deleting_since": "2026-05-15T03:00:00Z", "finalizers": [words]}}));
    bed.sight.instances.rows.extend([row(words, json!({"spec": {"image": words}, "message": words}))]);
    bed.sight
        .instances
        .rows
        .get_mut("kura-birch-us")
        .unwrap()
        .spec
        .edit(|spec| spec["ingressClassName"] = json!(words));
    bed.pass(7_200);
    bed.shown()
}

#[test]
fn every_size_can_be_drawn_with_whatever_lies_on_top() {
    for keys in ["1", "3", "3 enter", "3 G enter", "3 /", "3 u a", "3 u d", "3 ?"] {
        let mut bed = said(80, 24, "CrashLoopBackOff");
        draw_any_size(&mut bed.stage, keys);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_order_misses_and_nothing_reaches_the_terminal_as_it_is(
        words in WORDS,
        keys in prop::collection::vec(prop::sample::select(KEYS.as_slice()), 1..24),
    ) {
        let mut bed = said(100, 30, &words);
        press_any(&mut bed.stage, &keys, |verb| matches!(verb, Verb::Kura(_)))?;
    }
}
