//! What was before the start: `given` as entries of the journal, each at the time it is said to have happened.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::super::stores::SimVault;
use super::estate;
use super::file::given::{EnvironmentGiven, Given, MachineGiven, ReleaseGiven, RingGiven};
use super::file::moment::Moment;
use super::file::place::{Fault, Place, Placed};
use super::ids::Ids;
use crate::domain::change::{Cause, Change, Entry, Level};
use crate::domain::decide::decide;
use crate::domain::fleet::{Account, Environment, Machine, Pause, Ring, RingSettings, Rung};
use crate::domain::ids::{Generation, MachineId, ReleaseId, RingId};
use crate::domain::input::{Input, Order, RingPatch, Verb};
use crate::domain::kura::change::KuraChange;
use crate::domain::observed::Observed;
use crate::domain::release::{Contract, Outcome, Release, Yank};
use crate::domain::span::Seconds;
use crate::domain::verdict::Reply;
use crate::domain::world::World;

/// Who did what was before the start.
pub(super) const BEFORE: &str = "given";

/// How long before the start a machine succeeded where the file does not say.
const LONG_AGO: Moment = Moment(-86_400);

/// Generation of a rollout that is under way at the start; results of older ones bear 0.
pub(super) const UNDER_WAY: Generation = 1;

/// Writes the past of a scenario.
pub(super) struct Prelude<'a> {
    pub(super) given: &'a Given,
    pub(super) start: Timestamp,
    pub(super) ids: &'a mut Ids,
    pub(super) entries: Vec<(Timestamp, Author, Change)>,
}

/// Who and why.
type Author = (String, Cause);

impl<'a> Prelude<'a> {
    /// The entries of the past, in order. A fault where `given` contradicts itself.
    pub(super) fn write(
        given: &'a Given,
        start: Timestamp,
        ids: &'a mut Ids,
        vault: &SimVault,
    ) -> Result<Vec<Entry>, Fault> {
        let mut prelude = Self { given, start, ids, entries: Vec::new() };
        prelude.catalog(vault)?;
        prelude.machines()?;
        prelude.rollout()?;
        prelude.pauses();
        prelude.estate()?;
        Ok(prelude.in_order())
    }

    /// An instant of the past.
    pub(super) fn at(&self, moment: Moment) -> Timestamp {
        moment.after(self.start)
    }

    /// A fact of the past.
    pub(super) fn fact(&mut self, at: Timestamp, author: Author, change: Change) {
        self.entries.push((at, author, change));
    }

    fn in_order(mut self) -> Vec<Entry> {
        self.entries.sort_by_key(|(at, _, _)| *at);
        let place = |(n, (at, (by, cause), change)): (u64, (Timestamp, Author, Change))| Entry {
            revision: n,
            at,
            by,
            cause,
            change,
        };
        (1..).zip(self.entries).map(place).collect()
    }

    /// Before everything else that is said about the past.
    fn dawn(&self) -> Timestamp {
        let machines = self.given.machines.iter().map(|machine| &machine.value);
        let successes = machines.filter(|machine| machine.applied.is_some() || machine.first_success.is_some());
        let successes = successes.map(success_of);
        let leases =
            self.given.rollout.iter().flat_map(|rollout| rollout.value.leases.iter().map(|lease| lease.granted));
        self.at(successes.chain(leases).min().unwrap_or_default().min(Moment(0)))
    }

    fn catalog(&mut self, vault: &SimVault) -> Result<(), Fault> {
        let dawn = self.dawn();
        let account = &self.given.account;
        let account = Account {
            auto_deploy: account.auto_deploy,
            track_config_tags: account.track_config_tags,
            config_tag_pattern: account.config_tag_pattern.clone(),
        };
        if account != Account::default() {
            self.fact(dawn, verb("patch-account"), Change::AccountChanged { account });
        }
        let mut seen = BTreeSet::new();
        for given in &self.given.environments {
            once(&mut seen, &given.value.slug, given.place, "environment")?;
            let environment = self.environment(&given.value);
            self.fact(dawn, verb("create-environment"), Change::EnvironmentCreated { environment });
        }
        seen.clear();
        for given in &self.given.rings {
            once(&mut seen, &given.value.slug, given.place, "ring")?;
            let ring = ring(self.ids.ring(&given.value.slug), given)?;
            self.fact(dawn, verb("create-ring"), Change::RingCreated { ring });
        }
        seen.clear();
        for given in &self.given.releases {
            once(&mut seen, &given.value.id, given.place, "release")?;
            let id = self.ids.release(&given.value.id);
            let release = release(id, &given.value, vault, dawn);
            self.fact(dawn, verb("publish-release"), Change::ReleasePublished { release });
            if given.value.yanked {
                let yank = Yank { at: dawn, by: BEFORE.to_owned(), reason: Some("scenario".to_owned()) };
                self.fact(dawn, verb("yank"), Change::ReleaseYanked { release: id, yank });
            }
        }
        Ok(())
    }

