//! What a server's configuration may be: bounded in every way, so that no slip of the hand reaches a cluster.

use std::collections::BTreeMap;

use super::server::ServerSpec;

/// Pods of a server.
pub const REPLICAS_MAX: u32 = 100;

/// Longest image tag (an OCI tag has at most 128 characters).
pub const TAG_MAX: usize = 128;

/// Longest name of a host, a storage class or a node label's prefix.
const SUBDOMAIN_MAX: usize = 253;

/// Longest part of a name between dots, and longest value of a label.
const LABEL_MAX: usize = 63;

/// Longest repository of an image, without its tag.
const REPOSITORY_MAX: usize = 255;

/// Smallest and largest claim, in MiB: 64 MiB and 64 TiB.
const STORAGE_MIB: (f64, f64) = (64.0, 64.0 * 1024.0 * 1024.0);

/// Environment variables, node labels, tolerations and overrides, each.
const ENTRIES_MAX: usize = 100;

/// Longest name of an environment variable.
const ENV_NAME_MAX: usize = 128;

/// Longest value of an environment variable, in bytes.
const ENV_VALUE_MAX: usize = 4 * 1024;

/// A field that cannot be, and what is wrong with it.
pub type Fault = (&'static str, String);

/// Looks at everything that is configured.
///
/// # Errors
/// The first field that is out of its range.
pub fn check(spec: &ServerSpec) -> Result<(), Fault> {
    replicas(spec.replicas)?;
    spec.public_host.as_ref().map_or(Ok(()), |host| host_name("spec.public_host", host))?;
    spec.storage_class.as_ref().map_or(Ok(()), |class| host_name("spec.storage_class", class))?;
    storage(&spec.storage_size)?;
    spec.image_repository.as_ref().map_or(Ok(()), |repository| self::repository(repository))?;
    node_selector(&spec.node_selector)?;
    count("spec.tolerations", spec.tolerations.len())?;
    match spec.tolerations.iter().all(serde_json::Value::is_object) {
        true => Ok(()),
        false => Err(("spec.tolerations", "has an entry that is no object".to_owned())),
    }?;
    environment(&spec.extra_env)?;
    count("spec.overrides", spec.overrides.len())
}

/// An image tag.
///
/// # Errors
/// Where it is empty or too long; which characters it has is looked at later.
pub fn tag(field: &'static str, tag: &str) -> Result<(), Fault> {
    match tag.len() {
        0 => Err((field, "is empty".to_owned())),
        long if long > TAG_MAX => Err((field, format!("is {long} characters long, at most {TAG_MAX} are allowed"))),
        _ => Ok(()),
    }
}

fn replicas(replicas: u32) -> Result<(), Fault> {
    match (1..=REPLICAS_MAX).contains(&replicas) {
        true => Ok(()),
        false => Err(("spec.replicas", format!("is {replicas}, not from 1 to {REPLICAS_MAX}"))),
    }
}

fn count(field: &'static str, entries: usize) -> Result<(), Fault> {
    match entries {
        many if many > ENTRIES_MAX => Err((field, format!("has {many} entries, at most {ENTRIES_MAX} are allowed"))),
        _ => Ok(()),
    }
}

/// A name as the DNS has it, in lower case (RFC 1123).
fn host_name(field: &'static str, name: &str) -> Result<(), Fault> {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_label = |label: &str| {
        (1..=LABEL_MAX).contains(&label.len())
            && label.chars().all(inner)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    match name.len() <= SUBDOMAIN_MAX && name.split('.').all(is_label) {
        true => Ok(()),
        false => {
            Err((field, format!("{name:?} is no name such as eu1.cache.example: lower case, digits, '-' and '.'")))
        }
    }
}

/// A quantity such as `20Gi`.
fn storage(size: &str) -> Result<(), Fault> {
    let field = "spec.storage_size";
    let Some(mib) = mebibytes(size) else {
        return Err((field, format!("{size:?} is no size such as 20Gi or 500Mi")));
    };
    let (least, most) = STORAGE_MIB;
    match (least..=most).contains(&mib) {
        true => Ok(()),
        false => Err((field, format!("{size} is not from 64Mi to 64Ti"))),
    }
}

/// A Kubernetes quantity of bytes; none = it is none.
fn mebibytes(size: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 9] = [
        ("Ki", 1024.0),
        ("Mi", 1_048_576.0),
        ("Gi", 1_073_741_824.0),
        ("Ti", 1_099_511_627_776.0),
        ("k", 1e3),
        ("M", 1e6),
        ("G", 1e9),
        ("T", 1e12),
        ("", 1.0),
    ];
    let (unit, factor) = UNITS.iter().find(|(unit, _)| size.ends_with(unit))?;
    let number = size.strip_suffix(unit)?;
    let is_plain = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number: f64 = number.parse().ok().filter(|_| is_plain)?;
    Some(number * factor / 1_048_576.0)
}

