//! The nouns of Kura: servers, their deployments, runtime tags, gateways and orphans.

use super::nouns::{Noun, left, right};
use super::row::Row;
use crate::wire::kura::request::ORPHANS_PATH;
use crate::wire::kura::{gateway, server, tag};

/// Servers, each with all an operator must see of it (§8).
pub static SERVERS: Noun = Noun {
    one: "server",
    path: server::PATH,
    single: true,
    id: "id",
    name: "name",
    within: None,
    is_meant: |body| body["status"] != "destroyed",
    columns: &[
        left("SERVER", |row| row.text("name")),
        left("STATUS", |row| row.text("status")),
        left("TAG", tags),
        left("DEPLOYMENT", deployment),
        left("WAITS FOR", wait),
        right("READY", ready),
        left("LOOK AT", troubles),
    ],
    empty: ["there is no server yet", "add one: kura-console add-server TENANT REGION"],
};

/// Deployments of a server.
pub static DEPLOYMENTS: Noun = Noun {
    one: "deployment",
    path: server::PATH,
    single: false,
    id: "id",
    name: "image_tag",
    within: None,
    is_meant: |_| false,
    columns: &[
        left("ID", |row| row.digits("id")),
        left("TAG", |row| row.text("image_tag")),
        left("STATUS", outcome),
        left("SCHEDULED", |row| row.ago("inserted_at")),
        left("ENDED", |row| row.ago("finished_at")),
        left("BY", |row| row.text("requested_by")),
        left("WHY", why),
    ],
    empty: ["nothing was ever deployed to it", "release a runtime tag: kura-console release-tag TAG"],
};

/// Runtime tags.
pub static RUNTIME_TAGS: Noun = Noun {
    one: "runtime-tag",
    path: tag::PATH,
    single: false,
    id: "tag",
    name: "tag",
    within: None,
    is_meant: |_| false,
    columns: &[
        left("TAG", |row| row.text("tag")),
        left("TARGET", |row| if row.is("is_target") { "yes" } else { "-" }.to_owned()),
        right("SERVING", |row| row.text("serving")),
        right("DEPLOYING", |row| row.text("deploying")),
        left("RELEASED", |row| row.ago("released_at")),
    ],
    empty: ["no runtime tag was released yet", "release one: kura-console release-tag TAG"],
};

/// Gateways.
pub static GATEWAYS: Noun = Noun {
    one: "gateway",
    path: gateway::PATH,
    single: false,
    id: "name",
    name: "name",
    within: None,
    is_meant: |_| false,
    columns: &[
        left("GATEWAY", |row| row.text("name")),
        left("CLASS", |row| row.text("ingressClassName")),
        left("USED BY", |row| row.text("used_by")),
        right("AGE", |row| row.span("age_seconds", "new")),
        left("DELETING", deleting),
        right("CONTROLLER", |row| row.span("controller_heartbeat_age_seconds", "now")),
        left("SEEN", |row| match row.text("observation") {
            none if none == "-" => "now".to_owned(),
            why => why,
        }),
    ],
    empty: ["the cluster has no gateway", "servers on the gateway of their region need none of their own"],
};

/// Orphans, in both directions.
pub static ORPHANS: Noun = Noun {
    one: "orphan",
    path: ORPHANS_PATH,
    single: false,
    id: "name",
    name: "name",
    within: None,
    is_meant: |_| false,
    columns: &[left("INSTANCE", |row| row.text("name")), left("WHAT IS MISSING", missing)],
    empty: ["every instance has its server, and every server its instance", "none is ever deleted by itself"],
};

/// `0.19.0 -> 0.20.0`, or the one tag where they agree.
fn tags(row: &Row<'_>) -> String {
    let (current, target) = (row.text("current_image_tag"), row.text("target_image_tag"));
    let pinned = if row.body["pin"].is_object() { " pinned" } else { "" };
    if current == target { current + pinned } else { format!("{current} -> {target}{pinned}") }
}

fn inner<'a>(row: &Row<'a>, field: &str) -> Option<Row<'a>> {
    let body = row.body.get(field).filter(|body| body.is_object())?;
    Some(Row { body, now: row.now })
}

fn deployment(row: &Row<'_>) -> String {
    let Some(last) = inner(row, "deployment") else { return "-".to_owned() };
    let age = ["finished_at", "started_at", "inserted_at"].iter().find_map(|field| last.age(field));
    let age = age.map_or_else(String::new, |age| format!(" {age}"));
    last.text("status") + &age
}

fn wait(row: &Row<'_>) -> String {
    let Some(wait) = inner(row, "wait") else { return "-".to_owned() };
    let kind = wait.text("kind");
    wait.age("since").map_or_else(|| kind.clone(), |age| format!("{kind} {age}"))
}

