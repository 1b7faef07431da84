//! docs/scenario.schema.json: made from the types that read scenario files, knows every verb, and holds for every file.
//!
//! To write it anew: `KURA_REGENERATE=1 cargo test --test suite schema`.

use std::fs;
use std::path::{Path, PathBuf};

use kura_console::sim::scenario::file::act::verbs;
use kura_console::sim::scenario::schema::schema;
use serde_json::{Value, json};

/// The one pattern of the schema: a span of time such as `90`, `-5m`, `1h30m`.
const SPAN: &str = "^-?([0-9]+|([0-9]+[smhd])+)$";

#[test]
fn the_kept_schema_is_that_of_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/scenario.schema.json");
    let made = format!("{:#}\n", schema());
    if std::env::var_os("KURA_REGENERATE").is_some() {
        fs::write(&path, &made).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == made, "docs/scenario.schema.json is stale: run KURA_REGENERATE=1 cargo test --test suite schema");
}

#[test]
fn every_verb_that_is_read_is_in_the_schema_and_no_other() {
    let schema = schema();
    let acts = schema["properties"]["when"]["items"]["oneOf"].as_array().unwrap();
    let mut published: Vec<&str> = acts.iter().map(|act| act["properties"]["do"]["const"].as_str().unwrap()).collect();
    let mut known = verbs();
    published.sort_unstable();
    known.sort_unstable();
    assert_eq!(published, known);
}

#[test]
fn every_scenario_is_as_the_schema_says() {
    let schema = schema();
    let files = files();
    assert!(files.len() > 50, "{files:?}");
    for path in files {
        let file: Value = serde_yaml::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(faults(&schema, &file), Vec::<String>::new(), "{}", path.display());
    }
}

#[test]
fn what_no_scenario_may_say_is_not_as_the_schema_says() {
    let schema = schema();
    let of = |act: Value| faults(&schema, &json!({"scenario": "x", "basis": "R1", "given": {}, "when": [act]}));
    let begins = json!({"at": "1s", "do": "runtime_wedged", "node": "wk-1"});
    assert_eq!(of(begins.clone()), faults(&schema, &json!({"scenario": "x", "basis": "R1", "given": {}})));
    let spoilt = |field: &str, value: Value| {
        let mut act = begins.clone();
        act[field] = value;
        act
    };
    for (act, said) in [
        (spoilt("do", json!("runtime_wegded")), "runtime_wegded"),
        (spoilt("at", json!("soon")), "soon"),
        (spoilt("nod", json!("wk-1")), "nod"),
        (json!({"at": "1s", "do": "runtime_wedged"}), "node"),
        (json!({"at": "1s", "do": "probe_result", "roll": "r", "node": "n", "outcome": "fine"}), "fine"),
    ] {
        let found = of(act);
        assert!(found.iter().any(|fault| fault.contains(said)), "{said}: {found:?}");
    }
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let all = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = all.filter(|path| path.extension().is_some_and(|end| end == "yaml")).collect();
    files.sort();
    files
}

/// Where a value is not as a schema says; keywords the schema does not use so far are refused, not passed over.
fn faults(root: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    look(root, root, value, "", &mut found);
    found
}

fn look(root: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let Value::Object(keywords) = schema else {
        assert!(schema.is_boolean(), "no schema: {schema}");
        if schema == &json!(false) {
            found.push(format!("{at} may not be there: {value}"));
        }
        return;
    };
    for (keyword, said) in keywords {
        let holds = match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" | "default" => true,
            "$ref" => {
                let path = said.as_str().unwrap().strip_prefix('#').unwrap();
                look(root, root.pointer(path).unwrap(), value, at, found);
                true
            }
            "type" => list(said).iter().any(|kind| is_a(kind, value)),
            "const" => value == said,
            "enum" => list(said).contains(value),
            "anyOf" => list(said).iter().any(|one| admits(root, one, value, at)),
            "oneOf" => one_of(root, list(said), value, at, found),
            "minimum" => value.as_f64().is_none_or(|number| number >= said.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|number| number <= said.as_f64().unwrap()),
            "pattern" => said == SPAN && value.as_str().is_none_or(is_span),
            "format" => is_formatted(said.as_str().unwrap(), value),
            "required" => {
                let missing = list(said).iter().filter(|name| value.get(name.as_str().unwrap()).is_none());
                found.extend(missing.map(|name| format!("{at}/{} is missing", name.as_str().unwrap())));
                true
            }
            "items" => {
                let items = value.as_array().into_iter().flatten().enumerate();
                items.for_each(|(place, item)| look(root, said, item, &format!("{at}/{place}"), found));
                true
            }
            "properties" | "additionalProperties" => {
                let named = &schema["properties"];
                for (name, inner) in value.as_object().into_iter().flatten() {
                    let of = if keyword == "properties" { said.get(name) } else { Some(said) };
                    if let Some(of) = of.filter(|_| keyword == "properties" || named.get(name).is_none()) {
                        look(root, of, inner, &format!("{at}/{name}"), found);
                    }
                }
                true
            }
            other => panic!("the schema uses {other}, which this test does not know"),
        };
        if !holds {
            found.push(format!("{at}: {value} against {keyword} {said}"));
        }
    }
}

fn list(said: &Value) -> &[Value] {
    said.as_array().map_or(std::slice::from_ref(said), Vec::as_slice)
}

fn admits(root: &Value, schema: &Value, value: &Value, at: &str) -> bool {
    let mut found = Vec::new();
    look(root, schema, value, at, &mut found);
    found.is_empty()
}

/// Where the verb picks the variant, what is wrong with that variant is said, and not only that none fits.
fn one_of(root: &Value, variants: &[Value], value: &Value, at: &str, found: &mut Vec<String>) -> bool {
    let verb = |schema: &Value| schema["properties"].get("do").map(|tag| tag["const"].clone());
    if let Some(meant) = variants.iter().find(|one| verb(one).is_some_and(|verb| value.get("do") == Some(&verb))) {
        look(root, meant, value, at, found);
        return true;
    }
    variants.iter().filter(|one| admits(root, one, value, at)).count() == 1
}

fn is_a(kind: &Value, value: &Value) -> bool {
    match kind.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type: {other}"),
    }
}

fn is_formatted(format: &str, value: &Value) -> bool {
    match format {
        "date-time" => value.as_str().is_none_or(|text| text.parse::<jiff::Timestamp>().is_ok()),
        "uint8" => value.as_u64().is_none_or(|number| number <= 255),
        "uint" | "uint32" | "uint64" | "int64" | "double" => true,
        other => panic!("no format: {other}"),
    }
}

fn is_span(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let pieces: Vec<&str> = text.split_inclusive(['s', 'm', 'h', 'd']).collect();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number(text)
        || !pieces.is_empty() && pieces.iter().all(|piece| !is_number(piece) && is_number(&piece[..piece.len() - 1]))
}
