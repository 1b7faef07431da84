//! Secrets: names as shown, values as sent. Nothing that is said about a value repeats any of it.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::problem::{Problem, ProblemKind};
use crate::control::render::secret::{SECRET_MAX, SECRET_MIN};
use crate::domain::world::SecretMark;

/// Where they are listed; one of them is set at its name below it.
pub const PATH: &str = "/api/secrets/";

/// A secret as shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecretBody {
    /// What `{{ secrets.NAME }}` refers to.
    pub name: String,
    /// When it was set last.
    pub set_at: Timestamp,
    /// Who set it.
    pub set_by: String,
}

impl SecretBody {
    /// The body of one.
    pub fn of(name: &str, mark: &SecretMark) -> Self {
        Self { name: name.to_owned(), set_at: mark.at, set_by: mark.by.clone() }
    }
}

/// A value that is to be kept. Nothing prints it.
#[derive(Clone, PartialEq, Eq, JsonSchema)]
pub struct SecretSet {
    /// The value.
    pub value: String,
    /// Why.
    pub reason: Option<String>,
}

impl std::fmt::Debug for SecretSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretSet").field("reason", &self.reason).finish_non_exhaustive()
    }
}

impl SecretSet {
    /// Reads `{"value": ..., "reason": ...}` by hand: the words of a parser repeat what it could not read.
    pub fn parse(bytes: &[u8]) -> Result<Self, Problem> {
        let Ok(Value::Object(mut fields)) = serde_json::from_slice(bytes) else {
            return Err(malformed("the body is no JSON object with a value", None));
        };
        let text = |field: Option<Value>, name: &str| match field {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(malformed(&format!("{name} is no text"), Some(name))),
        };
        let (value, reason) = (text(fields.remove("value"), "value")?, text(fields.remove("reason"), "reason")?);
        if !fields.is_empty() {
            return Err(malformed("there are fields other than value and reason", None));
        }
        let value = value.ok_or_else(|| malformed("value is missing", Some("value")))?;
        if value.trim().len() < SECRET_MIN || value.len() > SECRET_MAX {
            let limits = format!("value has {SECRET_MIN} to {SECRET_MAX} bytes, blanks around it not counted");
            return Err(malformed(&limits, Some("value")));
        }
        Ok(Self { value, reason })
    }
}

fn malformed(message: &str, field: Option<&str>) -> Problem {
    let problem = Problem::new(ProblemKind::Malformed, "malformed", message).hint("send {\"value\": \"...\"}");
    match field {
        Some(field) => problem.field(field),
        None => problem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_value_is_said_without_it() {
        let odd = [
            r#""canary-value""#,
            r#"{"value": ["canary-value"]}"#,
            r#"{"value": "canary-value", "canary-value": 1}"#,
            r#"{"canary-value": "x"}"#,
            r#"{"value": "canary-value", "reason": {"a": "canary-value"}}"#,
            r#"{"value": "canary-value"#,
            r#"{"value": " cv "}"#,
        ];
        for body in odd {
            let problem = SecretSet::parse(body.as_bytes()).unwrap_err();
            assert_eq!(problem.kind.status(), 422, "{body}");
            assert!(!format!("{problem:?}").contains("canary"), "{problem:?}");
        }
        let kept = SecretSet::parse(br#"{"value": "canary-value", "reason": "new token"}"#).unwrap();
        assert_eq!((kept.value.as_str(), kept.reason.as_deref()), ("canary-value", Some("new token")));
        assert!(!format!("{kept:?}").contains("canary"), "{kept:?}");
    }
}
