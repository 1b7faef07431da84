//! What was observed once and is counted for ever: it is folded from the journal, so no restart loses or doubles it
//! (F35, F36, F39).

use imbl::OrdMap;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::super::span::Seconds;
use super::fleet_roll::Roll;

/// Upper bounds of the buckets, in seconds.
pub const BOUNDS: [u64; 12] = [10, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 86_400];

/// Series of one kind that are kept; the lowest are forgotten first.
pub const SERIES_MAX: usize = 5_000;

/// A histogram of spans.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    /// Observations per bucket of `BOUNDS`, each by itself; those above the last bound are counted in `count` only.
    pub buckets: Vec<u64>,
    /// Observations.
    pub count: u64,
    /// Their sum.
    pub sum: u64,
}

impl Histogram {
    /// One more.
    pub fn observe(&mut self, span: Seconds) {
        self.buckets.resize(BOUNDS.len(), 0);
        if let Some(place) = BOUNDS.iter().position(|bound| span.0 <= *bound) {
            self.buckets[place] += 1;
        }
        self.count += 1;
        self.sum += span.0;
    }

    /// Everything another one observed as well.
    pub fn add(&mut self, other: &Self) {
        self.buckets.resize(BOUNDS.len(), 0);
        self.buckets.iter_mut().zip(&other.buckets).for_each(|(own, more)| *own += more);
        self.count += other.count;
        self.sum += other.sum;
    }
}

/// `(project, target, gate)`.
pub type GateKey = (String, String, String);

/// `(project, target, step, node)`.
pub type StepKey = (String, String, String, String);

/// Everything that is counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Totals {
    /// How long gates waited for a person.
    #[serde(with = "pairs")]
    pub gates: OrdMap<GateKey, Histogram>,
    /// How long steps of finished rolls took.
    #[serde(with = "pairs")]
    pub steps: OrdMap<StepKey, Histogram>,
}

impl Totals {
    /// A gate does not wait any more, however that came (F38).
    pub fn gate_cleared(&mut self, roll: &Roll, now: Timestamp) {
        let Some(gate) = &roll.gate else { return };
        let key = (roll.project.clone(), roll.target.clone(), gate.gate.clone());
        observe(&mut self.gates, key, Seconds::between(gate.since, now));
    }

    /// A roll ended: what each node took, once.
    pub fn ended(&mut self, roll: &Roll) {
        for turn in &roll.turns {
            let Some(node) = roll.nodes.get(&turn.node) else { continue };
            for (step, span) in node.spans(turn.at) {
                let key = (roll.project.clone(), roll.target.clone(), step.to_owned(), turn.node.clone());
                span.into_iter().for_each(|span| observe(&mut self.steps, key.clone(), span));
            }
        }
    }
}

fn observe<K: Ord + Clone>(series: &mut OrdMap<K, Histogram>, key: K, span: Seconds) {
    series.entry(key.clone()).or_default().observe(span);
    while series.len() > SERIES_MAX {
        let Some(lowest) = series.keys().find(|known| **known != key).cloned() else { return };
        series.remove(&lowest);
    }
}

/// Maps whose keys are no texts, as lists of pairs.
mod pairs {
    use imbl::OrdMap;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Histogram;

    pub(super) fn serialize<K: Ord + Clone + Serialize, S: Serializer>(
        map: &OrdMap<K, Histogram>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(map.iter())
    }

    pub(super) fn deserialize<'de, K: Ord + Clone + Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<OrdMap<K, Histogram>, D::Error> {
        Ok(Vec::<(K, Histogram)>::deserialize(deserializer)?.into_iter().collect())
    }
}