fn repository(repository: &str) -> Result<(), Fault> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-' | '_' | '/' | ':');
    let last = repository.rsplit('/').next().unwrap_or_default();
    let whole = (1..=REPOSITORY_MAX).contains(&repository.len())
        && repository.chars().all(fits)
        && repository.split('/').all(|part| !part.is_empty())
        && !last.contains(':');
    match whole {
        true => Ok(()),
        false => Err((
            "spec.image_repository",
            format!("{repository:?} is no repository without a tag, such as ghcr.io/a/kura"),
        )),
    }
}

fn node_selector(labels: &BTreeMap<String, String>) -> Result<(), Fault> {
    let field = "spec.node_selector";
    count(field, labels.len())?;
    let fits = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'));
    let is_key = |key: &str| {
        let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
        let prefix = key.rsplit_once('/').map_or("a", |(prefix, _)| prefix);
        (1..=LABEL_MAX).contains(&name.len()) && fits(name) && host_name(field, prefix).is_ok()
    };
    match labels.iter().find(|(key, value)| !is_key(key) || value.len() > LABEL_MAX || !fits(value)) {
        None => Ok(()),
        Some((key, value)) => Err((field, format!("{key}={value} is no label of a node"))),
    }
}

fn environment(variables: &BTreeMap<String, String>) -> Result<(), Fault> {
    let field = "spec.extra_env";
    count(field, variables.len())?;
    let begins = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_name = |name: &str| {
        (1..=ENV_NAME_MAX).contains(&name.len())
            && name.starts_with(begins)
            && name.chars().all(|c| begins(c) || c.is_ascii_digit() || matches!(c, '.' | '-'))
    };
    if let Some(name) = variables.keys().find(|name| !is_name(name)) {
        return Err((field, format!("{name:?} is no name of a variable")));
    }
    match variables.iter().find(|(_, value)| value.len() > ENV_VALUE_MAX) {
        None => Ok(()),
        Some((name, _)) => Err((field, format!("{name} is longer than {ENV_VALUE_MAX} bytes"))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn blamed(spec: Value) -> Option<&'static str> {
        check(&serde_json::from_value(spec).unwrap()).err().map(|(field, _)| field)
    }

    #[test]
    fn every_field_has_a_range() {
        // K1
        assert_eq!(blamed(json!({})), None);
        let many: BTreeMap<String, String> = (0..=ENTRIES_MAX).map(|n| (format!("N{n}"), String::new())).collect();
        let cases = [
            ("spec.replicas", json!({"replicas": 0})),
            ("spec.replicas", json!({"replicas": 101})),
            ("spec.public_host", json!({"public_host": "Eu1.example"})),
            ("spec.public_host", json!({"public_host": ""})),
            ("spec.public_host", json!({"public_host": "a..b"})),
            ("spec.public_host", json!({"public_host": format!("{}.b", "a".repeat(64))})),
            ("spec.storage_class", json!({"storage_class": "fast disk"})),
            ("spec.storage_size", json!({"storage_size": "20 GB"})),
            ("spec.storage_size", json!({"storage_size": "-1Gi"})),
            ("spec.storage_size", json!({"storage_size": "1Mi"})),
            ("spec.storage_size", json!({"storage_size": "65Ti"})),
            ("spec.storage_size", json!({"storage_size": "Gi"})),
            ("spec.image_repository", json!({"image_repository": "ghcr.io/a/kura:1.0"})),
            ("spec.image_repository", json!({"image_repository": "a//b"})),
            ("spec.node_selector", json!({"node_selector": {"a b": "c"}})),
            ("spec.node_selector", json!({"node_selector": {"a": "x".repeat(64)}})),
            ("spec.tolerations", json!({"tolerations": ["all"]})),
            ("spec.extra_env", json!({"extra_env": {"1A": "x"}})),
            ("spec.extra_env", json!({"extra_env": {"A": "x".repeat(4_097)}})),
            ("spec.extra_env", json!({"extra_env": many})),
            ("spec.overrides", json!({"overrides": many})),
        ];
        for (field, spec) in cases {
            assert_eq!(blamed(spec.clone()), Some(field), "{spec}");
        }
    }

    #[test]
    fn what_people_really_configure_is_in_range() {
        // K1
        for size in ["64Mi", "20Gi", "1.5Ti", "500G", "1073741824"] {
            assert_eq!(blamed(json!({"storage_size": size})), None, "{size}");
        }
        let spec = json!({
            "replicas": 5,
            "public_host": "eu1.cache.example",
            "storage_class": "fast-nvme.example.com",
            "image_repository": "registry.example:5000/tuist/kura",
            "node_selector": {"topology.kubernetes.io/zone": "b", "disk": "ssd"},
            "tolerations": [{"key": "kura", "operator": "Exists"}],
            "extra_env": {"LOG_LEVEL": "debug", "_x.y-z": ""},
        });
        assert_eq!(blamed(spec), None);
        assert!(
            tag("tag", &"x".repeat(128)).is_ok() && tag("tag", &"x".repeat(129)).is_err() && tag("tag", "").is_err()
        );
    }
}
