//! What is said about the settings of a ring: a cap that is turned, waits that get longer or shorter.

use std::collections::BTreeSet;

use super::super::fleet::{Lease, RingSettings, Rung};
use super::super::ids::{MachineId, RingId};
use super::super::input::RingPatch;
use super::super::lane::{Lane, LaneKey};
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
        if before.min_settle_seconds != after.min_settle_seconds {
            self.settle(ring, before.min_settle_seconds, after.min_settle_seconds);
        }
        if before.stall_timeout_seconds != after.stall_timeout_seconds {
            self.stall(
                ring,
                (after.max_in_flight > 0).then_some(after.stall_timeout_seconds),
                before.stall_timeout_seconds,
            );
        }
        if before.failure_count_threshold != after.failure_count_threshold {
            self.threshold(ring, before.failure_count_threshold, after.failure_count_threshold);
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
                self.say(PlanKind::Stays, "runs in flight go on, without a slot");
            }
            (0, new) => {
                let adopted = self.adopted();
                let full = adopted.len() >= usize::try_from(new).unwrap_or(usize::MAX);
                if !adopted.is_empty() {
                    let (hold, their) = if adopted.len() == 1 { ("holds", "it is") } else { ("hold", "they are") };
                    let names = self.names(adopted.into_iter());
                    self.say(PlanKind::Starts, format!("{names} {hold} a slot for the run {their} in"));
                }
                let text = format!("at most {} of an environment may hold a slot from now on", machines(new));
                self.say(PlanKind::Starts, text);
                if full {
                    self.say(PlanKind::Stays, "nobody else starts before enough of them are done");
                }
            }
            (old, new) if new < old => {
                let text = format!("at most {} of an environment may hold a slot, not {old}", machines(new));
                self.say(PlanKind::Starts, text);
                self.say(PlanKind::Stays, "whoever holds a slot keeps it");
            }
            (old, new) => {
                let text = format!("up to {} of an environment may hold a slot, not {old}", machines(new));
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

    /// Windows that open again or close by it (R44).
    fn settle(&mut self, ring: RingId, before: Seconds, after: Seconds) {
        let keys = self.keys(ring);
        let lanes: Vec<&Lane> = keys.iter().filter_map(|key| self.before.lane(*key)).collect();
        let open = |settle: Seconds| -> BTreeSet<MachineId> {
            lanes.iter().flat_map(|lane| lane.settling(settle, self.now).map(|(_, id)| *id)).collect()
        };
        let (was, is) = (open(before), open(after));
        let (again, closed): (Vec<MachineId>, Vec<MachineId>) =
            (is.difference(&was).copied().collect(), was.difference(&is).copied().collect());
        if !again.is_empty() {
            let names = self.names(again.into_iter());
            self.say(PlanKind::Warns, format!("closed windows open again and take their slots: {names}"));
        }
        if !closed.is_empty() {
            let names = self.names(closed.into_iter());
            self.say(PlanKind::Ends, format!("windows close at once: {names}"));
        }
        if after.is_off() {
            self.say(PlanKind::Warns, "nobody soaks any more: the next one starts right after a success");
        }
        self.say(PlanKind::Starts, format!("the settle window is {after} instead of {before}, for open ones too"));
    }

    /// Who has held its slot for longer already halts the ring at the next tick (R49); one that is shorter than a run
    /// may take halts it over a machine that only is slow (R50).
    fn stall(&mut self, ring: RingId, after: Option<Seconds>, before: Seconds) {
        let Some(after) = after.filter(|after| !after.is_off()) else {
            self.say(PlanKind::Warns, "a slot may be held for ever: a holder that hangs or is gone halts nothing");
            return;
        };
        let halted = self.before.running().is_some_and(|rollout| rollout.halted_rings.contains_key(&ring));
        let leases = self.before.machines.values().filter(|machine| machine.ring == Some(ring));
        let leases = leases.filter_map(|machine| Some((machine.id, machine.lease.as_ref()?)));
        let age = |lease: &Lease| Seconds::between(lease.granted_at, self.now).0.saturating_sub(lease.frozen.0);
        let over: Vec<MachineId> = leases.filter(|(_, lease)| age(lease) >= after.0).map(|(id, _)| id).collect();
        if !over.is_empty() && !halted {
            let names = self.names(over.into_iter());
            self.say(PlanKind::Warns, format!("the ring halts at the next tick: {names} held its slot for longer"));
        }
        let running = self.before.running().and_then(|rollout| self.before.releases.get(&rollout.release));
        if let Some(deadline) = running.map(|release| release.timeout_seconds).filter(|deadline| *deadline >= after) {
            let text = format!("a run may take {deadline}: a machine that is only slow halts the ring");
            self.say(PlanKind::Warns, text);
        }
        let before = if before.is_off() { "for ever".to_owned() } else { before.to_string() };
        self.say(PlanKind::Starts, format!("a slot may be held for {after} instead of {before}, those held now too"));
        if halted {
            self.say(PlanKind::Stays, "the ring is halted and stays halted: only a reset ends that");
        }
    }

    /// What has failed already counts, but does not itself halt (R178).
    fn threshold(&mut self, ring: RingId, before: u32, after: u32) {
        let failed = self.before.running().and_then(|rollout| rollout.failures.get(&ring)).copied().unwrap_or(0);
        let failures = |count: u32| if count == 1 { "1 failure".to_owned() } else { format!("{count} failures") };
        if failed >= after {
            let text = format!("{} counted already: the next one halts it", failures(failed));
            self.say(PlanKind::Warns, text);
        }
        let verb = if after == 1 { "halts" } else { "halt" };
        self.say(PlanKind::Starts, format!("{} {verb} it instead of {before}", failures(after)));
        self.say(PlanKind::Stays, "a ring that is halted already stays halted");
    }

    fn keys(&self, ring: RingId) -> Vec<LaneKey> {
        self.before.lanes().iter().map(|(key, _)| *key).filter(|key| key.1 == ring).collect()
    }
}

fn machines(count: u32) -> String {
    if count == 1 { "1 machine".to_owned() } else { format!("{count} machines") }
}
