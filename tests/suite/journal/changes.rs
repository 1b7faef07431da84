//! Material: a change of every kind, about a small fleet that repeats itself, so that histories run into each other.

use jiff::Timestamp;
use kura_console::control::ports::Batch;
use kura_console::domain::audit::{Fate, Link};
use kura_console::domain::change::{Cause, Change, Entry, LeaseEnd, Level};
use kura_console::domain::fleet::{
    Account, ConfigValues, Environment, Machine, Pause, RenderError, Ring, RingSettings, Rung,
};
use kura_console::domain::ids::{
    AccountId, EnvironmentId, MachineId, ReleaseId, Revision, RingId, RolloutId, SecretVersion,
};
use kura_console::domain::release::{Contract, Digest, Outcome, Release, Yank};
use kura_console::domain::rollout::{Cursor, Ending, HaltCause, RingHalt};
use kura_console::domain::span::Seconds;
use kura_console::domain::world::World;

use super::{kura, rolls};

/// How many kinds of changes there are.
pub(crate) const KINDS: usize = 34;

const LEASE_ENDS: [LeaseEnd; 9] = [
    LeaseEnd::Success,
    LeaseEnd::Paused,
    LeaseEnd::Superseded,
    LeaseEnd::Reset,
    LeaseEnd::Uncapped,
    LeaseEnd::Halted,
    LeaseEnd::Moved,
    LeaseEnd::Removed,
    LeaseEnd::Rebuilt,
];

/// Every change of kind `kind % KINDS` differs by `n`: which machine, which optional field is set, which cause.
pub(crate) fn change(kind: usize, n: u64) -> Change {
    let subject = Subject(n);
    let mut kinds = subject.catalog();
    kinds.extend(subject.machines());
    kinds.extend(subject.rollouts());
    kinds.extend(subject.runs());
    kinds.swap_remove(kind % KINDS)
}

/// Its place in the list above. A new kind does not compile here until it has one, and then the golden file wants it.
pub(crate) fn kind_of(change: &Change) -> usize {
    match change {
        Change::AccountChanged { .. } => 0,
        Change::EnvironmentCreated { .. } => 1,
        Change::EnvironmentChanged { .. } => 2,
        Change::RingCreated { .. } => 3,
        Change::RingChanged { .. } => 4,
        Change::ReleasePublished { .. } => 5,
        Change::ReleaseYanked { .. } => 6,
        Change::Paused { .. } => 7,
        Change::Unpaused { .. } => 8,
        Change::MachineAdded { .. } => 9,
        Change::MachineAssigned { .. } => 10,
        Change::MachineRemoved { .. } => 11,
        Change::MachineRebuilt { .. } => 12,
        Change::RolloutStarted { .. } => 13,
        Change::RolloutReset { .. } => 14,
        Change::RolloutEnded { .. } => 15,
        Change::CursorMoved { .. } => 16,
        Change::RingHalted { .. } => 17,
        Change::FailureCounted { .. } => 18,
        Change::LeaseGranted { .. } => 19,
        Change::LeaseEnded { .. } => 20,
        Change::AssignmentServed { .. } => 21,
        Change::ResultReported { .. } => 22,
        Change::RenderFailed { .. } => 23,
        Change::RenderRecovered { .. } => 24,
        Change::ElectionKept { .. } => 25,
        Change::SeatTaken { .. } => 26,
        Change::TagArrived { .. } => 27,
        Change::ClockAccepted => 28,
        Change::SecretSet { .. } => 29,
        Change::CommitSeen { .. } => 30,
        Change::Audited { .. } => 31,
        Change::Kura(_) => 32,
        Change::Roll(_) => 33,
    }
}

/// Every cause, by `n`.
pub(crate) fn cause(n: u64) -> Cause {
    match n % 6 {
        0 => Cause::Tick,
        1 => Cause::Poll,
        2 => Cause::Report,
        3 => Cause::Seat,
        4 => Cause::Verb { name: "pause-ring".to_owned(), reason: None, key: None, request: None },
        _ => Cause::Verb {
            name: "start".to_owned(),
            reason: Some("weekly upgrade — \"1.32\"".to_owned()),
            key: Some("7f3a".to_owned()),
            request: None,
        },
    }
}

/// An entry at a place, with time that moves on by a second and a bit per entry.
pub(crate) fn entry(revision: Revision, n: u64, change: Change) -> Entry {
    Entry { revision, at: moment(revision), by: "jane".to_owned(), cause: cause(n), change }
}

/// A verdict of `size` changes on top of `expected`, different for every `n`.
pub(crate) fn batch(account: AccountId, expected: Revision, size: u64, n: u64) -> Batch {
    let pick = |i: u64| n.wrapping_mul(31).wrapping_add(i * 7);
    let kind = |i: u64| usize::try_from(pick(i) % 26).unwrap();
    let entries = (1..=size).map(|i| entry(expected + i, pick(i), change(kind(i), pick(i)))).collect();
    Batch { account, expected, epoch: None, entries }
}

