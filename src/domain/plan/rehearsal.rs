//! What is said about the difference a verb makes: stops, holds, skips, starts and resets.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::super::change::Level;
use super::super::ids::{EnvironmentId, MachineId, ReleaseId, RingId};
use super::super::input::Verb;
use super::super::lane::{Lane, LaneKey};
use super::super::nudge;
use super::super::observed::{Observed, Telemetry};
use super::super::rollout::HaltCause;
use super::super::rows::LaneView;
use super::super::verdict::Reply;
use super::super::world::{World, place};
use super::outline::{Plan, PlanKind, PlanLine};

/// Machines that are named one by one; the others are counted.
const NAMED_MAX: usize = 4;

/// Two worlds, and the plan in the making.
pub(super) struct Rehearsal<'a> {
    pub(super) before: &'a World,
    pub(super) after: &'a World,
    pub(super) observed: &'a Observed,
    pub(super) now: Timestamp,
    pub(super) plan: Plan,
}

impl Rehearsal<'_> {
    pub(super) fn say(&mut self, kind: PlanKind, text: impl Into<String>) {
        self.plan.lines.push(PlanLine { kind, text: text.into() });
    }

    /// Everything about a verb that would be done.
    pub(super) fn tell(&mut self, verb: &Verb, reply: &Reply, idle: bool) {
        if idle {
            self.say(PlanKind::Stays, "nothing changes: it is like that already");
            return;
        }
        self.gravest(verb);
        self.gives_back();
        match verb {
            Verb::Halt { .. } => self.halt(),
            Verb::Yank { release } => self.yank(*release),
            Verb::Start { release, .. } => match reply {
                Reply::Reset(_) => self.reset(),
                _ => self.begin(*release),
            },
            Verb::Pause(Level::Ring(id)) => self.hold_ring(*id),
            Verb::Pause(Level::Environment(id)) => self.hold_environment(*id),
            Verb::Pause(Level::Machine(id)) => self.skip(*id),
            Verb::Unpause(Level::Machine(id)) => self.rejoin(*id),
            Verb::Unpause(Level::Ring(id)) => self.go_on(|key| key.1 == *id),
            Verb::Unpause(Level::Environment(id)) => self.go_on(|key| key.0 == *id),
            Verb::AcceptClock => self.accept_clock(),
            Verb::PatchRing { ring, patch } => self.patch_ring(*ring, patch),
            Verb::PatchEnvironment { environment, .. } => self.patch_environment(*environment),
            Verb::AddMachine { id, .. } => self.add(*id),
            Verb::AssignMachine { machine, .. } => self.assign(*machine),
            Verb::RemoveMachine { machine } => self.remove(*machine),
            Verb::PatchAccount { .. } | Verb::ConfigureAccount { .. } => self.switches(),
            Verb::PublishRelease { .. } => self.publish(),
            Verb::SetSecret { name, .. } => self.set_secret(name),
            Verb::CreateEnvironment { .. } | Verb::CreateRing { .. } => self.create(verb),
            Verb::Kura(verb) => self.kura(verb),
            Verb::Roll(verb) => self.roll(verb),
        }
    }

    /// What cannot be taken back stands above everything else.
    fn gravest(&mut self, verb: &Verb) {
        let text = match verb {
            Verb::Yank { release } => {
                let name = self.before.release_name(*release);
                format!("a yank cannot be undone: {name} can never be started again")
            }
            Verb::RemoveMachine { .. } => {
                "it is gone for good: its history stays in the journal, its agent is turned away".to_owned()
            }
            Verb::PatchRing { ring, patch } if patch.max_in_flight == Some(0) && self.is_capped(*ring) => {
                "the ring has no cap any more: everybody who is elected starts at once".to_owned()
            }
            _ => return,
        };
        self.say(PlanKind::Warns, text);
    }

    fn is_capped(&self, ring: RingId) -> bool {
        self.before.rings.get(&ring).is_some_and(|ring| ring.is_capped())
    }

    /// Machines that lose their slot, each with how long it held it.
    fn gives_back(&mut self) {
        let ended = self.plan.ended.clone();
        for lease in ended.iter().take(NAMED_MAX) {
            let Some(machine) = self.before.machines.get(&lease.machine) else { continue };
            let ring = machine.ring.map_or("its ring", |id| self.before.ring_slug(id));
            let text = format!("{} gives back its slot of {ring}, held for {}", machine.hostname, lease.held);
            self.say(PlanKind::Ends, text);
        }
        if ended.len() > NAMED_MAX {
            self.say(PlanKind::Ends, format!("and {} more slots are given back", ended.len() - NAMED_MAX));
        }
    }

    pub(super) fn cancelled(&mut self, machines: &[MachineId], keeps: &str) {
        if machines.is_empty() {
            self.say(PlanKind::Stays, "no run is in flight, so none is cancelled");
            return;
        }
        self.plan.cancelled = machines.to_vec();
        let names = self.names(machines.iter().copied());
        let nodes = if machines.len() == 1 { "its node" } else { "their nodes" };
        self.say(PlanKind::Ends, format!("a run of {names} that is in flight is cancelled{keeps}"));
        self.say(PlanKind::Warns, format!("{nodes} may stay cordoned: check afterwards"));
    }

    /// Everybody who may be in a run, and those who lose their slot.
    pub(super) fn running(&self) -> Vec<MachineId> {
        let served = self.before.lanes().iter().flat_map(|(_, lane)| in_flight(lane));
        let ended = self.plan.ended.iter().map(|lease| lease.machine);
        served.chain(ended).collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn halt(&mut self) {
        self.cancelled(&self.running(), "");
        self.say(PlanKind::Stays, "nothing is rolled back; what is done stays done");
        self.say(PlanKind::Stays, "to go on start the release again: done machines are passed over");
    }

    fn yank(&mut self, release: ReleaseId) {
        let name = self.before.release_name(release).to_owned();
        if self.before.running().is_some_and(|rollout| rollout.release == release) {
            self.say(PlanKind::Ends, format!("the rollout of {name} is halted"));
            self.cancelled(&self.running(), "");
            self.say(PlanKind::Stays, "nothing is rolled back; what is done stays done");
        } else {
            self.say(PlanKind::Stays, format!("{name} is not running, so no run is cancelled"));
        }
    }

    fn hold_ring(&mut self, id: RingId) {
        let keys = self.lanes(|key| key.1 == id);
        self.hold(&keys);
        let tiers: Vec<&str> = keys.iter().map(|key| self.before.environment_slug(key.0)).collect();
        if tiers.len() > 1 {
            let text = format!("it is held in every environment it spans: {}", tiers.join(", "));
            self.say(PlanKind::Warns, text);
        }
    }

    fn hold_environment(&mut self, id: EnvironmentId) {
        let keys = self.lanes(|key| key.0 == id);
        self.hold(&keys);
    }

    fn hold(&mut self, keys: &[LaneKey]) {
        let lanes: Vec<&Lane> = keys.iter().filter_map(|key| self.before.lane(*key)).collect();
        let members: usize = lanes.iter().map(|l| l.members.len()).sum();
        let running: Vec<MachineId> = lanes.iter().flat_map(|l| in_flight(l)).collect();
        let queue = keys.iter().any(|key| self.before.rings.get(&key.1).is_some_and(|r| r.is_capped()));
        self.say(PlanKind::Ends, format!("nothing is served to its {} until the hold ends", machines(members)));
        self.cancelled(&running, if queue { "; the slot stays" } else { "" });
        if queue {
            self.say(PlanKind::Stays, "slots and the order of the queue stay; stall timers stand still");
        }
        let text = match self.holds_cursor(keys) {
            true => "the cursor does not pass while machines of it are not done",
            false => "the cursor is past it, and nothing else waits for it",
        };
        self.say(PlanKind::Stays, text);
    }

    /// The cursor has not passed all of these; where nothing runs it has passed none.
    fn holds_cursor(&self, keys: &[LaneKey]) -> bool {
        let cursor = self.before.running().and_then(|rollout| rollout.cursor.as_ref());
        let place_of = |key: &LaneKey| self.before.environments.get(&key.0).and_then(place);
        cursor.is_none_or(|cursor| keys.iter().any(|key| place_of(key).is_some_and(|place| place >= *cursor)))
    }

    fn skip(&mut self, id: MachineId) {
        let Some(machine) = self.before.machines.get(&id) else { return };
        let name = machine.hostname.clone();
        let applied = self.before.current().is_some_and(|r| machine.first_success.contains_key(&r.release));
        let place = machine.place();
        if self.running().contains(&id) {
            self.cancelled(&[id], "");
        }
        self.say(PlanKind::Ends, format!("nothing is served to {name} until it joins again"));
        self.starts();
        if let Some((environment, ring)) = place {
            let tier = self.before.environment_slug(environment).to_owned();
            let text = match applied {
                true => "it has applied once, so it does not hold the cursor".to_owned(),
                false => format!("{name} has not applied the release: it keeps holding the cursor in {tier}"),
            };
            self.say(if applied { PlanKind::Stays } else { PlanKind::Warns }, text);
            self.quorum(id, (environment, ring));
        }
    }

    /// How many of its ring stay in service without it.
    pub(super) fn quorum(&mut self, id: MachineId, key: LaneKey) {
        let Some(lane) = self.before.lane(key) else { return };
        let others = lane.members.iter().map(|(_, other)| *other).filter(|other| *other != id);
        let serving = others.filter(|other| {
            let paused = self.before.machines.get(other).is_some_and(|m| m.paused.is_some());
            !paused && self.observed.is_online(*other, self.now) != Some(false)
        });
        let (serving, all) = (serving.count(), lane.members.len());
        let ring = self.before.ring_slug(key.1);
        self.say(
            PlanKind::Warns,
            format!("beside it {serving} of the {all} machines of {ring} are online and not paused"),
        );
    }

    fn rejoin(&mut self, id: MachineId) {
        self.place_in_queue(id);
        self.starts();
        self.say(PlanKind::Stays, "nobody loses a slot over it");
    }

    /// Where a machine stands afterwards.
    pub(super) fn place_in_queue(&mut self, id: MachineId) {
        let machine = self.after.machines.get(&id);
        let name = self.after.hostname(id).to_owned();
        let done = machine.zip(self.after.current()).is_some_and(|(m, r)| m.is_done(r.release));
        let place = machine.and_then(|m| m.place());
        let rollout = self.after.running();
        let view = place.zip(rollout).and_then(|(key, r)| LaneView::of(self.after, r, key, self.now));
        let position = view.and_then(|v| v.queue().position(|other| other == id)).map(|at| at + 1);
        let ring = place.map(|key| self.after.ring_slug(key.1).to_owned()).unwrap_or_default();
        match position {
            _ if done => {
                self.say(PlanKind::Stays, format!("{name} is done already: it is served again for drift runs only"))
            }
            Some(at) => self.say(PlanKind::Starts, format!("{name} is number {at} in the queue of {ring}")),
            None => self.say(PlanKind::Stays, format!("{name} waits: nothing is served to it now")),
        }
    }

    fn go_on(&mut self, mine: impl Fn(&LaneKey) -> bool) {
        let keys = self.lanes(mine);
        let lanes: Vec<&Lane> = keys.iter().filter_map(|key| self.after.lane(*key)).collect();
        let holders: BTreeSet<MachineId> = lanes.iter().flat_map(|l| l.holders.iter().copied()).collect();
        let slotless: BTreeSet<MachineId> = lanes.iter().flat_map(|l| in_flight(l)).collect();
        let slotless: BTreeSet<MachineId> = slotless.difference(&holders).copied().collect();
        if !holders.is_empty() {
            self.served_again(&holders, ("goes on with its slot", "go on with their slots"));
            self.say(PlanKind::Stays, "stall timers go on from where they stood");
        }
        self.served_again(&slotless, ("begins its run anew", "begin their runs anew"));
        self.starts();
        self.say(PlanKind::Stays, "the order of the queue is as it was");
    }

    fn served_again(&mut self, whom: &BTreeSet<MachineId>, (one, many): (&str, &str)) {
        let (verb, how) = match whom.len() {
            0 => return,
            1 => ("is", one),
            _ => ("are", many),
        };
        let names = self.names(whom.iter().copied());
        self.say(PlanKind::Starts, format!("{names} {verb} served again and {how}"));
    }

    fn set_secret(&mut self, name: &str) {
        let served = format!("machines that are served from now on get the new value of secrets.{name}");
        self.say(PlanKind::Starts, served);
        self.say(PlanKind::Stays, "a machine that was served already keeps its content until the rollout is reset");
    }

    fn accept_clock(&mut self) {
        self.say(PlanKind::Starts, "stalls are noticed and the cursor moves again, by the new time");
        self.say(PlanKind::Warns, "a stall timer that ran out by the new time halts its ring at the next tick");
        self.say(PlanKind::Stays, "nobody gains or loses a slot by it");
    }

    fn reset(&mut self) {
        let ended: Vec<MachineId> = self.plan.ended.iter().map(|lease| lease.machine).collect();
        self.cancelled(&ended, "");
        let halted = self.before.running().map(|r| &r.halted_rings);
        let rings: Vec<String> =
            halted.into_iter().flatten().map(|(id, _)| self.before.ring_slug(*id).to_owned()).collect();
        let brakes = halted.into_iter().flatten().any(|(_, halt)| halt.cause == HaltCause::Threshold);
        if !rings.is_empty() {
            self.say(PlanKind::Starts, format!("{} admits machines again; failures count from zero", rings.join(", ")));
        }
        if let Some(tier) = self.lowest() {
            self.say(PlanKind::Starts, format!("the cursor begins again at {tier}; done machines are passed over"));
        }
        self.starts();
        if brakes {
            self.say(PlanKind::Warns, "what failed will fail again unless it was mended");
        }
        self.say(PlanKind::Stays, "pauses stay; settle windows are not repeated");
    }

    /// A new rollout, perhaps in the place of another.
    fn begin(&mut self, release: ReleaseId) {
        if let Some(old) = self.before.running() {
            let name = self.before.release_name(old.release).to_owned();
            let protected = if old.protected { "protected " } else { "" };
            self.say(PlanKind::Ends, format!("the {protected}rollout of {name} is superseded"));
            self.cancelled(&self.running(), "");
            self.say(PlanKind::Ends, "every queue is shuffled anew: its order is another with another release");
        }
        let name = self.before.release_name(release).to_owned();
        match self.lowest() {
            Some(tier) => self.say(PlanKind::Starts, format!("{name} starts at {tier}, the lowest environment")),
            None => self.say(PlanKind::Warns, format!("{name} waits: no environment is in the promotion path")),
        }
        self.start_those(admitted(self.after, self.now));
        if self.after.running().is_some_and(|rollout| !rollout.protected) {
            self.say(PlanKind::Warns, "it is not protected: any other start may supersede it");
        }
        self.say(PlanKind::Stays, "later environments wait until this one is done and has settled");
    }

    fn lowest(&self) -> Option<String> {
        self.before.path().first().map(|environment| environment.slug.clone())
    }

    /// Who would get a slot that nobody would get without this.
    pub(super) fn starts(&mut self) {
        let before = admitted(self.before, self.now);
        self.start_those(admitted(self.after, self.now).difference(&before).copied().collect());
    }

    fn start_those(&mut self, next: BTreeSet<MachineId>) {
        if self.observed.telemetry == Telemetry::Unreadable {
            self.say(PlanKind::Stays, "nobody gets a slot while results cannot be read");
            return;
        }
        if next.is_empty() {
            return;
        }
        let (verb, whose) = if next.len() == 1 { ("is", "its") } else { ("are", "their") };
        let names = self.names(next.iter().copied());
        self.say(PlanKind::Starts, format!("{names} {verb} next and may start at {whose} next poll"));
        self.plan.starts = next.into_iter().collect();
    }

    fn lanes(&self, mine: impl Fn(&LaneKey) -> bool) -> Vec<LaneKey> {
        self.before.lanes().iter().map(|(key, _)| *key).filter(|key| mine(key)).collect()
    }

    pub(super) fn names(&self, machines: impl ExactSizeIterator<Item = MachineId>) -> String {
        let count = machines.len();
        let knows = |id: MachineId| if self.before.machines.contains_key(&id) { self.before } else { self.after };
        let names: Vec<&str> = machines.take(NAMED_MAX).map(|id| knows(id).hostname(id)).collect();
        let rest = count.saturating_sub(NAMED_MAX);
        if rest == 0 { names.join(", ") } else { format!("{} and {rest} more", names.join(", ")) }
    }
}

pub(super) fn machines(count: usize) -> String {
    if count == 1 { "1 machine".to_owned() } else { format!("{count} machines") }
}

/// Who would be served for the first time at its next poll.
fn admitted(world: &World, now: Timestamp) -> BTreeSet<MachineId> {
    nudge::heads(world, now).into_iter().chain(nudge::wave(world, now)).collect()
}

/// Who may be in a run: holders, and what an uncapped ring was served and has not finished.
fn in_flight(lane: &Lane) -> impl Iterator<Item = MachineId> {
    let served = lane.served.iter().filter(|id| lane.unfinished.contains(*id));
    lane.holders.iter().chain(served).copied()
}
