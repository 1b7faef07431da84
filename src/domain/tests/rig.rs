//! A small world to try rules on: things by name, a clock in seconds, invariants checked after every step.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::domain::change::{Change, Level};
use crate::domain::decide::decide;
use crate::domain::explain::{Explanation, Subject, explain};
use crate::domain::fleet::{ConfigValues, Rung};
use crate::domain::hold::{Hold, hold};
use crate::domain::ids::{EnvironmentId, MachineId, ReleaseId, RingId, RolloutId};
use crate::domain::input::{Edition, Input, Order, Poll, Rendered, Report, RingPatch, Verb};
use crate::domain::invariants::broken_step;
use crate::domain::observed::Observed;
use crate::domain::refusal::Refusal;
use crate::domain::release::{Contract, Digest, Outcome};
use crate::domain::rollout::Rollout;
use crate::domain::rows::{LaneView, MachineRow, Slots, machine_rows};
use crate::domain::span::Seconds;
use crate::domain::verdict::Reply;
use crate::domain::world::World;

pub(super) struct Rig {
    pub(super) world: World,
    pub(super) observed: Observed,
    pub(super) now: Timestamp,
    /// Changes of the last step.
    pub(super) changes: Vec<Change>,
    served: BTreeMap<(MachineId, ReleaseId), u64>,
    missing: BTreeMap<MachineId, Vec<String>>,
    started: usize,
    runs: i64,
}

pub(super) fn epoch() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

impl Rig {
    pub(super) fn new() -> Self {
        Self {
            world: World::default(),
            observed: Observed::starting_at(Seconds(3_600).before(epoch())),
            now: epoch(),
            changes: Vec::new(),
            served: BTreeMap::new(),
            missing: BTreeMap::new(),
            started: 0,
            runs: 0,
        }
    }

    /// One environment and one ring of the same name with `machines` at buckets 1, 2, 3, ..., and releases v1, v2.
    pub(super) fn line(name: &str, ring: RingPatch, machines: &[&str]) -> Self {
        let mut rig = Self::new();
        rig.environment(name, 10).ring(name, ring);
        for (machine, bucket) in machines.iter().zip(1..) {
            rig.machine(machine, name, name, bucket);
        }
        rig.release("v1").release("v2");
        rig
    }

    /// `cp` (10) before `workers` (11), two machines each: cp1 cp2, w1 w2; both rings as given.
    pub(super) fn cluster(ring: &RingPatch) -> Self {
        let mut rig = Self::new();
        rig.environment("cp", 10).environment("workers", 11).ring("cp", ring.clone()).ring("workers", ring.clone());
        rig.machine("cp1", "cp", "cp", 1).machine("cp2", "cp", "cp", 2);
        rig.machine("w1", "workers", "workers", 3).machine("w2", "workers", "workers", 4);
        rig.release("v1").release("v2");
        rig
    }

    pub(super) fn step(&mut self, input: &Input) -> Reply {
        let verdict = decide(&self.world, &self.observed, input, self.now);
        assert_eq!(verdict, decide(&self.world, &self.observed, input, self.now), "deciding twice differs");
        let before = self.world.clone();
        for entry in input.author(&before, "test").entries(&before, &verdict.changes, self.now) {
            self.world.apply(&entry);
        }
        let faults = broken_step(&before, &self.world, &verdict.changes, self.now);
        assert!(faults.is_empty(), "{faults:?} after {input:?}");
        self.changes = verdict.changes;
        verdict.reply
    }

    pub(super) fn at(&mut self, seconds: u64) -> &mut Self {
        let now = Seconds(seconds).after(epoch());
        assert!(now >= self.now, "time goes forward");
        self.now = now;
        self
    }

    /// A verb that must succeed.
    pub(super) fn verb(&mut self, verb: Verb) -> Reply {
        let reply = self.try_verb(verb);
        assert!(!matches!(reply, Reply::Refused(_)), "{reply:?}");
        reply
    }

    pub(super) fn try_verb(&mut self, verb: Verb) -> Reply {
        self.step(&Input::Verb(Order { verb, by: "op-a".to_owned(), reason: None, key: None }))
    }

    /// A verb that must be refused without a change.
    pub(super) fn refused(&mut self, verb: Verb) -> Refusal {
        let before = self.world.clone();
        match self.try_verb(verb) {
            Reply::Refused(refusal) => {
                assert_eq!(before, self.world, "a refusal changes nothing");
                refusal
            }
            other => panic!("not refused: {other:?}"),
        }
    }

    pub(super) fn environment(&mut self, slug: &str, order: i64) -> &mut Self {
        self.verb(Verb::CreateEnvironment {
            id: EnvironmentId::named(slug),
            slug: slug.to_owned(),
            name: slug.to_owned(),
            promotion_order: Some(order),
            config_values: ConfigValues::new(),
        });
        self
    }

