//! One thing, or one answer, as text: every field the control plane tells, none left out.

use jiff::Timestamp;
use serde_json::Value;

use super::row::Row;
use crate::app::report::{line, wrapped};
use crate::console::text::{escape, width};
use crate::domain::failure_mode::FailureMode;
use crate::domain::span::Seconds;
use crate::wire::explain::ExplanationBody;

/// Levels of nesting that are indented; what lies deeper is written as JSON.
const DEPTH_MAX: usize = 3;

/// A thing with a line per field. Ends in a line feed.
pub fn sheet(row: &Row<'_>) -> String {
    let mut text = String::new();
    fields(&mut text, row.body, row.now, 0);
    text
}

fn fields(text: &mut String, body: &Value, now: Timestamp, depth: usize) {
    let Value::Object(fields) = body else { return };
    let named: Vec<(String, &Value)> =
        fields.iter().map(|(name, value)| (escape(&name.replace('_', " ")).into_owned(), value)).collect();
    let widest = named.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
    let indent = "  ".repeat(depth);
    for (name, value) in named {
        let lead = format!("{indent}{name}{}  ", " ".repeat(widest - width(&name)));
        match value {
            Value::Object(inner) if !inner.is_empty() && depth < DEPTH_MAX => {
                line(text, &format!("{indent}{name}"));
                self::fields(text, value, now, depth + 1);
            }
            Value::Array(items) if !items.is_empty() => {
                items.iter().for_each(|item| one(text, &lead, &flat(item).unwrap_or_else(|| item.clone()), now));
            }
            value => one(text, &lead, value, now),
        }
    }
}

/// Something of a list in one line, where each of its fields is a word or a number; what is null is left out.
fn flat(item: &Value) -> Option<Value> {
    let fields = item.as_object().filter(|fields| !fields.is_empty())?;
    let told = fields.iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| match value {
        Value::Array(_) | Value::Object(_) => None,
        Value::String(words) => Some(format!("{} {words}", name.replace('_', " "))),
        other => Some(format!("{} {other}", name.replace('_', " "))),
    });
    Some(Value::String(told.collect::<Option<Vec<_>>>()?.join(", ")))
}

fn one(text: &mut String, lead: &str, value: &Value, now: Timestamp) {
    let told = match value {
        Value::Null => "-".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(words) => dated(words, now),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Object(fields) if fields.is_empty() => "none".to_owned(),
        other => other.to_string(),
    };
    wrapped(text, lead, &escape(&told));
}

/// A moment, with how long ago it was.
fn dated(words: &str, now: Timestamp) -> String {
    match words.parse::<Timestamp>() {
        Ok(at) => format!("{words} ({} ago)", Seconds::between(at, now)),
        Err(_) => words.to_owned(),
    }
}

/// The answer to a question. Ends in a line feed.
pub fn answer(row: &Row<'_>) -> String {
    let Ok(said) = serde_json::from_value::<ExplanationBody>(row.body.clone()) else { return sheet(row) };
    let mut text = String::new();
    let mut told = |lead: &str, words: &str| wrapped(&mut text, lead, &escape(words));
    told("", &said.sentence);
    if let Some(since) = said.since {
        told("since         ", &dated(&since.to_string(), row.now));
    }
    if let Some(on) = &said.on {
        told("on            ", on);
    }
    if let Some(id) = &said.failure_mode {
        let mode = FailureMode::ALL.into_iter().find(|mode| mode.id() == *id);
        told("failure mode  ", &mode.map_or_else(|| id.clone(), |mode| format!("{id} {}", mode.title())));
    }
    said.next.iter().for_each(|next| told("  -> ", next));
    if !said.verify.is_empty() {
        told("", "then verify:");
    }
    said.verify.iter().for_each(|check| told("  [ ] ", check));
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn no_field_is_left_out_and_moments_have_an_age() {
        let body = json!({
            "uuid": "u", "paused": true, "pause": {"by": "ann", "reason": "\u{1b}[2Jdisk", "since": at(0)}, "notes": null,
            "needs": ["a", "b"], "chain": [{"link": "up", "why": null, "wait_seconds": 3}], "none": [], "config_values": {"a": {"b": {"c": {"d": 1}}}},
        });
        let text = sheet(&Row { body: &body, now: at(90) });
        for part in ["(1m 30s ago)", "  by      ann", "notes ", "yes", "none", "link up, wait seconds 3", "{\"d\":1}"] {
            assert!(text.contains(part), "no {part} in\n{text}");
        }
        assert!(!text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn an_answer_says_who_since_when_which_failure_and_what_to_do() {
        let mode = FailureMode::DrainBlocked;
        let body = json!({
            "sentence": "ash drains", "since": at(0), "on": "ash", "failure_mode": mode.id(), "next": ["look"],
            "verify": ["it went"],
        });
        let text = answer(&Row { body: &body, now: at(60) });
        for part in ["ash drains\n", "(1m ago)", "on            ash", mode.title(), "-> look", "[ ] it went"] {
            assert!(text.contains(part), "no {part} in\n{text}");
        }
    }
}
