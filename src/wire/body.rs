//! Reads the body of a request: strictly, and naming the field that is to blame.

use serde::de::{Deserialize, DeserializeOwned, Deserializer, IgnoredAny};

use super::depth::check_depth;
use super::problem::{Problem, ProblemKind};

/// The largest body a request may have, in bytes.
pub const BODY_MAX: usize = 1024 * 1024;

/// What to send.
const EXAMPLE: &str = "send a JSON object, such as {\"reason\":\"maintenance\"}";

/// Reads a body, which is an object. 422 with the path of the field where its shape, a type or a range is wrong (R128).
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    check_depth(bytes)?;
    only_object(bytes)?;
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| malformed(&error))?;
    json.end().map_err(|error| not_json(&error))?;
    Ok(value)
}

/// A list would be read as well, by the order of the fields: nobody means that, and it names none of them.
fn only_object(bytes: &[u8]) -> Result<(), Problem> {
    if bytes.trim_ascii_start().starts_with(b"{") {
        return Ok(());
    }
    serde_json::from_slice::<IgnoredAny>(bytes).map_err(|error| not_json(&error))?;
    let problem = Problem::new(ProblemKind::Malformed, "no_object", "the body is JSON, but no object");
    Err(problem.hint(EXAMPLE))
}

/// Reads a body that may be left out altogether.
pub fn parse_or_default<T: DeserializeOwned + Default>(bytes: &[u8]) -> Result<T, Problem> {
    if bytes.trim_ascii().is_empty() { Ok(T::default()) } else { parse(bytes) }
}

/// For a field that may be left out but, where it is sent, must not be null.
pub fn sent<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// For a field in which null means something other than leaving it out.
pub fn nullable<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Some)
}

/// Refuses a request that sends one of `fields`; 400 naming the first of them in the order it was asked for.
pub fn refuse_fields(bytes: &[u8], fields: &[&str], why: &str) -> Result<(), Problem> {
    // What is no object is complained about when the body is read.
    let Ok(sent) = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(bytes) else { return Ok(()) };
    match fields.iter().find(|field| sent.contains_key(**field)) {
        None => Ok(()),
        Some(field) => Err(Problem::new(ProblemKind::Invalid, "immutable", format!("{field} {why}")).field(*field)),
    }
}

/// 422: a field that must be there is not.
pub fn missing(field: &str) -> Problem {
    Problem::new(ProblemKind::Malformed, "malformed", format!("missing field `{field}`")).field(field)
}

fn malformed(error: &serde_path_to_error::Error<serde_json::Error>) -> Problem {
    let inner = error.inner();
    if inner.is_syntax() || inner.is_eof() {
        return not_json(inner);
    }
    let said = plain(inner);
    let path = error.path().to_string();
    let named = backticked(&said).filter(|_| said.starts_with("unknown field") || said.starts_with("missing field"));
    let field = match (path.as_str(), named) {
        ("." | "", named) => named.map(str::to_owned),
        (path, Some(named)) if path == named || path.ends_with(&format!(".{named}")) => Some(path.to_owned()),
        (path, Some(named)) => Some(format!("{}.{named}", path.trim_end_matches(".?"))),
        (path, None) => Some(path.to_owned()),
    };
    let message = match &field {
        Some(field) if named.is_none() => match said.strip_prefix("it must ") {
            Some(what) => format!("{field} must {what}"),
            None => format!("{field}: {said}"),
        },
        _ => said.clone(),
    };
    let problem = Problem::new(ProblemKind::Malformed, "malformed", message);
    match field {
        Some(field) => problem.field(field),
        None => problem,
    }
}

fn not_json(error: &serde_json::Error) -> Problem {
    Problem::new(ProblemKind::Malformed, "not_json", format!("the body is not JSON: {error}")).hint(EXAMPLE)
}

/// What the parser said, in words for people and without the place in the text: the path of the field says it better.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let said = text.rsplit_once(" at line ").map_or(text.as_str(), |(said, _)| said);
    let mismatch = ["invalid type: ", "invalid value: "].iter().find_map(|kind| said.strip_prefix(kind));
    match mismatch.and_then(|mismatch| mismatch.rsplit_once(", expected ")) {
        Some((found, wanted)) => format!("it must be {}, not {}", wanted_in_words(wanted), found_in_words(found)),
        None => said.to_owned(),
    }
}

