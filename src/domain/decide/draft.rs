//! A draft: the world as it would be with the changes decided so far, so that each step sees the one before.

use std::borrow::Cow;

use jiff::Timestamp;

use super::super::change::{Change, LeaseEnd};
use super::super::ids::MachineId;
use super::super::input::{Author, Input};
use super::super::kura::change::KuraChange;
use super::super::kura::step::Step;
use super::super::roll::change::RollChange;
use super::super::verdict::{Reply, Verdict};
use super::super::world::World;

/// Changes in the making. The world is copied only once there is a first change.
pub(super) struct Draft<'a> {
    world: Cow<'a, World>,
    input: &'a Input,
    author: Option<Author>,
    changes: Vec<Change>,
    steps: Vec<Step>,
    /// The time of the decision.
    pub now: Timestamp,
}

impl<'a> Draft<'a> {
    pub(super) fn new(world: &'a World, input: &'a Input, now: Timestamp) -> Self {
        Self { world: Cow::Borrowed(world), input, author: None, changes: Vec::new(), steps: Vec::new(), now }
    }

    /// The world with everything decided so far.
    pub(super) fn world(&self) -> &World {
        &self.world
    }

    /// Decides one fact.
    pub(super) fn push(&mut self, change: Change) {
        let author = match self.author.take() {
            Some(author) => author,
            None => self.input.author(&self.world, ""),
        };
        for entry in author.entries(&self.world, std::slice::from_ref(&change), self.now) {
            self.world.to_mut().apply(&entry);
        }
        self.author = Some(author);
        self.changes.push(change);
    }

    /// Ends the lease of every machine that holds one (R92, R94, R115).
    pub(super) fn end_all_leases(&mut self, cause: LeaseEnd) {
        let holders: Vec<MachineId> =
            self.world.lanes().iter().flat_map(|(_, lane)| lane.holders.iter().copied()).collect();
        for machine in holders {
            self.push(Change::LeaseEnded { machine, cause });
        }
    }

    /// Ends the lease of one machine, if it holds one.
    pub(super) fn end_lease(&mut self, machine: MachineId, cause: LeaseEnd) {
        if self.world.machines.get(&machine).is_some_and(|m| m.lease.is_some()) {
            self.push(Change::LeaseEnded { machine, cause });
        }
    }

    /// Decides one fact about Kura servers.
    pub(super) fn tell(&mut self, change: KuraChange) {
        self.push(Change::Kura(Box::new(change)));
    }

    /// Decides one fact about fleet rolls.
    pub(super) fn note(&mut self, change: RollChange) {
        self.push(Change::Roll(Box::new(change)));
    }

    /// Facts decided so far.
    pub(super) fn told(&self) -> usize {
        self.changes.len()
    }

    /// Decides one write to the cluster.
    pub(super) fn step(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Takes back the steps that `is_idle` finds.
    pub(super) fn drop_steps(&mut self, is_idle: impl Fn(&Step) -> bool) {
        self.steps.retain(|step| !is_idle(step));
    }

    /// Leaves the steps after the first `limit` to the next pass.
    pub(super) fn limit_steps(&mut self, limit: usize) {
        self.steps.truncate(limit);
    }

    /// How many steps there are so far.
    pub(super) fn step_count(&self) -> usize {
        self.steps.len()
    }

    /// The steps from this one on.
    pub(super) fn steps_from(&self, first: usize) -> &[Step] {
        self.steps.get(first..).unwrap_or_default()
    }

    pub(super) fn verdict(self, reply: Reply) -> Verdict {
        Verdict { changes: self.changes, steps: self.steps, reply }
    }
}
