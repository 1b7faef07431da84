//! 5,000 Kura servers with 15,000 pods: the pass over them, at rest and while all of them wait, and a screen of them.
//! And 300 nodes with 3,000 pods that a fleet roll looks at.

// A bench that cannot go on stops.
#![allow(clippy::expect_used)]

mod rolls;
mod screen;

use std::collections::BTreeSet;
use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use jiff::Timestamp;
use kura_console::domain::decide::decide;
use kura_console::domain::ids::{RolloutId, ServerId};
use kura_console::domain::input::{Input, Order, Verb};
use kura_console::domain::kura::rested::Rested;
use kura_console::domain::kura::server::ServerSpec;
use kura_console::domain::kura::step::{Ran, Step};
use kura_console::domain::kura::traffic::Up;
use kura_console::domain::kura::verb::KuraVerb;
use kura_console::domain::observed::Observed;
use kura_console::domain::span::Seconds;
use kura_console::domain::verdict::Verdict;
use kura_console::domain::world::World;
use kura_console::sim::cluster::objects::Objects;

const SERVERS: usize = 5_000;

const TICK: Seconds = Seconds(60);

/// An estate and its cluster, built through the core's own door.
struct Estate {
    world: World,
    cluster: Objects,
    now: Timestamp,
}

impl Estate {
    /// A cluster with nothing in it.
    fn bare() -> Self {
        let now = Timestamp::UNIX_EPOCH;
        let cluster = Objects { is_connected: true, until: now, ..Objects::default() };
        Self { world: World::default(), cluster, now }
    }

    /// Every server serves the one tag there is.
    fn serving() -> Self {
        let mut estate = Self::bare();
        estate.give(KuraVerb::ReleaseTag { tag: "0.1.0".to_owned() });
        for n in 0..SERVERS {
            let (id, tenant) = (ServerId::named(&format!("s{n}")), format!("tenant-{n}"));
            let spec = Box::new(ServerSpec { replicas: 3, ..ServerSpec::default() });
            let (tenant_id, region, cluster_id) = (None, "eu".to_owned(), None);
            estate.give(KuraVerb::AddServer { id, tenant, tenant_id, region, cluster_id, spec });
        }
        while estate.world.kura.servers.values().any(|server| server.current_image_tag.is_none()) {
            estate.reconcile();
        }
        estate.reconcile();
        assert_eq!(estate.cluster.pods.len(), 3 * SERVERS);
        estate
    }

    /// A newer tag is on its way to everybody, and no endpoint answers.
    fn waiting(mut self) -> Self {
        let silent = Up::Status { status: 503 };
        self.cluster.chains.values_mut().for_each(|chain| chain.up = silent.clone());
        self.give(KuraVerb::ReleaseTag { tag: "0.2.0".to_owned() });
        let waits = |estate: &Self| {
            let rolled =
                estate.cluster.pods.values().all(|pod| pod.pod.image.as_deref() == Some("0.2.0") && pod.pod.ready);
            rolled
                && estate.world.kura.servers.values().all(|server| server.open().is_some_and(|row| row.wait.is_some()))
        };
        while !waits(&self) {
            self.reconcile();
        }
        self.reconcile();
        self
    }

    fn give(&mut self, verb: KuraVerb) {
        self.order(Verb::Kura(verb));
    }

    fn order(&mut self, verb: Verb) {
        let order = Order { verb, by: "bench".to_owned(), reason: None, key: None };
        let observed = Observed::starting_at(self.now);
        self.feed(&Input::Verb(order), &observed);
    }

    fn feed(&mut self, input: &Input, observed: &Observed) -> Vec<Step> {
        let Verdict { changes, steps, .. } = decide(&self.world, observed, input, self.now);
        let entries = input.author(&self.world, "bench").entries(&self.world, &changes, self.now);
        entries.iter().for_each(|entry| self.world.apply(entry));
        steps
    }

    fn look(&mut self) -> Observed {
        self.cluster.advance(self.now);
        Observed { cluster: Some(self.cluster.sight(self.now)), ..Observed::starting_at(self.now) }
    }

    /// A tick whose steps are carried out.
    fn reconcile(&mut self) {
        self.now = TICK.after(self.now);
        let observed = self.look();
        let mut steps = self.feed(&tick(), &observed);
        while !steps.is_empty() {
            let run = |step: Step| Ran { outcome: self.cluster.run(&step, self.now, "bench"), step };
            let ran: Vec<Ran> = steps.into_iter().map(run).collect();
            let observed = self.look();
            steps = self.feed(&Input::Seen { ran, tried: BTreeSet::new() }, &observed);
        }
    }
}

fn tick() -> Input {
    Input::Tick { fresh: RolloutId::named("unused") }
}

/// A pass in which there is nothing to do.
fn measure(c: &mut Criterion, name: &str, estate: &Estate, observed: &Observed) {
    let verdict = decide(&estate.world, observed, &tick(), estate.now);
    assert!(verdict.changes.is_empty() && verdict.steps.is_empty(), "there is nothing to do");
    c.bench_function(name, |b| b.iter(|| black_box(decide(&estate.world, observed, &tick(), estate.now))));
}

/// The same, of a process that has not looked before.
fn measure_first(c: &mut Criterion, name: &str, estate: &Estate, observed: &Observed) {
    let forgetful = || {
        let mut world = estate.world.clone();
        world.kura.rested = Rested::default();
        world
    };
    let look = |world: World| black_box(decide(&world, observed, &tick(), estate.now));
    c.bench_function(name, |b| b.iter_batched(forgetful, look, BatchSize::SmallInput));
}

/// Passes of which each finds another instance than the one before.
fn measure_changes(c: &mut Criterion, name: &str, estate: &Estate, observed: &Observed) {
    let names: Vec<String> = observed.cluster.iter().flat_map(|sight| sight.instances.rows.keys().cloned()).collect();
    let (mut observed, mut turn) = (observed.clone(), 0);
    let mut change = || {
        turn += 1;
        let rows = observed.cluster.as_mut().map(|sight| &mut sight.instances.rows).expect("a cluster");
        let row = rows.get_mut(&names[turn * 7 % names.len()]).expect("an instance");
        row.message = Some(turn.to_string());
        observed.clone()
    };
    let look = |observed: Observed| black_box(decide(&estate.world, &observed, &tick(), estate.now));
    c.bench_function(name, |b| b.iter_batched(&mut change, look, BatchSize::PerIteration));
}

fn passes(c: &mut Criterion) {
    let mut estate = Estate::serving();
    let observed = estate.look();
    measure(c, "idle pass, 5,000 servers, 15,000 pods", &estate, &observed);
    measure_first(c, "first pass of a process, 5,000 servers, nothing to do", &estate, &observed);
    measure_changes(c, "pass after one instance changed, 5,000 servers", &estate, &observed);
    screen::change(c, &estate.world, &observed, estate.now);
    let mut estate = estate.waiting();
    let observed = estate.look();
    measure(c, "pass over 5,000 open deployments that wait, 15,000 pods", &estate, &observed);
}

criterion_group!(benches, passes, rolls::passes);
criterion_main!(benches);
