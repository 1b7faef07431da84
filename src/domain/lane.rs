//! A lane is one (environment, ring): who is in it, who waits, who holds, who settles.
//!
//! Lanes are an index over the machines, kept by `World::apply` so that a tick or a poll does not walk the fleet.
//! They are never stored; `Lanes::of` rebuilds them and the invariants compare.

use imbl::{OrdMap, OrdSet};
use jiff::Timestamp;

use super::bucket::bucket;
use super::fleet::Machine;
use super::ids::{EnvironmentId, Generation, MachineId, ReleaseId, RingId};

/// Place in a queue: bucket, then uuid (R31).
pub type Rank = (u8, MachineId);

/// Which lane.
pub type LaneKey = (EnvironmentId, RingId);

/// The machines of one (environment, ring), sorted by what they do for the subject release.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lane {
    /// Everybody in scope.
    pub members: OrdSet<Rank>,
    /// Not done, not paused, no lease: the queue of a capped ring, the pending rows of an uncapped one (R34).
    pub queue: OrdSet<Rank>,
    /// Who holds a slot (R18).
    pub holders: OrdSet<MachineId>,
    /// First successes of machines without a lease: their settle windows count (R41, R172).
    pub windows: OrdSet<(Timestamp, MachineId)>,
    /// Unpaused members that are not done, holders included (R78).
    pub unfinished: OrdSet<MachineId>,
    /// Paused before they ever succeeded on the release: they hold the cursor (R79).
    pub skipped: OrdSet<MachineId>,
    /// Paused members.
    pub paused: OrdSet<MachineId>,
    /// Latest result of this generation is a failure (R131).
    pub failing: OrdSet<MachineId>,
    /// Last render failed (R132).
    pub erroring: OrdSet<MachineId>,
    /// Served in this generation without a lease (R17).
    pub served: OrdSet<MachineId>,
    /// Reimaged and not converged since (R152).
    pub rebuilt: OrdSet<MachineId>,
    /// Taken out of an arc and not converged since: possibly cordoned (R113).
    pub interrupted: OrdSet<MachineId>,
}

impl Lane {
    fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Members whose settle window of `settle` is open at `now`, oldest first (R40, R47).
    pub fn settling(
        &self,
        settle: super::span::Seconds,
        now: Timestamp,
    ) -> impl Iterator<Item = &(Timestamp, MachineId)> {
        let closed = (settle.before(now), MachineId(uuid::Uuid::max()));
        self.windows.range((std::ops::Bound::Excluded(closed), std::ops::Bound::Unbounded))
    }
}

/// Whose progress the lanes describe: the current rollout's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject {
    /// Its release.
    pub release: ReleaseId,
    /// Its generation.
    pub generation: Generation,
}

/// All lanes of a world.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lanes {
    subject: Option<Subject>,
    lanes: OrdMap<LaneKey, Lane>,
    buckets: OrdMap<MachineId, u8>,
}

