//! Views of the outside: assignments as they came to machines, nodes.

use serde_json::{Value, json};

use super::super::run::Run;
use super::super::screens::Consoles;

impl<C: Consoles> Run<C> {
    /// One row per poll that was answered with an assignment that is new to its machine.
    pub(super) fn served(&self) -> Value {
        let row = |handed: &super::super::records::Handed| {
            json!({
                "at": handed.at.0,
                "machine": self.ids.name(handed.machine.0),
                "release": self.ids.name(handed.edition.release.0),
                "generation": handed.edition.generation,
            })
        };
        Value::Array(self.records.served.iter().map(row).collect())
    }

    /// Nodes by name, as the first living process sees them.
    pub(super) fn nodes(&self) -> Value {
        let nodes = self.lens().observed.nodes;
        let row = |(name, node): (&String, &crate::domain::observed::Node)| {
            json!({
                "name": name,
                "ready": node.ready,
                "unschedulable": node.unschedulable,
                "version": node.version,
            })
        };
        Value::Array(nodes.iter().map(row).collect())
    }
}
