//! Figures of rolls counted naively from the facts as they come, and held against what a scrape would say (C5).

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::domain::ids::RollId;
use crate::domain::roll::change::RollChange;
use crate::domain::roll::fleet_roll::Roll;
use crate::domain::roll::node::StepName;
use crate::domain::roll::rolls::Rolls;
use crate::domain::roll::totals::Histogram;
use crate::domain::span::Seconds;
use crate::wire::roll::figures::gauges;

/// Observations and their sum.
type Observed = (u64, u64);

/// When the turn of a node came, when it was given back, and when it was green.
type Turn = (Timestamp, Option<Timestamp>, Option<Timestamp>);

/// What was counted so far.
#[derive(Debug, Default)]
pub(super) struct Figures {
    /// Gates that wait, by roll, and since when.
    waiting: BTreeMap<RollId, Timestamp>,
    waits: Observed,
    /// By roll and node.
    turns: BTreeMap<(RollId, String), Turn>,
    steps: Observed,
}

impl Figures {
    /// One more fact; `rolls` are those right before it.
    pub(super) fn hear(&mut self, rolls: &Rolls, at: Timestamp, change: &RollChange) {
        match change {
            RollChange::GateReached { roll, .. } => drop(self.waiting.insert(*roll, at)),
            RollChange::GateApproved { roll, .. } => self.cleared(*roll, at),
            RollChange::Ended { roll, .. } if rolls.roll(*roll).is_some_and(Roll::is_live) => {
                self.cleared(*roll, at);
                self.ended(*roll);
            }
            RollChange::TurnBegan { roll, node } => drop(self.turns.insert((*roll, node.clone()), (at, None, None))),
            RollChange::TurnPutBack { roll, node } => drop(self.turns.remove(&(*roll, node.clone()))),
            RollChange::StepEnded { roll, node, step, ending } => {
                let over = !matches!(ending, crate::domain::roll::node::StepEnding::Failed { .. });
                let Some((_, back, green)) = self.turns.get_mut(&(*roll, node.clone())).filter(|_| over) else {
                    return;
                };
                match step {
                    StepName::Uncordon => *back = Some(at),
                    StepName::Green => *green = Some(at),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn cleared(&mut self, roll: RollId, at: Timestamp) {
        if let Some(since) = self.waiting.remove(&roll) {
            observe(&mut self.waits, Seconds::between(since, at));
        }
    }

    fn ended(&mut self, roll: RollId) {
        let mine: Vec<_> = self.turns.keys().filter(|(id, _)| *id == roll).cloned().collect();
        for (began, back, green) in mine.iter().filter_map(|key| self.turns.remove(key)) {
            let Some(back) = back else { continue };
            observe(&mut self.steps, Seconds::between(began, back));
            green.into_iter().for_each(|green| observe(&mut self.steps, Seconds::between(back, green)));
        }
    }

    /// Where a scrape would say something else.
    pub(super) fn disagree(&self, rolls: &Rolls) -> Option<String> {
        let waits = sum(rolls.totals.gates.values());
        if waits != self.waits {
            return Some(format!("F36: waits are {waits:?} and were {:?}", self.waits));
        }
        let steps = sum(rolls.totals.steps.values());
        if steps != self.steps {
            return Some(format!("F35: steps of rolls are {steps:?} and were {:?}", self.steps));
        }
        let since: BTreeMap<RollId, Timestamp> =
            rolls.rolls.iter().filter_map(|roll| Some((roll.id, roll.gate.as_ref()?.since))).collect();
        if since != self.waiting {
            return Some(format!("F39: gates wait since {since:?}, and did since {:?}", self.waiting));
        }
        let rows = gauges(rolls);
        let of = |name: &str| rows.iter().filter(|(known, ..)| known.ends_with(name)).count();
        let live = rolls.rolls.iter().filter(|roll| roll.is_live()).count();
        let series = (of("awaiting_gate"), of("progress_completed"), of("progress_total"));
        let expected = (self.waiting.len(), live, live);
        (series != expected).then(|| format!("F33: {series:?} series, where {expected:?} have something to say"))
    }
}

fn observe((count, sum): &mut Observed, span: Seconds) {
    *count += 1;
    *sum += span.0;
}

fn sum<'a>(all: impl Iterator<Item = &'a Histogram>) -> Observed {
    all.fold((0, 0), |(count, sum), one| (count + one.count, sum + one.sum))
}
