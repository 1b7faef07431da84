//! Who may import whom: the table of ARCHITECTURE.md, kept by reading the sources.

use super::sources::{Source, below};

/// A part of `src/`: which other parts it may use, and words its code never mentions.
struct Part {
    name: &'static str,
    may_use: &'static [&'static str],
    never: &'static [&'static str],
}

const PARTS: &[Part] = &[
    Part {
        name: "domain",
        may_use: &[],
        never: &[
            "async",
            "tokio",
            "kube",
            "ratatui",
            "std::fs",
            "std::env",
            "std::net",
            "HashMap",
            "HashSet",
            "Instant",
            "SystemTime",
            "Timestamp::now",
        ],
    },
    Part {
        name: "wire",
        may_use: &["domain", "control"],
        never: &["tokio", "axum", "Instant", "SystemTime", "Timestamp::now"],
    },
    Part {
        name: "console",
        may_use: &["domain"],
        never: &[
            "tokio",
            "crossterm",
            "kube::",
            "axum",
            "std::fs",
            "std::env",
            "Instant",
            "SystemTime",
            "Timestamp::now",
        ],
    },
    Part {
        name: "control",
        may_use: &["domain"],
        never: &["kube::", "axum", "sqlx", "ratatui", "tokio::time", "tokio::spawn", "Timestamp::now"],
    },
    Part { name: "adapters", may_use: &["domain", "wire", "control"], never: &["axum", "ratatui"] },
    Part { name: "sim", may_use: &["domain", "control", "wire"], never: &["tokio", "kube::", "Instant", "SystemTime"] },
    Part { name: "server", may_use: &["domain", "wire", "control"], never: &["kube::", "sqlx", "ratatui"] },
    Part { name: "agent", may_use: &["domain", "wire"], never: &["ratatui", "sqlx"] },
    Part { name: "terminal", may_use: &["domain", "console", "control", "wire"], never: &["kube::", "axum", "sqlx"] },
];

#[test]
fn parts_use_what_they_may_and_mention_what_they_may() {
    let faults: Vec<String> = PARTS.iter().flat_map(faults_of).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_part_of_the_source_is_in_the_table() {
    let known: Vec<&str> = PARTS.iter().map(|part| part.name).chain(["app", "lib.rs", "main.rs"]).collect();
    let strangers: Vec<String> = below("src")
        .iter()
        .filter_map(|source| source.path.components().nth(1))
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .filter(|part| !known.contains(&part.as_str()))
        .collect();
    assert!(strangers.is_empty(), "{strangers:?}");
}

#[test]
fn a_forbidden_import_is_found() {
    let text = "//! x\nuse crate::server::routes;\nuse tokio::time::sleep;\n".to_owned();
    let source = Source { path: "src/control/x.rs".into(), text };
    let control = PARTS.iter().find(|part| part.name == "control").unwrap();
    assert_eq!(faults_in(control, &source).len(), 2);
}

#[test]
fn siblings_of_the_adapters_do_not_see_each_other() {
    let faults: Vec<String> = below("src/adapters")
        .iter()
        .flat_map(|source| {
            let own = sibling(source.path.to_string_lossy().as_ref());
            source
                .code()
                .filter_map(|(n, line)| {
                    let used = line.split("crate::adapters::").nth(1)?;
                    let other: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                    let foreign = other != own && !SHARED_BY_ADAPTERS.contains(&other.as_str());
                    foreign.then(|| format!("{}:{n}: uses {other}", source.path.display()))
                })
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Technology that several adapters stand on.
const SHARED_BY_ADAPTERS: &[&str] = &["clock", "kube", "pause", "postgres", "sqlite"];

fn sibling(path: &str) -> String {
    let inside = path.trim_start_matches("src/adapters/");
    inside.split('/').next().unwrap_or(inside).trim_end_matches(".rs").to_owned()
}

fn faults_of(part: &Part) -> Vec<String> {
    let sources = below(&format!("src/{}", part.name));
    assert!(!sources.is_empty(), "src/{} is gone", part.name);
    sources.iter().filter(|source| !source.is_test()).flat_map(|source| faults_in(part, source)).collect()
}

fn faults_in(part: &Part, source: &Source) -> Vec<String> {
    let mut faults = Vec::new();
    for (n, line) in source.code() {
        if line.starts_with("#[cfg(test)]") {
            break;
        }
        let place = format!("{}:{n}", source.path.display());
        for other in PARTS.iter().map(|p| p.name).chain(["app"]) {
            let foreign = other != part.name && !part.may_use.contains(&other);
            if foreign && line.contains(&format!("crate::{other}::")) {
                faults.push(format!("{place}: {} may not use {other}", part.name));
            }
        }
        for word in part.never.iter().filter(|word| mentions(line, word)) {
            faults.push(format!("{place}: {} never mentions {word}", part.name));
        }
    }
    faults
}

/// A whole word, outside of texts.
fn mentions(line: &str, word: &str) -> bool {
    let outside: String = line.split('"').step_by(2).collect();
    outside.match_indices(word).any(|(at, _)| {
        let before = outside[..at].chars().next_back();
        let after = outside[at + word.len()..].chars().next();
        let glued = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !glued(before) && (word.ends_with(':') || !glued(after))
    })
}
