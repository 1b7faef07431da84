//! Drift: what the live object says instead of what is rendered, field by field (K23, K28).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::object::tag_of;
use super::render::{Imprint, Manifest, render};
use super::server::Server;
use super::workload::Instance;

/// A field that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FieldDrift {
    /// Its path, such as `spec.ingressClassName`.
    pub field: String,
    /// What is rendered; none = it is not rendered, and was before.
    pub rendered: Option<Value>,
    /// What is there; none = nothing.
    pub live: Option<Value>,
}

/// Rendered fields that read otherwise on the live object. Fields that are not rendered are nobody's business (K49).
pub fn drift(manifest: &Manifest, live: &Value) -> Vec<FieldDrift> {
    let (rendered, live) = (leaves(manifest.spec()), leaves(live));
    let differs = |(field, value): (&String, &Value)| {
        let found = live.get(field);
        (found != Some(value)).then(|| FieldDrift {
            field: field.clone(),
            rendered: Some(value.clone()),
            live: found.cloned(),
        })
    };
    rendered.iter().filter_map(differs).collect()
}

/// The live object carries what was rendered: the image and the revision (K23).
pub fn carries(imprint: &Imprint, live: &Instance) -> bool {
    let image = live.spec.image().unwrap_or_default();
    tag_of(image) == tag_of(&imprint.image) && live.revision.as_ref() == Some(&imprint.revision)
}

/// The live object reads otherwise than what is rendered although the revision agrees: somebody edited it by hand (K28).
pub fn is_edited(server: &Server, tag: &str, live: &Instance) -> bool {
    carries(&server.imprint(tag), live) && !drift(&render(server, tag), &live.spec).is_empty()
}

/// Values by path; lists are leaves, and so is an empty object.
fn leaves(spec: &Value) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    collect("spec", spec, &mut found);
    found
}

fn collect(path: &str, value: &Value, found: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            fields.iter().for_each(|(name, value)| collect(&format!("{path}.{name}"), value, found));
        }
        leaf => drop(found.insert(path.to_owned(), leaf.clone())),
    }
}
