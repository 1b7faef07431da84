//! docs/rules.md: every rule in one sentence with the tests that prove it, generated from the `// R48` marks and from
//! the `basis` of scenarios.
//!
//! The sentences stand in docs/rules.txt. To write the page anew: `KURA_REGENERATE=1 cargo test --test suite house`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use kura_console::sim::scenario::file::scenario::Scenario;

use super::sources::{below, root};

/// Tests by the rule they name.
fn proofs() -> BTreeMap<u32, Vec<String>> {
    let mut proofs: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for source in ["src", "tests"].into_iter().flat_map(below) {
        let mut test = None;
        for line in source.text.lines().map(str::trim) {
            if let Some(name) =
                line.trim_start_matches("async ").strip_prefix("fn ").and_then(|rest| rest.split('(').next())
            {
                test = Some(name.to_owned());
            }
            let Some(test) = &test else { continue };
            for rule in marks(line) {
                let place = format!("`{}` in {}", test, source.path.display());
                let known = proofs.entry(rule).or_default();
                if !known.contains(&place) {
                    known.push(place);
                }
            }
        }
    }
    proofs_by_scenarios(&mut proofs);
    proofs
}

/// A scenario says itself which rules it proves.
fn proofs_by_scenarios(proofs: &mut BTreeMap<u32, Vec<String>>) {
    let folder = root().join("tests/scenarios");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files {
        let scenario = Scenario::parse(&fs::read_to_string(&file).unwrap()).unwrap();
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let rules = scenario.heading.basis.iter().filter_map(|rule| rule.strip_prefix('R')?.parse().ok());
        rules.for_each(|rule| proofs.entry(rule).or_default().push(format!("tests/scenarios/{name}")));
    }
}

/// The rules a comment line begins with: `// R48, R49 (A10)`.
fn marks(line: &str) -> Vec<u32> {
    let Some(comment) = line.strip_prefix("// R") else { return Vec::new() };
    let listed = format!("R{comment}");
    let words = listed.split([',', ' ', '(', ':']).take_while(|word| word.is_empty() || word.starts_with('R'));
    words.filter_map(|word| word.strip_prefix('R')?.parse().ok()).collect()
}

fn page() -> String {
    let sentences = fs::read_to_string(root().join("docs/rules.txt")).unwrap_or_default();
    let proofs = proofs();
    let mut page = String::from(
        "# Rules and their proofs\n\nGenerated from docs/rules.txt and the marks in the tests; see \
         tests/suite/house/rules.rs.\n\n| rule | what it says | proven by |\n|---|---|---|\n",
    );
    for line in sentences.lines().filter(|line| line.starts_with('R')) {
        let Some((rule, sentence)) = line.split_once(' ') else { continue };
        let number: u32 = rule.trim_start_matches('R').parse().unwrap_or(0);
        let excuse = NOT_CODE.iter().find(|(known, _)| *known == number).map_or("-", |(_, reason)| *reason);
        let tests = proofs.get(&number).map_or_else(|| excuse.to_owned(), |tests| tests.join("<br>"));
        let _ = writeln!(page, "| {rule} | {sentence} | {tests} |");
    }
    page
}

#[test]
fn the_page_of_rules_is_up_to_date() {
    let path = root().join("docs/rules.md");
    let page = page();
    if std::env::var_os("KURA_REGENERATE").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == page, "docs/rules.md is stale: run KURA_REGENERATE=1 cargo test --test suite house");
}

/// The last rule.
const LAST: u32 = 180;

/// Rules that no test of ours can prove, and why not. What a test can prove is never listed.
const NOT_CODE: &[(u32, &str)] = &[];

#[test]
fn every_rule_has_a_test_or_a_reason() {
    let proofs = proofs();
    let excused = |rule: u32| NOT_CODE.iter().any(|(known, _)| *known == rule);
    let unproven: Vec<u32> = (1..=LAST).filter(|rule| !proofs.contains_key(rule) && !excused(*rule)).collect();
    assert!(unproven.is_empty(), "rules without a test: {unproven:?}");
    let idle: Vec<u32> = (1..=LAST).filter(|rule| proofs.contains_key(rule) && excused(*rule)).collect();
    assert!(idle.is_empty(), "rules that are excused and proven: {idle:?}");
    let unknown: Vec<&u32> = proofs.keys().filter(|rule| !(1..=LAST).contains(*rule)).collect();
    assert!(unknown.is_empty(), "marks of rules that do not exist: {unknown:?}");
}

#[test]
fn every_rule_has_one_sentence_in_order() {
    let sentences = fs::read_to_string(root().join("docs/rules.txt")).unwrap();
    let rules = sentences.lines().filter_map(|line| line.strip_prefix('R')?.split_once(' '));
    let numbers: Vec<u32> = rules.map(|(number, _)| number.parse().unwrap()).collect();
    assert_eq!(numbers, (1..=LAST).collect::<Vec<u32>>());
}

#[test]
fn marks_are_read_as_written() {
    assert_eq!(marks("// R48, R49 (A10)"), [48, 49]);
    assert_eq!(marks("// R21: broken_step runs"), [21]);
    assert_eq!(marks("// Rules are many"), Vec::<u32>::new());
    assert_eq!(marks("let x = 1; // R48"), Vec::<u32>::new());
}
