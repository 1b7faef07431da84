//! The decision core: a tick with nothing to do, polls, a start, over fleets of 10,000 and 100,000 machines.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use jiff::Timestamp;
use kura_console::domain::decide::decide;
use kura_console::domain::fleet::ConfigValues;
use kura_console::domain::ids::{EnvironmentId, MachineId, ReleaseId, RingId, RolloutId};
use kura_console::domain::input::{Input, Order, Poll, Rendered, RingPatch, Verb};
use kura_console::domain::observed::Observed;
use kura_console::domain::release::{Contract, Digest};
use kura_console::domain::span::Seconds;
use kura_console::domain::verdict::Verdict;
use kura_console::domain::world::World;

/// A fleet in one environment and one ring, built through the core's own door.
struct Fleet {
    world: World,
    observed: Observed,
    now: Timestamp,
}

impl Fleet {
    fn of(machines: usize, cap: u32) -> Self {
        let now = Timestamp::UNIX_EPOCH;
        let mut fleet = Self { world: World::default(), observed: Observed::starting_at(now), now };
        fleet.give(Verb::CreateEnvironment {
            id: EnvironmentId::named("all"),
            slug: "all".to_owned(),
            name: "all".to_owned(),
            promotion_order: Some(1),
            config_values: ConfigValues::new(),
        });
        let cap = RingPatch { max_in_flight: Some(cap), ..RingPatch::default() };
        fleet.give(Verb::CreateRing { id: RingId::named("all"), slug: "all".to_owned(), settings: cap });
        fleet.give(Verb::PublishRelease {
            id: ReleaseId::named("v1"),
            git_ref: "v1".to_owned(),
            commit: "v1".to_owned(),
            engine: "saltstack".to_owned(),
            timeout_seconds: Seconds(0),
            notes: String::new(),
            target_version: None,
            content: Digest("v1".to_owned()),
            contract: Contract::default(),
        });
        (0..machines).for_each(|n| fleet.join(n));
        fleet
    }

    fn join(&mut self, n: usize) {
        self.give(Verb::AddMachine {
            id: machine(n),
            hostname: format!("m{n}"),
            node: None,
            environment: Some(EnvironmentId::named("all")),
            ring: Some(RingId::named("all")),
            bucket: None,
        });
    }

    fn give(&mut self, verb: Verb) {
        let order = Order { verb, by: "bench".to_owned(), reason: None, key: None };
        self.feed(&Input::Verb(order));
    }

    fn feed(&mut self, input: &Input) {
        let verdict = self.decide(input);
        let entries = input.author(&self.world, "bench").entries(&self.world, &verdict.changes, self.now);
        entries.iter().for_each(|entry| self.world.apply(entry));
    }

    fn started(mut self) -> Self {
        self.give(start());
        self
    }

    fn decide(&self, input: &Input) -> Verdict {
        decide(&self.world, &self.observed, input, self.now)
    }
}

fn machine(n: usize) -> MachineId {
    MachineId::named(&format!("m{n}"))
}

fn start() -> Verb {
    let id = RolloutId::named("r1");
    Verb::Start { id, release: ReleaseId::named("v1"), protected: Some(true), force: false, intent: None }
}

fn poll(n: usize) -> Input {
    Input::Poll(Poll {
        machine: machine(n),
        have: None,
        rendered: Rendered::Content(Digest("v1".to_owned())),
        release: Some(ReleaseId::named("v1")),
    })
}

fn ticks(c: &mut Criterion) {
    for machines in [10_000, 100_000] {
        let fleet = Fleet::of(machines, 1).started();
        c.bench_function(&format!("tick, nothing to do, {machines} machines"), |b| {
            b.iter(|| fleet.decide(&Input::Tick { fresh: RolloutId::named("fresh") }));
        });
    }
}

fn polls(c: &mut Criterion) {
    let mut fleet = Fleet::of(10_000, 1).started();
    let queued = poll(17);
    (0..10_000).for_each(|n| fleet.feed(&poll(n)));
    c.bench_function("poll that grants nothing, 10000 machines, slot taken", |b| b.iter(|| fleet.decide(&queued)));
    let open = Fleet::of(10_000, 0).started();
    c.bench_function("poll that serves, 10000 machines, no cap", |b| b.iter(|| open.decide(&queued)));
}

fn starts(c: &mut Criterion) {
    let fleet = Fleet::of(10_000, 1);
    let order = Order { verb: start(), by: "bench".to_owned(), reason: None, key: None };
    let input = Input::Verb(order);
    c.bench_function("start over 10000 machines: decided and folded", |b| {
        b.iter_batched(
            || Fleet { world: fleet.world.clone(), observed: fleet.observed.clone(), now: fleet.now },
            |mut fleet| fleet.feed(&input),
            BatchSize::LargeInput,
        );
    });
}

criterion_group!(core, ticks, polls, starts);
criterion_main!(core);
