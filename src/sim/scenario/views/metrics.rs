//! The view of metrics: the series a server of this account would export, by name.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::super::call::ACCOUNT;
use super::super::process::Process;
use super::super::run::Run;
use super::super::screens::Consoles;
use super::super::witness::verdicts;
use crate::control::picture::Freshness;
use crate::domain::kura::server::Server;
use crate::domain::span::Seconds;
use crate::wire::counters::counts;
use crate::wire::gauges::{Labels, PREFIX, Standing};
use crate::wire::roll::figures;

impl<C: Consoles> Run<C> {
    /// Gauges of the process that ticks, else of the first that lives; counters and histograms of the whole run.
    pub(super) fn metrics(&self) -> Value {
        let mut series = Series::default();
        self.gauges(&mut series);
        self.histograms(&mut series);
        self.requests(&mut series);
        self.kura_counters(&mut series);
        self.of_rolls(&mut series);
        Value::Object(series.0)
    }

    fn gauges(&self, series: &mut Series) {
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
        for gauge in standing.gauges() {
            let labels = gauge.labels.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
            series.add(gauge.name, json!({ "labels": Value::Object(labels), "value": gauge.value }));
        }
        for nothing_is_held_between_instants in ["polls_held", "change_streams"] {
            series.add(nothing_is_held_between_instants, json!({ "labels": {}, "value": 0 }));
        }
    }

    /// Deciding takes no virtual time.
    fn histograms(&self, series: &mut Series) {
        let (commits, entries) = (verdicts(&self.witness.entries).count(), self.witness.entries.len());
        series.add("commit_entries", json!({ "labels": {}, "count": commits, "sum": entries }));
        let turns: u64 = self.records.requests.iter().filter(|(asked, _)| asked.is_verb).map(|(_, count)| count).sum();
        series.add("turn_seconds", json!({ "labels": {}, "count": turns, "sum": 0.0 }));
        let mut routes: BTreeMap<&str, u64> = BTreeMap::new();
        for (asked, count) in self.records.requests.iter().filter(|(asked, _)| asked.is_timed()) {
            *routes.entry(asked.route).or_default() += count;
        }
        for (route, count) in routes {
            series.add("http_request_seconds", json!({ "labels": { "route": route }, "count": count, "sum": 0.0 }));
        }
    }

    /// Counters of Kura servers, by what the file calls them (K19, K41).
    fn kura_counters(&self, series: &mut Series) {
        let name_of = |server: &Server| self.ids.name(server.id.0).map_or_else(|| server.name(), str::to_owned);
        for count in counts(&self.witness.world, name_of) {
            let labels = count.labels.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
            let row = json!({ "labels": Value::Object(labels), "value": count.value });
            series.add(&format!("{}_total", count.name), row);
        }
    }

    /// Figures of fleet rolls, under the names they have everywhere (C5).
    fn of_rolls(&self, series: &mut Series) {
        let rolls = &self.witness.world.rolls;
        let dress = |labels: Labels| {
            Value::Object(labels.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect())
        };
        for (name, labels, value) in figures::gauges(rolls) {
            series.put(name, json!({ "labels": dress(labels), "value": value }));
        }
        for (name, labels, histogram) in figures::histograms(rolls) {
            series.put(name, json!({ "labels": dress(labels), "count": histogram.count, "sum": histogram.sum }));
        }
    }

    fn requests(&self, series: &mut Series) {
        for (asked, count) in &self.records.requests {
            let labels = json!({ "route": asked.route, "method": asked.method, "status": asked.status.to_string() });
            series.add("http_requests_total", json!({ "labels": labels, "value": count }));
        }
    }
}

/// Rows by the name of their series.
#[derive(Default)]
struct Series(Map<String, Value>);

impl Series {
    fn add(&mut self, name: &str, row: Value) {
        self.put(&format!("{PREFIX}_{name}"), row);
    }

    fn put(&mut self, name: &str, row: Value) {
        if let Value::Array(rows) = self.0.entry(name.to_owned()).or_insert_with(|| json!([])) {
            rows.push(row);
        }
    }
}