/// What a field takes; the parser names the types of this program.
fn wanted_in_words(wanted: &str) -> &str {
    match wanted {
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "usize" | "u128" => "a whole number, 0 or more",
        "i8" | "i16" | "i32" | "i64" | "isize" | "i128" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a string" | "string or map" => "a text",
        "a sequence" => "a list",
        "a map" => "an object",
        _ if wanted.starts_with("a nonzero ") => "a whole number, 1 or more",
        _ if wanted.starts_with("struct ") => "an object",
        _ if wanted.starts_with("tuple struct ") => "a single value",
        _ => wanted,
    }
}

/// What was sent instead. A text is not repeated: it may be what nobody should see.
fn found_in_words(found: &str) -> String {
    match found.split_once(' ') {
        Some(("string", _)) => "a text".to_owned(),
        Some(("integer" | "boolean", value)) => value.trim_matches('`').to_owned(),
        Some(("floating", value)) => value.trim_start_matches("point ").trim_matches('`').to_owned(),
        None if found == "map" => "an object".to_owned(),
        None if found == "sequence" => "a list".to_owned(),
        _ => found.to_owned(),
    }
}

fn backticked(text: &str) -> Option<&str> {
    text.split('`').nth(1)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    struct Outer {
        #[serde(deserialize_with = "sent")]
        cap: Option<u32>,
        #[serde(deserialize_with = "nullable")]
        place: Option<Option<i64>>,
        rungs: Vec<Rung>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Rung {
        pct: u8,
    }

    fn field_of(text: &str) -> (u16, Option<String>) {
        let problem = parse::<Outer>(text.as_bytes()).unwrap_err();
        (problem.kind.status(), problem.field)
    }

    #[test]
    fn the_field_to_blame_is_named_with_its_path() {
        // R128
        let named = |field: &str| (422, Some(field.to_owned()));
        assert_eq!(field_of(r#"{"cap":-1}"#), named("cap"));
        assert_eq!(field_of(r#"{"cap":1.5}"#), named("cap"));
        assert_eq!(field_of(r#"{"cap":null}"#), named("cap"));
        assert_eq!(field_of(r#"{"cap":"1"}"#), named("cap"));
        assert_eq!(field_of(r#"{"rungs":[{"pct":1},{"pct":300}]}"#), named("rungs[1].pct"));
        assert_eq!(field_of(r#"{"rungs":[{}]}"#), named("rungs[0].pct"));
        assert_eq!(field_of(r#"{"rungs":[{"pct":1,"per":2}]}"#), named("rungs[0].per"));
        assert_eq!(field_of(r#"{"caps":1}"#), named("caps"));
    }

    #[test]
    fn what_is_wrong_is_said_in_words_for_people() {
        // R128
        let said = |text: &str| parse::<Outer>(text.as_bytes()).unwrap_err().message;
        for (sent, told) in [
            (r#"{"cap":-1}"#, "cap must be a whole number from 0 to 4294967295, not -1"),
            (r#"{"cap":1.5}"#, "cap must be a whole number from 0 to 4294967295, not 1.5"),
            (r#"{"cap":null}"#, "cap must be a whole number from 0 to 4294967295, not null"),
            (r#"{"cap":"hunter2"}"#, "cap must be a whole number from 0 to 4294967295, not a text"),
            (r#"{"place":true}"#, "place must be a whole number, not true"),
            (r#"{"rungs":{}}"#, "rungs must be a list, not an object"),
            (r#"{"rungs":[{"pct":300}]}"#, "rungs[0].pct must be a whole number from 0 to 255, not 300"),
            (r#"{"rungs":[7]}"#, "rungs[0] must be an object, not 7"),
        ] {
            assert_eq!(said(sent), told);
        }
    }

    #[test]
    fn a_list_of_values_is_no_body() {
        // R128
        assert!(serde_json::from_slice::<Outer>(b"[1, 2, []]").is_ok(), "the parser itself takes it");
        for text in ["[1, 2, []]", " [ ]", "null", "7", "\"x\"", "true"] {
            let problem = parse::<Outer>(text.as_bytes()).unwrap_err();
            assert_eq!((problem.kind.status(), problem.code.as_str()), (422, "no_object"), "{text}");
        }
    }

    #[test]
    fn what_is_no_json_says_so() {
        for text in ["", "{", "{} {}", "cap=1"] {
            assert_eq!(field_of(text), (422, None), "{text}");
        }
    }

    #[test]
    fn null_left_out_and_empty_are_told_apart() {
        assert_eq!(parse::<Outer>(b"{}").unwrap().place, None);
        assert_eq!(parse::<Outer>(br#"{"place":null}"#).unwrap().place, Some(None));
        assert_eq!(parse::<Outer>(br#"{"place":3}"#).unwrap().place, Some(Some(3)));
        assert_eq!(parse_or_default::<Outer>(b" \n").unwrap(), Outer::default());
    }
}
