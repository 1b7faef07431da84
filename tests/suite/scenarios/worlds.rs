//! Worlds of scenarios: the past, agents that act by themselves, processes and consoles.

use serde_json::{Value, json};

use super::bench::{played, start, view};

fn rows(run: &kura_console::sim::scenario::run::Run<kura_console::app::actors::Actors>, fields: &[&str]) -> Vec<Value> {
    let status = view(run, "status");
    let row = |row: &Value| json!(fields.iter().map(|field| row[*field].clone()).collect::<Vec<_>>());
    status["machines"].as_array().unwrap().iter().map(row).collect()
}

const UNDER_WAY: &str = "scenario: under way
given:
  environments: [{slug: cp, promotion_order: 1}, {slug: oak, promotion_order: 2, paused: true}]
  rings:
    - {slug: cp, max_in_flight: 1}
    - {slug: oak, max_in_flight: 2, min_settle_seconds: 300, stall_timeout_seconds: 3600, failure_count_threshold: 5}
  machines:
    - {id: c, environment: cp, ring: cp, applied: v1, first_success: -2h}
    - {id: d, environment: oak, ring: oak, bucket: 4, applied: v1, first_success: -100s}
    - {id: e, hostname: node-e, environment: oak, ring: oak, bucket: 3}
    - {id: f, environment: oak, ring: oak, bucket: 2, first_success: -1h}
    - {id: g, environment: oak, ring: oak, bucket: 1, paused: true}
    - {id: out, environment: oak}
  releases: [{id: v0, yanked: true}, {id: v1}]
  rollout: {release: v1, protected: true, cursor: oak, leases: [{machine: e, granted: -600s}], failures: {oak: 2}, halted: {oak: because}}
  agents: none
when:
  - {at: 0s, do: start_rollout, release: v0, expect: refused}
  - {at: 0s, do: poll_all}
";

#[test]
fn a_rollout_that_is_under_way_is_what_the_file_says() {
    let mut run = start(UNDER_WAY);
    run.play().unwrap();
    assert!(run.report().passed);
    let status = view(&run, "status");
    assert_eq!(status["current_environment"], "oak");
    assert_eq!(status["halted_rings"], json!({"oak": "because"}));
    assert_eq!(
        (&status["holding_slots"], &status["settling"], &status["protected"]),
        (&json!(1), &json!(1), &json!(true))
    );
    let expected = [
        json!(["c", "applied", false, null]),
        json!(["g", "paused", false, null]),
        json!(["f", "queued", false, null]),
        json!(["e", "pending", true, "2025-12-31T23:50:00Z"]),
        json!(["d", "applied", false, null]),
    ];
    assert_eq!(rows(&run, &["hostname", "state", "holds_slot", "held_since"]), expected);
    assert_eq!(view(&run, "rollouts")[0]["started_at"], "2025-12-31T22:00:00Z");
    assert_eq!(view(&run, "served"), json!([]), "what was served before the start is new to nobody");
}

