//! One text for one value: JSON whose objects are sorted by name, and digests of it (K21, K22).

use serde_json::Value;
use sha2::{Digest, Sha256};

/// Hex digits of a manifest's revision (K22).
pub const REVISION_DIGITS: usize = 16;

/// The one way to write a value: no spaces, objects sorted by name, whatever order the map has.
pub fn canonical(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_by(|a, b| a.0.cmp(b.0));
            let pair =
                |(name, value): (&String, &Value)| format!("{}:{}", Value::from(name.as_str()), canonical(value));
            format!("{{{}}}", sorted.into_iter().map(pair).collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        plain => plain.to_string(),
    }
}

/// The first `digits` hex digits of the SHA-256 of a text.
fn digest(text: &str, digits: usize) -> String {
    let whole: String = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    whole.chars().take(digits).collect()
}

/// The revision of everything that was rendered (K22).
pub fn revision(rendered: &Value) -> String {
    digest(&canonical(rendered), REVISION_DIGITS)
}

/// A name of at most `max` characters: one that is too long is cut and told apart by a digest of the whole.
pub fn bounded(name: &str, max: usize) -> String {
    const TOLD_APART: usize = 8;
    if name.chars().count() <= max {
        return name.to_owned();
    }
    let kept: String = name.chars().take(max.saturating_sub(TOLD_APART + 1)).collect();
    format!("{}-{}", kept.trim_end_matches('-'), digest(name, TOLD_APART))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_has_one_text_and_a_long_name_a_short_one() {
        // K22
        let value = json!({"b": [1, {"d": null, "c": "\u{e9}\""}], "a": 1.5});
        assert_eq!(canonical(&value), "{\"a\":1.5,\"b\":[1,{\"c\":\"\u{e9}\\\"\",\"d\":null}]}");
        assert_eq!(revision(&value).len(), REVISION_DIGITS);
        assert_eq!(revision(&json!({})), "44136fa355b3678a", "SHA-256 of {{}}");
        let (long, longer) = ("k".repeat(60), "k".repeat(61));
        assert_eq!(bounded(&long, 53).len(), 53);
        assert_ne!(bounded(&long, 53), bounded(&longer, 53));
        assert_eq!(bounded("kura-acme-eu", 53), "kura-acme-eu");
    }
}
