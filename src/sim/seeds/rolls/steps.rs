//! One verdict at a time: what its facts about fleet rolls may be, each given the rolls right before it; and a tally.

use std::fmt;

use super::figures::Figures;
use super::naive;
use crate::domain::change::{Change, Entry};
use crate::domain::roll::change::RollChange;
use crate::domain::roll::fleet_roll::Ending;
use crate::domain::roll::node::{StepEnding, StepName, Verdict};
use crate::domain::world::World;

/// What was seen of fleet rolls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RollTally {
    /// Rolls that began.
    pub started: u64,
    /// Nodes whose turn came.
    pub turns: u64,
    /// Nodes that were proven green.
    pub green: u64,
    /// Gates that a person opened.
    pub approved: u64,
    /// Rolls that went through.
    pub succeeded: u64,
    /// Rolls that could not go on.
    pub failed: u64,
    /// Rolls that a person or another roll ended.
    pub stopped: u64,
    /// Probes and looks that found a runtime broken.
    pub broken: u64,
    /// Cordons that somebody else lifted, or took over.
    pub foreign: u64,
}

impl RollTally {
    /// One more fact.
    fn count(&mut self, change: &RollChange) {
        let counter = match change {
            RollChange::Started { .. } => &mut self.started,
            RollChange::TurnBegan { .. } => &mut self.turns,
            RollChange::StepEnded { step: StepName::Green, ending: StepEnding::Done, .. } => &mut self.green,
            RollChange::GateApproved { .. } => &mut self.approved,
            RollChange::Ended { ending: Ending::Succeeded, .. } => &mut self.succeeded,
            RollChange::Ended { ending: Ending::Failed { .. }, .. } => &mut self.failed,
            RollChange::Ended { .. } => &mut self.stopped,
            RollChange::Found { verdict: Verdict::Broken, .. } => &mut self.broken,
            RollChange::CordonEnded { how, .. } if *how != crate::domain::roll::change::CordonEnd::GivenBack => {
                &mut self.foreign
            }
            _ => return,
        };
        *counter += 1;
    }

    /// Both together.
    pub fn add(&mut self, other: &Self) {
        self.started += other.started;
        self.turns += other.turns;
        self.green += other.green;
        self.approved += other.approved;
        self.succeeded += other.succeeded;
        self.failed += other.failed;
        self.stopped += other.stopped;
        self.broken += other.broken;
        self.foreign += other.foreign;
    }
}

impl fmt::Display for RollTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { started, turns, green, approved, succeeded, failed, stopped, broken, foreign } = self;
        write!(
            f,
            "{started} begun, {turns} turns, {green} nodes green, {approved} gates opened, {succeeded} succeeded, \
             {failed} failed, {stopped} stopped, {broken} runtimes found broken, {foreign} cordons taken over by others"
        )
    }
}

/// Watches the rolls of one world.
#[derive(Debug, Default)]
pub(in super::super) struct RollWatch {
    figures: Figures,
    pub(in super::super) tally: RollTally,
}

impl RollWatch {
    /// The first rule that a verdict breaks, in words.
    pub(in super::super) fn look(&mut self, before: &World, entries: &[Entry]) -> Option<String> {
        let mut world = before.clone();
        for entry in entries {
            let fact = match &entry.change {
                Change::Roll(change) => Some(&**change),
                _ => None,
            };
            if let Some(change) = fact {
                self.tally.count(change);
                self.figures.hear(&world.rolls, entry.at, change);
                if let Some(fault) = naive::unsound(&world.rolls, entry, change) {
                    return Some(fault);
                }
            }
            world.apply(entry);
            if let Some(fault) = fact.and_then(|_| naive::unsteady(&world.rolls)) {
                return Some(fault);
            }
        }
        self.figures.disagree(&world.rolls)
    }
}
