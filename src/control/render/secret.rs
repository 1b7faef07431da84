//! Secrets: their values on the way from the Vault into a content, and back out of whatever an agent says.

use std::collections::BTreeMap;
use std::fmt;

use super::super::ports::ApplyResult;

/// The shortest value: anything shorter would be found, and masked, in every other word.
pub const SECRET_MIN: usize = 4;

/// The longest value, in bytes.
pub const SECRET_MAX: usize = 64 * 1_024;

/// The shortest line of a value of several lines that is masked by itself.
const LINE_MIN: usize = 8;

/// What stands where a secret stood.
pub const MASK: &str = "***";

/// A value. Nothing prints it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    /// What is rendered.
    pub value: String,
    /// What was rendered before it was set anew: runs under way may still show it.
    pub previous: Option<String>,
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

/// The secrets of an account by name.
#[derive(Debug, Clone, Default)]
pub struct Secrets(pub BTreeMap<String, Secret>);

impl Secrets {
    /// The value of one.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|secret| secret.value.as_str())
    }

    /// What must not be said aloud, the longest first, so that no part of a secret stays behind.
    pub fn masks(&self) -> Masks {
        let mut needles: Vec<String> = self.0.values().flat_map(needles).collect();
        needles.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        needles.dedup();
        Masks { needles }
    }
}

/// A value as a log may show it: as it is, as JSON writes it, line by line.
fn needles(secret: &Secret) -> Vec<String> {
    let values = [Some(&secret.value), secret.previous.as_ref()].into_iter().flatten();
    let mut needles = Vec::new();
    for value in values {
        let value = value.trim();
        needles.push(value.to_owned());
        let json = serde_json::Value::from(value).to_string();
        needles.push(json[1..json.len() - 1].to_owned());
        needles.extend(value.lines().map(str::trim).filter(|line| line.len() >= LINE_MIN).map(str::to_owned));
    }
    needles.retain(|needle| needle.len() >= SECRET_MIN);
    needles
}

/// Texts that are masked wherever they show up.
#[derive(Clone, Default)]
pub struct Masks {
    needles: Vec<String>,
}

impl fmt::Debug for Masks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Masks({} texts)", self.needles.len())
    }
}

impl Masks {
    /// The text without any secret.
    pub fn mask(&self, text: &str) -> String {
        let shown = |text: String, needle: &String| match text.contains(needle.as_str()) {
            true => text.replace(needle.as_str(), MASK),
            false => text,
        };
        self.needles.iter().fold(text.to_owned(), shown)
    }

    /// What an agent says, without any secret.
    pub fn conceal(&self, mut result: ApplyResult) -> ApplyResult {
        result.log_tail = self.mask(&result.log_tail);
        for state in &mut result.failed_states {
            for text in [&mut state.id, &mut state.name, &mut state.comment] {
                *text = self.mask(text);
            }
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(value: &str, previous: Option<&str>) -> Secret {
        Secret { value: value.to_owned(), previous: previous.map(str::to_owned) }
    }

    fn masks() -> Masks {
        let key = "-----BEGIN KEY-----\nc2VjcmV0LWtleS1saW5l\nab\n-----END KEY-----\n";
        let known = [
            ("SHORT", secret("hunter2", Some("hunter1"))),
            ("LONG", secret("hunter2-and-more", None)),
            ("QUOTED", secret("say \"friend\"", None)),
            ("KEY", secret(key, None)),
        ];
        Secrets(known.map(|(name, secret)| (name.to_owned(), secret)).into()).masks()
    }

    #[test]
    fn a_secret_is_masked_in_every_shape_a_log_gives_it() {
        let masks = masks();
        assert_eq!(masks.mask("a hunter2-and-more b hunter2 c hunter1"), "a *** b *** c ***");
        assert_eq!(masks.mask(r#"{"x":"say \"friend\""}"#), r#"{"x":"***"}"#);
        assert_eq!(masks.mask("  | c2VjcmV0LWtleS1saW5l\n  | ab"), "  | ***\n  | ab");
        assert_eq!(masks.mask("nothing here"), "nothing here");
    }

    #[test]
    fn nothing_prints_a_secret() {
        let printed = format!("{:?} {:?}", secret("hunter2", Some("hunter1")), masks());
        assert!(!printed.contains("hunter"), "{printed}");
    }
}