    pub(super) fn ring(&mut self, slug: &str, settings: RingPatch) -> &mut Self {
        self.verb(Verb::CreateRing { id: RingId::named(slug), slug: slug.to_owned(), settings });
        self
    }

    pub(super) fn machine(&mut self, name: &str, environment: &str, ring: &str, bucket: u8) -> &mut Self {
        self.verb(Verb::AddMachine {
            id: MachineId::named(name),
            hostname: name.to_owned(),
            node: None,
            environment: Some(EnvironmentId::named(environment)),
            ring: Some(RingId::named(ring)),
            bucket: Some(bucket),
        });
        self
    }

    pub(super) fn release(&mut self, name: &str) -> &mut Self {
        self.verb(Verb::PublishRelease {
            id: ReleaseId::named(name),
            git_ref: name.to_owned(),
            commit: format!("commit of {name}"),
            engine: "saltstack".to_owned(),
            timeout_seconds: Seconds(1_800),
            notes: String::new(),
            target_version: None,
            content: content(name),
            contract: Contract::default(),
        });
        self
    }

    pub(super) fn start_verb(&mut self, release: &str) -> Verb {
        self.started += 1;
        Verb::Start {
            id: RolloutId::named(&format!("r{}", self.started)),
            release: ReleaseId::named(release),
            protected: None,
            force: false,
            intent: None,
        }
    }

    pub(super) fn start(&mut self, release: &str) -> Reply {
        let verb = self.start_verb(release);
        self.verb(verb)
    }

    pub(super) fn start_protected(&mut self, release: &str) -> Reply {
        let Verb::Start { id, release, force, intent, .. } = self.start_verb(release) else { unreachable!() };
        self.verb(Verb::Start { id, release, protected: Some(true), force, intent })
    }

    pub(super) fn patch(&mut self, ring: &str, patch: RingPatch) -> Reply {
        self.verb(Verb::PatchRing { ring: RingId::named(ring), patch })
    }

    pub(super) fn pause(&mut self, level: Level) -> &mut Self {
        self.verb(Verb::Pause(level));
        self
    }

    pub(super) fn unpause(&mut self, level: Level) -> &mut Self {
        self.verb(Verb::Unpause(level));
        self
    }

    pub(super) fn assign(&mut self, machine: &str, environment: Option<&str>, ring: Option<&str>) -> &mut Self {
        self.verb(Verb::AssignMachine {
            machine: MachineId::named(machine),
            environment: Some(environment.map(EnvironmentId::named)),
            ring: Some(ring.map(RingId::named)),
            node: None,
        });
        self
    }

    pub(super) fn tick(&mut self) -> &mut Self {
        self.observed.last_tick = Some(self.now);
        self.step(&Input::Tick { fresh: RolloutId::named("fresh") });
        self
    }

    /// A tick each minute from the next one on, up to and including `seconds`.
    pub(super) fn tick_until(&mut self, seconds: u64) -> &mut Self {
        let mut next = Seconds::between(epoch(), self.now).0 / 60 * 60 + 60;
        while next <= seconds {
            self.at(next).tick();
            next += 60;
        }
        self
    }

    pub(super) fn break_render(&mut self, machine: &str, missing: &str) -> &mut Self {
        self.missing.insert(MachineId::named(machine), vec![missing.to_owned()]);
        self
    }

    pub(super) fn mend_render(&mut self, machine: &str) -> &mut Self {
        self.missing.remove(&MachineId::named(machine));
        self
    }

    /// One poll; what is served.
    pub(super) fn poll(&mut self, machine: &str) -> Option<Edition> {
        self.poll_having(machine, None).0
    }

    pub(super) fn poll_having(&mut self, machine: &str, have: Option<Edition>) -> (Option<Edition>, bool) {
        let id = MachineId::named(machine);
        self.observed.last_poll.insert(id, self.now);
        let release = self.world.running().map(|r| r.release);
        let rendered = match (self.missing.get(&id), release) {
            (_, None) => Rendered::Nothing,
            (Some(missing), _) => Rendered::Missing(missing.clone()),
            (None, Some(release)) => Rendered::Content(self.world.releases[&release].content.clone()),
        };
        match self.step(&Input::Poll(Poll { machine: id, have, rendered, release })) {
            Reply::Assignment { assignment, cancel } => {
                let edition = assignment.map(|a| a.edition);
                if let Some(edition) = edition {
                    self.served.insert((id, edition.release), edition.generation);
                }
                (edition, cancel)
            }
            other => panic!("not an answer to a poll: {other:?}"),
        }
    }

