//! Looking: what a path finds in a view, and whether the matchers hold.

use serde_json::Value;

use super::file::expectation::{Look, Matcher};

/// The values a path finds, in order.
pub(super) fn find(look: &Look, body: &Value) -> Vec<Value> {
    look.path.query(body).all().into_iter().cloned().collect()
}

/// All matchers hold.
pub(super) fn holds(look: &Look, found: &[Value]) -> bool {
    look.matchers.iter().all(|matcher| is_true(matcher, found))
}

fn is_true(matcher: &Matcher, found: &[Value]) -> bool {
    match matcher {
        Matcher::Equals(wanted) => wanted.len() == found.len() && wanted.iter().zip(found).all(|(a, b)| is_same(a, b)),
        Matcher::Contains(texts) => texts.iter().all(|text| found.iter().any(|value| has(value, text))),
        Matcher::Omits(texts) => !texts.iter().any(|text| found.iter().any(|value| has(value, text))),
        Matcher::Count(count) => found.len() == *count,
        Matcher::CountAbove(count) => found.len() > *count,
        Matcher::CountBelow(count) => found.len() < *count,
        Matcher::Min(limit) => are_numbers(found, |number| number >= *limit),
        Matcher::Max(limit) => are_numbers(found, |number| number <= *limit),
        Matcher::Absent(absent) => found.is_empty() == *absent,
    }
}

/// A text is part of a text, or of the compact JSON of anything else.
fn has(value: &Value, text: &str) -> bool {
    match value {
        Value::String(own) => own.contains(text),
        other => other.to_string().contains(text),
    }
}

fn are_numbers(found: &[Value], holds: impl Fn(f64) -> bool) -> bool {
    !found.is_empty() && found.iter().all(|value| value.as_f64().is_some_and(&holds))
}

/// Equal as JSON; `1` and `1.0` are the same number.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || (a.as_f64() == b.as_f64() && (a.is_f64() || b.is_f64())),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| is_same(a, b)))
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn matchers_say_what_the_contract_says() {
        let found = [json!("ash is offline"), json!({"a": 1}), json!(7)];
        let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let cases = [
            (Matcher::Equals(vec![json!("ash is offline"), json!({"a": 1.0}), json!(7)]), true),
            (Matcher::Equals(vec![json!(7)]), false),
            (Matcher::Contains(texts(&["ash", "offline", "\"a\":1", "7"])), true),
            (Matcher::Contains(texts(&["birch"])), false),
            (Matcher::Omits(texts(&["birch"])), true),
            (Matcher::Omits(texts(&["birch", "ash"])), false),
            (Matcher::Count(3), true),
            (Matcher::CountAbove(3), false),
            (Matcher::CountBelow(4), true),
            (Matcher::Min(1.0), false),
            (Matcher::Absent(false), true),
        ];
        for (matcher, holds) in cases {
            assert_eq!(is_true(&matcher, &found), holds, "{matcher:?}");
        }
    }

    #[test]
    fn nothing_found_passes_omits_and_absent_and_no_limit() {
        let nothing: [Value; 0] = [];
        assert!(is_true(&Matcher::Omits(vec!["x".to_owned()]), &nothing) && is_true(&Matcher::Absent(true), &nothing));
        assert!(!is_true(&Matcher::Min(0.0), &nothing) && !is_true(&Matcher::Max(9.0), &nothing));
        assert!(is_true(&Matcher::Equals(Vec::new()), &nothing));
        assert!(is_true(&Matcher::Min(1.0), &[json!(1), json!(2.5)]) && !is_true(&Matcher::Max(2.0), &[json!(2.5)]));
    }
}
