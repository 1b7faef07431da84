//! One body of the API, read field by field for people. What is missing or null is a dash: an older control plane knows
//! fewer fields.

use std::fmt::Display;

use jiff::Timestamp;
use serde_json::Value;

use crate::domain::span::Seconds;

/// Digits of a uuid that are shown in a list, and that are enough to name a thing by.
pub const DIGITS: usize = 8;

/// Stands for nothing.
const NOTHING: &str = "-";

/// A body, and the moment it is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// As it came.
    pub body: &'a Value,
    /// By the clock of the control plane, as far as it is known.
    pub now: Timestamp,
}

impl Row<'_> {
    /// A text or a number as it is.
    pub fn text(&self, field: &str) -> String {
        match &self.body[field] {
            Value::String(text) if !text.is_empty() => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => NOTHING.to_owned(),
        }
    }

    /// The first digits of a uuid.
    pub fn digits(&self, field: &str) -> String {
        self.text(field).chars().take(DIGITS).collect()
    }

    /// Whether it is true; anything else is not.
    pub fn is(&self, field: &str) -> bool {
        self.body[field] == true
    }

    /// A number that means something else where it is 0.
    pub fn count(&self, field: &str, zero: &str) -> String {
        self.number(field, zero, |count| count)
    }

    /// A span in seconds that means something else where it is 0.
    pub fn span(&self, field: &str, zero: &str) -> String {
        self.number(field, zero, Seconds)
    }

    fn number<T: Display>(&self, field: &str, zero: &str, shown: impl Fn(u64) -> T) -> String {
        match self.body[field].as_u64() {
            Some(0) => zero.to_owned(),
            Some(number) => shown(number).to_string(),
            None => NOTHING.to_owned(),
        }
    }

    /// How long ago something happened.
    pub fn age(&self, field: &str) -> Option<Seconds> {
        let at: Timestamp = self.body[field].as_str()?.parse().ok()?;
        Some(Seconds::between(at, self.now))
    }

    /// The same in words.
    pub fn ago(&self, field: &str) -> String {
        self.age(field).map_or_else(|| NOTHING.to_owned(), |age| format!("{age} ago"))
    }

    /// Who holds it, since when and why; `word` says how that is called.
    pub fn hold(&self, field: &str, word: &str) -> Option<String> {
        let hold = Row { body: self.body.get(field).filter(|hold| hold.is_object())?, now: self.now };
        let since = hold.age("at").map_or_else(String::new, |age| format!(" {age}"));
        let reason = match hold.text("reason") {
            none if none == NOTHING => String::new(),
            reason => format!(": {reason}"),
        };
        Some(format!("{word}{since} by {}{reason}", hold.text("by")))
    }

    /// The same, or a dash.
    pub fn held(&self, field: &str, word: &str) -> String {
        self.hold(field, word).unwrap_or_else(|| NOTHING.to_owned())
    }
}
