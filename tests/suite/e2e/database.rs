//! Two control planes on one database, as processes on two hosts: nothing but the database is shared.

use std::path::Path;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::super::journal::beds::Postgres;
use super::command::{Said, kura};
use super::plane::Plane;

/// A database of one's own; none where no server is named, which is said.
pub(super) fn database() -> Option<Postgres> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(Postgres::bed())
}

fn text(body: &Value, field: &str) -> String {
    body[field].as_str().unwrap_or_else(|| panic!("no {field} in {body}")).to_owned()
}

/// A ring of one machine, set up at whichever control plane is asked; the machine.
fn configure(plane: &Plane) -> String {
    plane.post("/api/config/environments/", &json!({"name": "Oak", "slug": "oak", "promotion_order": 1}));
    let ring = json!({
        "name": "oak-ring", "max_in_flight": 1, "min_settle_seconds": 1, "stall_timeout_seconds": 5400,
        "failure_count_threshold": 1,
    });
    plane.post("/api/config/rings/", &ring);
    let machine = json!({"hostname": "node-1", "environment": "oak", "ring": "oak-ring"});
    text(&plane.post("/api/provisioning/machines/", &machine), "uuid")
}

fn revision(plane: &Plane) -> u64 {
    plane.get("/api/world")["world"]["revision"].as_u64().expect("a revision")
}

/// Waits until one has heard of what another did.
fn heard(plane: &Plane, revision: u64) {
    let reached = |body: &Value| body["world"]["revision"].as_u64().is_some_and(|now| now >= revision);
    plane.get_until("/api/world", "what the other one did", reached);
}

fn keyed(plane: &Plane, path: &str, key: &str, body: &Value) -> (u16, String, Value) {
    let request = plane.request(Method::POST, path).bearer_auth(plane.token("owner")).header("idempotency-key", key);
    let (status, headers, text) = plane.send(request.json(body));
    (status, headers, serde_json::from_str(&text).expect("JSON"))
}

pub(crate) fn journal(folder: &Path, url: &str, arguments: &[&str]) -> Said {
    let said = kura(folder, &[("KURA_CONSOLE_JOURNAL", url)], &[&["journal"], arguments].concat());
    assert!(!format!("{said:?}").contains("only-for-tests"), "a password was shown: {said:?}");
    said
}

/// Every entry of a tick is by whoever held the seat then; the epochs there were.
pub(crate) fn one_ticks_at_a_time(exported: &str) -> Vec<u64> {
    let (mut holder, mut epochs) = (String::new(), Vec::new());
    for line in exported.lines() {
        let entry: Value = serde_json::from_str(line).expect("an entry");
        if entry["change"]["kind"] == "seat_taken" {
            holder = text(&entry["change"], "holder");
            epochs.push(entry["change"]["epoch"].as_u64().expect("an epoch"));
        }
        if entry["cause"]["kind"] == "tick" {
            assert_eq!(entry["by"].as_str(), Some(holder.as_str()), "{entry}");
        }
    }
    epochs
}

/// What the doctor says of the journal of this control plane.
const CARRIED_ON: &str =
    "it can be read and written from here, and it is that of the control plane (postgres, 1 account";

