//! A seed is a history: the same one gives the same journal, to the last byte, in every way of breaking ties.

use std::collections::BTreeSet;

use kura_console::domain::release::Outcome;
use kura_console::domain::span::Seconds;
use kura_console::sim::agents::behaviour::Behaviour;
use kura_console::sim::fleet::Brakes;
use kura_console::sim::presets::preset;
use kura_console::sim::stage::{Stage, Ties};

use super::bed::{assert_sound, at, cluster, stage, start};

/// A busy hour: two slots per ring, everybody polls at the same instants, one failure per machine.
fn busy(seed: u64, ties: Ties) -> Stage {
    let mut stage = stage(seed, ties);
    let brakes = Brakes { cap: 2, settle: Seconds(40), threshold: 100, ..Brakes::SERIAL };
    let behaviour = Behaviour {
        apply: Seconds(60),
        outcome: Outcome::Failed,
        heals_after: Some(1),
        retries: 1,
        drift: Seconds(200),
        ..Behaviour::default()
    };
    cluster(&mut stage, (4, 8), brakes, &behaviour);
    start(&mut stage, 30);
    stage.advance_to(at(3_600)).unwrap();
    stage
}

fn fingerprint(stage: &Stage) -> String {
    stage.outside().journal.fingerprint(stage.account())
}

#[test]
fn the_same_seed_gives_the_same_journal() {
    for ties in [Ties::InOrder, Ties::Shuffled] {
        assert_eq!(fingerprint(&busy(11, ties)), fingerprint(&busy(11, ties)), "{ties:?}");
    }
}

#[test]
fn other_seeds_give_other_histories_and_break_no_invariant() {
    let mut histories = BTreeSet::new();
    for seed in 0..12 {
        let stage = busy(seed, Ties::Shuffled);
        assert_sound(&stage);
        histories.insert(fingerprint(&stage));
    }
    assert!(histories.len() > 3, "12 seeds gave {} histories", histories.len());
}

#[test]
fn a_preset_is_the_same_every_time_and_sound() {
    for name in ["window", "fresh", "halted", "superseded"] {
        let live = || {
            let mut stage = preset(name).unwrap().stage(at(50_000), 3);
            stage.advance_to(at(51_000)).unwrap();
            stage
        };
        let stage = live();
        assert_eq!(fingerprint(&stage), fingerprint(&live()), "{name}");
        assert_sound(&stage);
    }
}
