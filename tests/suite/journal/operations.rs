//! What an operator is told about numbers is so: each series is documented, and no alert waits for one that never comes.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use kura_console::server::connections::{CONNECTIONS_MAX, HEAD_LIMIT, HEAD_MAX};
use kura_console::server::extract::BODY_LIMIT;
use kura_console::server::shared::STREAMS_MAX;
use kura_console::server::tls::HANDSHAKE_LIMIT;
use kura_console::wire::body::BODY_MAX;
use kura_console::wire::counters::COUNTERS;
use kura_console::wire::gauges::{GAUGES, PREFIX};
use kura_console::wire::roll::figures;
use reqwest::Method;
use serde_json::Value;

use super::super::e2e::plane::Plane;

fn page(name: &str) -> String {
    fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs").join(name)).unwrap()
}

/// What names of series begin with: those of the control plane, and those the seed gave to fleet rolls.
const OURS: [&str; 2] = ["kura_", "pipelines_"];

/// Names of ours in a text.
fn names(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| OURS.iter().any(|head| word.starts_with(head))).map(str::to_owned).collect()
}

/// Series of the table.
fn documented() -> BTreeSet<String> {
    let page = page("metrics.md");
    let rows = page.lines().filter(|line| OURS.iter().any(|head| line.starts_with(&format!("| `{head}"))));
    rows.flat_map(|row| names(row.split('|').nth(1).unwrap())).collect()
}

#[test]
fn every_series_is_documented_and_every_documented_one_is_there() {
    let plane = Plane::start();
    plane.get("/api/world");
    let (status, _, text) = plane.send(plane.request(Method::GET, "/metrics"));
    assert_eq!(status, 200);
    let families = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    let total = |(name, kind): (&str, &str)| if kind == "counter" { format!("{name}_total") } else { name.to_owned() };
    let shown: BTreeSet<String> = families.map(total).collect();
    // A gauge without a value has no line, as the slots of an account without a rollout.
    let gauges = GAUGES.iter().map(|(name, _)| format!("{PREFIX}_{name}"));
    assert!(shown.len() > 9, "{shown:?}");
    let counters = COUNTERS.iter().map(|(name, _)| format!("{PREFIX}_{name}_total"));
    // Series of rolls are there with a roll only.
    let rolls = figures::GAUGES.iter().chain(&figures::HISTOGRAMS).map(|(name, _)| (*name).to_owned());
    assert_eq!(documented(), gauges.chain(counters).chain(shown).chain(rolls).collect());
}

#[test]
fn alerts_wait_for_series_that_exist() {
    let alerts: Value = serde_yaml::from_str(&page("alerts.yaml")).unwrap();
    let rules = alerts["groups"][0]["rules"].as_array().unwrap();
    assert!(rules.len() >= 4, "{alerts}");
    let known = documented();
    for rule in rules {
        let used = names(rule["expr"].as_str().unwrap());
        assert!(!used.is_empty() && used.is_subset(&known), "{rule}");
        assert!(rule["annotations"]["summary"].is_string() && rule["labels"]["severity"].is_string(), "{rule}");
        assert!(page("metrics.md").contains(rule["alert"].as_str().unwrap()), "{rule}");
    }
}

#[test]
fn limits_are_told_as_they_are() {
    let page = page("operations.md").split_whitespace().collect::<Vec<_>>().join(" ");
    let thousands = |n: usize| format!("{},{:03}", n / 1_000, n % 1_000);
    for told in [
        format!("{} connections", thousands(CONNECTIONS_MAX)),
        format!("{} change streams", thousands(STREAMS_MAX)),
        format!("{} s for a TLS handshake", HANDSHAKE_LIMIT.as_secs()),
        format!("{} s for the head of a request ({} KiB)", HEAD_LIMIT.as_secs(), HEAD_MAX / 1_024),
        format!("{} s for a body ({} MiB)", BODY_LIMIT.as_secs(), BODY_MAX / 1_024 / 1_024),
    ] {
        assert!(page.contains(&told), "docs/operations.md does not say: {told}");
    }
}
