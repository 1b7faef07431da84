//! Figures of fleet rolls as C5 names them. Gauges are made anew from the world each time they are asked for, so that one
//! of a gate that is open, or of a roll that is over, is not there; what was observed is folded from the journal, so that
//! a restart neither loses nor doubles it (F32-F40).

use super::super::gauges::Labels;
use crate::domain::roll::rolls::Rolls;
use crate::domain::roll::totals::Histogram;

/// Every gauge with what it means.
pub const GAUGES: [(&str, &str); 3] = [
    ("pipelines_deploy_awaiting_gate", "1 while a gate waits for a person"),
    ("pipelines_deploy_progress_completed", "Green nodes of a fleet that is rolled"),
    ("pipelines_deploy_progress_total", "Nodes of a fleet that is rolled"),
];

/// Every histogram with what it means.
pub const HISTOGRAMS: [(&str, &str); 2] = [
    ("pipelines_deploy_gate_wait_seconds", "How long gates waited for a person"),
    ("pipelines_deploy_roll_seconds", "How long each node of a finished roll took, by step"),
];

/// One gauge: name, labels, value.
pub type GaugeRow = (&'static str, Labels, i64);

/// One histogram: name, labels, what was observed.
pub type HistogramRow<'a> = (&'static str, Labels, &'a Histogram);

/// Gauges of the rolls that go on.
pub fn gauges(rolls: &Rolls) -> Vec<GaugeRow> {
    let mut rows = Vec::new();
    for roll in rolls.rolls.iter().filter(|roll| roll.is_live()) {
        let labels = vec![("project", roll.project.clone()), ("target", roll.target.clone())];
        let progress = roll.progress();
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        rows.push((GAUGES[1].0, labels.clone(), count(progress.completed)));
        rows.push((GAUGES[2].0, labels.clone(), count(progress.total)));
        rows.extend(roll.gate.as_ref().map(|gate| {
            let gate = ("gate", gate.gate.clone());
            (GAUGES[0].0, labels.into_iter().chain([gate]).collect(), 1)
        }));
    }
    rows
}

/// Histograms of everything that was ever observed.
pub fn histograms(rolls: &Rolls) -> Vec<HistogramRow<'_>> {
    let gates = rolls.totals.gates.iter().map(|((project, target, gate), histogram)| {
        let labels = vec![("project", project.clone()), ("target", target.clone()), ("gate", gate.clone())];
        (HISTOGRAMS[0].0, labels, histogram)
    });
    let steps = rolls.totals.steps.iter().map(|((project, target, step, node), histogram)| {
        let labels = vec![
            ("project", project.clone()),
            ("target", target.clone()),
            ("step", step.clone()),
            ("node", node.clone()),
        ];
        (HISTOGRAMS[1].0, labels, histogram)
    });
    gates.chain(steps).collect()
}