    /// Released versions and servers, a day before the start.
    fn estate(&mut self) -> Result<(), Fault> {
        let dawn = self.at(LONG_AGO).min(self.dawn());
        for tag in &self.given.runtime_tags {
            let change = KuraChange::TagReleased { tag: estate::text(tag) };
            self.fact(dawn, verb("release-tag"), Change::Kura(Box::new(change)));
        }
        let mut seen = BTreeSet::new();
        for given in &self.given.servers {
            once(&mut seen, &given.value.id, given.place, "server")?;
            let server = Box::new(estate::server(given, self.start, self.ids)?);
            self.fact(dawn, verb("add-server"), Change::Kura(Box::new(KuraChange::ServerAdded { server })));
        }
        Ok(())
    }

    fn environment(&mut self, given: &EnvironmentGiven) -> Environment {
        Environment {
            id: self.ids.environment(&given.slug),
            name: given.slug.clone(),
            slug: given.slug.clone(),
            promotion_order: given.promotion_order,
            config_values: given.config_values.clone(),
            paused: None,
        }
    }

    fn machines(&mut self) -> Result<(), Fault> {
        let (dawn, mut seen, mut hosts) = (self.dawn(), BTreeSet::new(), BTreeSet::new());
        for given in &self.given.machines {
            once(&mut seen, &given.value.id, given.place, "machine")?;
            let hostname = given.value.hostname.as_deref().unwrap_or(&given.value.id);
            once(&mut hosts, hostname, given.place, "host name")?;
            let machine = self.machine(given, hostname)?;
            let id = machine.id;
            self.fact(dawn, verb("add-machine"), Change::MachineAdded { machine: Box::new(machine) });
            self.success(id, given, hostname)?;
        }
        Ok(())
    }

    fn machine(&mut self, given: &Placed<MachineGiven>, hostname: &str) -> Result<Machine, Fault> {
        let MachineGiven { id, environment, ring, bucket, node, version, .. } = &given.value;
        if bucket.is_some_and(|bucket| bucket > 99) {
            return Err(Fault::at(given.place, "bucket is 0 to 99"));
        }
        let mut machine = Machine::new(self.ids.machine(id), hostname);
        if let Some(slug) = environment {
            machine.environment = Some(self.known_environment(slug, given.place)?);
        }
        if let Some(slug) = ring {
            machine.ring = Some(self.known_ring(slug, given.place)?);
        }
        machine.bucket = *bucket;
        machine.version.clone_from(version);
        machine.node = node.clone().unwrap_or_else(|| hostname.to_owned());
        Ok(machine)
    }

    /// The success a machine looks back on. One that is not applied any more failed once after it, in an older
    /// generation, so that it is neither done nor failed now.
    fn success(&mut self, id: MachineId, given: &Placed<MachineGiven>, hostname: &str) -> Result<(), Fault> {
        let MachineGiven { applied, first_success, .. } = &given.value;
        if applied.is_none() && first_success.is_none() {
            return Ok(());
        }
        let rollout = self.given.rollout.as_ref().map(|rollout| rollout.value.release.value.clone());
        let Some(name) = applied.clone().or_else(|| rollout.clone()) else {
            return Err(Fault::at(given.place, "first_success needs `applied`, or a rollout to be one of"));
        };
        let release = self.known_release(&name, given.place)?;
        let first = success_of(&given.value);
        past(first, given.place)?;
        let at = self.at(first);
        let generation = if rollout.as_ref() == Some(&name) { UNDER_WAY } else { 0 };
        let report = |outcome, generation, failed_state: Option<&str>| Change::ResultReported {
            machine: id,
            release,
            generation,
            outcome,
            failed_state: failed_state.map(str::to_owned),
            run: None,
        };
        self.fact(at, (hostname.to_owned(), Cause::Report), report(Outcome::Success, generation, None));
        if applied.is_none() {
            let relapse = report(Outcome::Failed, 0, Some("before the start"));
            self.fact(at, (hostname.to_owned(), Cause::Report), relapse);
        }
        Ok(())
    }

