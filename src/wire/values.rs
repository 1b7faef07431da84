//! Config values as a request sends them: any JSON, but no secret written out in full.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::problem::{Problem, ProblemKind};
use crate::domain::fleet::ConfigValues;

/// Parts of a name that make it look like the name of a secret.
const SECRET_PARTS: [&str; 10] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "authkey",
    "privatekey",
    "credential",
    "accesskey",
];

/// Words of a name that do.
const SECRET_WORDS: [&str; 4] = ["pass", "pwd", "psk", "passcode"];

/// Values that were sent, where they were sent.
pub fn sent<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ConfigValues>, D::Error> {
    ConfigValues::deserialize(deserializer).map(Some)
}

/// Refuses a text written out under a name that looks like a secret: values are kept in the journal and shown to every
/// reader, secrets are not. A reference such as `{{ secrets.NAME }}` is fine.
pub fn refuse_secrets(values: Option<&ConfigValues>) -> Result<(), Problem> {
    let Some(values) = values else { return Ok(()) };
    let literal = values.iter().find_map(|(name, value)| literal(&format!("config_values.{name}"), name, value));
    match literal {
        None => Ok(()),
        Some(path) => Err(Problem::new(
            ProblemKind::Malformed,
            "secret_literal",
            format!("{path} looks like a secret that is written out"),
        )
        .field(path)
        .hint("refer to it: \"{{ secrets.NAME }}\"")),
    }
}

/// Path of the first secret that is written out in `value`, which stands under `name`.
pub(super) fn literal(path: &str, name: &str, value: &Value) -> Option<String> {
    match value {
        Value::String(text) => (is_secret(name) && !is_reference(text)).then(|| path.to_owned()),
        Value::Number(_) => ends_as_secret(name).then(|| path.to_owned()),
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(n, item)| literal(&format!("{path}[{n}]"), name, item))
        }
        Value::Object(fields) => fields.iter().find_map(|(field, value)| {
            let named = fields.get("name").and_then(Value::as_str).filter(|_| field == "value");
            literal(&format!("{path}.{field}"), named.unwrap_or(field), value)
        }),
        _ => None,
    }
}

/// A name that looks like that of a secret.
pub(super) fn is_secret(name: &str) -> bool {
    let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let letters = letters.to_ascii_lowercase();
    SECRET_PARTS.iter().any(|part| letters.contains(part)) || words(name).any(|word| SECRET_WORDS.contains(&&*word))
}

/// A number under `TOKEN` is one; under `TOKEN_TTL_SECONDS` it is a setting.
fn ends_as_secret(name: &str) -> bool {
    let last = words(name).last().unwrap_or_default();
    SECRET_PARTS.iter().chain(&SECRET_WORDS).any(|word| last.ends_with(word))
}

fn words(name: &str) -> impl Iterator<Item = String> {
    name.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase)
}

/// A text that refers to a secret, or is empty.
pub(super) fn is_reference(text: &str) -> bool {
    let text = text.trim();
    let inner = text.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
    text.is_empty() || inner.is_some_and(|inner| inner.trim().starts_with("secrets.") && !inner.contains("{{"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blamed(json: &str) -> Option<String> {
        let values: ConfigValues = serde_json::from_str(json).unwrap();
        refuse_secrets(Some(&values)).err().and_then(|problem| problem.field)
    }

    #[test]
    fn a_secret_that_is_written_out_is_found_wherever_it_stands() {
        assert_eq!(blamed(r#"{"DB_PASSWORD":"hunter2"}"#).unwrap(), "config_values.DB_PASSWORD");
        assert_eq!(blamed(r#"{"db":{"api-key":"k"}}"#).unwrap(), "config_values.db.api-key");
        assert_eq!(blamed(r#"{"tokens":["a"]}"#).unwrap(), "config_values.tokens[0]");
        assert!(blamed(r#"{"T_TOKEN":"{{ secrets.A }} and more"}"#).is_some());
        for name in ["DB_PASS", "pwd", "AUTH_KEY", "wifi-psk"] {
            assert!(blamed(&format!(r#"{{"{name}":"x"}}"#)).is_some(), "{name}");
        }
        assert_eq!(blamed(r#"{"PASSWORD":12345}"#).unwrap(), "config_values.PASSWORD");
        let env = r#"{"env":[{"name":"DB_PASSWORD","value":"x"}]}"#;
        assert_eq!(blamed(env).unwrap(), "config_values.env[0].value");
    }

    #[test]
    fn references_and_settings_are_no_secrets() {
        assert_eq!(blamed(r#"{"K8S_DRAIN_TOKEN":"{{ secrets.K8S_DRAIN_TOKEN }}"}"#), None);
        assert_eq!(blamed(r#"{"token_ttl_seconds":60,"K8S_VIP":"10.0.0.1","password":""}"#), None);
        assert_eq!(blamed(r#"{"bypass":"on","compass":"north","env":[{"name":"REGION","value":"x"}]}"#), None);
    }
}
