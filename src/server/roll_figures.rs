//! Figures of fleet rolls at a scrape: made of the world each time, under the names they have everywhere (C5).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use crate::domain::roll::totals::{BOUNDS, Histogram};
use crate::domain::world::World;
use crate::wire::gauges::Labels;
use crate::wire::roll::figures::{GAUGES, HISTOGRAMS, gauges, histograms};

/// The worlds of all accounts.
struct Figures(Vec<Arc<World>>);

impl fmt::Debug for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Figures")
    }
}

/// A registry with the figures of these worlds, to be written once.
pub(super) fn registry(worlds: Vec<Arc<World>>) -> Registry {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Figures(worlds)));
    registry
}

impl Figures {
    /// Series of one gauge. Two accounts that call a target the same have one series between them.
    fn gauge(&self, name: &str) -> BTreeMap<Labels, i64> {
        let rows = self.0.iter().flat_map(|world| gauges(&world.rolls));
        rows.filter(|(known, ..)| *known == name).map(|(_, labels, value)| (labels, value)).collect()
    }

    /// Series of one histogram.
    fn histogram(&self, name: &str) -> BTreeMap<Labels, Histogram> {
        let mut series: BTreeMap<Labels, Histogram> = BTreeMap::new();
        let rows = self.0.iter().flat_map(|world| histograms(&world.rolls));
        for (_, labels, observed) in rows.filter(|(known, ..)| *known == name) {
            series.entry(labels).or_default().add(observed);
        }
        series
    }
}

impl Collector for Figures {
    /// A family without a series is not there at all: what is over must not look stuck.
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        for (name, help) in GAUGES {
            let series = self.gauge(name);
            if series.is_empty() {
                continue;
            }
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for (labels, value) in &series {
                ConstGauge::new(*value).encode(metric.encode_family(labels)?)?;
            }
        }
        for (name, help) in HISTOGRAMS {
            let series = self.histogram(name);
            if series.is_empty() {
                continue;
            }
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Histogram)?;
            for (labels, observed) in &series {
                let (sum, buckets) = (in_seconds(observed.sum), buckets(observed));
                metric.encode_family(labels)?.encode_histogram::<NoLabelSet>(sum, observed.count, &buckets, None)?;
            }
        }
        Ok(())
    }
}

/// Observations per bucket, the last one without a bound.
fn buckets(observed: &Histogram) -> Vec<(f64, u64)> {
    let own = |place: usize| observed.buckets.get(place).copied().unwrap_or(0);
    let bounded = BOUNDS.iter().enumerate().map(|(place, bound)| (in_seconds(*bound), own(place)));
    let above = observed.count.saturating_sub(observed.buckets.iter().sum());
    bounded.chain([(f64::INFINITY, above)]).collect()
}

