//! The nouns of fleet rolls: the rolls themselves, and the nodes they go through.

use super::nouns::{Noun, left, right};
use super::row::Row;
use crate::wire::roll::{node, shown};

/// Rolls, the newest first; those that are over are kept as well (F57).
pub static ROLLS: Noun = Noun {
    one: "roll",
    path: shown::PATH,
    single: true,
    id: "uuid",
    name: "target",
    is_meant: |body| body["ended_at"].is_null(),
    columns: &[
        left("UUID", |row| row.digits("uuid")),
        left("FLEET", |row| format!("{}/{}", row.text("project"), row.text("target"))),
        left("REVISION", |row| row.text("revision")),
        left("STATE", state),
        left("POSITION", position),
    ],
    empty: ["no roll was ever started", "start one: kura-console start-roll PROJECT/TARGET --help"],
};

/// Nodes: whose cordon it is, and what is known of the runtime.
pub static NODES: Noun = Noun {
    one: "node",
    path: node::PATH,
    single: false,
    id: "name",
    name: "name",
    is_meant: |_| false,
    columns: &[
        left("NODE", |row| row.text("name")),
        left("READY", |row| yes(row, "ready")),
        left("CORDON", cordon),
        left("RUNTIME", |row| row.text("runtime")),
        right("VERSION", |row| row.text("version")),
        left("MARKS", marks),
        left("IN TURN OF", |row| row.text("in_turn_of")),
    ],
    empty: ["no node is seen", "connect a cluster: kura-console serve --help"],
};

/// `awaiting canary 14m`, or the state alone (F43).
fn state(row: &Row<'_>) -> String {
    match (row.body["awaitingGate"].as_str(), row.age("awaitingSince")) {
        (Some(gate), Some(age)) => format!("awaiting {gate} {age}"),
        _ => row.text("state"),
    }
}

/// `3/5 · wk-4 (boot)`, as the seed writes it (F59).
fn position(row: &Row<'_>) -> String {
    let progress = &row.body["progress"];
    let (completed, total) = (progress["completed"].as_u64().unwrap_or(0), progress["total"].as_u64().unwrap_or(0));
    match (progress["node"].as_str(), progress["phase"].as_str()) {
        (Some(node), Some(phase)) => format!("{completed}/{total} · {node} ({phase})"),
        (None, Some(phase)) => format!("{completed}/{total} ({phase})"),
        _ => format!("{completed}/{total}"),
    }
}

fn yes(row: &Row<'_>, field: &str) -> String {
    match row.body[field].as_bool() {
        Some(true) => "yes".to_owned(),
        Some(false) => "NO".to_owned(),
        None => "?".to_owned(),
    }
}

fn cordon(row: &Row<'_>) -> String {
    match (row.body["cordon"].is_object(), row.body["unschedulable"].as_bool()) {
        (true, _) => "ours".to_owned(),
        (false, Some(true)) => "somebody's".to_owned(),
        (false, Some(false)) => "-".to_owned(),
        (false, None) => "?".to_owned(),
    }
}

fn marks(row: &Row<'_>) -> String {
    let marks = [("registry", "registry"), ("holds_vip", "vip")];
    let own: Vec<&str> = marks.into_iter().filter(|(field, _)| row.is(field)).map(|(_, mark)| mark).collect();
    if own.is_empty() { "-".to_owned() } else { own.join(", ") }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::json;

    use super::super::table::tests::shown;
    use super::*;

    #[test]
    fn a_roll_says_its_gate_and_its_place_in_one_line() {
        let body = json!({
            "uuid": "8c0f2b6e-0000-0000-0000-000000000000", "project": "kernel", "target": "fleet", "revision": "x",
            "state": "awaiting", "awaitingGate": "canary", "awaitingSince": "1970-01-12T13:32:01Z",
            "progress": {"completed": 3, "total": 5, "node": "wk-4", "phase": "boot"},
        });
        let text = shown(&ROLLS, std::slice::from_ref(&body));
        assert!(text.contains("awaiting canary 14m"), "{text}");
        assert_eq!(position(&Row { body: &body, now: Timestamp::UNIX_EPOCH }), "3/5 · wk-4 (boot)");
    }

    #[test]
    fn a_node_says_whose_cordon_it_is_and_lists_are_eighty_wide() {
        let body = json!({"name": "wk-1", "ready": true, "unschedulable": true, "registry": true, "runtime": "broken"});
        let text = shown(&NODES, std::slice::from_ref(&body));
        assert!(["somebody's", "broken", "registry"].iter().all(|part| text.contains(part)), "{text}");
        let nasty = "\u{1b}]0;x\u{7}\u{202e}very-long-name-".repeat(4);
        let body = json!({
            "name": nasty, "project": nasty, "target": nasty, "revision": nasty, "reason": nasty, "state": nasty,
            "uuid": nasty, "runtime": nasty, "version": nasty, "in_turn_of": nasty,
            "progress": {"node": nasty, "phase": nasty},
        });
        for noun in [&ROLLS, &NODES] {
            let text = shown(noun, std::slice::from_ref(&body));
            assert!(text.lines().all(|line| crate::console::text::width(line) <= 80), "{text}");
            assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text}");
        }
    }
}
