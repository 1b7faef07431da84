//! docs/rules.md: every rule in one sentence with the tests that prove it, generated from the `// R48` and `// K12` marks
//! and from the `basis` of scenarios.
//!
//! The sentences stand in docs/rules.txt. To write the page anew: `KURA_REGENERATE=1 cargo test --test suite house`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use kura_console::sim::scenario::file::scenario::Scenario;

use super::sources::{below, root};

/// A rule: its family and its number.
type Rule = (char, u32);

/// Families of rules with the number of the last one: ring rollouts, Kura deployments, fleet rolls.
const FAMILIES: [Rule; 3] = [('R', 180), ('K', 52), ('F', 60)];

/// Tests by the rule they name.
fn proofs() -> BTreeMap<Rule, Vec<String>> {
    let mut proofs: BTreeMap<Rule, Vec<String>> = BTreeMap::new();
    for source in ["src", "tests"].into_iter().flat_map(below) {
        let lines: Vec<&str> = source.text.lines().map(str::trim).collect();
        let mut test = None;
        for (n, line) in lines.iter().enumerate() {
            test = named(line).or(test);
            let rules = marks(line);
            // A mark above a test speaks of that test, not of the one before it.
            let below = lines[n..].iter().find(|line| !line.starts_with("//") && !line.starts_with("#["));
            let Some(test) = below.and_then(|line| named(line)).or(test) else { continue };
            for rule in rules {
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

/// The function that begins in this line.
fn named(line: &str) -> Option<&str> {
    let line = line.trim_start_matches("pub ").trim_start_matches("pub(super) ").trim_start_matches("async ");
    line.strip_prefix("fn ")?.split(['(', '<']).next()
}

/// A scenario says itself which rules it proves.
fn proofs_by_scenarios(proofs: &mut BTreeMap<Rule, Vec<String>>) {
    let folder = root().join("tests/scenarios");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files {
        let scenario = Scenario::parse(&fs::read_to_string(&file).unwrap()).unwrap();
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let rules = scenario.heading.basis.iter().filter_map(|rule| rule_of(rule));
        rules.for_each(|rule| proofs.entry(rule).or_default().push(format!("tests/scenarios/{name}")));
    }
}

/// A rule as it is written, such as `R48`.
fn rule_of(word: &str) -> Option<Rule> {
    let family = word.chars().next().filter(|family| FAMILIES.iter().any(|(known, _)| known == family))?;
    Some((family, word.get(1..)?.parse().ok()?))
}

/// The rules a comment line begins with: `// R48, K49 (A10)`.
fn marks(line: &str) -> Vec<Rule> {
    let Some(comment) = line.strip_prefix("// ") else { return Vec::new() };
    let words = comment.split([',', ' ', '(', ':']).filter(|word| !word.is_empty());
    words.map_while(rule_of).collect()
}

fn page() -> String {
    let sentences = fs::read_to_string(root().join("docs/rules.txt")).unwrap_or_default();
    let proofs = proofs();
    let mut page = String::from(
        "# Rules and their proofs\n\nGenerated from docs/rules.txt and the marks in the tests; see \
         tests/suite/house/rules.rs.\n\n| rule | what it says | proven by |\n|---|---|---|\n",
    );
    for line in sentences.lines() {
        let Some((word, sentence)) = line.split_once(' ') else { continue };
        let Some(rule) = rule_of(word) else { continue };
        let excuse = NOT_CODE.iter().find(|(known, _)| *known == rule).map_or("-", |(_, reason)| reason);
        let tests = proofs.get(&rule).map_or_else(|| excuse.to_owned(), |tests| tests.join("<br>"));
        let _ = writeln!(page, "| {word} | {sentence} | {tests} |");
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

/// Rules that no test of ours can prove, and why not. What a test can prove is never listed.
const NOT_CODE: &[(Rule, &str)] = &[
    (('K', 46), "the cluster's own controller does it; tests make the workload as a fixture"),
    (('K', 47), "the cluster's own controller does it; tests make the status as a fixture"),
    (('F', 44), "something that is not there: no push, no test"),
];

fn all_rules() -> impl Iterator<Item = Rule> {
    FAMILIES.iter().flat_map(|(family, last)| (1..=*last).map(move |number| (*family, number)))
}

#[test]
fn every_rule_has_a_test_or_a_reason() {
    let proofs = proofs();
    let excused = |rule: Rule| NOT_CODE.iter().any(|(known, _)| *known == rule);
    let unproven: Vec<Rule> = all_rules().filter(|rule| !proofs.contains_key(rule) && !excused(*rule)).collect();
    assert!(unproven.is_empty(), "rules without a test: {unproven:?}");
    let idle: Vec<Rule> = all_rules().filter(|rule| proofs.contains_key(rule) && excused(*rule)).collect();
    assert!(idle.is_empty(), "rules that are excused and proven: {idle:?}");
    let unknown: Vec<&Rule> = proofs.keys().filter(|rule| !all_rules().any(|known| known == **rule)).collect();
    assert!(unknown.is_empty(), "marks of rules that do not exist: {unknown:?}");
}

#[test]
fn every_rule_has_one_sentence_in_order() {
    let sentences = fs::read_to_string(root().join("docs/rules.txt")).unwrap();
    let rules: Vec<Rule> = sentences.lines().filter_map(|line| rule_of(line.split_once(' ')?.0)).collect();
    assert_eq!(rules, all_rules().collect::<Vec<Rule>>());
}

#[test]
fn marks_are_read_as_written() {
    assert_eq!(marks("// R48, K49 (A10)"), [('R', 48), ('K', 49)]);
    assert_eq!(marks("// R21: broken_step runs"), [('R', 21)]);
    assert_eq!(marks("// Rules are many, R48 among them"), []);
    assert_eq!(marks("let x = 1; // R48"), []);
}
