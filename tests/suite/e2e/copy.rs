//! A journal moves from a file into a database and back, and is the same on both sides.

use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};

use super::super::journal::beds::Postgres;
use super::command::{Said, kura};
use super::plane::Plane;

fn copy(folder: &Path, from: &str, to: &str) -> Said {
    let said = kura(folder, &[], &["journal", "copy", from, to]);
    assert!(!format!("{said:?}").contains("only-for-tests"), "a password was shown: {said:?}");
    said
}

fn exported(folder: &Path, url: &str) -> String {
    let said = kura(folder, &[], &["journal", "export", "--journal", url]);
    assert_eq!(said.code, Some(0), "{said:?}");
    said.stdout
}

fn toggle(plane: &Plane, environment: &str, times: usize) {
    for _ in 0..times {
        plane.post(&format!("{environment}/pause"), &json!({"reason": "fibre work"}));
        plane.post(&format!("{environment}/unpause"), &Value::Null);
    }
}

/// Something to keep: verbs, a release with a content, a secret; the path of an environment.
fn filled(plane: &Plane) -> String {
    let made = plane.post("/api/config/environments/", &json!({"slug": "oak", "promotion_order": 1}));
    plane.post("/api/config/releases/build-from-git", &json!({"git_ref": "v1"}));
    let secret = plane.request(Method::PUT, "/api/secrets/PLANTED").bearer_auth(plane.token("owner"));
    let (status, _, text) = plane.send(secret.json(&json!({"value": "canary"})));
    assert!((200..300).contains(&status), "{status} {text}");
    let environment = format!("/api/config/environments/{}", made["uuid"].as_str().unwrap());
    toggle(plane, &environment, 20);
    environment
}

#[test]
fn a_journal_moves_into_a_database_and_back() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let Some(database) = runtime.block_on(Postgres::bed()) else { return };
    let (file, back) = ("sqlite:kura.db", "sqlite:back.db");
    let mut plane = Plane::start();
    let environment = filled(&plane);
    let folder = plane.folder().to_owned();
    let compact = ["journal", "compact", "--journal", file, "--keep-entries", "15"];
    assert_eq!(kura(&folder, &[], &compact).code, Some(0));

    let first = copy(&folder, file, database.url());
    let told = [" entries copied, 1 contents, 1 secrets", "both ends are the same", "nothing is wrong"];
    assert!(told.iter().all(|words| first.stdout.contains(words)), "{first:?}");
    toggle(&plane, &environment, 5);
    plane.kill();
    let second = copy(&folder, file, database.url());
    assert!(second.stdout.contains(" entries copied behind "), "{second:?}");
    assert_eq!(exported(&folder, file), exported(&folder, database.url()));
    let third = copy(&folder, file, database.url());
    assert!(third.stdout.contains(": 0 entries copied behind "), "{third:?}");

    let moved = Plane::on(database.url());
    let shown = kura(&folder, &[], &["audit", "verify", "--journal", database.url(), "--account", "default"]);
    assert!(shown.code == Some(0) && shown.stdout.contains("none broken"), "{shown:?}");
    assert_eq!(moved.get("/api/secrets/")[0]["name"], "PLANTED");
    toggle(&moved, &environment, 2);
    drop(moved);
    copy(&folder, file, database.url()).fails(4, &["holds another history of account"]);
    let returned = copy(&folder, database.url(), back);
    assert!(returned.stdout.contains("1 contents, 1 secrets; both ends are the same"), "{returned:?}");
    assert_eq!(exported(&folder, back), exported(&folder, database.url()));

    let same = copy(&folder, back, back);
    assert!(same.code == Some(2) && same.stderr.contains("the same journal"), "{same:?}");
    copy(&folder, "sqlite:none.db", database.url()).fails(1, &["there is no file none.db"]);
    copy(&folder, "memory:", back).fails(2, &["is gone with the program"]);
}
