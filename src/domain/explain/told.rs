//! What is said where only a status is told: nothing that would have to be computed from what is not known.

use jiff::Timestamp;

use super::super::glimpse::Glimpse;
use super::super::ids::{MachineId, RingId};
use super::super::lane::LaneKey;
use super::super::observed::Observed;
use super::super::rollout::{Ending, Rollout};
use super::super::rows::{LaneView, MachineRow, RowState, lane_rows, machine_rows};
use super::super::span::Seconds;
use super::super::world::World;
use super::sentence::{Explanation, Subject};

/// Says what was told about the subject, in the control plane's own words where it has some.
pub fn told(world: &World, observed: &Observed, glimpse: &Glimpse, subject: Subject, now: Timestamp) -> Explanation {
    let Some(rollout) = world.current() else {
        return Explanation::of("no rollout is on show").next(&["name the one to look at: --rollout UUID"]);
    };
    let scene = Scene { world, observed, glimpse, rollout, now };
    match subject {
        Subject::Rollout => scene.rollout(),
        Subject::Ring(id) => scene.ring(id),
        Subject::Machine(id) => scene.machine(id),
        Subject::Server(_) => Explanation::of("nothing is told of Kura servers"),
        Subject::Roll(_) | Subject::Node(_) => Explanation::of("nothing is told of fleet rolls and nodes"),
    }
}

#[derive(Clone, Copy)]
struct Scene<'a> {
    world: &'a World,
    observed: &'a Observed,
    glimpse: &'a Glimpse,
    rollout: &'a Rollout,
    now: Timestamp,
}

impl Scene<'_> {
    fn rollout(self) -> Explanation {
        let release = self.world.release_name(self.rollout.release);
        match (&self.rollout.ending, &self.glimpse.stall_reason) {
            (Some(Ending::Completed), _) => Explanation::of(format!("{release} is completed")),
            (Some(Ending::Halted { reason }), _) => Explanation::of(format!("{release} is halted: {reason}"))
                .next(&["check the interrupted nodes for a cordon", "start the release again, or a hotfix"]),
            (Some(Ending::Superseded { .. }), _) => Explanation::of(format!("{release} was superseded"))
                .next(&["find out who started the other one", "check the interrupted nodes for a cordon"]),
            (None, Some(reason)) => Explanation::of(reason.as_str()).next(self.after_a_halt()),
            (None, None) => Explanation::of(format!("no reason is told why it would not move: {}", self.counts())),
        }
    }

    /// A halted ring does not go on by itself (R67).
    fn after_a_halt(self) -> &'static [&'static str] {
        match self.rollout.halted_rings.is_empty() {
            true => &[],
            false => &["read the failing state", "fix the machine, or pause it to skip it", "then reset"],
        }
    }

    fn counts(self) -> String {
        let rows = machine_rows(self.world, self.observed, self.rollout, self.now);
        let settling = match self.glimpse.settling {
            0 => String::new(),
            n => format!(", {n} settling"),
        };
        format!("{}{settling}", counted(&rows))
    }

    fn ring(self, id: RingId) -> Explanation {
        let slug = self.world.ring_slug(id);
        if let Some(halt) = self.rollout.halted_rings.get(&id) {
            return Explanation::of(format!("{slug} is halted: {}", halt.reason)).next(self.after_a_halt());
        }
        let keys = self.world.lanes().iter().map(|(key, _)| *key).filter(|(_, ring)| *ring == id);
        let rows: Vec<MachineRow> = keys.flat_map(|key| self.rows(key)).collect();
        let held = self.world.rings.get(&id).is_some_and(|ring| ring.paused.is_some());
        Explanation::of(format!("{slug}{}: {}", if held { " is paused" } else { "" }, counted(&rows))).on(slug)
    }

    fn rows(self, key: LaneKey) -> Vec<MachineRow> {
        let view = LaneView::of(self.world, self.rollout, key, self.now);
        view.map_or_else(Vec::new, |view| lane_rows(self.world, self.observed, self.rollout, &view, self.now))
    }

    fn machine(self, id: MachineId) -> Explanation {
        let place = self.world.machines.get(&id).and_then(|machine| machine.place());
        let row = place.and_then(|key| self.rows(key).into_iter().find(|row| row.machine == id));
        let Some(row) = row else { return Explanation::of("this machine is not on show any more") };
        let said = self.state(&row);
        let Some(since) = row.held_since else { return Explanation::of(said) };
        let (held, least) =
            (Seconds::between(since, self.now), if self.glimpse.tells_times { "" } else { "at least " });
        Explanation::of(format!("{said}, and holds a slot for {least}{held}")).on(&row.hostname).since(Some(since))
    }

    fn state(self, row: &MachineRow) -> String {
        let (name, ring) = (&row.hostname, self.world.ring_slug(row.ring));
        match row.state {
            RowState::Paused => format!("{name} is paused: by whom and why is not told"),
            RowState::Applied => format!("{name} has applied the release"),
            RowState::Failed => format!("{name} failed: its apply results name the state"),
            RowState::Errored => match &row.render_error {
                Some(missing) => format!("{name} cannot be rendered: {} missing", missing.join(", ")),
                None => format!("{name} cannot be rendered"),
            },
            RowState::Pending => format!("{name} is inside its run"),
            RowState::Queued => match row.queue_position {
                Some(place) => format!("{name} is number {place} in the queue of {ring}"),
                None => format!("{name} is in the queue of {ring}"),
            },
            RowState::Waiting => format!("{name} waits: its environment is not open, or the ladder has not elected it"),
        }
    }
}

/// How many are where, leaving out what nobody is.
fn counted(rows: &[MachineRow]) -> String {
    let done = rows.iter().filter(|row| row.state == RowState::Applied).count();
    let holding = rows.iter().filter(|row| row.holds_slot).count();
    let queued = rows.iter().filter(|row| row.queue_position.is_some()).count();
    let mut said = format!("{done} of {} done", rows.len());
    for (count, word) in [(holding, "with a slot"), (queued, "queued")] {
        if count > 0 {
            said += &format!(", {count} {word}");
        }
    }
    said
}
