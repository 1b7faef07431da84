//! The JSON schema of scenario files, made from the types that read them.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::file::act::Circumstances;
use super::file::agents::AgentAct;
use super::file::console::ConsoleAct;
use super::file::expect::{LookGiven, ThenTiming};
use super::file::faults::FaultAct;
use super::file::given::Given;
use super::file::kura::KuraAct;
use super::file::rollouts::RolloutAct;
use super::file::rolls::RollAct;
use super::file::scenario::Heading;

/// The schema.
pub fn schema() -> Value {
    let mut generator = SchemaGenerator::default();
    let mut root = value(Heading::json_schema(&mut generator));
    let given = value(generator.subschema_for::<Given>());
    let mut acts = Vec::new();
    acts.extend(variants(value(AgentAct::json_schema(&mut generator))));
    acts.extend(variants(value(RolloutAct::json_schema(&mut generator))));
    acts.extend(variants(value(FaultAct::json_schema(&mut generator))));
    acts.extend(variants(value(ConsoleAct::json_schema(&mut generator))));
    acts.extend(variants(value(KuraAct::json_schema(&mut generator))));
    acts.extend(variants(value(RollAct::json_schema(&mut generator))));
    let around = value(Circumstances::json_schema(&mut generator));
    let acts: Vec<Value> = acts.into_iter().map(|act| merged(act, &around)).collect();
    let look = value(LookGiven::json_schema(&mut generator));
    let then = merged(value(ThenTiming::json_schema(&mut generator)), &look);
    let parts = [
        ("given", given),
        ("when", json!({ "type": "array", "items": { "oneOf": acts } })),
        ("then", json!({ "type": "array", "items": then })),
        ("never", json!({ "type": "array", "items": look })),
    ];
    for (name, part) in parts {
        root["properties"][name] = part;
    }
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!("Scenario of kura-console");
    let definitions: Map<String, Value> = generator.take_definitions(true);
    root["$defs"] = Value::Object(definitions);
    root
}

fn value(schema: Schema) -> Value {
    schema.into()
}

/// The variants of a tagged type.
fn variants(mut schema: Value) -> Vec<Value> {
    match schema["oneOf"].take() {
        Value::Array(variants) => variants,
        _ => vec![schema],
    }
}

/// An object with the properties of another as well; its own go first.
fn merged(mut schema: Value, other: &Value) -> Value {
    let Value::Object(properties) = &other["properties"] else { return schema };
    for (name, property) in properties {
        if schema["properties"].get(name).is_none() {
            schema["properties"][name] = property.clone();
        }
    }
    if let Value::Array(required) = &other["required"] {
        let mut all = schema["required"].as_array().cloned().unwrap_or_default();
        all.extend(required.iter().filter(|name| !all.contains(name)).cloned().collect::<Vec<_>>());
        schema["required"] = Value::Array(all);
    }
    schema
}