/// What the doctor says about carrying on over a journal, without a password.
fn doctor_says(plane: &Plane, url: &str) -> String {
    let (api, token) = (plane.url(), plane.token("viewer").to_owned());
    let variables = [("KURA_CONSOLE_API", api.as_str()), ("KURA_CONSOLE_TOKEN", token.as_str())];
    let said = kura(plane.folder(), &variables, &["doctor", "--journal", url]).stdout;
    assert!(!said.contains("only-for-tests"), "a password was shown: {said}");
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_one_control_plane_is_told_another_one_does() {
    let Some(database) = database() else { return };
    let one = Plane::on(database.url());
    let two = one.elsewhere();
    let machine = configure(&one);
    heard(&two, revision(&one));
    let release = text(&two.post("/api/config/releases/build-from-git", &json!({"git_ref": "v1"})), "uuid");
    heard(&one, revision(&two));

    let start = json!({"config_release_uuid": release});
    let (status, _, first) = keyed(&one, "/api/config/rollouts/", "k-1", &start);
    assert_eq!(status, 201, "{first}");
    heard(&two, revision(&one));
    let (status, headers, again) = keyed(&two, "/api/config/rollouts/", "k-1", &start);
    assert!(status == 201 && headers.contains("idempotent-replayed"), "{status} {headers} {again}");
    assert_eq!(again["uuid"], first["uuid"], "a second try elsewhere starts nothing");
    let (status, _, other) =
        keyed(&two, "/api/config/rollouts/", "k-1", &json!({"config_release_uuid": release, "force": true}));
    assert_eq!(status, 422, "{other}");

    // One renders and grants; the other hands out what was rendered, and hears of it when it is done.
    let served = |body: &Value| !body["assignment"].is_null();
    let mut granted = one.poll(&machine);
    for _ in 0..100 {
        if served(&granted) {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
        granted = one.poll(&machine);
    }
    assert!(served(&granted), "{granted}");
    heard(&two, revision(&one));
    assert_eq!(two.poll(&machine)["assignment"], granted["assignment"]);
    let generation = granted["assignment"]["generation"].clone();
    let report = json!({
        "release_uuid": release, "generation": generation, "outcome": "success", "changed_count": 1, "failed_states": [],
        "started_at": "2026-11-30T02:00:00Z", "finished_at": "2026-11-30T02:00:09Z", "log_tail": "all is well",
    });
    let request = two.request(Method::POST, "/api/agent/apply-results").bearer_auth(two.token("agent"));
    let (status, _, said) = two.send(request.header("x-machine", &machine).json(&report));
    assert!((200..300).contains(&status), "{status} {said}");
    let path = format!("/api/config/rollouts/{}/apply-results", text(&first, "uuid"));
    let filed = |body: &Value| body.as_array().is_some_and(|results| results.len() == 1);
    let results = one.get_until(&path, "what was filed at the other", filed);
    assert_eq!((&results[0]["outcome"], &results[0]["log_tail"]), (&json!("success"), &json!("all is well")));
    heard(&one, revision(&two));

    let secret = one.request(Method::PUT, "/api/secrets/PLANTED").bearer_auth(one.token("owner"));
    let (status, _, said) = one.send(secret.json(&json!({"value": "canary"})));
    assert!((200..300).contains(&status), "{status} {said}");
    two.get_until("/api/secrets/", "the name of a secret", |body| body[0]["name"] == "PLANTED");

    assert!(doctor_says(&one, database.url()).contains(CARRIED_ON));
    let reader = format!("{}%20-cdefault_transaction_read_only%3Don", database.url());
    assert!(doctor_says(&one, &reader).contains("not possible from here: the database takes no writes"));
    let verified = journal(one.folder(), database.url(), &["verify"]);
    assert!(verified.stdout.contains("nothing is wrong") && verified.stdout.contains("1 secrets"), "{verified:?}");
    let backup = journal(one.folder(), database.url(), &["backup", "--to", "saved"]);
    backup.fails(2, &["is no file", "journal copy", "pg_dump"]);
    let exported = journal(one.folder(), database.url(), &["export"]).stdout;
    assert!(!exported.contains("canary"));
    assert_eq!(one_ticks_at_a_time(&exported), [1]);
    assert!(!one.log().contains("only-for-tests") && !two.log().contains("only-for-tests"));
    let compacted = journal(one.folder(), database.url(), &["compact", "--keep-entries", "0"]);
    assert!(compacted.stdout.contains("links of the audit kept"), "{compacted:?}");
    assert!(doctor_says(&one, database.url()).contains(CARRIED_ON), "although nothing of it is an entry any more");
    assert_eq!(journal(one.folder(), database.url(), &["verify"]).code, Some(0));
    let audit = kura(one.folder(), &[], &["audit", "verify", "--journal", database.url(), "--account", "default"]);
    assert!(audit.code == Some(0) && audit.stdout.contains("none broken"), "{audit:?}");
    assert!(!audit.stdout.contains("only-for-tests"), "{audit:?}");
}

#[test]
fn whoever_ticks_is_killed_and_the_other_one_takes_the_seat() {
    let Some(database) = database() else { return };
    let mut one = Plane::on(database.url());
    one.get_until("/api/seat", "a tick", |seat| !seat["last_tick"].is_null());
    let mut two = one.elsewhere();
    configure(&two);
    let (here, there) = (one.get("/api/seat"), two.get("/api/seat"));
    assert_eq!((&here["epoch"], &here["holder"]), (&there["epoch"], &there["holder"]), "{here} {there}");

    one.kill();
    two.post("/api/config/environments/", &json!({"name": "Elm", "slug": "elm", "promotion_order": 2}));
    let taken = two.get_until("/api/seat", "the seat is taken", |seat| seat["epoch"] == 2);
    assert_ne!(taken["holder"], here["holder"]);
    one.start_again();
    heard(&one, revision(&two));
    assert_eq!(one.get("/api/seat")["holder"], taken["holder"], "whoever comes back does not take it away");

    two.kill();
    one.get_until("/api/seat", "the seat is taken back", |seat| seat["epoch"] == 3);
    one.post("/api/config/environments/", &json!({"name": "Fir", "slug": "fir", "promotion_order": 3}));
    let exported = journal(one.folder(), database.url(), &["export"]).stdout;
    assert_eq!(one_ticks_at_a_time(&exported), [1, 2, 3]);
    let verified = journal(one.folder(), database.url(), &["verify"]);
    assert!(verified.stdout.contains("nothing is wrong"), "{verified:?}");
}

#[test]
fn a_database_that_cannot_be_used_is_said_before_anything_is_made() {
    let Some(server) = Postgres::server() else { return };
    let folder = tempfile::tempdir().unwrap();
    let serve = |url: &str| {
        let flags = ["serve", "--tokens", "tokens.yaml", "--create-tokens", "--listen", "127.0.0.1:0"];
        let said = kura(folder.path(), &[("KURA_CONSOLE_JOURNAL", url)], &flags);
        assert!(
            !format!("{said:?}").contains("only-for-tests") && !format!("{said:?}").contains("wrong-one"),
            "{said:?}"
        );
        assert!(!folder.path().join("tokens.yaml").exists(), "tokens nobody can use");
        said
    };
    let (place, _name) = server.rsplit_once('/').unwrap();
    serve(&format!("{place}/nobody-made-this")).fails(2, &["it does not exist", "createdb"]);
    serve(&server.replace("only-for-tests", "wrong-one")).fails(2, &["does not let this user in"]);
    serve("postgres://kura@127.0.0.1:1/kura").fails(3, &["it cannot be reached", "pg_isready"]);
    serve("postgres://kura@127.0.0.1:1/kura?sslmod=require").fails(2, &["`sslmod` means nothing"]);
    serve("postgres:kura").fails(2, &["names no database", "postgres://USER@HOST/NAME"]);
    let Some(empty) = database() else { return };
    journal(folder.path(), empty.url(), &["verify"]).fails(1, &["there is no journal in it"]);
    let help = kura(folder.path(), &[("KURA_CONSOLE_JOURNAL", server.as_str())], &["serve", "--help"]);
    assert!(help.code == Some(0) && !help.stdout.contains("only-for-tests"), "{help:?}");
}
