//! What was fetched, as it is printed.

use jiff::Timestamp;
use serde_json::Value;

use super::super::status::{Output, yaml};
use super::ask::Wanted;
use super::fetch::Fetched;
use super::kura::DEPLOYMENTS;
use super::nouns::Noun;
use super::rolls::ROLLS;
use super::row::Row;
use super::sheet::{answer, sheet};
use super::table::table;
use crate::console::text::escape;
use crate::wire::problem::{Problem, ProblemKind};

/// One document. `now` counts the ages where the far end told no time.
///
/// # Errors
/// Where a body has no place in a document: a fault of the program.
pub fn printed(wanted: Wanted<'_>, fetched: &Fetched, output: Output, now: Timestamp) -> Result<String, Problem> {
    let now = fetched.at.unwrap_or(now);
    match output {
        Output::Text => Ok(text(wanted, &fetched.body, now)),
        Output::Json => Ok(harmless(&fetched.body.to_string()) + "\n"),
        Output::Yaml => yaml(&fetched.body).map_err(|why| Problem::new(ProblemKind::Internal, "output", why)),
    }
}

fn text(wanted: Wanted<'_>, body: &Value, now: Timestamp) -> String {
    let row = Row { body, now };
    match (wanted, body) {
        (Wanted::Things(noun, _), Value::Array(bodies)) => listed(noun, bodies, now),
        (Wanted::EveryRoll | Wanted::WholeRolls(_), Value::Array(bodies)) => listed(&ROLLS, bodies, now),
        (Wanted::Deployments(_), Value::Array(bodies)) => listed(&DEPLOYMENTS, bodies, now),
        (Wanted::Answer(_), _) => answer(&row),
        _ => sheet(&row),
    }
}

fn listed(noun: &Noun, bodies: &[Value], now: Timestamp) -> String {
    table(noun, &bodies.iter().map(|body| Row { body, now }).collect::<Vec<_>>())
}

/// The same JSON; what could steer a terminal is written as `\u....`, which means the same.
fn harmless(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\u{7f}' || (!c.is_ascii() && is_hidden(c)) {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| text += &format!("\\u{unit:04x}"));
        } else {
            text.push(c);
        }
    }
    text
}

fn is_hidden(c: char) -> bool {
    *escape(c.encode_utf8(&mut [0; 4])) != *c.encode_utf8(&mut [0; 4])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_steers_no_terminal_and_means_the_same() {
        let body = Value::from("日本 \u{1b}[2J \u{9b}2J \u{202e} \u{7f} \u{e0001} \"é\"");
        let text = harmless(&body.to_string());
        assert!(text.contains("日本") && text.contains('é'), "{text}");
        assert!(!text.contains(['\u{1b}', '\u{9b}', '\u{202e}', '\u{7f}', '\u{e0001}']), "{text:?}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), body);
    }
}
