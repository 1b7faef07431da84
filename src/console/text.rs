//! Text from outside, made fit for a screen: escaped, measured, cut and wrapped.
//!
//! Names, reasons and logs come from people and machines. Nothing of them may steer the terminal, turn the reading
//! order around or stand outside its column.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Characters one cell may carry: a base and what combines with it.
const CLUSTER_MAX: usize = 8;

/// Stands for what must not be shown as it is.
const REPLACEMENT: char = '\u{fffd}';

/// The same text with nothing in it that steers: controls become visible, overrides of direction and invisible
/// characters become `\u{fffd}`, and a pile of combining characters is cut.
pub fn escape(text: &str) -> Cow<'_, str> {
    let plain = text.bytes().all(|b| (0x20..0x7f).contains(&b));
    if plain {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for cluster in text.graphemes(true) {
        let shown: String = cluster.chars().take(CLUSTER_MAX).map(visible).collect();
        escaped.push_str(narrow(&shown));
    }
    Cow::Owned(escaped)
}

/// As much of a cluster as fits in two columns: a wide base with a mark that takes a column of its own does not.
fn narrow(cluster: &str) -> &str {
    let ends = cluster.char_indices().map(|(at, c)| at + c.len_utf8());
    let fit = ends.take_while(|end| width(&cluster[..*end]) <= 2).last();
    &cluster[..fit.unwrap_or(0)]
}

fn visible(c: char) -> char {
    match c {
        '\t' => ' ',
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(REPLACEMENT),
        '\u{7f}' => '\u{2421}',
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}' => REPLACEMENT,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => REPLACEMENT,
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' => REPLACEMENT,
        '\u{e0000}'..='\u{e0fff}' | '\u{e000}'..='\u{f8ff}' => REPLACEMENT,
        c => c,
    }
}

/// Columns that escaped text takes.
pub fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

/// Escaped text in at most `columns`, with `ellipsis` where something is missing.
pub fn cut<'a>(text: &'a str, columns: usize, ellipsis: &str) -> Cow<'a, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let room = columns.saturating_sub(width(ellipsis));
    let (mut end, mut used) = (0, 0);
    for (at, cluster) in text.grapheme_indices(true) {
        used += width(cluster);
        if used > room {
            break;
        }
        end = at + cluster.len();
    }
    let mark = if width(ellipsis) <= columns { ellipsis } else { "" };
    Cow::Owned(format!("{}{mark}", &text[..end]))
}

/// Escaped text in lines of at most `columns`, broken at spaces where there are any. Never empty.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut word = word;
        loop {
            let line = lines.last_mut().map_or(0, |line| width(line));
            let gap = usize::from(line > 0);
            if line + gap + width(word) <= columns {
                push(&mut lines, word, gap > 0);
                break;
            }
            if line > 0 {
                lines.push(String::new());
                continue;
            }
            let head = head(word, columns);
            push(&mut lines, head, false);
            word = &word[head.len()..];
            if word.is_empty() {
                break;
            }
            lines.push(String::new());
        }
    }
    lines
}

/// Escaped text in at most `rows` lines. What is too much ends up in the last one, which is then too long for its
/// columns and is cut where it is drawn.
pub fn fit(text: &str, columns: usize, rows: usize) -> Vec<String> {
    let mut lines = wrap(text, columns);
    if rows > 0 && lines.len() > rows {
        lines[rows - 1] = lines[rows - 1..].join(" ");
    }
    lines.truncate(rows);
    lines
}

fn push(lines: &mut [String], word: &str, spaced: bool) {
    if let Some(line) = lines.last_mut() {
        if spaced {
            line.push(' ');
        }
        line.push_str(word);
    }
}

/// As much of a word as fits, at least one cluster.
fn head(word: &str, columns: usize) -> &str {
    let (mut end, mut used) = (0, 0);
    for (at, cluster) in word.grapheme_indices(true) {
        used += width(cluster);
        if used > columns && at > 0 {
            break;
        }
        end = at + cluster.len();
    }
    &word[..end]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_from_outside_steers_the_terminal() {
        assert_eq!(escape("ash\u{1b}[2J"), "ash\u{241b}[2J");
        assert_eq!(escape("a\r\nb\tc\u{7f}"), "a\u{240d}\u{240a}b c\u{2421}");
        assert_eq!(escape("safe\u{202e}dab"), "safe\u{fffd}dab");
        assert_eq!(escape("a\u{200b}b\u{feff}"), "a\u{fffd}b\u{fffd}");
        assert_eq!(escape("\u{9b}31m"), "\u{fffd}31m");
        let pile = format!("z{}", "\u{301}".repeat(50));
        assert!(escape(&pile).chars().count() <= CLUSTER_MAX);
        assert!(matches!(escape("plain text"), Cow::Borrowed(_)));
    }

    #[test]
    fn text_is_cut_by_columns_not_by_characters() {
        assert_eq!(cut("pine-workers", 12, "…"), "pine-workers");
        assert_eq!(cut("pine-workers", 8, "…"), "pine-wo…");
        assert_eq!(cut("漢字漢字", 5, "…"), "漢字…");
        assert_eq!(cut("漢字漢字", 4, "…"), "漢…");
        assert_eq!(cut("abc", 0, "…"), "");
    }

    #[test]
    fn long_words_are_broken_and_short_ones_kept() {
        assert_eq!(wrap("ash holds its slot", 9), ["ash holds", "its slot"]);
        assert_eq!(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("漢字", 1), ["漢", "字"]);
        assert_eq!(fit("ash holds its slot", 9, 1), ["ash holds its slot"]);
        assert_eq!(fit("ash holds its slot", 9, 2), ["ash holds", "its slot"]);
        assert!(fit("ash", 9, 0).is_empty());
    }

    proptest! {
        #[test]
        fn whatever_comes_stays_in_its_columns(text in any::<String>(), columns in 0usize..30) {
            let escaped = escape(&text);
            prop_assert!(!escaped.chars().any(char::is_control));
            prop_assert!(width(&cut(&escaped, columns, "…")) <= columns);
            let wrapped = wrap(&escaped, columns.max(2));
            let alone = |line: &str| line.graphemes(true).count() == 1;
            prop_assert!(wrapped.iter().all(|line| width(line) <= columns.max(2) || alone(line)));
            prop_assert_eq!(wrapped.concat().replace(' ', ""), escaped.replace(' ', ""));
        }
    }
}
