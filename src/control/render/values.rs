//! Values: what the lookups of a template find for one machine.

use std::collections::BTreeSet;

use serde_json::Value;

use super::secret::Secrets;
use super::template::{Lookup, Root, Template};
use crate::domain::fleet::ConfigValues;

/// What is known of a machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Facts {
    /// Its host name.
    pub hostname: String,
    /// Its identity.
    pub uuid: String,
    /// Its Kubernetes node.
    pub node: String,
    /// The slug of its environment; empty where it has none.
    pub environment: String,
    /// The slug of its ring; empty where it has none.
    pub ring: String,
}

impl Facts {
    /// One of `MACHINE_FIELDS`.
    pub fn get(&self, field: &str) -> Option<&str> {
        match field {
            "hostname" => Some(&self.hostname),
            "uuid" => Some(&self.uuid),
            "node" => Some(&self.node),
            "environment" => Some(&self.environment),
            "ring" => Some(&self.ring),
            _ => None,
        }
    }
}

/// The values of a machine: those of its environment, and over them those of its ring. Whole values replace each other,
/// nothing is merged inside of them.
pub fn merged(environment: &ConfigValues, ring: &ConfigValues) -> ConfigValues {
    environment.iter().chain(ring).map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Fills templates, and keeps what it had nothing for.
#[derive(Debug)]
pub struct Filler<'a> {
    facts: &'a Facts,
    vars: &'a ConfigValues,
    secrets: &'a Secrets,
    missing: BTreeSet<String>,
}

impl<'a> Filler<'a> {
    /// For one machine.
    pub fn new(facts: &'a Facts, vars: &'a ConfigValues, secrets: &'a Secrets) -> Self {
        Self { facts, vars, secrets, missing: BTreeSet::new() }
    }

    /// The text of a template.
    pub fn fill(&mut self, template: &Template) -> String {
        template.filled(|lookup| {
            let found = self.find(lookup);
            if found.is_none() {
                self.missing.insert(lookup.to_string());
            }
            found
        })
    }

    /// What it had nothing for, sorted.
    pub fn missing(self) -> BTreeSet<String> {
        self.missing
    }

    fn find(&mut self, lookup: &Lookup) -> Option<String> {
        let value = match lookup.root {
            Root::Vars => self.variable(&lookup.name)?,
            _ => Value::from(self.plain(lookup)?),
        };
        Some(match value {
            Value::String(text) if !lookup.json => text,
            other => other.to_string(),
        })
    }

    /// A machine's field or a secret.
    fn plain(&self, lookup: &Lookup) -> Option<&'a str> {
        match lookup.root {
            Root::Machine => self.facts.get(&lookup.name),
            Root::Secrets => self.secrets.value(&lookup.name),
            Root::Vars => None,
        }
    }

    /// A value, with what its own texts refer to. A name that holds dots goes before a path into an object.
    fn variable(&mut self, name: &str) -> Option<Value> {
        let vars = self.vars;
        let mut parts = name.split('.');
        let value = vars.get(name).or_else(|| {
            let first = vars.get(parts.next()?)?;
            parts.try_fold(first, |value, part| value.get(part))
        })?;
        Some(self.expanded(value))
    }

    fn expanded(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.expanded_text(text)),
            Value::Array(items) => items.iter().map(|item| self.expanded(item)).collect(),
            Value::Object(fields) => {
                Value::Object(fields.iter().map(|(name, value)| (name.clone(), self.expanded(value))).collect())
            }
            other => other.clone(),
        }
    }

    /// A value refers to secrets and to the machine, never to other values: so nothing goes round in circles. What is
    /// no lookup at all stays as it was written.
    fn expanded_text(&mut self, text: &str) -> String {
        let Ok(template) = Template::parse(text) else { return text.to_owned() };
        template.filled(|lookup| {
            let found = self.plain(lookup).map(str::to_owned);
            if found.is_none() {
                self.missing.insert(lookup.to_string());
            }
            found
        })
    }
}

/// True where a text in the values refers to the machine.
pub fn mention_machine(values: &ConfigValues) -> bool {
    fn mentions(value: &Value) -> bool {
        match value {
            Value::String(text) => Template::parse(text)
                .is_ok_and(|template| template.lookups().any(|lookup| lookup.root == Root::Machine)),
            Value::Array(items) => items.iter().any(mentions),
            Value::Object(fields) => fields.values().any(mentions),
            _ => false,
        }
    }
    values.values().any(mentions)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::secret::Secret;
    use super::*;

    fn values(json: Value) -> ConfigValues {
        serde_json::from_value(json).unwrap()
    }

    fn filled(text: &str, vars: &ConfigValues) -> (String, Vec<String>) {
        let facts = Facts { hostname: "wk-1".to_owned(), ring: "workers".to_owned(), ..Facts::default() };
        let token = Secret { value: "s3cret\"x".to_owned(), previous: None };
        let secrets = Secrets([("T".to_owned(), token)].into());
        let mut filler = Filler::new(&facts, vars, &secrets);
        let text = filler.fill(&Template::parse(text).unwrap());
        (text, filler.missing().into_iter().collect())
    }

    #[test]
    fn values_go_in_as_they_are_or_as_json() {
        let vars =
            values(json!({"N": 3, "DB": {"host": "db-1", "ports": [1, 2]}, "TOKEN": "{{ secrets.T }}", "a.b": true}));
        let text = "{{ vars.N }} {{ vars.DB.host }} {{ vars.DB.ports }} {{ vars.TOKEN }} {{ secrets.T | json }} {{ vars.a.b }}";
        assert_eq!(filled(text, &vars).0, r#"3 db-1 [1,2] s3cret"x "s3cret\"x" true"#);
        assert_eq!(filled("{{ machine.hostname }}/{{ machine.ring }}", &vars).0, "wk-1/workers");
    }

    #[test]
    fn what_is_missing_is_named_once_and_in_order() {
        let vars = values(json!({"X": "{{ secrets.GONE }} {{ vars.N }}"}));
        let (_, missing) = filled("{{ vars.B }} {{ secrets.A }} {{ vars.B }} {{ vars.X }} {{ vars.X.y }}", &vars);
        assert_eq!(missing, ["secrets.A", "secrets.GONE", "vars.B", "vars.N", "vars.X.y"]);
    }

    #[test]
    fn the_ring_goes_before_the_environment() {
        let (tier, ring) = (values(json!({"A": 1, "B": {"x": 1}})), values(json!({"B": {"y": 2}})));
        assert_eq!(serde_json::to_value(merged(&tier, &ring)).unwrap(), json!({"A": 1, "B": {"y": 2}}));
        assert!(!mention_machine(&tier));
        assert!(mention_machine(&values(json!({"A": ["{{ machine.node }}"]}))));
    }
}