/// Place of `Change::Audited` among the kinds.
const AUDITED: usize = 31;

/// The same with a link of the audit in every fourth place.
pub(crate) fn batch_with_links(account: AccountId, expected: Revision, size: u64, n: u64) -> Batch {
    let mut batch = batch(account, expected, size, n);
    for link in batch.entries.iter_mut().filter(|entry| entry.revision.is_multiple_of(4)) {
        *link = entry(link.revision, 4, change(AUDITED, link.revision));
    }
    batch
}

/// What a reader has after these entries.
pub(crate) fn fold<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> World {
    let mut world = World::default();
    entries.into_iter().for_each(|entry| world.apply(entry));
    world
}

fn moment(seconds: u64) -> Timestamp {
    let nanoseconds = i128::from(seconds) * 1_000_000_007;
    Timestamp::from_nanosecond(1_700_000_000_000_000_000 + nanoseconds).unwrap()
}

/// What a change with the number `n` is about.
struct Subject(u64);

impl Subject {
    fn pick<T: Clone>(&self, from: &[T]) -> T {
        from[usize::try_from(self.0).unwrap_or(usize::MAX) % from.len()].clone()
    }

    fn machine(&self) -> MachineId {
        MachineId::named(self.pick(&["ash", "birch", "cedar", "elm", "fir"]))
    }

    fn environment(&self) -> EnvironmentId {
        EnvironmentId::named(self.pick(&["canary", "staging", "production"]))
    }

    fn ring(&self) -> RingId {
        RingId::named(self.pick(&["workers", "control-plane"]))
    }

    fn release(&self) -> ReleaseId {
        ReleaseId::named(self.pick(&["v1", "v2", "v3"]))
    }

    fn rollout(&self) -> RolloutId {
        RolloutId::named(self.pick(&["r1", "r2", "r3", "r4"]))
    }

    fn maybe<T>(&self, value: T) -> Option<T> {
        (self.0 % 2 == 1).then_some(value)
    }

    fn text(&self) -> String {
        self.pick(&["all clear", "Öl & \"Gas\"\n", ""]).to_owned()
    }

    fn content(&self) -> Digest {
        Digest(format!("{:064x}", self.0))
    }

    fn level(&self) -> Level {
        self.pick(&[Level::Machine(self.machine()), Level::Ring(self.ring()), Level::Environment(self.environment())])
    }

    fn values(&self) -> ConfigValues {
        let values =
            serde_json::json!({"count": self.0, "nested": {"list": [1, 2.5, null, true]}, "text": self.text()});
        self.maybe(values.as_object().unwrap().clone().into_iter().collect()).unwrap_or_default()
    }

    fn pause(&self) -> Pause {
        Pause { at: moment(self.0 % 1_000), by: "joe".to_owned(), reason: self.maybe(self.text()) }
    }

    fn settings(&self) -> RingSettings {
        RingSettings {
            max_in_flight: u32::try_from(self.0 % 4).unwrap(),
            min_settle_seconds: Seconds(self.0 % 900),
            stall_timeout_seconds: Seconds(self.0 % 3_600),
            failure_count_threshold: 1,
            wave_ladder: vec![Rung { after_seconds: 0, pct: 10 }, Rung { after_seconds: self.0 % 600, pct: 100 }],
            config_values: self.values(),
            ..RingSettings::named(&self.text())
        }
    }

    fn catalog(&self) -> Vec<Change> {
        let (environment, ring, release) = (self.environment(), self.ring(), self.release());
        let promotion_order = self.maybe(i64::try_from(self.0 % 5).unwrap() - 2);
        let account = Account {
            auto_deploy: self.0.is_multiple_of(2),
            track_config_tags: self.0.is_multiple_of(3),
            config_tag_pattern: self.maybe("v*".to_owned()),
        };
        let created = Environment {
            id: environment,
            name: self.text(),
            slug: format!("e{}", self.0 % 3),
            promotion_order,
            config_values: self.values(),
            paused: None,
        };
        let (name, config_values) = (self.text(), self.values());
        let made = Ring { id: ring, slug: format!("r{}", self.0 % 2), settings: self.settings(), paused: None };
        let yank = Yank { at: moment(3), by: "jane".to_owned(), reason: self.maybe(self.text()) };
        vec![
            Change::AccountChanged { account },
            Change::EnvironmentCreated { environment: created },
            Change::EnvironmentChanged { environment, name, promotion_order, config_values },
            Change::RingCreated { ring: made },
            Change::RingChanged { ring, settings: self.settings() },
            Change::ReleasePublished { release: self.built() },
            Change::ReleaseYanked { release, yank },
            Change::Paused { what: self.level(), pause: self.pause() },
            Change::Unpaused { what: self.level() },
        ]
    }

    fn built(&self) -> Release {
        Release {
            id: self.release(),
            git_ref: "v1.32".to_owned(),
            commit: format!("{:040x}", self.0),
            engine: "salt".to_owned(),
            timeout_seconds: Seconds(self.0 % 1_800),
            notes: self.text(),
            target_version: self.maybe("1.32.4".to_owned()),
            content: self.content(),
            contract: Contract::default(),
            created_at: moment(2),
            yanked: None,
        }
    }

