//! A list as aligned columns, 80 wide at most.

use super::nouns::{Column, Noun};
use super::row::Row;
use crate::app::report::{WIDTH, line, wrapped};
use crate::console::text::{cut, escape, width};

/// Between two columns.
const GAP: &str = "  ";

/// Columns are not made narrower than this.
const NARROWEST: usize = 4;

/// The list, or words where it is empty. Ends in a line feed.
pub fn table(noun: &Noun, rows: &[Row<'_>]) -> String {
    let mut text = String::new();
    let [nothing, next] = noun.empty;
    if rows.is_empty() {
        line(&mut text, nothing);
        wrapped(&mut text, "  -> ", next);
        return text;
    }
    let heads = noun.columns.iter().map(|column| column.title.to_owned()).collect();
    let bodies = rows.iter().map(|row| noun.columns.iter().map(|column| escape(&(column.cell)(row)).into()).collect());
    let lines: Vec<Vec<String>> = std::iter::once(heads).chain(bodies).collect();
    let widths = fitted(&lines, noun.columns.len());
    for cells in &lines {
        line(&mut text, &joined(noun.columns, cells, &widths));
    }
    text
}

/// As wide as their widest cell; where that is too much together, the widest ones give way.
fn fitted(lines: &[Vec<String>], columns: usize) -> Vec<usize> {
    let widest = |column: usize| lines.iter().map(|cells| width(&cells[column])).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..columns).map(widest).collect();
    let room = WIDTH - GAP.len() * columns.saturating_sub(1);
    while widths.iter().sum::<usize>() > room {
        match widths.iter_mut().max_by_key(|width| **width) {
            Some(width) if *width > NARROWEST => *width -= 1,
            _ => break,
        }
    }
    widths
}

fn joined(columns: &[Column], cells: &[String], widths: &[usize]) -> String {
    let padded = columns.iter().zip(cells).zip(widths).map(|((column, cell), columns)| {
        let cell = cut(cell, *columns, "…");
        let room = " ".repeat(columns.saturating_sub(width(&cell)));
        if column.right { room + &cell } else { cell.into_owned() + &room }
    });
    padded.collect::<Vec<_>>().join(GAP)
}

#[cfg(test)]
pub(super) mod tests {
    use jiff::Timestamp;
    use serde_json::{Value, json};

    use super::super::nouns::{ENVIRONMENTS, MACHINES, RELEASES, RINGS, ROLLOUTS};
    use super::*;

    /// Bodies as a table, at a moment that tests can count from.
    pub(in crate::app::registry) fn shown(noun: &Noun, bodies: &[Value]) -> String {
        let now = Timestamp::from_second(1_000_000).unwrap();
        table(noun, &bodies.iter().map(|body| Row { body, now }).collect::<Vec<_>>())
    }

    #[test]
    fn whatever_stands_in_them_lists_are_eighty_wide_aligned_and_steer_no_terminal() {
        let nasty = "\u{1b}]0;x\u{7}\u{202e}日本語-very-long-name-".repeat(4);
        let hold = json!({"by": nasty, "at": "1970-01-01T00:00:00Z", "reason": nasty});
        for noun in [&ROLLOUTS, &RINGS, &MACHINES, &ENVIRONMENTS, &RELEASES] {
            let body = json!({
                "uuid": nasty, "slug": nasty, "hostname": nasty, "git_ref": nasty, "name": nasty, "pause": hold,
                "yank": hold, "environment": nasty, "ring": nasty, "current_environment": nasty, "started_by": nasty,
                "status": nasty, "generation": u64::MAX, "max_in_flight": u64::MAX, "promotion_order": i64::MIN,
                "wave_ladder": [{"pct": 10, "after_seconds": 3600}, {"pct": 100, "after_seconds": 7200}],
            });
            let text = shown(noun, &[body, json!({})]);
            assert!(text.lines().all(|line| width(line) <= WIDTH), "{text}");
            assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text}");
            assert_eq!(text.lines().count(), 3, "{text}");
        }
    }

    #[test]
    fn columns_stand_under_their_heads() {
        let ring = |slug: &str, cap: u64| json!({"slug": slug, "max_in_flight": cap, "min_settle_seconds": 90});
        let text = shown(&RINGS, &[ring("oak", 3), ring("a-longer-one", 0)]);
        let lines: Vec<&str> = text.lines().collect();
        let end = |line: &str, word: &str| line.find(word).map(|at| at + word.len());
        assert_eq!(end(lines[0], "CAP"), end(lines[1], " 3"), "{text}");
        assert_eq!(end(lines[0], "CAP"), end(lines[2], "none"), "{text}");
        assert!(lines[1].contains("1m 30s") && lines[1].contains("all at once"), "{text}");
    }

    #[test]
    fn nothing_is_said_in_words_with_what_to_do() {
        let text = shown(&ROLLOUTS, &[]);
        assert!(text.starts_with("no rollout was ever started\n  -> start one"), "{text}");
    }
}
