//! The fold of the facts about fleet rolls; the only code that changes them.

use jiff::Timestamp;

use super::super::ids::RollId;
use super::change::RollChange;
use super::fleet_roll::{Approval, Awaiting, Blocked, Ended, Roll, TurnMark};
use super::node::{Finding, NodeRoll, PROBES_KEPT, StepEnding, StepName, StepRow, StepState};
use super::rolls::{AskedProbe, Cordon, FINDINGS_MAX, ROLLS_KEPT, Rolls};

impl Rolls {
    /// Folds one fact. Total: one about something that is gone changes nothing.
    pub fn apply(&mut self, at: Timestamp, change: &RollChange) {
        match change {
            RollChange::Started { roll } => self.start(roll),
            RollChange::CordonTaken { roll, node } => {
                self.ledger.insert(node.clone(), Cordon { roll: *roll, at, asked_by: None });
            }
            RollChange::CordonEnded { node, .. } => drop(self.ledger.remove(node)),
            RollChange::ProbeAsked { node, by } => self.ask(node, by, at),
            RollChange::UncordonAsked { node, by } => {
                self.ledger.get_mut(node).into_iter().for_each(|cordon| cordon.asked_by = Some(by.clone()));
            }
            RollChange::Found { roll, node, .. } => self.found(*roll, node, change, at),
            RollChange::GateApproved { roll, gate, by } => self.approve(*roll, gate, by, at),
            RollChange::Ended { roll, .. } => self.end(*roll, change, at),
            _ => self.edit(change.roll(), |roll| apply_to_roll(roll, at, change)),
        }
    }

    fn edit(&mut self, id: Option<RollId>, edit: impl FnOnce(&mut Roll)) {
        let place = self.rolls.iter().rposition(|roll| Some(roll.id) == id);
        place.and_then(|place| self.rolls.get_mut(place)).into_iter().for_each(edit_once(edit));
    }

    fn start(&mut self, roll: &Roll) {
        self.started += 1;
        self.rolls.push_back(Roll { number: self.started, ..roll.clone() });
        while self.rolls.iter().filter(|roll| !roll.is_live()).count() > ROLLS_KEPT {
            let oldest = self.rolls.iter().position(|roll| !roll.is_live());
            oldest.into_iter().for_each(|place| drop(self.rolls.remove(place)));
        }
    }

    fn ask(&mut self, node: &str, by: &str, at: Timestamp) {
        self.asked_ever += 1;
        let number = self.asked_ever;
        self.asked.insert(node.to_owned(), AskedProbe { by: by.to_owned(), at, number });
    }

    fn found(&mut self, roll: Option<RollId>, node: &str, change: &RollChange, at: Timestamp) {
        let RollChange::Found { verdict, reason, started_at, passive, .. } = change else { return };
        let (verdict, started_at, passive) = (*verdict, *started_at, *passive);
        let finding = Finding { verdict, reason: reason.clone(), started_at, at, passive };
        if roll.is_none() {
            self.asked.remove(node);
        }
        self.edit(roll, |roll| {
            roll.nodes.get_mut(node).into_iter().for_each(|node| note(node, finding.clone()));
        });
        self.findings.insert(node.to_owned(), finding);
        while self.findings.len() > FINDINGS_MAX {
            let oldest = self.findings.iter().min_by_key(|(_, finding)| finding.at).map(|(node, _)| node.clone());
            oldest.into_iter().for_each(|node| drop(self.findings.remove(&node)));
        }
    }

    /// The wait is over: observed on this edge, and never again (F36).
    fn approve(&mut self, id: RollId, gate: &str, by: &str, at: Timestamp) {
        let Some(roll) = self.roll(id).cloned() else { return };
        let Some(since) = roll.gate.as_ref().filter(|known| known.gate == gate).map(|known| known.since) else {
            return;
        };
        self.totals.gate_cleared(&roll, at);
        self.edit(Some(id), |roll| {
            roll.approvals.push_back(Approval { gate: gate.to_owned(), since, at, by: by.to_owned() });
            roll.gate = None;
        });
    }

