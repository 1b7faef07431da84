//! Views of the outside: assignments as they came to machines, nodes, gauges.

use serde_json::{Map, Value, json};

use super::super::call::ACCOUNT;
use super::super::process::Process;
use super::super::run::Run;
use super::super::screens::Consoles;
use crate::control::picture::Freshness;
use crate::domain::span::Seconds;
use crate::wire::gauges::{PREFIX, Standing};

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

    /// Gauges of the process that ticks, else of the first that lives, by name.
    pub(super) fn metrics(&self) -> Value {
        let lens = self.lens();
        let living = self.processes.iter().filter_map(Process::service);
        let held = living.clone().any(|service| service.held.epochs().borrow().is_some());
        let standing = Standing {
            account: ACCOUNT,
            world: lens.world,
            now: lens.now,
            holds_seat: held,
            tick_age: lens.last_tick.filter(|_| held).map(|at| Seconds::between(at, lens.now).0),
            journal_is_live: living
                .clone()
                .all(|service| matches!(service.door.published().borrow().journal, Freshness::Live(_))),
        };
        let mut series: Map<String, Value> = Map::new();
        for gauge in standing.gauges() {
            let labels: Map<String, Value> =
                gauge.labels.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
            let row = json!({ "labels": labels, "value": gauge.value });
            if let Value::Array(rows) = series.entry(format!("{PREFIX}_{}", gauge.name)).or_insert_with(|| json!([])) {
                rows.push(row);
            }
        }
        Value::Object(series)
    }
}
