//! Views of the outside: assignments as they came to machines.

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
}
