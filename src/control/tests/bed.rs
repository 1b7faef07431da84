//! A small world on shared stores, and processes that decide on it.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::driver::{TestClock, now};
use super::store::{Store, TestHost};
use crate::control::door::{Answered, DoorError, Request};
use crate::control::nudges::Nudges;
use crate::control::observe::Observer;
use crate::control::ports::ApplyResult;
use crate::control::publish::{Published, Publisher};
use crate::control::reader::Reader;
use crate::control::turn::Turns;
use crate::domain::change::Level;
use crate::domain::fleet::ConfigValues;
use crate::domain::ids::{AccountId, EnvironmentId, Epoch, MachineId, ReleaseId, Revision, RingId, RolloutId};
use crate::domain::input::{Edition, Input, Order, Poll, Rendered, Report, RingPatch, Verb};
use crate::domain::release::{Contract, Digest, Outcome};
use crate::domain::span::Seconds;
use crate::domain::verdict::Reply;
use crate::domain::world::World;

pub(crate) fn account() -> AccountId {
    AccountId::named("test")
}

/// The content every release of a bed has, and where the Vault keeps it.
pub(crate) const CONTENT: &[u8] = b"states";

/// One store, one clock: environment and ring `pine` with cap 1, settle 60 s and stall 30 min,
/// machines ash (1), birch (2), cedar (3), release v1.
pub(crate) struct Bed {
    pub(crate) store: Store,
    pub(crate) clock: TestClock,
}

impl Bed {
    pub(crate) fn new() -> Self {
        let bed = Self { store: Store::new(), clock: TestClock::new() };
        let digest = Digest("digest-of-6-bytes".to_owned());
        bed.store.lock().contents.insert(digest.clone(), CONTENT.to_vec());
        let verbs = [environment(), ring(), machine("ash", 1), machine("birch", 2), machine("cedar", 3)];
        let verbs = verbs.into_iter().chain([release("v1", &digest), release("v2", &digest)]);
        let replies = bed.process("setup").ask(verbs.map(verb).collect());
        assert!(replies.iter().all(|reply| !matches!(reply, Ok(Reply::Refused(_)) | Err(_))), "{replies:?}");
        bed.store.lock().batches.clear();
        bed
    }

    /// The same with v1 running.
    pub(crate) fn running() -> Self {
        let bed = Self::new();
        let reply = bed.process("setup").one(start("r1", "v1"));
        assert_eq!(reply, Ok(Reply::Started(RolloutId::named("r1"))));
        bed.store.lock().batches.clear();
        bed
    }

    pub(crate) fn host(&self, name: &str) -> Arc<TestHost> {
        Arc::new(TestHost { store: self.store.clone(), clock: self.clock.clone(), name: name.to_owned() })
    }

    /// A process that has loaded the world.
    pub(crate) fn process(&self, name: &str) -> Process {
        let host = self.host(name);
        let nudges = Nudges::default();
        let reader = Reader::new(Arc::clone(&host), account(), Publisher::new(), nudges.clone());
        now(reader.load()).unwrap();
        let observer = Observer::new(Arc::clone(&host), account());
        Process {
            turns: Turns { host, account: account(), observer, reader, lots: tokio::sync::mpsc::channel(1).0 },
            nudges,
        }
    }

    pub(crate) fn world(&self) -> World {
        self.store.world()
    }

    /// Machines that hold a lease, by name.
    pub(crate) fn holders(&self) -> Vec<String> {
        let world = self.world();
        let mut holders: Vec<_> =
            world.machines.values().filter(|m| m.lease.is_some()).map(|m| m.hostname.clone()).collect();
        holders.sort();
        holders
    }
}

/// A process whose turns are taken by hand.
pub(crate) struct Process {
    pub(crate) turns: Turns<TestHost>,
    pub(crate) nudges: Nudges,
}

/// What a process is going to answer.
pub(crate) type Answers = Vec<oneshot::Receiver<Result<Answered, DoorError>>>;

impl Process {
    /// Has all of these decided in one turn.
    pub(crate) fn ask(&self, inputs: Vec<Input>) -> Vec<Result<Reply, DoorError>> {
        self.ask_under(inputs.into_iter().map(|input| (None, input)).collect())
    }

    pub(crate) fn one(&self, input: Input) -> Result<Reply, DoorError> {
        self.ask(vec![input]).remove(0)
    }

    /// The same, each under an epoch where one is given.
    pub(crate) fn ask_under(&self, inputs: Vec<(Option<Epoch>, Input)>) -> Vec<Result<Reply, DoorError>> {
        let (mut waiting, answers) = requests(inputs);
        now(self.turns.decide_all(&mut waiting));
        answers.into_iter().map(|answer| now(answer).unwrap().map(|answered| answered.reply)).collect()
    }

