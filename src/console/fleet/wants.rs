//! What of fleet rolls needs a human: gates by how long they wait, what stands still, what failed, nodes that are broken or
//! were left cordoned.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::super::facts::Node;
use super::super::need::{Need, NeedKind};
use super::super::snapshot::{Snapshot, TICK_LATE_AFTER};
use super::facts::FleetFacts;
use crate::domain::roll::fleet_roll::{Ending, Roll};
use crate::domain::roll::host::Runtime;
use crate::domain::span::Seconds;

/// Things of one kind that are listed one by one; the others are counted.
const PER_KIND_MAX: usize = 5;

/// Every reason there is.
pub(in super::super) fn wants(picture: &Snapshot, facts: &FleetFacts, moment: Timestamp) -> Vec<Need> {
    let mut wants = Wants { picture, facts, moment, needs: Vec::new() };
    if picture.world.rolls.is_empty() {
        return wants.needs;
    }
    wants.unattended();
    wants.unseen();
    let told = wants.rolls();
    wants.broken(&told);
    wants.left_cordoned();
    wants.needs
}

struct Wants<'a> {
    picture: &'a Snapshot,
    facts: &'a FleetFacts,
    moment: Timestamp,
    needs: Vec<Need>,
}

impl Wants<'_> {
    fn push(&mut self, kind: NeedKind, node: Node, name: &str, text: impl Into<String>, since: Option<Timestamp>) {
        let (node, name, text) = (Some(node), name.to_owned(), text.into());
        self.needs.push(Need { kind, node, name, text, since, until: None });
    }

    /// Nobody ticks; while a rollout runs, or servers are deployed to, that is said already.
    fn unattended(&mut self) {
        let said = self.picture.world.running().is_some() || !self.picture.world.kura.is_empty();
        let Some(id) = self.facts.live().next().map(|row| row.id).filter(|_| !said) else { return };
        match (self.picture.holder(), self.picture.seat.last_tick) {
            (None, at) => {
                self.push(NeedKind::NoTick, Node::Roll(id), "seat", "nobody holds the seat: no roll goes on", at);
            }
            (Some(holder), Some(at)) if Seconds::between(at, self.moment) > TICK_LATE_AFTER => {
                let text = "holds the seat and does not tick: no roll goes on";
                self.push(NeedKind::NoTick, Node::Roll(id), holder, text, Some(at));
            }
            _ => {}
        }
    }

    /// Nothing is decided about a fleet that is not seen.
    fn unseen(&mut self) {
        let facts = self.facts;
        let veiled: Vec<_> =
            facts.veiled.iter().filter(|one| one.as_of.is_some() || one.kind.is_empty() || one.why.is_some()).collect();
        let (Some(first), Some(row)) = (veiled.first(), facts.live().next()) else { return };
        let kinds: Vec<&str> = veiled.iter().map(|one| one.kind).filter(|kind| !kind.is_empty()).collect();
        let why = first.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        let what = if kinds.is_empty() { String::new() } else { format!("{} ", kinds.join(", ")) };
        let text = format!("{what}{}{why}; no roll goes on", first.word);
        self.push(NeedKind::Unseen, Node::Roll(row.id), "fleet", text, first.as_of);
    }

    /// What is said of each, and the sentences that were said.
    fn rolls(&mut self) -> BTreeSet<String> {
        let picture = self.picture;
        let rolls = &picture.world.rolls;
        let mut told = BTreeSet::new();
        for roll in rolls.rolls.iter() {
            let newest = rolls.rolls.iter().rev().find(|other| other.name() == roll.name()).map(|other| other.id);
            match &roll.ended {
                None => self.live(roll, &mut told),
                // A person starts another one, which is what a failure waits for.
                Some(ended) if newest == Some(roll.id) => {
                    if let Ending::Failed { reason } = &ended.ending {
                        told.insert(reason.clone());
                        self.push(NeedKind::RollFailed, Node::Roll(roll.id), &roll.name(), reason, Some(ended.at));
                    }
                }
                Some(_) => {}
            }
        }
        told
    }

    fn live(&mut self, roll: &Roll, told: &mut BTreeSet<String>) {
        let (node, name) = (Node::Roll(roll.id), roll.name());
        if let Some(blocked) = &roll.blocked {
            told.insert(blocked.reason.clone());
            self.push(NeedKind::RollBlocked, node, &name, &blocked.reason, Some(blocked.since));
        }
        if let Some(gate) = &roll.gate {
            let but = if roll.blocked.is_some() { ", and is blocked" } else { "" };
            let text = format!("waiting on {} gate: {}{but}", gate.gate.to_lowercase(), roll.revision);
            self.push(NeedKind::Gate, node, &name, text, Some(gate.since));
        }
        if let Some((object, trouble)) = roll.troubles.iter().next() {
            self.push(NeedKind::Unwritten, node, &name, format!("{object}: {trouble}"), None);
        }
    }

    /// Runtimes that are broken, where no roll says so already (F60).
    fn broken(&mut self, told: &BTreeSet<String>) {
        let facts = self.facts;
        let broken: Vec<_> = facts
            .named()
            .filter(|(_, host)| host.runtime() == Runtime::Broken)
            .filter(|(_, host)| !host.reason().is_some_and(|reason| told.contains(reason)))
            .collect();
        for (id, host) in broken.iter().take(PER_KIND_MAX) {
            let (reason, at) = (host.reason().unwrap_or_default(), host.finding.as_ref().map(|finding| finding.at));
            self.push(NeedKind::RuntimeBroken, Node::Host(*id), &host.name, reason, at);
        }
        self.rest(NeedKind::RuntimeBroken, broken.get(PER_KIND_MAX).map(|(id, _)| *id), broken.len());
    }

    fn left_cordoned(&mut self) {
        let (facts, picture) = (self.facts, self.picture);
        let rolls = &picture.world.rolls;
        let left: Vec<_> = facts.named().filter(|(_, host)| host.is_left_cordoned(rolls)).collect();
        for (id, host) in left.iter().take(PER_KIND_MAX) {
            let Some(cordon) = &host.cordon else { continue };
            let text = format!("left cordoned by the roll of {}: ours to give back", rolls.name(cordon.roll));
            self.push(NeedKind::LeftCordoned, Node::Host(*id), &host.name, text, Some(cordon.at));
        }
        self.rest(NeedKind::LeftCordoned, left.get(PER_KIND_MAX).map(|(id, _)| *id), left.len());
    }

    fn rest(&mut self, kind: NeedKind, first: Option<super::super::kura::Token>, all: usize) {
        if let Some(id) = first {
            let text = format!("and {} more of them", all - PER_KIND_MAX);
            self.push(kind, Node::Host(id), "nodes", text, None);
        }
    }
}