#[test]
fn a_run_that_is_under_way_ends_when_it_was_going_to() {
    let text = "scenario: under way
given:
  environments: [{slug: oak, promotion_order: 1}]
  rings: [{slug: oak, max_in_flight: 1}]
  machines: [{id: ash, environment: oak, ring: oak}]
  releases: [{id: v1}]
  rollout: {release: v1, leases: [{machine: ash, granted: -500s}]}
  agents: {apply_seconds: 800}
then:
  - {at: 299s, view: status, path: \"$.machines[0].state\", equals: [pending]}
  - {at: 300s, view: status, path: \"$.machines[0].state\", equals: [applied]}
  - {at: 300s, view: results, path: \"$[0].started_at\", equals: [\"2025-12-31T23:51:40Z\"]}
";
    let mut run = start(text);
    run.play().unwrap();
    assert!(run.report().passed, "{}", run.report().text("x"));
}

#[test]
fn results_carry_the_generation_last_served_and_an_old_one_frees_nothing() {
    // R175
    let run = played(
        "when:
  - {at: 0s, do: start_rollout, release: v1, by: op-a}
  - {at: 1s, do: poll, machine: ash}
  - {at: 2s, do: reset, by: op-a, expect: ok}
  - {at: 3s, do: result, machine: ash, outcome: success, expect: ok}
  - {at: 4s, do: poll, machine: ash}
",
    );
    assert_eq!(rows(&run, &["hostname", "state", "holds_slot"])[0], json!(["ash", "pending", true]));
    let served = view(&run, "served");
    let generations: Vec<u64> =
        served.as_array().unwrap().iter().filter_map(|row| row["generation"].as_u64()).collect();
    assert_eq!(generations.len(), 2);
    assert!(generations[0] < generations[1]);
}

#[test]
fn a_commit_starts_at_once_or_never_and_a_tag_waits_for_the_tick_after_the_completion() {
    // R100, R169, R180
    let run = played(
        "when:
  - {at: 0s, do: patch_account, auto_deploy: true, track_config_tags: true, by: op-a, expect: ok}
  - {at: 1s, do: auto_deploy, release: v1, expect: ok}
  - {at: 2s, do: auto_deploy, release: v2, expect: ok}
  - {at: 2s, do: tag_arrives, release: v3, expect: ok}
  - {at: 3s, do: poll, machine: ash}
  - {at: 4s, do: result, machine: ash, outcome: success}
  - {at: 5s, do: poll, machine: birch}
  - {at: 6s, do: result, machine: birch, outcome: success}
then:
  - {at: 119s, view: rollouts, path: \"$[*]['id','release','status']\", equals: [r1, v1, completed]}
  - {at: 120s, view: rollouts, path: \"$[*]['id','release','status']\", equals: [r1, v1, completed, r2, v3, running]}
",
    );
    assert!(run.report().passed, "{}", run.report().text("x"));
}

#[test]
fn another_process_takes_over_from_a_crashed_one_and_gives_the_seat_back_when_it_is_told() {
    let text = format!(
        "scenario: two processes\n{}{}",
        super::bench::PAIR
            .replace("  agents: none", "  agents: none\n  processes: [{id: server}, {id: second, agents: false}]"),
        "when:
  - {at: 0s, do: start_rollout, release: v1}
  - {at: 10s, do: crash}
  - {at: 11s, do: poll, machine: ash}
  - {at: 60s, do: restart}
  - {at: 62s, do: poll, machine: ash, expect: ok}
  - {at: 70s, do: leave_seat, process: second, expect: ok}
  - {at: 78s, do: take_seat, process: second, expect: refused}
  - {at: 79s, do: freeze}
  - {at: 80s, do: take_seat, process: second, expect: ok}
  - {at: 84s, do: thaw}
  - {at: 85s, do: partition, from: second, to: journal, until: 140s}
then:
  - {at: 5s, view: seat, path: \"$.holder\", equals: [server]}
  - {at: 30s, view: seat, path: \"$['holder','epoch']\", equals: [second, 2]}
  - {at: 75s, view: seat, path: \"$['holder','epoch']\", equals: [server, 3]}
  - {at: 81s, view: seat, path: \"$['holder','epoch']\", equals: [second, 4]}
  - {at: 110s, view: seat, path: \"$['holder','epoch']\", equals: [server, 5]}
  - {at: 61s, view: served, path: \"$[*]\", count: 0}
  - {at: 62s, view: served, path: \"$[*].machine\", equals: [ash]}
"
    );
    let mut run = start(&text);
    run.play().unwrap();
    assert!(run.report().passed, "{}", run.report().text("x"));
}

#[test]
fn keys_on_a_console_give_orders_once_it_is_armed() {
    let run = played(
        "when:
  - {at: 0s, do: start_rollout, release: v1}
  - {at: 1s, do: poll, machine: ash}
  - {at: 2s, do: key, chords: \"2 x e\", by: op-b, expect: ok}
  - {at: 2s, do: key, chords: y}
  - {at: 3s, do: resize, to: 120x30}
then:
  - {at: 3s, view: status, path: \"$.stall_kind\", equals: [paused_environment]}
  - {at: 3s, view: audit, path: \"$[?@.verb=='pause-environment'].by\", equals: [op-b]}
  - {at: 3s, view: \"screen:current\", path: \"$[*]\", count: 30}
  - {at: 3s, view: \"screen:current\", path: \"$[*]\", contains: [paused, oak]}
  - {at: 3s, view: \"screen:log@80x24\", path: \"$[*]\", contains: [\"oak\"], count: 24}
",
    );
    assert!(run.report().passed, "{}", run.report().text("x"));
}

#[test]
fn metrics_are_the_series_of_the_server() {
    let run = played(
        "when:
  - {at: 0s, do: start_rollout, release: v1}
  - {at: 1s, do: poll, machine: ash}
  - {at: 2s, do: pause, ring: elm, expect: refused}
  - {at: 3s, do: poll_all}
",
    );
    let metrics = view(&run, "metrics");
    let holders = json!([{"labels": {"account": "main", "environment": "oak", "ring": "oak"}, "value": 1}]);
    assert_eq!(metrics["kura_slot_holders"], holders);
    assert_eq!(metrics["kura_rollouts_running"][0]["value"], 1);
    assert_eq!(metrics["kura_seat_held"][0]["value"], 1);
    let requests = |route: &str, status: &str| {
        let rows = metrics["kura_http_requests_total"].as_array().unwrap().iter();
        let mut rows = rows.filter(|row| row["labels"]["route"] == route && row["labels"]["status"] == status);
        rows.next().map(|row| row["value"].clone())
    };
    assert_eq!(requests("/api/config/rollouts/", "201"), Some(json!(1)));
    assert_eq!(requests("/api/config/rings/{uuid}/pause", "404"), Some(json!(1)));
    assert_eq!(requests("/api/agent/assignment", "200"), Some(json!(3)));
    assert_eq!(metrics["kura_turn_seconds"], json!([{"labels": {}, "count": 2, "sum": 0.0}]));
    assert_eq!(
        metrics["kura_commit_entries"],
        json!([{"labels": {}, "count": 4, "sum": 6}]),
        "seat, start, refusal, lease"
    );
}

#[test]
fn every_rollout_there_ever_was_is_listed_and_has_a_status() {
    let run = played(
        "when:
  - {every: 2s, from: 0s, until: 60s, do: start_rollout, release: v1, expect: ok}
  - {every: 2s, from: 1s, until: 61s, do: start_rollout, release: v2, expect: ok}
",
    );
    assert!(run.report().passed, "{}", run.report().text("x"));
    let rollouts = view(&run, "rollouts");
    let ids: Vec<&str> = rollouts.as_array().unwrap().iter().filter_map(|row| row["id"].as_str()).collect();
    let expected: Vec<String> = (1..=62).map(|n| format!("r{n}")).collect();
    assert_eq!(ids, expected);
    assert_eq!(rollouts[0]["superseded_by_id"], "r2");
    let first = view(&run, "status:r1");
    assert_eq!((&first["status"], &first["release"]), (&json!("superseded"), &json!("v1")));
    assert_eq!(first["machines"].as_array().unwrap().len(), 2);
    assert_eq!(view(&run, "status:r99"), json!({}));
}

#[test]
fn an_embedded_control_plane_without_agents_stands_still_and_says_so() {
    // R54
    let text = format!(
        "scenario: the fallback\n{}{}",
        super::bench::PAIR.replace(
            "  agents: none",
            "  agents: none\n  processes: [{id: server}, {id: desk, kind: console, seat: false, agents: false}]"
        ),
        "when:
  - {at: 0s, do: start_rollout, release: v1}
  - {at: 1s, do: poll, machine: ash}
  - {at: 600s, do: crash}
  - {at: 660s, do: take_seat, process: desk, expect: ok}
  - {at: 2h, do: restart, expect: ok}
  - {at: 7210s, do: leave_seat, process: desk, expect: ok}
then:
  - {at: 1h30m, view: status, path: \"$['stall_kind','halted_rings']\", equals: [no_agents, {}]}
  - {at: 1h30m, view: status, path: \"$.stall_reason\", contains: [no agent endpoint, desk]}
  - {at: 1h30m, view: status, path: \"$.machines[*].is_online\", equals: [null, null]}
  - {at: 1h30m, view: \"explain:account/main\", path: \"$.next[*]\", contains: [--agent-listen]}
  - {at: 7240s, view: seat, path: \"$.holder\", equals: [server]}
  - {at: 7240s, view: status, path: \"$.stall_kind\", equals: [null]}
  - {at: 10100s, view: status, path: \"$.halted_rings\", equals: [{}]}
  - {at: 10200s, view: status, path: \"$.halted_rings.oak\", contains: [ash]}
"
    );
    let mut run = start(&text);
    run.play().unwrap();
    assert!(run.report().passed, "{}", run.report().text("x"));
}

#[test]
fn machines_stay_online_when_an_earlier_time_is_accepted() {
    // R138, R168
    let run = played(
        "when:
  - {at: 0s, do: start_rollout, release: v1}
  - {every: 60s, from: 60s, do: poll_all}
  - {at: 100s, do: clock_jump, by: 2h}
  - {at: 110s, do: accept_clock, expect: ok}
  - {at: 200s, do: clock_jump, by: -1h}
  - {at: 210s, do: accept_clock, expect: ok}
then:
  - {at: 120s, view: status, path: \"$.machines[*].is_online\", equals: [true, true]}
  - {at: 600s, view: status, path: \"$.machines[*].is_online\", equals: [true, true]}
",
    );
    assert!(run.report().passed, "{}", run.report().text("x"));
}

#[test]
fn a_process_that_is_ahead_of_whoever_ticks_appends_nothing_and_leaves_the_seat_alone() {
    // R168
    let text = format!(
        "scenario: one clock is wrong\n{}{}",
        super::bench::PAIR.replace("  agents: none", "  agents: none\n  processes: [{id: server}, {id: second}]"),
        "when:
  - {at: 0s, do: start_rollout, release: v1, expect: ok}
  - {at: 1s, do: clock_jump, process: second, by: 2h}
  - {at: 3s, do: restart, process: second}
  - {at: 30s, do: poll, machine: ash, process: second, expect: refused}
  - {at: 31s, do: pause, ring: oak, process: second, expect: refused}
  - {at: 32s, do: poll, machine: ash, expect: ok}
  - {at: 60s, do: crash}
  - {at: 90s, do: pause, ring: oak, process: second, expect: refused}
  - {at: 100s, do: accept_clock, process: second, expect: ok}
  - {at: 110s, do: pause, ring: oak, process: second, expect: ok}
then:
  - {at: 31s, view: reply, path: \"$.status\", equals: [503]}
  - {at: 31s, view: reply, path: \"$.body['code','detail']\", contains: [clock_ahead, ahead of the last tick]}
  - {at: 31s, view: reply, path: \"$.body.hints[*]\", contains: [accept]}
  - {at: 32s, view: status, path: \"$.machines[?@.holds_slot==true].held_since\", equals: [\"2026-01-01T00:00:32Z\"]}
  - {at: 95s, view: seat, path: \"$.holder\", equals: [server]}
  - {at: 110s, view: seat, path: \"$.holder\", equals: [second]}
"
    );
    let mut run = start(&text);
    run.play().unwrap();
    assert!(run.report().passed, "{}", run.report().text("x"));
}

#[test]
fn a_holder_inside_its_own_window_is_one_slot_and_one_window() {
    // R172
    let text = format!(
        "scenario: a flap\n{}{}",
        super::bench::PAIR
            .replace("max_in_flight: 1,", "max_in_flight: 3, min_settle_seconds: 1000,")
            .replace("failure_count_threshold: 1", "failure_count_threshold: 9"),
        "when:
  - {at: 0s, do: start_rollout, release: v1}
  - {at: 1s, do: poll, machine: ash}
  - {at: 2s, do: result, machine: ash, outcome: success}
  - {at: 3s, do: result, machine: ash, outcome: failed}
  - {at: 4s, do: poll, machine: ash}
then:
  - {at: 3s, view: status, path: \"$['holding_slots','settling']\", equals: [0, 1]}
  - {at: 4s, view: status, path: \"$['holding_slots','settling']\", equals: [1, 1]}
  - {at: 4s, view: status, path: \"$.slots[0]['cap','holding','settling','free']\", equals: [3, 1, 0, 2]}
"
    );
    let mut run = start(&text);
    run.play().unwrap();
    assert!(run.report().passed, "{}", run.report().text("x"));
}
