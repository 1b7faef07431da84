//! The roll of 2026-08-14 (C7), with the share of the pull as a parameter: 29m to a green canary, 14m for a person, five
//! nodes of 5m12s with 2m36s between them, and 3m37s that nobody accounted for.

use crate::domain::span::Seconds;

/// What a node takes from the beginning of its turn until it is given back.
pub const ROLL_NODE: Seconds = Seconds(312);

/// What is left of the whole once every segment is taken off: start-up and edges.
pub const RESIDUAL: Seconds = Seconds(217);

/// The whole, where every node pulls in its own turn: 85m37s.
pub const IN_LINE: Seconds = Seconds(5_137);

/// Its ticks are this far apart; spans that are no multiple of it are not hit exactly.
pub const TICK: Seconds = Seconds(6);

/// Of a node's time what its drain and the owner's check take; the pull and the boot share the rest.
const DRAIN: u64 = 30;
const VERIFY: u64 = 6;

/// How long the gate of the seed waited for a person.
const GATE: u64 = 840;

/// From the beginning of the roll until its gate waits.
const CANARY: u64 = 1_740;

/// Where the demo opens: the gate has waited for 14 minutes and a bit.
pub(super) const OPENS_AT: Seconds = Seconds(RESIDUAL.0 + CANARY + GATE + 25);

/// The share of the pull where nobody says otherwise, in percent.
pub const PULL_SHARE: u8 = 50;

/// Shares the pull can have, in percent: the rest of a node's time is its drain, its boot and its check.
pub const PULL_SHARES: std::ops::RangeInclusive<u8> = 10..=80;

/// The scenario: a pull takes `pull` of `ROLL_NODE`; with `ahead` stages at a time, 0 for none.
pub fn reference_roll(pull: Seconds, ahead: u32) -> String {
    let (start, tick) = (RESIDUAL.0, TICK.0);
    let gate = start + CANARY + GATE;
    format!(
        "{}  - {{at: {gate}s, do: approve, roll: r, gate: canary, revision: seanfarm32, expect: ok}}\n  - {{every: \
         {tick}s, from: {start}s, do: tick}}\nthen:\n  - {{at: 6000s, view: \"roll:r\", path: \"$.soaking_since\", omits: \
         [nothing]}}\n",
        begins(pull, ahead, 0)
    )
}

/// The same with its gate left to a person, and whoever ticks going on by itself: a pull takes `share` percent.
pub(super) fn at_its_gate(share: u8) -> String {
    begins(Seconds(ROLL_NODE.0 * u64::from(share) / 100), 3, TICK.0)
}

/// How it begins, with a tick every `tick` seconds, 0 for none.
fn begins(pull: Seconds, ahead: u32, tick: u64) -> String {
    let boot = ROLL_NODE.0.saturating_sub(DRAIN + VERIFY + pull.0);
    let (stage, start) = (pull.0, RESIDUAL.0);
    format!(
        "scenario: reference roll\nstart: 2026-08-14T06:00:00Z\ntick_seconds: {tick}\ngiven:\n  pace: {{stage_seconds: \
         {stage}, drain_seconds: {DRAIN}, boot_seconds: {boot}, verify_seconds: {VERIFY}}}\nwhen:\n  - {{at: {start}s, \
         do: start_roll, roll: r, project: kernel, target: fleet, image: registry/seanfarm, revision: seanfarm32, canary: \
         wk-1, nodes: [wk-2, wk-3, wk-4, wk-5, wk-6], stage_parallelism: {ahead}, settle_seconds: 156, \
         canary_settle_seconds: 1428, expect: ok}}\n"
    )
}
