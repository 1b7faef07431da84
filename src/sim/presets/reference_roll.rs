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

/// The scenario: a pull takes `pull` of `ROLL_NODE`; with `ahead` stages at a time, 0 for none.
pub fn reference_roll(pull: Seconds, ahead: u32) -> String {
    let boot = ROLL_NODE.0.saturating_sub(DRAIN + VERIFY + pull.0);
    let (stage, start, tick) = (pull.0, RESIDUAL.0, TICK.0);
    let gate = start + 1_740 + 840;
    format!(
        "scenario: reference roll\nstart: 2026-08-14T06:00:00Z\ntick_seconds: 0\ngiven:\n  pace: {{stage_seconds: \
         {stage}, drain_seconds: {DRAIN}, boot_seconds: {boot}, verify_seconds: {VERIFY}}}\nwhen:\n  - {{at: {start}s, \
         do: start_roll, roll: r, project: kernel, target: fleet, image: registry/seanfarm, revision: seanfarm32, canary: \
         wk-1, nodes: [wk-2, wk-3, wk-4, wk-5, wk-6], stage_parallelism: {ahead}, settle_seconds: 156, \
         canary_settle_seconds: 1428, expect: ok}}\n  - {{at: {gate}s, do: approve, roll: r, gate: canary, revision: \
         seanfarm32, expect: ok}}\n  - {{every: {tick}s, from: {start}s, do: tick}}\nthen:\n  - {{at: 6000s, view: \
         \"roll:r\", path: \"$.soaking_since\", omits: [nothing]}}\n"
    )
}
