//! docs/security.md: each line says what keeps somebody from doing something, and names the test that proves it; or it is a
//! limit, and says so.

use std::fs;

use super::sources::{is_test, root};

/// The chapters: those whom somebody may have to do with.
const CHAPTERS: [&str; 6] =
    ["A viewer's token", "An agent's token", "The network", "A hostile name", "A hostile release", "A copied journal"];

/// How a line that has no test begins.
const LIMIT: &str = "**limit**";

/// A line of a table: what somebody tries, what becomes of it, and how one knows.
struct Line {
    chapter: String,
    what: String,
    proof: String,
}

fn lines() -> Vec<Line> {
    let text = fs::read_to_string(root().join("docs/security.md")).unwrap();
    let (mut lines, mut chapter) = (Vec::new(), String::new());
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            title.clone_into(&mut chapter);
        }
        let Some(row) = line.strip_prefix("| ").and_then(|row| row.strip_suffix(" |")) else { continue };
        let cells: Vec<&str> = row.split(" | ").collect();
        let [what, _, proof] = cells[..] else { panic!("three cells in {line}") };
        if what != "who tries" && !what.starts_with("--") {
            lines.push(Line { chapter: chapter.clone(), what: what.to_owned(), proof: proof.to_owned() });
        }
    }
    lines
}

/// The tests a proof names: `lib path::of::test` or `suite path::of::test`.
fn tests(proof: &str) -> Vec<(String, String)> {
    let named = proof.split('`').skip(1).step_by(2).filter_map(|named| named.split_once(' '));
    named.map(|(kind, path)| (kind.to_owned(), path.to_owned())).collect()
}

#[test]
fn every_line_of_the_page_of_security_names_a_test_that_exists_or_is_a_limit() {
    let lines = lines();
    for chapter in CHAPTERS {
        assert!(lines.iter().filter(|line| line.chapter == chapter).count() >= 3, "{chapter} says too little");
    }
    for Line { chapter, what, proof } in &lines {
        let tests = tests(proof);
        assert!(proof.starts_with(LIMIT) || !tests.is_empty(), "{chapter}: {what} is only claimed");
        for (kind, path) in tests {
            assert!(matches!(kind.as_str(), "lib" | "suite"), "{what}: {kind} is neither lib nor suite");
            assert!(is_test(&kind, &path), "{what} is to be proven by {kind} {path}, which does not exist");
        }
    }
}
