//! Bodies as scenarios speak of them: ids of the file, and whole seconds for every `at`.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::file::moment::Moment;
use super::ids::Ids;

/// Fields that hold the uuid of a thing a body is about, and the field that gets what the file calls it.
const NAMED: [(&str, &str); 3] =
    [("config_release_uuid", "release"), ("release_uuid", "release"), ("applied_release_uuid", "applied_release")];

/// Dresses a body of the API.
pub(super) fn dressed(ids: &Ids, start: Timestamp, body: Value) -> Value {
    match body {
        Value::Array(items) => Value::Array(items.into_iter().map(|item| dressed(ids, start, item)).collect()),
        Value::Object(fields) => Value::Object(object(ids, start, fields)),
        plain => plain,
    }
}

fn object(ids: &Ids, start: Timestamp, fields: Map<String, Value>) -> Map<String, Value> {
    let uuid = fields.get("machine_uuid").or_else(|| fields.get("uuid")).and_then(Value::as_str);
    let hostname = uuid.and_then(|uuid| ids.name_of(uuid)).map(str::to_owned);
    let mut dressed_fields = Map::new();
    for (field, value) in fields {
        let value = match (field.as_str(), &value) {
            ("at", Value::String(text)) => seconds(text, start).unwrap_or(value),
            ("hostname", Value::String(_)) => hostname.clone().map_or(value, Value::String),
            _ => dressed(ids, start, value),
        };
        if let Some((_, name)) = NAMED.iter().find(|(known, _)| *known == field) {
            let named = value.as_str().and_then(|uuid| ids.name_of(uuid));
            dressed_fields.entry(*name).or_insert(json!(named));
        }
        dressed_fields.insert(field, value);
    }
    dressed_fields
}

/// A time as whole seconds after the start.
fn seconds(text: &str, start: Timestamp) -> Option<Value> {
    let at: Timestamp = text.parse().ok()?;
    Some(json!(Moment::of(at, start).0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_names_and_releases_are_ids_of_the_file_and_at_is_whole_seconds() {
        let mut ids = Ids::default();
        let (machine, release) = (ids.machine("ash"), ids.release("v1"));
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let body = json!({
            "config_release_uuid": release,
            "machines": [{"uuid": machine, "hostname": "node-7", "pause": {"at": "2026-01-01T00:01:00Z"}}],
            "applied_release_uuid": null,
        });
        let expected = json!({
            "config_release_uuid": release,
            "release": "v1",
            "machines": [{"uuid": machine, "hostname": "ash", "pause": {"at": 60}}],
            "applied_release_uuid": null,
            "applied_release": null,
        });
        assert_eq!(dressed(&ids, start, body), expected);
    }
}