    fn end(&mut self, id: RollId, change: &RollChange, at: Timestamp) {
        let RollChange::Ended { ending, .. } = change else { return };
        let Some(roll) = self.roll(id).filter(|roll| roll.is_live()).cloned() else { return };
        self.totals.gate_cleared(&roll, at);
        self.totals.ended(&roll);
        self.edit(Some(id), |roll| {
            (roll.gate, roll.blocked) = (None, None);
            roll.ended = Some(Ended { at, ending: ending.clone() });
        });
    }
}

/// Something that is there at most once is changed at most once.
fn edit_once<T>(edit: impl FnOnce(&mut T)) -> impl FnMut(&mut T) {
    let mut edit = Some(edit);
    move |thing| {
        if let Some(edit) = edit.take() {
            edit(thing);
        }
    }
}

fn note(node: &mut NodeRoll, finding: Finding) {
    node.probed += u64::from(!finding.passive);
    node.findings.push_back(finding);
    while node.findings.len() > PROBES_KEPT {
        node.findings.pop_front();
    }
}

fn apply_to_roll(roll: &mut Roll, at: Timestamp, change: &RollChange) {
    match change {
        RollChange::RegistrySeen { node, .. } => roll.registry.clone_from(node),
        RollChange::TurnBegan { node, .. } => roll.turns.push_back(TurnMark { node: node.clone(), at }),
        RollChange::TurnPutBack { node, .. } => roll.turns.retain(|turn| turn.node != *node),
        RollChange::StepBegan { node, .. } => begin(roll, node, change, at),
        RollChange::StepEnded { node, step, ending, .. } => {
            roll.nodes.get_mut(node).into_iter().for_each(|node| end_step(node, *step, ending, at));
        }
        RollChange::Blocked { reason, .. } => {
            roll.blocked = reason.clone().map(|reason| {
                let since = roll.blocked.as_ref().map_or(at, |known| known.since);
                Blocked { reason, since }
            });
        }
        RollChange::GateReached { gate, .. } => roll.gate = Some(Awaiting { gate: gate.clone(), since: at }),
        RollChange::SoakBegan { .. } => roll.soaking_since = Some(at),
        RollChange::WriteTroubled { object, trouble, .. } => {
            match trouble {
                Some(trouble) => roll.troubles.insert(object.to_string(), trouble.clone()),
                None => roll.troubles.remove(&object.to_string()),
            };
        }
        _ => {}
    }
}

fn begin(roll: &mut Roll, name: &str, change: &RollChange, at: Timestamp) {
    let RollChange::StepBegan { step, boot_id, unschedulable, .. } = change else { return };
    let Some(node) = roll.nodes.get_mut(name) else { return };
    // What went wrong the last time stays to be seen until this one has ended.
    let (attempt, detail) = node.step(*step).map_or((1, None), |row| (row.attempt + 1, row.detail.clone()));
    let row = StepRow { state: StepState::Running, started_at: at, ended_at: None, detail, attempt };
    node.steps.insert(*step, row);
    node.boot_id = boot_id.clone().or(node.boot_id.take());
    node.was_cordoned = unschedulable.unwrap_or(node.was_cordoned);
    if *step == StepName::Cordon {
        roll.digest = roll.digest.take().or(node.staged.clone());
    }
}

fn end_step(node: &mut NodeRoll, step: StepName, ending: &StepEnding, at: Timestamp) {
    let (state, detail) = match ending {
        StepEnding::Done => (StepState::Done, None),
        StepEnding::Staged { digest } => {
            node.staged = Some(digest.clone());
            (StepState::Done, None)
        }
        StepEnding::Skipped { why } => (StepState::Skipped, Some(why.clone())),
        StepEnding::Failed { why } => (StepState::Failed, Some(why.clone())),
    };
    if let Some(row) = node.steps.get_mut(&step) {
        (row.state, row.ended_at, row.detail) = (state, Some(at), detail);
    }
}
