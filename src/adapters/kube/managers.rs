//! Who set which field, as `metadata.managedFields` tells it.

use imbl::OrdMap;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The claims of one manager.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Claims {
    /// Who.
    manager: String,
    /// `status` and the like: written by controllers, never applied.
    subresource: Option<String>,
    /// When it last changed what it claims.
    time: Option<Timestamp>,
    /// Which fields, as a tree.
    #[serde(rename = "fieldsV1")]
    fields: Map<String, Value>,
}

/// Fields of the wanted object that somebody else claims and `own` does not, with who it is (K28).
pub(super) fn foreign(all: &[Claims], own: &str) -> OrdMap<String, String> {
    let mut found = OrdMap::new();
    for claims in all.iter().filter(|claims| claims.manager != own && claims.subresource.is_none()) {
        for path in wanted(&claims.fields) {
            found.insert(path, claims.manager.clone());
        }
    }
    for claims in all.iter().filter(|claims| claims.manager == own) {
        for path in wanted(&claims.fields) {
            found.remove(&path);
        }
    }
    found
}

/// When somebody last changed what they claim, among those who claim this path, such as `["spec", "updateStrategy"]`.
pub(super) fn last_change(all: &[Claims], path: &[&str]) -> Option<Timestamp> {
    claimants(all, path).filter_map(|claims| claims.time).max()
}

/// Who claims this path: `own` where it is among them, else whoever changed it last (A11).
pub(super) fn holder(all: &[Claims], path: &[&str], own: &str) -> Option<String> {
    let last = claimants(all, path).max_by_key(|claims| (claims.manager == own, claims.time))?;
    Some(last.manager.clone())
}

fn claimants<'a>(all: &'a [Claims], path: &[&str]) -> impl Iterator<Item = &'a Claims> {
    all.iter().filter(move |claims| {
        let mut node = Some(&claims.fields);
        for part in path {
            node = node.and_then(|fields| fields.get(&format!("f:{part}"))).and_then(Value::as_object);
        }
        node.is_some()
    })
}

/// Paths of what people mean by an object: its spec, labels and annotations.
fn wanted(fields: &Map<String, Value>) -> Vec<String> {
    let mut paths = Vec::new();
    collect(fields, String::new(), &mut paths);
    let roots = ["spec.", "metadata.labels.", "metadata.annotations."];
    paths.retain(|path| roots.iter().any(|root| path.starts_with(root)));
    paths
}

/// Leaves of a tree of fields, named as the API server names them in a conflict.
fn collect(fields: &Map<String, Value>, at: String, paths: &mut Vec<String>) {
    let children: Vec<(String, &Map<String, Value>)> =
        fields.iter().filter_map(|(name, below)| Some((step(&at, name)?, below.as_object()?))).collect();
    if children.is_empty() && !at.is_empty() {
        paths.push(at);
        return;
    }
    for (path, below) in children {
        collect(below, path, paths);
    }
}

/// `f:name` is a field, `k:{"name":"A"}` an item by its keys, `v:value` an item by itself, `.` the thing as such.
fn step(at: &str, name: &str) -> Option<String> {
    let (kind, rest) = name.split_once(':')?;
    Some(match kind {
        "f" if at.is_empty() => rest.to_owned(),
        "f" => format!("{at}.{rest}"),
        "k" => {
            let keys: Map<String, Value> = serde_json::from_str(rest).ok()?;
            let keys: Vec<String> = keys.iter().map(|(key, value)| format!("{key}={value}")).collect();
            format!("{at}[{}]", keys.join(","))
        }
        "v" => format!("{at}[={rest}]"),
        _ => format!("{at}[{rest}]"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn claims(value: Value) -> Vec<Claims> {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn what_others_set_is_told_field_by_field() {
        // K28
        let all = claims(json!([
            {"manager": "kura-console", "operation": "Apply", "fieldsV1": {"f:spec": {"f:image": {}, "f:region": {}}}},
            {"manager": "kubectl-edit", "operation": "Update", "fieldsV1": {
                "f:metadata": {"f:annotations": {".": {}, "f:tuist.dev/note": {}}, "f:finalizers": {"v:\"x\"": {}}},
                "f:spec": {
                    "f:ingressClassName": {},
                    "f:region": {},
                    "f:extraEnv": {"k:{\"name\":\"A\"}": {".": {}, "f:value": {}}},
                },
            }},
            {"manager": "kura-controller", "operation": "Update", "subresource": "status",
             "fieldsV1": {"f:status": {"f:phase": {}}}},
        ]));
        let told: Vec<String> = foreign(&all, "kura-console").keys().cloned().collect();
        let expected =
            ["metadata.annotations.tuist.dev/note", r#"spec.extraEnv[name="A"].value"#, "spec.ingressClassName"];
        assert_eq!(told, expected, "what is claimed together is not foreign, nor are finalizers and status");
    }

    #[test]
    fn the_last_change_is_of_those_who_claim_the_field() {
        let all = claims(json!([
            {"manager": "a", "time": "2026-01-01T00:00:00Z", "fieldsV1": {"f:spec": {"f:updateStrategy": {"f:type": {}}}}},
            {"manager": "b", "time": "2026-02-01T00:00:00Z", "fieldsV1": {"f:spec": {"f:replicas": {}}}},
        ]));
        let at = last_change(&all, &["spec", "updateStrategy"]);
        assert_eq!(at, Some("2026-01-01T00:00:00Z".parse().unwrap()));
        assert_eq!(last_change(&all, &["spec", "template"]), None);
    }

    #[test]
    fn a_field_is_held_by_us_where_we_claim_it_else_by_whoever_changed_it_last() {
        // A11
        let bit = |manager: &str, month: u8| {
            let time = format!("2026-{month:02}-01T00:00:00Z");
            json!({"manager": manager, "time": time, "fieldsV1": {"f:spec": {"f:unschedulable": {}}}})
        };
        let held = |all: Value| holder(&claims(all), &["spec", "unschedulable"], "kura-console");
        assert_eq!(held(json!([bit("kubectl-cordon", 1), bit("kubectl-edit", 2)])).as_deref(), Some("kubectl-edit"));
        assert_eq!(held(json!([bit("kura-console", 1), bit("kubectl-edit", 2)])).as_deref(), Some("kura-console"));
        assert_eq!(held(json!([])), None);
    }
}