    pub(super) fn poll_all(&mut self, machines: &[&str]) -> &mut Self {
        machines.iter().for_each(|m| {
            self.poll(m);
        });
        self
    }

    /// A result for the current release, in the generation last served to that machine.
    pub(super) fn result(&mut self, machine: &str, outcome: Outcome) -> &mut Self {
        let release = self.world.current().unwrap().release;
        self.result_of(machine, release, outcome, None)
    }

    pub(super) fn result_of(
        &mut self,
        machine: &str,
        release: ReleaseId,
        outcome: Outcome,
        generation: Option<u64>,
    ) -> &mut Self {
        let id = MachineId::named(machine);
        let generation = generation.unwrap_or_else(|| self.served.get(&(id, release)).copied().unwrap_or(0));
        self.runs += 1;
        let run = Some(Timestamp::from_second(self.runs).unwrap());
        let failed_state = outcome.is_failure().then(|| "drain".to_owned());
        let edition = Edition { release, generation };
        self.step(&Input::Report(Report { machine: id, edition, outcome, failed_state, run, rebuilds: None }));
        self
    }

    pub(super) fn ok(&mut self, machine: &str) -> &mut Self {
        self.result(machine, Outcome::Success)
    }

    pub(super) fn fail(&mut self, machine: &str) -> &mut Self {
        self.result(machine, Outcome::Failed)
    }

    /// Polls until served, then succeeds.
    pub(super) fn converge(&mut self, machine: &str) -> &mut Self {
        assert!(self.poll(machine).is_some(), "{machine} is not served");
        self.ok(machine)
    }

    pub(super) fn rollout(&self) -> &Rollout {
        self.world.current().unwrap()
    }

    pub(super) fn cursor(&self) -> &str {
        self.rollout().cursor.as_ref().map_or("", |c| c.slug.as_str())
    }

    pub(super) fn rows(&self) -> Vec<MachineRow> {
        machine_rows(&self.world, &self.observed, self.rollout(), self.now)
    }

    pub(super) fn row(&self, machine: &str) -> MachineRow {
        self.rows().into_iter().find(|row| row.hostname == machine).unwrap()
    }

    /// State word of a machine's row.
    pub(super) fn state(&self, machine: &str) -> &'static str {
        self.row(machine).state.word()
    }

    pub(super) fn holders(&self) -> Vec<String> {
        self.rows().into_iter().filter(|row| row.holds_slot).map(|row| row.hostname).collect()
    }

    /// Host names in queue order.
    pub(super) fn queue(&self) -> Vec<String> {
        let mut queued: Vec<_> = self.rows().into_iter().filter(|row| row.queue_position.is_some()).collect();
        queued.sort_by_key(|row| row.queue_position);
        queued.into_iter().map(|row| row.hostname).collect()
    }

    pub(super) fn slots(&self, name: &str) -> Slots {
        let key = (EnvironmentId::named(name), RingId::named(name));
        LaneView::of(&self.world, self.rollout(), key, self.now).unwrap().slots(self.now)
    }

    pub(super) fn hold(&self) -> Option<Hold> {
        hold(&self.world, &self.observed, self.rollout(), self.now)
    }

    pub(super) fn halted(&self, ring: &str) -> Option<&str> {
        self.rollout().halted_rings.get(&RingId::named(ring)).map(|h| h.reason.as_str())
    }

    pub(super) fn explain(&self, subject: Subject) -> Explanation {
        explain(&self.world, &self.observed, subject, self.now)
    }
}

pub(super) fn content(release: &str) -> Digest {
    Digest(format!("digest of {release}"))
}

pub(super) fn machine(name: &str) -> Level {
    Level::Machine(MachineId::named(name))
}

pub(super) fn ring(name: &str) -> Level {
    Level::Ring(RingId::named(name))
}

pub(super) fn environment(name: &str) -> Level {
    Level::Environment(EnvironmentId::named(name))
}

/// Settings of a ring in a line: cap, settle, stall, threshold.
pub(super) fn capped(cap: u32, settle: u64, stall: u64, threshold: u32) -> RingPatch {
    RingPatch {
        max_in_flight: Some(cap),
        min_settle_seconds: Some(Seconds(settle)),
        stall_timeout_seconds: Some(Seconds(stall)),
        failure_count_threshold: Some(threshold),
        ..RingPatch::default()
    }
}

pub(super) fn ladder(steps: &[(u64, u8)]) -> RingPatch {
    let rungs = steps.iter().map(|(after_seconds, pct)| Rung { after_seconds: *after_seconds, pct: *pct });
    RingPatch { wave_ladder: Some(rungs.collect()), ..RingPatch::default() }
}
