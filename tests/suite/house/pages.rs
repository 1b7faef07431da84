//! docs/keys.md and docs/themes.md: generated from the command table, the roles and the built-in files.
//!
//! To write the pages anew: `KURA_REGENERATE=1 cargo test --test suite house`.

use std::fs;

use kura_console::console::{keys, theme};
use kura_console::wire::gauges::{GAUGES, PREFIX};

use super::sources::root;

fn compare(page: &str, made: &str) {
    let path = root().join(page);
    if std::env::var_os("KURA_REGENERATE").is_some() {
        fs::write(&path, made).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == made, "{page} is stale: run KURA_REGENERATE=1 cargo test --test suite house");
}

#[test]
fn the_page_of_keys_is_up_to_date() {
    compare("docs/keys.md", &keys::page());
}

#[test]
fn the_page_of_themes_is_up_to_date() {
    compare("docs/themes.md", &theme::page());
}

#[test]
fn halted_rings_missing_ticks_and_waiting_gates_page_somebody() {
    // R171
    let read = |name| fs::read_to_string(root().join("docs").join(name)).unwrap();
    let page = read("metrics.md") + &read("alerts.yaml");
    let alerts: Vec<&str> = page.lines().filter_map(|line| line.trim().strip_prefix("expr: ")).collect();
    for series in ["kura_rings_halted", "kura_tick_age_seconds", "pipelines_deploy_awaiting_gate"] {
        assert!(alerts.iter().any(|alert| alert.contains(series)), "no alert looks at {series}");
    }
    let words = alerts.iter().flat_map(|alert| alert.split(|c: char| !(c.is_alphanumeric() || c == '_')));
    for name in words.filter_map(|word| word.strip_prefix(PREFIX)?.strip_prefix('_')) {
        assert!(GAUGES.iter().any(|(known, _)| *known == name), "an alert looks at {name}, which nobody exports");
    }
    assert!(page.contains("severity: page"));
}
