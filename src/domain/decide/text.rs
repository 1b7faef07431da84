//! Names and texts that people give to things: bounded, and free of what would confuse a screen or a script.

use super::super::refusal::Refusal;
use super::super::span::Seconds;

/// Longest slug, name or host name, in bytes.
const NAME_MAX: usize = 100;

/// Longest note, in bytes.
const NOTE_MAX: usize = 4 * 1024;

/// Longest reference into a repository, in bytes.
const REFERENCE_MAX: usize = 255;

/// Longest span a setting may have: ten years. Beyond it a number is a slip, and far beyond it not every program that
/// reads it can hold it.
const SPAN_MAX: Seconds = Seconds(10 * 365 * 86_400);

/// Slugs stand in paths, in jq programs and on narrow screens.
pub(super) fn check_slug(slug: &str) -> Result<(), Refusal> {
    check_name("slug", slug)
}

/// A name that stands alone in a column: letters, digits, '.', '-' and '_'.
pub(super) fn check_name(field: &'static str, name: &str) -> Result<(), Refusal> {
    let problem = match name.len() {
        0 => "is empty".to_owned(),
        n if n > NAME_MAX => format!("is {n} bytes long, at most {NAME_MAX} are allowed"),
        _ if name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')) => return Ok(()),
        _ => "has a character other than letters, digits, '.', '-' and '_'".to_owned(),
    };
    Err(Refusal::BadName { field, problem })
}

/// One line of a sensible length.
pub(super) fn check_label(field: &'static str, text: &str) -> Result<(), Refusal> {
    if text.is_empty() {
        return Err(Refusal::BadText { field, problem: "is empty".to_owned() });
    }
    check_text(field, text, NAME_MAX, misleads)
}

/// A branch, tag or commit.
pub(super) fn check_reference(field: &'static str, text: &str) -> Result<(), Refusal> {
    check_text(field, text, REFERENCE_MAX, misleads)
}

/// Some lines.
pub(super) fn check_note(field: &'static str, text: &str) -> Result<(), Refusal> {
    check_text(field, text, NOTE_MAX, |c| misleads(c) && !matches!(c, '\n' | '\t'))
}

/// A setting that nobody means to outlive them.
pub(super) fn check_span(field: &'static str, span: Seconds) -> Result<(), Refusal> {
    if span <= SPAN_MAX { Ok(()) } else { Err(Refusal::SpanTooLong { field, limit: SPAN_MAX }) }
}

fn check_text(field: &'static str, text: &str, limit: usize, is_bad: impl Fn(char) -> bool) -> Result<(), Refusal> {
    let problem = if text.len() > limit {
        format!("is {} bytes long, at most {limit} are allowed", text.len())
    } else if let Some(bad) = text.chars().find(|c| is_bad(*c)) {
        format!("has the character U+{:04X}, which shows as nothing or as something else", u32::from(bad))
    } else {
        return Ok(());
    };
    Err(Refusal::BadText { field, problem })
}

/// Control characters, breaks of a line, and what turns the direction of a text.
fn misleads(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(checked: Result<(), Refusal>) -> String {
        checked.unwrap_err().to_string()
    }

    #[test]
    fn a_label_is_one_line_that_shows_as_it_is() {
        assert!(check_label("name", "Arbeiter, Süd · 日本").is_ok());
        for bad in ["", "a\nb", "a\u{1b}[2J", "a\u{202e}b", "a\u{2028}b", &"x".repeat(NAME_MAX + 1)] {
            assert!(problem(check_label("name", bad)).starts_with("name "), "{bad:?}");
        }
        assert!(problem(check_label("name", "a\u{202e}b")).contains("U+202E"));
    }

    #[test]
    fn a_note_may_have_lines_but_no_escapes() {
        assert!(check_note("notes", "").is_ok() && check_note("notes", "one\n\ttwo").is_ok());
        assert!(check_note("notes", "a\u{1b}[2J").is_err() && check_note("notes", &"x".repeat(NOTE_MAX + 1)).is_err());
        assert!(check_reference("git_ref", &"x".repeat(REFERENCE_MAX)).is_ok());
    }

    #[test]
    fn a_setting_ends_within_ten_years() {
        assert!(check_span("min_settle_seconds", SPAN_MAX).is_ok());
        assert!(problem(check_span("min_settle_seconds", Seconds(SPAN_MAX.0 + 1))).contains("min_settle_seconds"));
    }
}
