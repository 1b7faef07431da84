//! Captions and sizes: every file says what it is, and stays small enough to be read.

use super::sources::{Source, below};

/// Longest file, in lines.
const LINES_MAX: usize = 500;

fn all() -> Vec<Source> {
    ["src", "tests", "benches"].into_iter().flat_map(below).collect()
}

#[test]
fn every_file_begins_with_a_caption() {
    let bare: Vec<String> = all()
        .iter()
        .filter(|source| !source.text.starts_with("//! ") || source.text.lines().next().is_none_or(|l| l.len() < 15))
        .map(|source| source.path.display().to_string())
        .collect();
    assert!(bare.is_empty(), "without a caption: {bare:#?}");
}

#[test]
fn no_file_is_longer_than_one_sitting() {
    let long: Vec<String> = all()
        .iter()
        .map(|source| (source.text.lines().count(), source))
        .filter(|(lines, _)| *lines > LINES_MAX)
        .map(|(lines, source)| format!("{} has {lines} lines", source.path.display()))
        .collect();
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn a_mod_file_is_a_table_of_contents() {
    let busy: Vec<String> = below("src")
        .iter()
        .filter(|source| source.path.ends_with("mod.rs"))
        .flat_map(|source| {
            let code =
                source.code().filter(|(_, line)| ["fn ", "impl ", "struct ", "enum "].iter().any(|w| line.contains(w)));
            code.map(|(n, line)| format!("{}:{n}: {line}", source.path.display())).collect::<Vec<_>>()
        })
        .collect();
    assert!(busy.is_empty(), "{busy:#?}");
}

#[test]
fn nothing_is_left_unfinished() {
    let marks = ["todo!(", "unimplemented!(", concat!("FIX", "ME"), concat!("X", "XX"), concat!("#[ig", "nore")];
    let found: Vec<String> = all()
        .iter()
        .filter(|source| !source.path.ends_with("house/captions.rs"))
        .flat_map(|source| {
            let lines = source.text.lines().enumerate();
            let marked = lines.filter(|(_, line)| marks.iter().any(|mark| line.contains(mark)));
            marked.map(|(n, line)| format!("{}:{}: {line}", source.path.display(), n + 1)).collect::<Vec<_>>()
        })
        .collect();
    assert!(found.is_empty(), "{found:#?}");
}

/// Words that say nothing as a name of their own.
const EMPTY_NAMES: &[&str] =
    &["Action", "Event", "State", "Context", "Manager", "Handler", "Helper", "Util", "Utils", "Common", "Data", "Info"];

#[test]
fn no_type_has_an_empty_name() {
    let found: Vec<String> = below("src")
        .iter()
        .flat_map(|source| {
            let named = source.code().filter(|(_, line)| {
                let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty());
                let declared = words.by_ref().any(|w| ["struct", "enum", "trait", "type"].contains(&w));
                declared && words.next().is_some_and(|name| EMPTY_NAMES.contains(&name)) && !line.contains(" = ")
            });
            named.map(|(n, line)| format!("{}:{n}: {line}", source.path.display())).collect::<Vec<_>>()
        })
        .collect();
    assert!(found.is_empty(), "{found:#?}");
}
