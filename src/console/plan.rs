//! The plan of a deed: what would follow, rehearsed with the one decision function on the console's own replica.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::effect::Stop;
use super::snapshot::Snapshot;
use super::target::Deed;
use crate::domain::change::{Change, Level};
use crate::domain::decide::decide;
use crate::domain::ids::{EnvironmentId, MachineId, RingId};
use crate::domain::input::{Input, Order};
use crate::domain::lane::{Lane, LaneKey};
use crate::domain::nudge;
use crate::domain::observed::Telemetry;
use crate::domain::rollout::HaltCause;
use crate::domain::rows::LaneView;
use crate::domain::span::Seconds;
use crate::domain::verdict::Reply;
use crate::domain::world::World;

/// Machines that are named one by one; the others are counted.
const NAMED_MAX: usize = 4;

/// What a line of a plan is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanKind {
    /// A slot or a run ends.
    Ends,
    /// Something begins.
    Starts,
    /// Something stays as it is, or does not happen.
    Stays,
    /// Something to look after.
    Warns,
}

/// One consequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanLine {
    /// What it is about.
    pub kind: PlanKind,
    /// One sentence without a full stop.
    pub text: String,
}

/// Everything that would follow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// In the order they matter.
    pub lines: Vec<PlanLine>,
    /// The core would refuse: why, and what to do instead.
    pub refused: Option<(String, Vec<String>)>,
    /// A machine would lose its slot.
    pub ends_lease: bool,
}

/// Rehearses a deed.
pub fn plan(deed: Deed, picture: &Snapshot, by: &str, now: Timestamp) -> Plan {
    let order = Order { verb: deed.verb(), by: by.to_owned(), reason: None, key: None };
    let input = Input::Verb(order);
    let verdict = decide(&picture.world, &picture.observed, &input, now);
    if let Reply::Refused(refusal) = verdict.reply {
        return Plan { refused: Some((refusal.to_string(), refusal.hints())), ..Plan::default() };
    }
    let mut after = World::clone(&picture.world);
    for entry in input.author(&after, "").entries(&picture.world, &verdict.changes, now) {
        after.apply(&entry);
    }
    let mut rehearsal = Rehearsal { picture, before: &picture.world, after, now, lines: Vec::new() };
    let ended = rehearsal.ended(&verdict.changes);
    rehearsal.tell(deed, &ended);
    Plan { lines: rehearsal.lines, refused: None, ends_lease: !ended.is_empty() }
}

struct Rehearsal<'a> {
    picture: &'a Snapshot,
    before: &'a World,
    after: World,
    now: Timestamp,
    lines: Vec<PlanLine>,
}

