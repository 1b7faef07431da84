//! Why somebody does something, in that person's words: kept with the change.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::problem::{Problem, ProblemKind};

/// The longest reason that is kept, in characters.
pub const REASON_MAX: usize = 500;

/// The body of a verb that needs no more than its path. It may be left out altogether.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReasonBody {
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Trims a reason; blank ones are none. 422 where it is too long or would break a line on a screen.
pub fn checked(reason: Option<String>) -> Result<Option<String>, Problem> {
    let Some(text) = reason.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let problem = |why: String| Err(Problem::new(ProblemKind::Malformed, "bad_reason", why).field("reason"));
    if text.chars().count() > REASON_MAX {
        return problem(format!("reason is longer than {REASON_MAX} characters"));
    }
    if text.chars().any(char::is_control) {
        return problem("reason must be one line of text".to_owned());
    }
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_one_trimmed_line_of_bounded_length() {
        let ok = |text: &str| checked(Some(text.to_owned())).unwrap();
        assert_eq!(ok("  disk swap "), Some("disk swap".to_owned()));
        assert_eq!(ok("   "), None);
        assert_eq!(checked(Some("a\u{1b}[2Jb".to_owned())).unwrap_err().field.as_deref(), Some("reason"));
        assert!(checked(Some("x".repeat(REASON_MAX))).is_ok());
        assert!(checked(Some("x".repeat(REASON_MAX + 1))).is_err());
    }
}
