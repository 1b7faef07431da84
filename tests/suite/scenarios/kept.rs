//! Every file below tests/scenarios holds, is played the same way each time, and leaves no rule broken.

use std::fs;
use std::path::{Path, PathBuf};

use kura_console::domain::change::Change;
use kura_console::domain::invariants::broken_step;
use kura_console::domain::world::World;

use super::bench::start;

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn name(file: &Path) -> String {
    file.file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn every_kept_scenario_holds() {
    let mut failures = String::new();
    for file in files() {
        let mut run = start(&fs::read_to_string(&file).unwrap());
        run.play().unwrap();
        let report = run.report();
        assert!(report.expectations.len() + report.never.len() >= 2, "{} expects next to nothing", name(&file));
        if !report.passed {
            failures += &report.text(&name(&file));
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn no_verdict_of_a_kept_scenario_breaks_an_invariant() {
    for file in files() {
        let mut run = start(&fs::read_to_string(&file).unwrap());
        run.play().unwrap();
        let entries = run.entries();
        let mut world = World::default();
        for verdict in entries.chunk_by(|a, b| (a.at, &a.by, &a.cause) == (b.at, &b.by, &b.cause)) {
            let before = world.clone();
            verdict.iter().for_each(|entry| world.apply(entry));
            let changes: Vec<Change> = verdict.iter().map(|entry| entry.change.clone()).collect();
            let is_past = verdict.iter().any(|entry| entry.by == "given" || entry.at < run.start());
            let broken = broken_step(&before, &world, &changes, verdict[0].at);
            assert!(is_past || broken.is_empty(), "{}: {broken:#?} after {changes:?}", name(&file));
        }
    }
}

#[test]
fn every_row_of_the_table_of_failure_modes_and_every_promised_case_has_a_scenario() {
    let names: Vec<String> = files().iter().map(|file| name(file)).collect();
    let modes = (1..=15).map(|n| format!("fm-{n:02}-")).chain((1..=8).map(|n| format!("fm-d{n}-")));
    let cases = ["a03", "a06", "a07", "a08", "a09", "a10", "a12", "a15", "a16", "a17", "a21", "a26"];
    let wanted = modes.chain(cases.iter().map(|case| format!("{case}-")));
    let missing: Vec<String> = wanted.filter(|head| !names.iter().any(|name| name.starts_with(head))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn a_scenario_is_played_the_same_way_each_time_and_whether_or_not_idle_polls_are_asked() {
    for file in files() {
        let text = fs::read_to_string(&file).unwrap();
        let prints: Vec<(String, String)> = [false, false, true]
            .into_iter()
            .map(|every_poll| {
                let mut run = start(&text);
                if every_poll {
                    run.ask_every_poll();
                }
                run.play().unwrap();
                (run.fingerprint(), serde_json::to_string(&run.report()).unwrap())
            })
            .collect();
        assert_eq!(prints[0], prints[1], "{}", name(&file));
        assert_eq!(prints[0], prints[2], "{}: idle polls make a difference", name(&file));
    }
}