impl Lanes {
    /// Builds the index from nothing.
    pub fn of<'a>(subject: Option<Subject>, machines: impl Iterator<Item = &'a Machine>) -> Self {
        let mut lanes = Self { subject, ..Self::default() };
        machines.for_each(|machine| lanes.insert(machine));
        lanes
    }

    /// Whose progress they describe.
    pub fn subject(&self) -> Option<Subject> {
        self.subject
    }

    /// One lane, if it has a member.
    pub fn get(&self, key: LaneKey) -> Option<&Lane> {
        self.lanes.get(&key)
    }

    /// Every lane that has a member.
    pub fn iter(&self) -> impl Iterator<Item = (&LaneKey, &Lane)> {
        self.lanes.iter()
    }

    /// The lanes of one environment.
    pub fn of_environment(&self, environment: EnvironmentId) -> impl Iterator<Item = (&LaneKey, &Lane)> {
        let first = (environment, RingId(uuid::Uuid::nil()));
        let last = (environment, RingId(uuid::Uuid::max()));
        self.lanes.range(first..=last)
    }

    /// The bucket of a machine that is in a lane (R32).
    pub fn bucket(&self, machine: MachineId) -> Option<u8> {
        self.buckets.get(&machine).copied()
    }

    /// Adds a machine as it is now.
    pub fn insert(&mut self, machine: &Machine) {
        let Some(key) = machine.place() else { return };
        let bucket = self.bucket_of(machine);
        self.buckets.insert(machine.id, bucket);
        let rank = (bucket, machine.id);
        let subject = self.subject;
        let lane = self.lanes.entry(key).or_default();
        let standing = Standing::of(machine, subject);
        lane.members.insert(rank);
        for set in standing.sets(lane) {
            set.insert(machine.id);
        }
        if standing.queued {
            lane.queue.insert(rank);
        }
        if let Some(at) = standing.window {
            lane.windows.insert((at, machine.id));
        }
    }

    /// Takes a machine out, given as it was when it was inserted.
    pub fn remove(&mut self, machine: &Machine) {
        let Some(key) = machine.place() else { return };
        let rank = (self.bucket_of(machine), machine.id);
        let subject = self.subject;
        self.buckets.remove(&machine.id);
        let Some(lane) = self.lanes.get_mut(&key) else { return };
        let standing = Standing::of(machine, subject);
        lane.members.remove(&rank);
        for set in standing.sets(lane) {
            set.remove(&machine.id);
        }
        if standing.queued {
            lane.queue.remove(&rank);
        }
        if let Some(at) = standing.window {
            lane.windows.remove(&(at, machine.id));
        }
        if lane.is_empty() {
            self.lanes.remove(&key);
        }
    }

    fn bucket_of(&self, machine: &Machine) -> u8 {
        let known = machine.bucket.or_else(|| self.bucket(machine.id));
        known.unwrap_or_else(|| self.subject.map_or(0, |subject| bucket(subject.release, machine.id)))
    }
}

/// In which sets of its lane a machine stands.
struct Standing {
    queued: bool,
    window: Option<Timestamp>,
    holds: bool,
    unfinished: bool,
    skipped: bool,
    paused: bool,
    failing: bool,
    erroring: bool,
    served: bool,
    rebuilt: bool,
    interrupted: bool,
}

impl Standing {
    fn of(machine: &Machine, subject: Option<Subject>) -> Self {
        let release = subject.map(|s| s.release);
        let generation = subject.map(|s| s.generation);
        let done = release.is_some_and(|r| machine.is_done(r));
        let paused = machine.paused.is_some();
        let holds = machine.lease.is_some();
        let first = release.and_then(|r| machine.first_success.get(&r).copied());
        let failed = |r: &super::fleet::LastResult| {
            Some(r.release) == release && Some(r.generation) == generation && r.outcome.is_failure()
        };
        Self {
            queued: subject.is_some() && !done && !paused && !holds,
            window: first.filter(|_| !holds),
            holds,
            unfinished: !paused && !done,
            skipped: paused && first.is_none(),
            paused,
            failing: !paused && machine.last_result.as_ref().is_some_and(failed),
            erroring: !paused
                && !done
                && machine.render_error.as_ref().is_some_and(|e| Some(e.generation) == generation),
            served: machine.served.as_ref().is_some_and(|s| Some(s.generation) == generation),
            rebuilt: machine.rebuilt_at.is_some(),
            interrupted: machine.interrupted.is_some(),
        }
    }

    fn sets<'a>(&self, lane: &'a mut Lane) -> impl Iterator<Item = &'a mut OrdSet<MachineId>> {
        [
            (self.holds, &mut lane.holders),
            (self.unfinished, &mut lane.unfinished),
            (self.skipped, &mut lane.skipped),
            (self.paused, &mut lane.paused),
            (self.failing, &mut lane.failing),
            (self.erroring, &mut lane.erroring),
            (self.served, &mut lane.served),
            (self.rebuilt, &mut lane.rebuilt),
            (self.interrupted, &mut lane.interrupted),
        ]
        .into_iter()
        .filter_map(|(stands, set)| stands.then_some(set))
    }
}
