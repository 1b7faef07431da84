//! Fleets to simulate, and the journal of a simulation as the steps of its history.

use jiff::Timestamp;
use kura_console::control::service::Settings;
use kura_console::domain::change::{Change, Entry};
use kura_console::domain::ids::{MachineId, ReleaseId, RolloutId};
use kura_console::domain::invariants::broken_step;
use kura_console::domain::rollout::Rollout;
use kura_console::domain::rows::LaneView;
use kura_console::domain::span::Seconds;
use kura_console::domain::world::World;
use kura_console::sim::agents::behaviour::Behaviour;
use kura_console::sim::fleet::{Brakes, Build, FleetBuilder, Seat, Tier};
use kura_console::sim::operator::Operator;
use kura_console::sim::script::Cue;
use kura_console::sim::stage::{Stage, Ties};

pub(crate) const OPERATOR: Operator = Operator("op-a");

pub(crate) const V1: Build<'static> =
    Build { git_ref: "v1", commit: "c1", timeout: Seconds(1_800), notes: "", target_version: None };

pub(crate) const V2: Build<'static> = Build { git_ref: "v2", commit: "c2", ..V1 };

/// The moment `seconds` after the start of every simulation here.
pub(crate) fn at(seconds: u64) -> Timestamp {
    Seconds(seconds).after(Timestamp::from_second(1_780_000_000).unwrap())
}

/// Seconds from the start of a simulation to `moment`.
pub(crate) fn seconds(moment: Timestamp) -> u64 {
    Seconds::between(at(0), moment).0
}

pub(crate) fn v1() -> ReleaseId {
    ReleaseId::named("v1")
}

pub(crate) fn r1() -> RolloutId {
    RolloutId::named("r1")
}

pub(crate) fn machine(name: &str) -> MachineId {
    MachineId::named(name)
}

/// An empty stage with one process.
pub(crate) fn stage(seed: u64, ties: Ties) -> Stage {
    let mut stage = Stage::new(at(0), seed, ties);
    stage.start_process("server", Settings::default());
    stage
}

/// Up to two tiers, `cp-1..` and `w-1..`, one ring each; releases v1 and v2; every node runs `behaviour`.
pub(crate) fn cluster(stage: &mut Stage, nodes: (usize, usize), brakes: Brakes, behaviour: &Behaviour) {
    let mut fleet = FleetBuilder::default();
    let mut names = Vec::new();
    let tiers = [("oak-cp", "cp", 10, nodes.0), ("oak-workers", "w", 11, nodes.1)];
    for (slug, prefix, order, count) in tiers.into_iter().filter(|(_, _, _, count)| *count > 0) {
        fleet.tier(Tier { slug, name: slug, order });
        fleet.ring(slug, brakes);
        for n in 1..=count {
            let hostname = format!("{prefix}-{n}");
            fleet.machine(Seat { hostname: &hostname, environment: slug, ring: slug, bucket: None });
            names.push(hostname);
        }
    }
    fleet.release(V1, &stage.outside().vault);
    fleet.release(V2, &stage.outside().vault);
    stage.script().add(at(0), Cue::Orders(fleet.orders()));
    stage.roster().with(|roster| {
        names.iter().for_each(|name| roster.enroll(at(0), machine(name), behaviour.clone()));
    });
}

/// Starts v1 as the protected rollout r1, `seconds` after the start.
pub(crate) fn start(stage: &mut Stage, seconds: u64) {
    stage.script().add(at(seconds), Cue::Orders(vec![OPERATOR.starts(r1(), v1(), "a test")]));
}

/// The newest rollout.
pub(crate) fn current(stage: &Stage) -> Rollout {
    stage.world().current().cloned().expect("a rollout was started")
}

/// Lives on until nothing runs, at most until `limit` seconds; answers with when the rollout ended.
pub(crate) fn run_to_the_end(stage: &mut Stage, limit: u64) -> u64 {
    let first = seconds(current(stage).started_at) / 60;
    for minute in first..=limit / 60 {
        stage.advance_to(at(minute * 60)).unwrap();
        if let Some(ended) = current(stage).ended_at {
            return seconds(ended);
        }
    }
    panic!("the rollout still runs after {limit} s: {:?}", current(stage));
}

/// One verdict of the journal, with the worlds on both sides of it.
pub(crate) struct Step {
    pub(crate) at: Timestamp,
    pub(crate) before: World,
    pub(crate) after: World,
    pub(crate) changes: Vec<Change>,
}

/// The history of a stage, verdict by verdict.
pub(crate) fn history(stage: &Stage) -> Vec<Step> {
    let entries = stage.outside().journal.entries(stage.account());
    let same = |a: &Entry, b: &Entry| (a.at, &a.by, &a.cause) == (b.at, &b.by, &b.cause);
    let mut world = World::default();
    let mut steps = Vec::new();
    for verdict in entries.chunk_by(same) {
        let before = world.clone();
        verdict.iter().for_each(|entry| world.apply(entry));
        let changes = verdict.iter().map(|entry| entry.change.clone()).collect();
        steps.push(Step { at: verdict[0].at, before, after: world.clone(), changes });
    }
    steps
}

/// No step of the history broke an invariant, and every scripted order was carried out.
pub(crate) fn assert_sound(stage: &Stage) {
    assert_unbroken(stage);
    assert_eq!(stage.refusals(), Vec::<String>::new());
}

/// No step of the history broke an invariant.
pub(crate) fn assert_unbroken(stage: &Stage) {
    for step in history(stage) {
        let faults = broken_step(&step.before, &step.after, &step.changes, step.at);
        assert!(faults.is_empty(), "at {} s, {:?}: {faults:#?}", seconds(step.at), step.changes);
    }
}

/// Slots that are taken in a world, holders and settle windows together, in the fullest lane.
pub(crate) fn fullest_lane(world: &World, now: Timestamp) -> usize {
    let Some(rollout) = world.running() else { return 0 };
    let views = world.lanes().iter().filter_map(|(key, _)| LaneView::of(world, rollout, *key, now));
    let taken = views.map(|view| view.slots(now)).map(|slots| slots.holding + slots.settling);
    taken.max().unwrap_or(0)
}