impl Rehearsal<'_> {
    fn say(&mut self, kind: PlanKind, text: impl Into<String>) {
        self.lines.push(PlanLine { kind, text: text.into() });
    }

    fn tell(&mut self, deed: Deed, ended: &[MachineId]) {
        match deed {
            Deed::Stop(Stop::Rollout(_)) => self.halt(ended),
            Deed::Stop(Stop::Ring(id)) => self.hold_ring(id),
            Deed::Stop(Stop::Environment(id)) => self.hold_environment(id),
            Deed::Skip(id) => self.skip(id, ended),
            Deed::Unpause(Level::Machine(id)) => self.rejoin(id),
            Deed::Unpause(Level::Ring(id)) => self.go_on(|key| key.1 == id),
            Deed::Unpause(Level::Environment(id)) => self.go_on(|key| key.0 == id),
            Deed::AcceptClock => self.accept_clock(),
            Deed::Reset { .. } => self.reset(ended),
        }
    }

    /// Machines that lose their slot, each with how long it held it.
    fn ended(&mut self, changes: &[Change]) -> Vec<MachineId> {
        let ends = changes.iter().filter_map(|change| match change {
            Change::LeaseEnded { machine, .. } => Some(*machine),
            _ => None,
        });
        let ended: Vec<MachineId> = ends.collect();
        for machine in ended.iter().take(NAMED_MAX).filter_map(|id| self.before.machines.get(id)) {
            let held = machine.lease.as_ref().map(|l| Seconds::between(l.granted_at, self.now)).unwrap_or_default();
            let ring = machine.ring.map_or("its ring", |id| self.before.ring_slug(id));
            let text = format!("{} gives back its slot of {ring}, held for {held}", machine.hostname);
            self.lines.push(PlanLine { kind: PlanKind::Ends, text });
        }
        if ended.len() > NAMED_MAX {
            self.say(PlanKind::Ends, format!("and {} more slots are given back", ended.len() - NAMED_MAX));
        }
        ended
    }

    fn cancelled(&mut self, machines: &[MachineId], keeps: &str) {
        if machines.is_empty() {
            self.say(PlanKind::Stays, "no run is in flight, so none is cancelled");
            return;
        }
        let names = self.names(machines.iter().copied());
        let nodes = if machines.len() == 1 { "its node" } else { "their nodes" };
        self.say(PlanKind::Ends, format!("a run of {names} that is in flight is cancelled{keeps}"));
        self.say(PlanKind::Warns, format!("{nodes} may stay cordoned: check afterwards"));
    }

    fn halt(&mut self, ended: &[MachineId]) {
        let served = self.before.lanes().iter().flat_map(|(_, lane)| in_flight(lane));
        let running: Vec<MachineId> =
            served.chain(ended.iter().copied()).collect::<BTreeSet<_>>().into_iter().collect();
        self.cancelled(&running, "");
        self.say(PlanKind::Stays, "nothing is rolled back; what is done stays done");
        self.say(PlanKind::Stays, "to go on start the release again: done machines are passed over");
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
        self.say(PlanKind::Stays, "the cursor does not pass while machines of it are not done");
    }

    fn skip(&mut self, id: MachineId, ended: &[MachineId]) {
        let Some(machine) = self.before.machines.get(&id) else { return };
        let name = machine.hostname.clone();
        let rollout = self.before.current();
        let applied = rollout.is_some_and(|r| machine.first_success.contains_key(&r.release));
        let place = machine.place();
        if !ended.is_empty() {
            self.cancelled(ended, "");
        }
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
    fn quorum(&mut self, id: MachineId, key: LaneKey) {
        let Some(lane) = self.before.lane(key) else { return };
        let others = lane.members.iter().map(|(_, other)| *other).filter(|other| *other != id);
        let serving = others.filter(|other| {
            let paused = self.before.machines.get(other).is_some_and(|m| m.paused.is_some());
            !paused && self.picture.observed.is_online(*other, self.now) != Some(false)
        });
        let (serving, all) = (serving.count(), lane.members.len());
        let ring = self.before.ring_slug(key.1);
        self.say(
            PlanKind::Warns,
            format!("beside it {serving} of the {all} machines of {ring} are online and not paused"),
        );
    }

    fn rejoin(&mut self, id: MachineId) {
        let machine = self.after.machines.get(&id);
        let name = self.after.hostname(id).to_owned();
        let done = machine.zip(self.after.current()).is_some_and(|(m, r)| m.is_done(r.release));
        let place = machine.and_then(|m| m.place());
        let rollout = self.after.running();
        let view = place.zip(rollout).and_then(|(key, r)| LaneView::of(&self.after, r, key, self.now));
        let position = view.and_then(|v| v.queue().position(|other| other == id)).map(|at| at + 1);
        let ring = place.map(|key| self.after.ring_slug(key.1).to_owned()).unwrap_or_default();
        match position {
            _ if done => {
                self.say(PlanKind::Stays, format!("{name} is done already: it is served again for drift runs only"))
            }
            Some(at) => self.say(PlanKind::Starts, format!("{name} is number {at} in the queue of {ring}")),
            None => self.say(PlanKind::Stays, format!("{name} waits: nothing is served to it now")),
        }
        self.starts();
        self.say(PlanKind::Stays, "nobody loses a slot over it");
    }

    fn go_on(&mut self, mine: impl Fn(&LaneKey) -> bool) {
        let keys = self.lanes(mine);
        let lanes = keys.iter().filter_map(|key| self.after.lane(*key));
        let holders: Vec<MachineId> = lanes.flat_map(|l| l.holders.iter().copied()).collect();
        if !holders.is_empty() {
            let names = self.names(holders.into_iter());
            self.say(PlanKind::Starts, format!("{names} is served again and goes on with its slot"));
            self.say(PlanKind::Stays, "stall timers go on from where they stood");
        }
        self.starts();
        self.say(PlanKind::Stays, "the order of the queue is as it was");
    }

    fn accept_clock(&mut self) {
        self.say(PlanKind::Starts, "stalls are noticed and the cursor moves again, by the new time");
        self.say(PlanKind::Warns, "a stall timer that ran out by the new time halts its ring at the next tick");
        self.say(PlanKind::Stays, "nobody gains or loses a slot by it");
    }

    fn reset(&mut self, ended: &[MachineId]) {
        self.cancelled(ended, "");
        let halted = self.before.running().map(|r| &r.halted_rings);
        let rings: Vec<String> =
            halted.into_iter().flatten().map(|(id, _)| self.before.ring_slug(*id).to_owned()).collect();
        let brakes = halted.into_iter().flatten().any(|(_, halt)| halt.cause == HaltCause::Threshold);
        if !rings.is_empty() {
            self.say(PlanKind::Starts, format!("{} admits machines again; failures count from zero", rings.join(", ")));
        }
        let lowest = self.before.path().first().map(|e| e.slug.clone());
        if let Some(tier) = lowest {
            self.say(PlanKind::Starts, format!("the cursor begins again at {tier}; done machines are passed over"));
        }
        self.starts();
        if brakes {
            self.say(PlanKind::Warns, "what failed will fail again unless it was mended");
        }
        self.say(PlanKind::Stays, "pauses stay; settle windows are not repeated");
    }

    /// Who would get a slot that nobody would get without this.
    fn starts(&mut self) {
        if self.picture.observed.telemetry == Telemetry::Unreadable {
            self.say(PlanKind::Stays, "nobody gets a slot while results cannot be read");
            return;
        }
        let before = admitted(self.before, self.now);
        let next: Vec<MachineId> = admitted(&self.after, self.now).difference(&before).copied().collect();
        if !next.is_empty() {
            let (verb, whose) = if next.len() == 1 { ("is", "its") } else { ("are", "their") };
            let names = self.names(next.into_iter());
            self.say(PlanKind::Starts, format!("{names} {verb} next and may start at {whose} next poll"));
        }
    }

    fn lanes(&self, mine: impl Fn(&LaneKey) -> bool) -> Vec<LaneKey> {
        self.before.lanes().iter().map(|(key, _)| *key).filter(|key| mine(key)).collect()
    }

    fn names(&self, machines: impl ExactSizeIterator<Item = MachineId>) -> String {
        let count = machines.len();
        let names: Vec<&str> = machines.take(NAMED_MAX).map(|id| self.before.hostname(id)).collect();
        let rest = count.saturating_sub(NAMED_MAX);
        if rest == 0 { names.join(", ") } else { format!("{} and {rest} more", names.join(", ")) }
    }
}

fn machines(count: usize) -> String {
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
