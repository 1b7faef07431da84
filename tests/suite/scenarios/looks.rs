//! Expectations: a wrong one fails where it is written, spans and nevers are looked at after every commit.

use serde_json::json;

use super::bench::{failed, played, view};

#[test]
fn a_wrong_expectation_fails_with_its_line_what_was_found_and_what_was_wanted() {
    let run = played(
        "when:
  - {at: 0s, do: start_rollout, release: v1, by: op-a, expect: refused}
  - {at: 1s, do: poll_all}
then:
  - {at: 1s, view: status, path: \"$.holding_slots\", equals: [1]}
  - {at: 1s, view: status, path: \"$.holding_slots\", equals: [2]}
",
    );
    let report = run.report();
    assert_eq!(failed(&report), ["12 reply $", "16 status $.holding_slots"]);
    let text = report.text("x.yaml");
    for line in ["x.yaml:16:5: at 1s: status $.holding_slots", "    found   [1]", "    wanted  {\"equals\":[2]}"] {
        assert!(text.lines().any(|said| said == line), "{line} is not in\n{text}");
    }
    assert!(text.starts_with("FAILED  a test: 2 of 3 expectations failed"), "{text}");
}

#[test]
fn a_never_fails_at_the_commit_that_made_it_true_and_says_when() {
    let run = played(
        "when:
  - {at: 5s, do: start_rollout, release: v1, by: op-a}
  - {at: 7s, do: halt, by: op-a}
never:
  - {view: rollouts, path: \"$[?@.status=='running']\", count_above: 0}
  - {view: rollouts, path: \"$[?@.status=='superseded']\", count_above: 0}
",
    );
    let report = run.report();
    assert_eq!((report.never[0].ok, report.never[0].at), (false, Some(5)));
    assert_eq!((report.never[1].ok, report.never[1].at), (true, None));
}

#[test]
fn a_span_must_hold_after_every_commit_in_it_and_a_quiet_one_at_its_end() {
    let run = played(
        "when:
  - {at: 5s, do: start_rollout, release: v1, by: op-a}
  - {at: 6s, do: poll, machine: ash}
  - {at: 7s, do: pause, machine: ash, by: op-a}
  - {at: 9s, do: unpause, machine: ash, by: op-a}
then:
  - {from: 5s, until: 6s, view: status, path: \"$.status\", equals: [running]}
  - {from: 6s, until: 9s, view: status, path: \"$.holding_slots\", equals: [1]}
  - {from: 20s, until: 30s, view: status, path: \"$.holding_slots\", equals: [0]}
  - {from: 20s, until: 31s, view: status, path: \"$.holding_slots\", equals: [1]}
",
    );
    let report = run.report();
    assert_eq!(failed(&report), ["18 status $.holding_slots", "20 status $.holding_slots"]);
    assert_eq!(report.expectations[1].at, Some(7));
    assert_eq!(report.virtual_seconds, 31);
}

#[test]
fn at_one_instant_entries_come_first_then_results_polls_the_tick_nudged_polls_and_expectations() {
    let text = "scenario: one instant
given:
  environments: [{slug: a, promotion_order: 1}, {slug: b, promotion_order: 2}]
  rings: [{slug: a, max_in_flight: 1}, {slug: b, max_in_flight: 1}]
  machines: [{id: m1, environment: a, ring: a}, {id: m2, environment: b, ring: b, agent: {first_poll: 7s}}]
  releases: [{id: v1}]
  agents: {poll_seconds: 3600, apply_seconds: 60}
when:
  - {at: 0s, do: start_rollout, release: v1}
then:
  - {at: 60s, view: status, path: \"$.current_environment\", equals: [b]}
  - {at: 60s, view: served, path: \"$[*]['at','machine']\", equals: [0, m1, 60, m2]}
";
    let mut run = super::bench::start(text);
    run.play().unwrap();
    let report = run.report();
    assert!(report.passed, "{}", report.text("x"));
}

#[test]
fn wrong_types_reach_the_control_plane_and_come_back_as_its_refusals() {
    // R123, R128
    let statuses = |entry: &str| {
        let run = played(&format!("when:\n  - {{at: 0s, {entry}, by: op-a, expect: refused}}\n"));
        assert_eq!(failed(&run.report()), Vec::<String>::new(), "{entry}");
        let reply = view(&run, "reply");
        (reply["status"].clone(), reply["body"]["field"].clone())
    };
    assert_eq!(statuses("do: patch_ring, ring: oak, max_in_flight: \"one\""), (json!(422), json!("max_in_flight")));
    assert_eq!(statuses("do: patch_ring, ring: oak, max_in_flight: -1"), (json!(422), json!("max_in_flight")));
    assert_eq!(statuses("do: patch_ring, ring: oak, slug: elm"), (json!(400), json!("slug")));
    let contradiction = "do: patch_ring, ring: oak, max_in_flight: 0, stall_timeout_seconds: 5400";
    assert_eq!(statuses(contradiction), (json!(400), json!("max_in_flight")));
    assert_eq!(statuses("do: patch_account, config_tag_pattern: \"v*\""), (json!(400), json!("config_tag_pattern")));
    assert_eq!(statuses("do: start_rollout, release: v1, protected: sure"), (json!(422), json!("protected")));
    assert_eq!(statuses("do: start_rollout, release: ghost"), (json!(404), json!(null)));
    assert_eq!(statuses("do: assign, machine: ash, ring: elm"), (json!(404), json!("ring")));
    assert_eq!(statuses("do: result, machine: ash, outcome: exploded"), (json!(422), json!("outcome")));
    assert_eq!(statuses("do: halt"), (json!(404), json!(null)));
}

#[test]
fn a_crashed_process_refuses_the_connection_and_silence_is_neither_ok_nor_refused() {
    let run = played(
        "when:
  - {at: 0s, do: crash}
  - {at: 1s, do: start_rollout, release: v1, expect: ok}
  - {at: 1s, do: start_rollout, release: v1, expect: refused}
  - {at: 2s, do: poll, machine: ash, expect: refused}
  - {at: 3s, do: restart, expect: ok}
  - {at: 4s, do: start_rollout, release: v1, expect: ok}
  - {at: 5s, do: agent_silent, machine: ash}
  - {at: 6s, do: poll, machine: ash, expect: ok}
  - {at: 6s, do: poll, machine: ash, expect: refused}
  - {at: 7s, do: freeze}
  - {at: 8s, do: halt, expect: ok}
  - {at: 8s, do: halt, expect: refused}
",
    );
    assert_eq!(failed(&run.report()), ["13 reply $", "19 reply $", "20 reply $", "22 reply $", "23 reply $"]);
    assert_eq!(view(&run, "rollouts")[0]["id"], "r1");
}
