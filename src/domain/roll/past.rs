//! A roll told anew from the entries that made it: what the World no longer keeps is read from the journal (F57).

use jiff::Timestamp;
use serde_json::Value;

use super::super::audit::{Fate, Link};
use super::super::change::{Change, Entry};
use super::super::ids::RollId;
use super::change::RollChange;
use super::fleet_roll::Roll;
use super::node::Finding;
use super::rolls::Rolls;

/// Findings of one roll that are told, the newest of them: 500 nodes, each probed 40 times.
pub const FINDINGS_TOLD: usize = 20_000;

/// What a link of the audit says of the roll that was begun with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun {
    /// Which.
    pub id: RollId,
    /// Its project and target.
    pub name: String,
    /// Of which source.
    pub revision: String,
}

impl Begun {
    /// The roll of a link; none where it is of another verb, or nothing came of it.
    pub fn of(link: &Link) -> Option<Self> {
        let start = link.asked.pointer("/roll/start").filter(|_| link.fate == Fate::Done)?;
        let text = |field: &str| start.get(field).and_then(Value::as_str);
        let id = RollId(text("id")?.parse().ok()?);
        Some(Self {
            id,
            name: format!("{}/{}", text("project")?, text("target")?),
            revision: text("revision")?.to_owned(),
        })
    }
}

/// One roll, folded by itself: nothing of it is forgotten for the sake of others.
#[derive(Debug, Clone)]
pub struct PastRoll {
    id: RollId,
    rolls: Rolls,
    findings: Vec<(String, Finding)>,
    left_out: usize,
}

impl PastRoll {
    /// One of which nothing was read yet.
    pub fn of(id: RollId) -> Self {
        Self { id, rolls: Rolls::default(), findings: Vec::new(), left_out: 0 }
    }

    /// Takes the next entry, oldest first; those of others change nothing.
    pub fn take(&mut self, entry: &Entry) {
        let Change::Roll(change) = &entry.change else { return };
        if change.roll() != Some(self.id) {
            return;
        }
        self.rolls.apply(entry.at, change);
        if let RollChange::Found { node, .. } = &**change {
            self.note(node);
        }
    }

    /// The World keeps the last ones per node; here all of them are told.
    fn note(&mut self, node: &str) {
        let is_its = self.roll().is_some_and(|roll| roll.nodes.contains_key(node));
        let found = self.rolls.findings.get(node).filter(|_| is_its).cloned();
        self.findings.extend(found.map(|finding| (node.to_owned(), finding)));
        // In one go, so that each of many is not moved again and again.
        if self.findings.len() >= FINDINGS_TOLD * 2 {
            self.trim();
        }
    }

    fn trim(&mut self) {
        let surplus = self.findings.len().saturating_sub(FINDINGS_TOLD);
        self.left_out += surplus;
        self.findings.drain(..surplus);
    }

    /// As far as it was read; none until its beginning was.
    pub fn roll(&self) -> Option<&Roll> {
        self.rolls.roll(self.id)
    }

    /// Everything that was found of its nodes, oldest first and at most `FINDINGS_TOLD`, and how many more there were.
    pub fn findings(mut self) -> (Vec<(String, Finding)>, usize) {
        self.trim();
        (self.findings, self.left_out)
    }

    /// It has ended and nobody looks after its nodes any more: no entry from `at` on says anything about it. What was
    /// out at that moment was judged meanwhile.
    pub fn is_told(&self, at: Timestamp) -> bool {
        let Some(roll) = self.roll() else { return false };
        roll.watched_until().is_some_and(|until| roll.spec.probed_within().after(until) < at)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fleet_roll::Ending;
    use super::super::node::{PROBES_KEPT, StepEnding, StepName, Verdict};
    use super::super::spec::{RollSpec, SOAK};
    use super::*;
    use crate::domain::change::Cause;
    use crate::domain::span::Seconds;

    fn at(seconds: u64) -> Timestamp {
        Seconds(seconds).after(Timestamp::UNIX_EPOCH)
    }

    /// One roll that brings a node back and has it probed so often.
    fn told(probes: u64) -> (PastRoll, RollId) {
        let id = RollId::named("r");
        let spec = RollSpec { nodes: vec!["wk-1".to_owned()], ..RollSpec::default() };
        let roll = Box::new(Roll::new(id, "kernel", "fleet", "x", spec, at(0)));
        let node = || "wk-1".to_owned();
        let step = StepName::Uncordon;
        let began = RollChange::StepBegan { roll: id, node: node(), step, boot_id: None, unschedulable: None };
        let ended = RollChange::StepEnded { roll: id, node: node(), step, ending: StepEnding::Done };
        let found = |n: u64| RollChange::Found {
            roll: Some(id),
            node: node(),
            verdict: Verdict::Proven,
            reason: format!("probe {n}"),
            started_at: at(n),
            passive: false,
        };
        let all = [RollChange::Started { roll }, began, ended].into_iter().chain((0..probes).map(found));
        let mut past = PastRoll::of(id);
        for (change, revision) in all.zip(1..) {
            let change = Change::Roll(Box::new(change));
            let entry = Entry { revision, at: at(revision), by: String::new(), cause: Cause::Tick, change };
            past.take(&entry);
        }
        (past, id)
    }

    #[test]
    fn every_probe_is_told_and_not_the_last_ones_alone() {
        // F57
        let many = PROBES_KEPT as u64 + 70;
        let (past, _) = told(many);
        assert_eq!(past.roll().unwrap().nodes["wk-1"].findings.len(), PROBES_KEPT, "as the World has it");
        let (findings, left_out) = past.findings();
        let reasons: Vec<String> = findings.into_iter().map(|(_, finding)| finding.reason).collect();
        assert_eq!((reasons, left_out), ((0..many).map(|n| format!("probe {n}")).collect(), 0));
    }

    #[test]
    fn beyond_the_limit_the_newest_are_told_and_the_others_are_counted() {
        let (past, _) = told(FINDINGS_TOLD as u64 * 2 + 3);
        let (findings, left_out) = past.findings();
        assert_eq!((findings.len(), left_out), (FINDINGS_TOLD, FINDINGS_TOLD + 3));
        assert_eq!(findings[0].1.reason, format!("probe {}", FINDINGS_TOLD + 3));
    }

    #[test]
    fn it_is_told_once_nobody_looks_after_its_nodes_any_more() {
        // F57, F60
        let (mut past, id) = told(1);
        assert!(!past.is_told(Timestamp::MAX), "it goes on");
        let ending = Ending::Aborted { by: "op-a".to_owned(), reason: None };
        let change = Change::Roll(Box::new(RollChange::Ended { roll: id, ending }));
        past.take(&Entry { revision: 9, at: at(100), by: String::new(), cause: Cause::Tick, change });
        let last = at(100 + SOAK.0 + 120);
        assert!(!past.is_told(last), "what was out by then is judged");
        assert!(past.is_told(Seconds(1).after(last)));
    }
}
