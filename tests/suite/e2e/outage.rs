//! The database is restarted and killed under load: nothing that was acknowledged is lost, nothing is done twice.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use reqwest::Method;
use serde_json::{Value, json};

use super::super::journal::beds::Postgres;
use super::command::kura;
use super::database::{journal, one_ticks_at_a_time};
use super::plane::Plane;

/// Verbs that are given at least, and until the database is there for good.
const VERBS: usize = 120;

/// How often one verb is tried again under its key, with a moment in between.
const TRIES_MAX: usize = 400;

/// A database server of this test alone.
struct Server {
    home: PathBuf,
    url: String,
}

impl Server {
    fn start() -> Self {
        let home = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("target/postgres-{}", std::process::id()));
        let told = provision(&home, &[]);
        let url = told.lines().find_map(|line| line.strip_prefix("export KURA_CONSOLE_TEST_POSTGRES="));
        Self { url: url.expect("it says where it is").to_owned(), home }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        provision(&self.home, &["--stop"]);
        let _ = std::fs::remove_dir_all(&self.home);
    }
}

fn provision(home: &Path, flags: &[&str]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/postgres/provision");
    let output = Command::new(script).args(flags).env("KURA_TEST_POSTGRES_HOME", home).output().expect("the script");
    assert!(output.status.success(), "{flags:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Tried under the same key until it is done; how often it was not.
fn insist(plane: &Plane, path: &str, key: &str) -> usize {
    for tried in 0..TRIES_MAX {
        let request = plane.request(Method::POST, path).bearer_auth(plane.token("owner"));
        let request = request.header("idempotency-key", key).json(&json!({"reason": "a drill"}));
        let (status, _, said) = plane.send(request);
        if (200..300).contains(&status) {
            return tried;
        }
        assert!(status == 503 || status == 504, "{status} {said}");
        thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("{path} is never done");
}

#[test]
fn a_database_that_is_restarted_and_killed_under_load_loses_and_repeats_nothing() {
    if Postgres::server().is_none() {
        return;
    }
    let server = Server::start();
    let one = Plane::on(&server.url);
    let two = one.elsewhere();
    let made = one.post("/api/config/environments/", &json!({"slug": "oak", "promotion_order": 1}));
    let environment = format!("/api/config/environments/{}", made["uuid"].as_str().expect("an id"));
    two.get_until("/api/config/environments/", "the other hears of it", |body| body[0]["slug"] == "oak");

    let home = server.home.clone();
    let fate = thread::spawn(move || {
        for flag in ["--restart", "--kill", "--restart"] {
            thread::sleep(std::time::Duration::from_millis(700));
            provision(&home, &[flag]);
        }
    });
    let (mut again, mut given) = (0, Vec::new());
    while given.len() < VERBS || !fate.is_finished() {
        let n = given.len();
        let plane = if n % 3 == 0 { &one } else { &two };
        let way = if n % 2 == 0 { "pause" } else { "unpause" };
        given.push(format!("key-{n}"));
        again += insist(plane, &format!("{environment}/{way}"), &given[n]);
    }
    fate.join().expect("it was restarted");

    let exported = journal(one.folder(), &server.url, &["export"]).stdout;
    let mut done: BTreeMap<String, usize> = BTreeMap::new();
    for line in exported.lines() {
        let entry: Value = serde_json::from_str(line).expect("an entry");
        if let Some(key) = entry["cause"]["key"].as_str().filter(|_| entry["change"]["kind"] != "audited") {
            *done.entry(key.to_owned()).or_default() += 1;
        }
    }
    for key in given {
        assert_eq!(done.get(&key), Some(&1), "{key}, with {again} tries that came to nothing");
    }
    one_ticks_at_a_time(&exported);
    let verified = journal(one.folder(), &server.url, &["verify"]);
    assert!(verified.stdout.contains("nothing is wrong"), "{verified:?}");
    let audit = kura(one.folder(), &[], &["audit", "verify", "--journal", &server.url, "--account", "default"]);
    assert!(audit.stdout.contains("none broken"), "{audit:?}");
}
