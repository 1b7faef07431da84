//! Calm: while nothing happens that decides about serving, a poll that was answered has the same answer again, so it
//! need not be asked. A simulated day of a thousand agents is mostly this.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::domain::ids::{MachineId, Revision};
use crate::domain::rows::LaneView;
use crate::domain::span::Seconds;
use crate::domain::world::World;

/// Machines whose last poll changed nothing, and how long that is worth something.
#[derive(Debug, Default)]
pub(super) struct Calm {
    /// Every poll is asked, whatever it would change.
    pub(super) is_off: bool,
    machines: BTreeSet<MachineId>,
    revision: Revision,
    until: Option<Timestamp>,
}

impl Calm {
    /// Something happened: every poll has to be asked again.
    pub(super) fn stir(&mut self) {
        self.machines.clear();
    }

    /// A poll of this machine at `now` would be answered like its last one, and change as little.
    pub(super) fn holds(&mut self, machine: MachineId, world: &World, now: Timestamp) -> bool {
        if world.revision != self.revision || self.until.is_some_and(|until| now >= until) {
            self.stir();
        }
        !self.is_off && self.machines.contains(&machine)
    }

    /// A poll of this machine was answered at `now` and changed nothing.
    pub(super) fn settle(&mut self, machine: MachineId, world: &World, now: Timestamp) {
        if self.machines.is_empty() {
            self.revision = world.revision;
            self.until = next_turn(world, now);
        }
        self.machines.insert(machine);
    }
}

/// When time alone changes who is served next: a settle window closes, or a ladder takes its next step.
fn next_turn(world: &World, now: Timestamp) -> Option<Timestamp> {
    let rollout = world.running()?;
    let views = world.lanes().iter().filter_map(|(key, _)| LaneView::of(world, rollout, *key, now));
    let turns = views.flat_map(|view| {
        let settle = view.ring.settings.min_settle_seconds;
        let window = view.lane.settling(settle, now).next().map(|(first, _)| settle.after(*first));
        let began = rollout.reset_at.unwrap_or(rollout.started_at);
        let opened = rollout.opened.get(&view.key.0).copied().unwrap_or(began);
        let rungs = view.ring.settings.wave_ladder.iter().map(|rung| Seconds(rung.after_seconds).after(opened));
        let step = rungs.filter(|at| *at > now).min();
        [window, step].into_iter().flatten().collect::<Vec<_>>()
    });
    turns.min()
}
