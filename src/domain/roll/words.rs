//! What every surface says of a roll in the same words: the chip of a gate, the position, the command that opens a gate
//! (F41-F43, F45, F59).

use jiff::Timestamp;

use super::super::span::Seconds;
use super::fleet_roll::{Progress, Roll};

/// `waiting on canary gate 14m`: the chip of a screen (F41).
pub fn chip(gate: &str, waited: &str) -> String {
    format!("waiting on {} gate {waited}", gate.to_lowercase())
}

/// `AWAITING CANARY 14m`: the line of a terminal (F42).
pub fn awaiting(gate: &str, waited: &str) -> String {
    format!("AWAITING {} {waited}", gate.to_uppercase())
}

/// `14m`: how long a gate has waited, in whole minutes and rounded down: every surface shows the same (F43).
pub fn waited(since: Timestamp, now: Timestamp) -> String {
    format!("{}m", Seconds::between(since, now).0 / 60)
}

/// `3/5 · wk-4 (boot)`, as the seed writes it; `dot` is the mark between (F59).
pub fn position(progress: &Progress, dot: &str) -> String {
    let Progress { completed, total, node, phase } = progress;
    match (node, phase) {
        (Some(node), Some(phase)) => format!("{completed}/{total} {dot} {node} ({phase})"),
        (None, Some(phase)) => format!("{completed}/{total} ({phase})"),
        _ => format!("{completed}/{total}"),
    }
}

/// The command that opens a gate, to be copied as it is: it is refused where the gate has moved (F45).
pub fn approval(name: &str, gate: &str, revision: &str, since: Timestamp) -> String {
    decision("approve", name, gate, revision, since)
}

/// The command that keeps it shut.
pub fn denial(name: &str, gate: &str, revision: &str, since: Timestamp) -> String {
    decision("deny", name, gate, revision, since)
}

fn decision(verb: &str, name: &str, gate: &str, revision: &str, since: Timestamp) -> String {
    format!("kura-console {verb} {name} {gate} --revision {revision} --since {since}")
}

/// What is said of a roll that a person stops.
pub fn abortion(roll: &Roll) -> String {
    format!("kura-console abort {}", roll.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(completed: usize, node: Option<&str>, phase: Option<&str>) -> Progress {
        Progress { completed, total: 5, node: node.map(str::to_owned), phase: phase.map(str::to_owned) }
    }

    #[test]
    fn a_wait_and_a_position_read_as_the_seed_writes_them() {
        // F41, F42, F43, F59
        let start = Timestamp::UNIX_EPOCH;
        for (seconds, shown) in [(0, "0m"), (59, "0m"), (60, "1m"), (899, "14m"), (4_530, "75m")] {
            assert_eq!(waited(start, Seconds(seconds).after(start)), shown, "{seconds}");
        }
        assert_eq!(chip("Canary", "14m"), "waiting on canary gate 14m");
        assert_eq!(awaiting("canary", "14m"), "AWAITING CANARY 14m");
        assert_eq!(position(&at(3, Some("wk-4"), Some("boot")), "·"), "3/5 · wk-4 (boot)");
        assert_eq!(position(&at(3, Some("wk-4"), Some("boot")), "-"), "3/5 - wk-4 (boot)");
        assert_eq!(position(&at(5, None, Some("soak")), "·"), "5/5 (soak)");
        assert_eq!(position(&at(0, None, None), "·"), "0/5");
    }
}
