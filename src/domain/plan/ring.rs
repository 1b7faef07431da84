//! What is said about the settings of a ring: a cap that is turned, waits that get longer or shorter.

use super::super::fleet::{RingSettings, Rung};
use super::super::ids::{MachineId, RingId};
use super::super::input::RingPatch;
use super::super::lane::LaneKey;
use super::super::rows::LaneView;
use super::super::span::Seconds;
use super::super::world::World;
use super::outline::PlanKind;
use super::rehearsal::Rehearsal;

impl Rehearsal<'_> {
    /// New settings of a ring.
    pub(super) fn patch_ring(&mut self, ring: RingId, patch: &RingPatch) {
        let settings = |world: &World| world.rings.get(&ring).map(|ring| ring.settings.clone());
        let Some((before, after)) = settings(self.before).zip(settings(self.after)) else { return };
        if patch.max_in_flight.is_some() {
            self.cap(ring, &before, &after);
        }
        self.span("settle window", before.min_settle_seconds, after.min_settle_seconds);
        self.span("stall timeout", before.stall_timeout_seconds, after.stall_timeout_seconds);
        if before.failure_count_threshold != after.failure_count_threshold {
            let (old, new) = (before.failure_count_threshold, after.failure_count_threshold);
            self.say(PlanKind::Starts, format!("{new} failures halt it instead of {old}"));
            self.say(PlanKind::Stays, "a ring that is halted already stays halted");
        }
        if before.wave_ladder != after.wave_ladder {
            self.ladder(ring, &after.wave_ladder);
        }
        self.starts();
    }

    /// Who is elected at once, what comes later, and a top that leaves some out for ever (R70-R75).
    fn ladder(&mut self, ring: RingId, ladder: &[Rung]) {
        let open = self.after.lanes().iter().map(|(key, _)| *key).filter(|key| key.1 == ring);
        let open: Vec<LaneKey> = open.filter(|key| self.elected(self.after, *key).is_some()).collect();
        for key in &open {
            let (was, is) = (self.elected(self.before, *key), self.elected(self.after, *key));
            let Some(((was, old), (is, new, of))) = was.map(|e| (e.0, e.1)).zip(is) else { continue };
            let tier = self.before.environment_slug(key.0).to_owned();
            let text = match old == new {
                true => format!("in {tier} {new} of {of} machines are elected now, as before"),
                false => format!("in {tier} {is} % are elected now, {new} of {of} machines instead of {old} ({was} %)"),
            };
            self.say(PlanKind::Starts, text);
        }
        if open.is_empty() {
            self.say(PlanKind::Stays, "no environment of it is open, so nobody is elected by it now");
        }
        let later = ladder.iter().filter(|rung| rung.after_seconds > 0);
        let later: Vec<String> =
            later.map(|rung| format!("{} % after {}", rung.pct, Seconds(rung.after_seconds))).collect();
        if !later.is_empty() {
            let text = format!("counted from the opening of each environment: {}", later.join(", "));
            self.say(PlanKind::Starts, text);
        }
        self.say(PlanKind::Stays, "who was elected stays elected until a reset or another start");
        let top = ladder.iter().map(|rung| rung.pct).max().unwrap_or(0);
        if top < 100 {
            let text = format!(
                "it tops out at {top} %: who is not elected by then never starts, its environment never completes"
            );
            self.say(PlanKind::Warns, text);
        }
    }

    /// Per cent that are elected in an open lane, how many machines that is, and of how many.
    fn elected(&self, world: &World, key: LaneKey) -> Option<(u8, usize, usize)> {
        let view = LaneView::of(world, world.running()?, key, self.now).filter(|view| view.open)?;
        let elected = view.lane.members.iter().filter(|(bucket, _)| *bucket < view.elected).count();
        Some((view.elected, elected, view.lane.members.len()))
    }

    fn cap(&mut self, ring: RingId, before: &RingSettings, after: &RingSettings) {
        match (before.max_in_flight, after.max_in_flight) {
            (old, new) if old == new => {}
            (_, 0) => {
                self.say(PlanKind::Warns, "the ring has no cap any more: everybody who is elected starts at once");
                self.say(PlanKind::Stays, "runs in flight go on, without a slot");
            }
            (0, new) => {
                let adopted = self.adopted();
                if !adopted.is_empty() {
                    let names = self.names(adopted.into_iter());
                    self.say(PlanKind::Starts, format!("{names} holds a slot for the run it is in"));
                }
                self.say(PlanKind::Starts, format!("at most {new} machines of an environment start from now on"));
            }
            (old, new) if new < old => {
                self.say(PlanKind::Starts, format!("at most {new} machines of an environment hold a slot, not {old}"));
                self.say(PlanKind::Stays, "whoever holds a slot keeps it");
            }
            (old, new) => {
                let text = format!("up to {new} machines of an environment hold a slot, not {old}");
                self.say(PlanKind::Starts, text);
            }
        }
        let halted = self.before.running().is_some_and(|rollout| rollout.halted_rings.contains_key(&ring));
        if halted {
            self.say(PlanKind::Stays, "the ring is halted and stays halted: only a reset ends that");
        }
    }

    fn adopted(&self) -> Vec<MachineId> {
        let holds = |id: &MachineId| self.before.machines.get(id).is_some_and(|machine| machine.lease.is_some());
        let leased = self.after.machines.values().filter(|machine| machine.lease.is_some()).map(|machine| machine.id);
        leased.filter(|id| !holds(id)).collect()
    }

    fn span(&mut self, what: &str, before: Seconds, after: Seconds) {
        if before != after {
            self.say(PlanKind::Starts, format!("the {what} is {after} instead of {before}, for open ones too"));
        }
    }
}