    fn pauses(&mut self) {
        let start = self.start;
        let mut paused = Vec::new();
        let environments = self.given.environments.iter().filter(|e| e.value.paused);
        paused.extend(environments.map(|e| (Level::Environment(self.ids.environment(&e.value.slug)), "environment")));
        let rings = self.given.rings.iter().filter(|ring| ring.value.paused);
        paused.extend(rings.map(|ring| (Level::Ring(self.ids.ring(&ring.value.slug)), "ring")));
        let machines = self.given.machines.iter().filter(|machine| machine.value.paused);
        paused.extend(machines.map(|machine| (Level::Machine(self.ids.machine(&machine.value.id)), "machine")));
        for (what, word) in paused {
            let pause = Pause { at: start, by: BEFORE.to_owned(), reason: Some("scenario".to_owned()) };
            self.fact(start, verb(&format!("pause-{word}")), Change::Paused { what, pause });
        }
    }
}

/// When a machine first succeeded.
pub(super) fn success_of(machine: &MachineGiven) -> Moment {
    machine.first_success.unwrap_or(LONG_AGO)
}

/// A verb that was given before the start.
pub(super) fn verb(name: &str) -> Author {
    let reason = Some("scenario".to_owned());
    let cause = Cause::Verb { name: name.to_owned(), reason, key: None, request: None };
    (BEFORE.to_owned(), cause)
}

fn once(seen: &mut BTreeSet<String>, id: &str, place: Place, what: &str) -> Result<(), Fault> {
    if seen.insert(id.to_owned()) { Ok(()) } else { Err(Fault::at(place, format!("there are two of {what} {id}"))) }
}

/// What was before the start lies before it.
pub(super) fn past(moment: Moment, place: Place) -> Result<(), Fault> {
    if moment <= Moment(0) { Ok(()) } else { Err(Fault::at(place, format!("{moment} lies after the start"))) }
}

/// A ring as it is given. A cap of 0 with a stall timeout is allowed: an uncap leaves it like that (R126).
fn ring(id: RingId, given: &Placed<RingGiven>) -> Result<Ring, Fault> {
    let RingGiven {
        slug,
        max_in_flight,
        min_settle_seconds,
        stall_timeout_seconds,
        failure_count_threshold,
        wave_ladder,
        ..
    } = &given.value;
    let mut settings = RingSettings {
        max_in_flight: *max_in_flight,
        min_settle_seconds: Seconds(*min_settle_seconds),
        stall_timeout_seconds: Seconds(*stall_timeout_seconds),
        failure_count_threshold: *failure_count_threshold,
        ..RingSettings::named(slug)
    };
    if let Some(ladder) = wave_ladder {
        settings.wave_ladder =
            ladder.iter().map(|rung| Rung { after_seconds: rung.after_seconds, pct: rung.pct }).collect();
    }
    let patch = RingPatch {
        failure_count_threshold: Some(settings.failure_count_threshold),
        wave_ladder: Some(settings.wave_ladder.clone()),
        ..RingPatch::default()
    };
    let verb = Verb::CreateRing { id, slug: slug.clone(), settings: patch };
    let order = Order { verb, by: BEFORE.to_owned(), reason: None, key: None };
    let now = Timestamp::UNIX_EPOCH;
    match decide(&World::default(), &Observed::starting_at(now), &Input::Verb(order), now).reply {
        Reply::Refused(refusal) => Err(Fault::at(given.place, refusal.to_string())),
        _ => Ok(Ring { id, slug: slug.clone(), settings, paused: None }),
    }
}

/// A release whose content names it.
pub(super) fn release(id: ReleaseId, given: &ReleaseGiven, vault: &SimVault, created_at: Timestamp) -> Release {
    Release {
        id,
        git_ref: given.id.clone(),
        commit: id.0.simple().to_string(),
        engine: "salt".to_owned(),
        timeout_seconds: Seconds(given.timeout_seconds),
        notes: String::new(),
        target_version: given.target_version.clone(),
        content: vault.put(format!("release: {}\n", given.id).into_bytes()),
        contract: Contract::default(),
        created_at,
        yanked: None,
    }
}
