//! A roll told anew from the entries that made it: what the World no longer keeps is read from the journal (F57).

use jiff::Timestamp;
use serde_json::Value;

use super::super::audit::{Fate, Link};
use super::super::change::{Change, Entry};
use super::super::ids::RollId;
use super::change::RollChange;
use super::fleet_roll::Roll;
use super::node::Finding;
use super::probe::PROBED_WITHIN;
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
        let until = self.roll().and_then(Roll::watched_until);
        until.is_some_and(|until| PROBED_WITHIN.after(until) < at)
    }
}
