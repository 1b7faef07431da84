//! The nouns of fleet rolls: the rolls themselves, and the nodes they go through.

use super::nouns::{Noun, left, right};
use super::row::Row;
use crate::domain::roll::fleet_roll::Progress;
use crate::domain::roll::host::{Cordoned, Runtime};
use crate::domain::roll::words::{self, waited};
use crate::wire::roll::{node, shown};

/// Rolls, the newest first; those that are over are kept as well (F57).
pub static ROLLS: Noun = Noun {
    one: "roll",
    path: shown::PATH,
    single: true,
    id: "uuid",
    name: "target",
    within: Some("project"),
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
    within: None,
    is_meant: |_| false,
    columns: &[
        left("NODE", |row| row.text("name")),
        left("READY", |row| yes(row, "ready")),
        left("CORDON", cordon),
        left("RUNTIME", runtime),
        right("VERSION", |row| row.text("version")),
        left("MARKS", marks),
        left("IN TURN OF", |row| row.text("in_turn_of")),
    ],
    empty: ["no node is seen", "connect a cluster: kura-console serve --help"],
};

/// `awaiting canary 14m`, or the state alone (F43).
fn state(row: &Row<'_>) -> String {
    let since = row.body["awaitingSince"].as_str().and_then(|since| since.parse().ok());
    match (row.body["awaitingGate"].as_str(), since) {
        (Some(gate), Some(since)) => format!("awaiting {gate} {}", waited(since, row.now)),
        _ => row.text("state"),
    }
}

/// `3/5 · wk-4 (boot)`, as the seed writes it (F59).
fn position(row: &Row<'_>) -> String {
    let progress = serde_json::from_value::<Progress>(row.body["progress"].clone());
    progress.map_or_else(|_| "?".to_owned(), |progress| words::position(&progress, "·"))
}

fn yes(row: &Row<'_>, field: &str) -> String {
    match row.body[field].as_bool() {
        Some(true) => "yes".to_owned(),
        Some(false) => "NO".to_owned(),
        None => "?".to_owned(),
    }
}

fn cordon(row: &Row<'_>) -> String {
    let whose = match (row.body["cordon"].is_object(), row.body["unschedulable"].as_bool()) {
        (true, _) => Cordoned::Ours,
        (false, Some(true)) => Cordoned::Somebodys,
        (false, Some(false)) => Cordoned::No,
        (false, None) => Cordoned::Unknown,
    };
    whose.word().to_owned()
}

/// What a probe proved; a node that is only looked at is called that (F12).
fn runtime(row: &Row<'_>) -> String {
    let runtime = match (row.body["runtime"].as_str(), row.body["ready"].is_boolean()) {
        (Some("broken"), _) => Runtime::Broken,
        (Some("not_proven"), _) => Runtime::NotProven,
        (Some(_), _) => Runtime::Proven,
        (None, true) => Runtime::Passive,
        (None, false) => Runtime::Unknown,
    };
    runtime.word().to_owned()
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