    pub(crate) fn published(&self) -> Published {
        self.turns.reader.publisher().current()
    }
}

/// The same requests, from somebody who looked at `revision`.
pub(crate) fn planned(mut requests: Vec<Request>, revision: Revision) -> Vec<Request> {
    requests.iter_mut().for_each(|request| request.planned_at = Some(revision));
    requests
}

/// Requests as the door makes them.
pub(crate) fn requests(inputs: Vec<(Option<Epoch>, Input)>) -> (Vec<Request>, Answers) {
    let request = |(under, input)| {
        let (reply, answer) = oneshot::channel();
        (Request { input, under, planned_at: None, reply }, answer)
    };
    inputs.into_iter().map(request).unzip()
}

pub(crate) fn verb(verb: Verb) -> Input {
    Input::Verb(Order { verb, by: "op-a".to_owned(), reason: None, key: None })
}

pub(crate) fn keyed(input: Input, key: &str) -> Input {
    match input {
        Input::Verb(order) => Input::Verb(Order { key: Some(key.to_owned()), ..order }),
        other => other,
    }
}

fn environment() -> Verb {
    let (id, slug) = (EnvironmentId::named("pine"), "pine".to_owned());
    Verb::CreateEnvironment {
        id,
        name: slug.clone(),
        slug,
        promotion_order: Some(10),
        config_values: ConfigValues::new(),
    }
}

fn ring() -> Verb {
    let settings = RingPatch {
        max_in_flight: Some(1),
        min_settle_seconds: Some(Seconds(60)),
        stall_timeout_seconds: Some(Seconds(1_800)),
        ..RingPatch::default()
    };
    Verb::CreateRing { id: RingId::named("pine"), slug: "pine".to_owned(), settings }
}

pub(crate) fn machine(name: &str, bucket: u8) -> Verb {
    Verb::AddMachine {
        id: MachineId::named(name),
        hostname: name.to_owned(),
        node: None,
        environment: Some(EnvironmentId::named("pine")),
        ring: Some(RingId::named("pine")),
        bucket: Some(bucket),
    }
}

fn release(name: &str, content: &Digest) -> Verb {
    Verb::PublishRelease {
        id: ReleaseId::named(name),
        git_ref: name.to_owned(),
        commit: format!("{name}-commit"),
        engine: "sh".to_owned(),
        timeout_seconds: Seconds(600),
        notes: String::new(),
        target_version: None,
        content: content.clone(),
        contract: Contract::default(),
    }
}

pub(crate) fn start(rollout: &str, release: &str) -> Input {
    let (id, release) = (RolloutId::named(rollout), ReleaseId::named(release));
    verb(Verb::Start { id, release, protected: None, force: false, intent: None })
}

pub(crate) fn pause(machine: &str) -> Input {
    verb(Verb::Pause(Level::Machine(MachineId::named(machine))))
}

pub(crate) fn cap(max_in_flight: u32) -> Input {
    let patch = RingPatch { max_in_flight: Some(max_in_flight), ..RingPatch::default() };
    verb(Verb::PatchRing { ring: RingId::named("pine"), patch })
}

/// A poll of a machine that runs nothing.
pub(crate) fn poll(machine: &str) -> Input {
    Input::Poll(Poll {
        machine: MachineId::named(machine),
        have: None,
        rendered: Rendered::Content(Digest("digest-of-6-bytes".to_owned())),
        release: Some(ReleaseId::named("v1")),
    })
}

pub(crate) fn edition(release: &str, generation: u64) -> Edition {
    Edition { release: ReleaseId::named(release), generation }
}

pub(crate) fn success(world: &World, machine: &str) -> Input {
    let generation = world.running().map_or(0, |rollout| rollout.generation);
    Input::Report(Report {
        machine: MachineId::named(machine),
        edition: edition("v1", generation),
        outcome: Outcome::Success,
        failed_state: None,
        run: Some(world.at),
        rebuilds: None,
    })
}

pub(crate) fn result(world: &World, machine: &str, outcome: Outcome) -> ApplyResult {
    ApplyResult {
        machine: MachineId::named(machine),
        release: ReleaseId::named("v1"),
        generation: world.running().map_or(0, |rollout| rollout.generation),
        outcome,
        started_at: world.at,
        finished_at: world.at,
        received_at: world.at,
        changed_count: 1,
        failed_states: Vec::new(),
        log_tail: String::new(),
        rebuilds: None,
    }
}

/// True where a poll was answered with an assignment.
pub(crate) fn is_served(reply: &Result<Reply, DoorError>) -> bool {
    matches!(reply, Ok(Reply::Assignment { assignment: Some(_), .. }))
}