/// Whole seconds; more than a float can tell apart are cut.
fn in_seconds(seconds: u64) -> f64 {
    f64::from(u32::try_from(seconds).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use prometheus_client::encoding::text::encode_registry;

    use super::*;
    use crate::domain::change::{Cause, Change, Entry};
    use crate::domain::ids::RollId;
    use crate::domain::roll::change::RollChange;
    use crate::domain::roll::fleet_roll::{Ending, Roll};
    use crate::domain::roll::node::{StepEnding, StepName};
    use crate::domain::roll::spec::RollSpec;
    use crate::domain::span::Seconds;

    /// A world that facts are folded into, and scraped in between.
    struct Bench(World, Timestamp);

    impl Bench {
        fn new() -> Self {
            Self(World::default(), Timestamp::from_second(1_800_000_000).unwrap())
        }

        fn tell(&mut self, seconds: u64, change: RollChange) {
            self.1 = Seconds(seconds).after(self.1);
            let (revision, at, by) = (self.0.revision + 1, self.1, "serve".to_owned());
            self.0.apply(&Entry { revision, at, by, cause: Cause::Tick, change: Change::Roll(Box::new(change)) });
        }

        fn begin(&mut self, target: &str) -> RollId {
            let (id, nodes) = (RollId::named(target), vec!["wk-1".to_owned(), "wk-2".to_owned()]);
            let spec = RollSpec { canary: Some("wk-1".to_owned()), nodes, ..RollSpec::default() };
            let roll = Box::new(Roll::new(id, "kernel", target, "x", spec, self.1));
            self.tell(0, RollChange::Started { roll });
            id
        }

        fn step(&mut self, roll: RollId, step: StepName, seconds: u64) {
            let node = || "wk-1".to_owned();
            let (boot_id, unschedulable) = (None, None);
            self.tell(0, RollChange::StepBegan { roll, node: node(), step, boot_id, unschedulable });
            self.tell(seconds, RollChange::StepEnded { roll, node: node(), step, ending: StepEnding::Done });
        }

        /// Lines without help and type, in order.
        fn scraped(&self) -> Vec<String> {
            let mut text = String::new();
            encode_registry(&mut text, &registry(vec![Arc::new(self.0.clone())])).unwrap();
            let own = text.lines().filter(|line| !line.starts_with('#') && !line.contains("_bucket{"));
            own.map(str::to_owned).collect()
        }
    }

    fn has(lines: &[String], line: &str) -> bool {
        lines.iter().any(|known| known == line)
    }

    #[test]
    fn a_gauge_is_there_while_a_gate_waits_and_gone_when_it_is_open_or_the_roll_is_over() {
        // F36, F38, F39, F52
        let mut bench = Bench::new();
        let roll = bench.begin("fleet");
        assert_eq!(
            bench.scraped(),
            [
                "pipelines_deploy_progress_completed{project=\"kernel\",target=\"fleet\"} 0",
                "pipelines_deploy_progress_total{project=\"kernel\",target=\"fleet\"} 2",
            ]
        );
        let gate = || "canary".to_owned();
        bench.tell(0, RollChange::GateReached { roll, gate: gate() });
        let waiting = "pipelines_deploy_awaiting_gate{project=\"kernel\",target=\"fleet\",gate=\"canary\"} 1";
        assert!(has(&bench.scraped(), waiting), "{:#?}", bench.scraped());
        // A restart folds the same facts again.
        bench.0 = serde_json::from_value(serde_json::to_value(&bench.0).unwrap()).unwrap();
        assert!(has(&bench.scraped(), waiting));
        bench.tell(840, RollChange::GateApproved { roll, gate: gate(), by: "jane".to_owned() });
        let lines = bench.scraped();
        assert!(!lines.iter().any(|line| line.contains("awaiting_gate")), "deleted, not 0: {lines:#?}");
        let labels = "{project=\"kernel\",target=\"fleet\",gate=\"canary\"}";
        assert!(has(&lines, &format!("pipelines_deploy_gate_wait_seconds_sum{labels} 840.0")), "{lines:#?}");
        assert!(has(&lines, &format!("pipelines_deploy_gate_wait_seconds_count{labels} 1")));
        bench.tell(0, RollChange::GateApproved { roll, gate: gate(), by: "joe".to_owned() });
        assert!(has(&bench.scraped(), &format!("pipelines_deploy_gate_wait_seconds_count{labels} 1")), "once");
        bench.tell(60, RollChange::Ended { roll, ending: Ending::Aborted { by: "jane".to_owned(), reason: None } });
        let lines = bench.scraped();
        assert!(lines.iter().all(|line| line.contains("gate_wait_seconds")), "nothing stuck is left: {lines:#?}");
    }

    #[test]
    fn steps_are_observed_when_the_roll_ends_and_each_in_its_bucket() {
        // F35, F40
        let mut bench = Bench::new();
        let roll = bench.begin("fleet");
        let other = bench.begin("other");
        bench.tell(0, RollChange::TurnBegan { roll, node: "wk-1".to_owned() });
        StepName::ALL.into_iter().take(6).for_each(|step| bench.step(roll, step, 52));
        bench.step(roll, StepName::Green, 156);
        assert!(bench.scraped().iter().all(|line| !line.contains("roll_seconds")));
        bench.tell(1_800, RollChange::Ended { roll, ending: Ending::Succeeded });
        bench.tell(0, RollChange::Ended { roll, ending: Ending::Succeeded });
        let lines = bench.scraped();
        let labels = |step: &str| format!("{{project=\"kernel\",target=\"fleet\",step=\"{step}\",node=\"wk-1\"}}");
        for (step, sum) in [("roll-node", "312.0"), ("green", "156.0")] {
            assert!(has(&lines, &format!("pipelines_deploy_roll_seconds_sum{} {sum}", labels(step))), "{lines:#?}");
            assert!(has(&lines, &format!("pipelines_deploy_roll_seconds_count{} 1", labels(step))));
        }
        let left: Vec<&String> = lines.iter().filter(|line| line.contains("progress")).collect();
        assert!(left.len() == 2 && left.iter().all(|line| line.contains("target=\"other\"")), "{left:?}");
        assert!(bench.0.rolls.roll(other).unwrap().is_live());
        let mut text = String::new();
        encode_registry(&mut text, &registry(vec![Arc::new(bench.0.clone())])).unwrap();
        let own = |line: &&str| line.contains("target=\"fleet\",step=\"roll-node\",node=\"wk-1\"");
        let at = |le: &str| format!("pipelines_deploy_roll_seconds_bucket{{le=\"{le}\"");
        let line = |le: &str| text.lines().filter(own).find(|line| line.starts_with(&at(le))).unwrap_or_default();
        assert!(line("300.0").ends_with(" 0") && line("600.0").ends_with(" 1") && line("+Inf").ends_with(" 1"));
    }
}
