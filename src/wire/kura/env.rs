//! What a server's spec may not hold: a secret. It stands in the journal, in the instance and on screens.

use serde_json::Value;

use super::super::problem::{Problem, ProblemKind};
use super::super::values::{is_reference, is_secret, literal};
use crate::domain::kura::server::ServerSpec;

/// Refuses a secret, written out or referred to: nobody fills a reference in on the way to an instance.
///
/// # Errors
/// 422 with the path of the field.
pub(super) fn check(spec: &ServerSpec) -> Result<(), Problem> {
    let env =
        spec.extra_env.iter().map(|(name, value)| (format!("spec.extra_env.{name}"), name.as_str(), value.as_str()));
    let listed = spec.overrides.get("extraEnv").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let overridden = listed.iter().enumerate().filter_map(|(n, item)| {
        Some((format!("spec.overrides.extraEnv[{n}]"), item.get("name")?.as_str()?, item.get("value")?.as_str()?))
    });
    for (path, name, value) in env.chain(overridden) {
        match value {
            value if value.contains("{{") && is_reference(value) => return Err(unfilled(path)),
            value if is_secret(name) && !value.trim().is_empty() => return Err(written_out(path)),
            _ => {}
        }
    }
    let field = spec.overrides.iter().find_map(|(name, value)| literal(&format!("spec.overrides.{name}"), name, value));
    field.map_or(Ok(()), |path| Err(written_out(path)))
}

fn written_out(path: String) -> Problem {
    let message = format!("{path} looks like a secret that is written out");
    Problem::new(ProblemKind::Malformed, "secret_literal", message)
        .field(path)
        .hint("keep it in a Secret of the cluster, and let the workload read it from there")
}

fn unfilled(path: String) -> Problem {
    let message = format!("{path} refers to a secret, and nobody fills it in on the way to an instance");
    Problem::new(ProblemKind::Malformed, "secret_reference", message)
        .field(path)
        .hint("keep it in a Secret of the cluster, and let the workload read it from there")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn blamed(spec: Value) -> Option<(String, String)> {
        let spec: ServerSpec = serde_json::from_value(spec).unwrap();
        check(&spec).err().map(|problem| (problem.code, problem.field.unwrap_or_default()))
    }

    #[test]
    fn no_secret_gets_into_a_spec_whichever_way() {
        let found = |code: &str, field: &str| Some((code.to_owned(), field.to_owned()));
        let env = |value: &str| json!({"extra_env": {"DB_PASSWORD": value}});
        assert_eq!(blamed(env("hunter2")), found("secret_literal", "spec.extra_env.DB_PASSWORD"));
        assert_eq!(blamed(env("{{ secrets.DB }}")), found("secret_reference", "spec.extra_env.DB_PASSWORD"));
        let list = json!({"overrides": {"extraEnv": [{"name": "A", "value": "1"}, {"name": "API_KEY", "value": "k"}]}});
        assert_eq!(blamed(list), found("secret_literal", "spec.overrides.extraEnv[1]"));
        let deep = json!({"overrides": {"sidecar": {"token": "k"}}});
        assert_eq!(blamed(deep), found("secret_literal", "spec.overrides.sidecar.token"));
        assert_eq!(blamed(json!({"extra_env": {"LOG_LEVEL": "debug", "TOKEN": ""}})), None);
    }
}
