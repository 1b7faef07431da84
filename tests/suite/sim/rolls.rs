//! The roll of the seed, with the share of the pull as a parameter; and rolls on a control plane that goes away.

use jiff::Timestamp;
use kura_console::domain::span::Seconds;
use kura_console::sim::presets::reference_roll::{IN_LINE, ROLL_NODE, reference_roll};
use serde_json::Value;

use crate::scenarios::bench::{start, view};

/// From the start of the scenario until every node is green.
fn total(pull: u64, ahead: u32) -> u64 {
    let mut run = start(&reference_roll(Seconds(pull), ahead));
    run.play().unwrap();
    assert!(run.report().passed, "{}", run.report().text("reference roll"));
    let body = view(&run, "roll:r");
    let Value::String(since) = &body["soaking_since"] else { panic!("{body}") };
    let since: Timestamp = since.parse().unwrap();
    Seconds::between(run.start(), since).0
}

/// Pulls from a fifth to two thirds of what a node takes, in steps the ticks can hit.
const PULLS: [u64; 6] = [60, 96, 126, 156, 186, 216];

#[test]
fn pulled_in_line_the_roll_takes_what_it_took_whatever_the_share() {
    // F17
    for pull in PULLS {
        assert_eq!(total(pull, 0), IN_LINE.0, "85m37s, with {pull}s of {ROLL_NODE} for the pull");
    }
}

#[test]
fn staged_ahead_it_saves_five_pulls_and_nothing_else() {
    // F16, F17
    for pull in PULLS {
        assert_eq!(total(pull, 3), IN_LINE.0 - 5 * pull, "the linear law at {pull}s");
    }
    assert_eq!(total(156, 3), 72 * 60 + 37, "half of it: 72m37s");
    assert_eq!(total(156, 1), total(156, 5), "43m of cover are enough for one at a time");
}

#[test]
fn a_crash_at_any_step_of_a_node_loses_nothing_and_doubles_nothing() {
    // F36, F57
    for crash in [75, 135, 195, 255, 315, 375] {
        let text = format!(
            "scenario: a crash\nwhen:\n  - {{at: 0s, do: start_roll, roll: r, revision: x, canary: wk-1, nodes: [wk-2], \
             expect: ok}}\n  - {{at: {crash}s, do: crash}}\n  - {{at: {}s, do: restart}}\n  - {{at: 1200s, do: approve, \
             roll: r, gate: canary, expect: ok}}\nthen:\n  - {{at: 1200s, view: \"roll:r\", path: \"$.approvals[*]\", \
             count: 1}}\n  - {{at: 2400s, view: \"roll:r\", path: \"$.state\", equals: [soaking]}}\n  - {{at: 2400s, \
             view: cluster_writes, path: \"$[?@.kind=='Job' && @.verb=='create']\", count: 4}}\n  - {{at: 2400s, view: \
             nodes, path: \"$[?@.unschedulable==true]\", count: 0}}\n  - {{at: 2400s, view: metrics, path: \
             \"$.pipelines_deploy_gate_wait_seconds[0].count\", equals: [1]}}\n",
            crash + 30
        );
        let mut run = start(&text);
        run.play().unwrap();
        assert!(run.report().passed, "{}", run.report().text(&format!("crash at {crash}s")));
    }
}