    fn machines(&self) -> Vec<Change> {
        let machine = self.machine();
        let mut added = Machine::new(machine, self.pick(&["ash-1", "birch-1", "cedar-1", "elm-1", "fir-1"]));
        added.environment = Some(self.environment());
        added.ring = self.maybe(self.ring());
        added.bucket = self.maybe(u8::try_from(self.0 % 100).unwrap());
        vec![
            Change::MachineAdded { machine: Box::new(added) },
            Change::MachineAssigned {
                machine,
                environment: Some(self.environment()),
                ring: self.maybe(self.ring()),
                node: self.text(),
            },
            Change::MachineRemoved { machine },
            Change::MachineRebuilt { machine, version: self.maybe("1.31.9".to_owned()) },
        ]
    }

    fn rollouts(&self) -> Vec<Change> {
        let (rollout, ring, machine, environment) = (self.rollout(), self.ring(), self.machine(), self.environment());
        let (release, protected, generation) = (self.release(), self.0.is_multiple_of(2), self.0 % 7);
        let endings = [
            Ending::Completed,
            Ending::Halted { reason: self.text() },
            Ending::Superseded { by: RolloutId::named("r4") },
        ];
        let cause = self.pick(&[HaltCause::Threshold, HaltCause::Stall]);
        let halt = RingHalt { cause, machine, reason: self.text(), at: moment(self.0 % 100) };
        let cursor = Cursor { order: i64::try_from(self.0 % 5).unwrap() - 2, slug: format!("e{}", self.0 % 3) };
        vec![
            Change::RolloutStarted { rollout, release, protected, generation },
            Change::RolloutReset { rollout, protected, generation },
            Change::RolloutEnded { rollout, ending: self.pick(&endings) },
            Change::CursorMoved { rollout, cursor, environment },
            Change::RingHalted { rollout, ring, halt },
            Change::FailureCounted { rollout, ring, machine },
        ]
    }

    fn runs(&self) -> Vec<Change> {
        let (machine, release, generation, content) = (self.machine(), self.release(), self.0 % 7, self.content());
        let outcome = self.pick(&[Outcome::Success, Outcome::Failed, Outcome::Timeout, Outcome::Canceled]);
        let failed_state = self.maybe("cordon".to_owned());
        let missing = vec!["TOKEN".to_owned(), "ZONE".to_owned()];
        vec![
            Change::LeaseGranted { machine, rollout: self.rollout(), content: content.clone() },
            Change::LeaseEnded { machine, cause: self.pick(&LEASE_ENDS) },
            Change::AssignmentServed { machine, generation, content },
            Change::ResultReported {
                machine,
                release,
                generation,
                outcome,
                failed_state,
                run: self.maybe(moment(self.0 % 50)),
            },
            Change::RenderFailed { machine, error: RenderError { generation, missing, at: moment(4) } },
            Change::RenderRecovered { machine },
            Change::ElectionKept {
                rollout: self.rollout(),
                environment: self.environment(),
                ring: self.ring(),
                pct: u8::try_from(self.0 % 101).unwrap(),
            },
            Change::SeatTaken { holder: "serve@bastion-1:4711".to_owned(), epoch: self.0, agents: true },
            Change::TagArrived { release: self.release(), made_at: None },
            Change::ClockAccepted,
            Change::SecretSet {
                name: self.pick(&["TOKEN", "ZONE_KEY"]).to_owned(),
                version: SecretVersion::named(&self.text()),
            },
            Change::CommitSeen { git_ref: "main".to_owned(), commit: format!("{:040x}", self.0) },
            Change::Audited { link: Box::new(self.link()) },
            Change::Kura(Box::new(kura::change(self.0))),
            Change::Roll(Box::new(rolls::change(self.0))),
        ]
    }
}

impl Subject {
    fn link(&self) -> Link {
        let seal = |n: u64| Digest(format!("{n:064x}"));
        let refused = Fate::Refused { code: "yanked".to_owned(), detail: "v9 was yanked".to_owned() };
        Link {
            number: self.0 + 1,
            target: vec!["ring oak".to_owned()],
            asked: serde_json::json!({ "pause": { "ring": self.ring() } }),
            plan: vec!["ash keeps its slot".to_owned()],
            fate: if self.0.is_multiple_of(2) { Fate::Done } else { refused },
            changes: self.0 % 3,
            effect: seal(self.0),
            before: (self.0 > 0).then(|| seal(self.0)),
            seal: seal(self.0 + 1),
        }
    }
}

#[test]
fn every_kind_of_change_stands_at_its_place() {
    for n in 0..12 {
        let kinds: Vec<usize> = (0..KINDS).map(|kind| kind_of(&change(kind, n))).collect();
        assert_eq!(kinds, (0..KINDS).collect::<Vec<_>>());
    }
}