fn ready(row: &Row<'_>) -> String {
    match row.body["ready"].as_u64() {
        Some(ready) => format!("{ready}/{}", row.text("replicas")),
        None => format!("?/{}", row.text("replicas")),
    }
}

/// What else is not as it should be, in a few words each.
fn troubles(row: &Row<'_>) -> String {
    let count = |field: &str| row.body[field].as_array().map_or(0, Vec::len);
    let some = |count: usize, what: &str| (count > 0).then(|| format!("{count} {what}"));
    let paused = row.body["update_paused"].as_str().map(|by| format!("paused by {by}"));
    let stopped = row.body["foreign"].as_array().is_some_and(|all| all.iter().any(|one| one["stopped"] == true));
    let all = [
        row.body["observation"]
            .get(0)
            .map(|first| format!("{} not seen", first["object"].as_str().unwrap_or("cluster"))),
        row.is("left_behind").then(|| format!("{} superseded", row.text("consecutive_superseded"))),
        row.is("drift").then(|| "drift".to_owned()),
        some(count("pods_on_old_image"), "pods on old image"),
        paused,
        stopped.then(|| "written back".to_owned()),
        some(count("pinned"), "pods pinned"),
        some(count("troubles"), "writes failed"),
        (row.body["move_phase"].as_str().unwrap_or("none") != "none").then(|| row.text("move_phase")),
    ];
    let told: Vec<String> = all.into_iter().flatten().collect();
    if told.is_empty() { "-".to_owned() } else { told.join(", ") }
}

fn outcome(row: &Row<'_>) -> String {
    let forced = if row.is("force") { ", forced" } else { "" };
    match row.body["displaced_by"].as_str() {
        Some(tag) => format!("{} by {tag}{forced}", row.text("status")),
        None => row.text("status") + forced,
    }
}

/// Why it failed, what it waits for, or why somebody wanted it.
fn why(row: &Row<'_>) -> String {
    let waits = inner(row, "wait").map(|wait| wait.text("kind"));
    let said = |field: &str| row.body[field].as_str().map(str::to_owned);
    said("error").or(waits).or_else(|| said("detail")).or_else(|| said("reason")).unwrap_or_else(|| "-".to_owned())
}

fn deleting(row: &Row<'_>) -> String {
    if row.body["deleting_for_seconds"].is_null() {
        return "-".to_owned();
    }
    let holds = row.body["finalizers"].as_array().map_or(0, Vec::len);
    format!("{}, {holds} finalizers", row.span("deleting_for_seconds", "now"))
}

fn missing(row: &Row<'_>) -> String {
    match row.body["direction"].as_str() {
        Some("instance_without_row") => "a server: nobody claims it".to_owned(),
        Some("row_without_instance") => "the instance: its server is not served".to_owned(),
        _ => row.text("direction"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::table::tests::shown;
    use super::*;

    #[test]
    fn a_server_in_trouble_says_it_in_one_line() {
        let body = json!({
            "name": "acme-eu", "status": "active", "current_image_tag": "0.1.0", "target_image_tag": "0.2.0",
            "deployment": {"status": "running", "started_at": "1970-01-12T10:46:40Z"}, "ready": 1, "replicas": 2,
            "wait": {"kind": "not_observed", "since": "1970-01-12T12:46:40Z"}, "drift": true,
        });
        let text = shown(&SERVERS, std::slice::from_ref(&body));
        for part in ["0.1.0 -> 0.2.0", "running 3h", "1/2", "drift"] {
            assert!(text.contains(part), "no {part} in\n{text}");
        }
        let blind =
            json!({"name": "acme-eu", "replicas": 2, "observation": [{"object": "cluster", "trouble": "none"}]});
        let text = shown(&SERVERS, std::slice::from_ref(&blind));
        assert!(text.contains("?/2") && text.contains("cluster not seen"), "{text}");
    }

    #[test]
    fn whatever_stands_in_them_lists_are_eighty_wide() {
        let nasty = "\u{1b}]0;x\u{7}\u{202e}very-long-name-".repeat(4);
        let body = json!({
            "name": nasty, "status": nasty, "id": nasty, "tag": nasty, "image_tag": nasty, "requested_by": nasty,
            "current_image_tag": nasty, "ingressClassName": nasty, "used_by": nasty, "observation": nasty,
            "error": nasty, "deleting_for_seconds": u64::MAX, "finalizers": [nasty], "direction": nasty,
        });
        for noun in [&SERVERS, &DEPLOYMENTS, &RUNTIME_TAGS, &GATEWAYS, &ORPHANS] {
            let text = shown(noun, std::slice::from_ref(&body));
            assert!(text.lines().all(|line| crate::console::text::width(line) <= 80), "{text}");
            assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text}");
        }
    }
}
