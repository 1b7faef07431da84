//! A world sketched from what is told: as the changes that would have led to it, folded with the one fold there is.
//! What the status says of a machine is what its row says again. Pure.

use std::collections::{BTreeMap, BTreeSet};

use imbl::OrdMap;
use jiff::Timestamp;
use uuid::Uuid;

use super::memory::Memory;
use super::reading::{Catalog, Progress};
use super::row::{NOT_TOLD, machine, release};
use crate::domain::change::{Cause, Change, Entry};
use crate::domain::fleet::{Account, Environment, Pause, Ring, RingSettings, Rung};
use crate::domain::glimpse::Glimpse;
use crate::domain::ids::{EnvironmentId, Generation, MachineId, ReleaseId, RingId, RolloutId};
use crate::domain::lane::LaneKey;
use crate::domain::observed::{Observed, Telemetry};
use crate::domain::rollout::{Cursor, Ending, HaltCause, RingHalt};
use crate::domain::world::{World, place};
use crate::wire::told::{EnvironmentTold, RingTold, RowTold};

/// The generation of whatever runs: it is not told, and nothing here is compared with another one.
pub(super) const GENERATION: Generation = 1;

/// Failures of one machine that are counted one by one; more are not told apart.
const FAILURES_MAX: u32 = 100;

/// What a reading comes to.
#[derive(Debug, Clone)]
pub struct Sketch {
    /// Facts, as far as they are told.
    pub world: World,
    /// Who was seen, where that is told.
    pub observed: Observed,
    /// What is not known of them.
    pub glimpse: Glimpse,
    /// The account's name, or what stands for it.
    pub account: String,
}

/// Sketches the world of one reading at `now`, by this reader's clock.
pub fn sketch(catalog: &Catalog, progress: Option<&Progress>, memory: &mut Memory, now: Timestamp) -> Sketch {
    let mut draft = Draft { world: World::default(), at: now, unnamed: BTreeSet::new(), memory };
    draft.account(catalog);
    let names = draft.catalog(catalog, progress);
    if let Some(progress) = progress {
        draft.progress(progress, &names);
    }
    let Draft { world, unnamed, .. } = draft;
    memory.turn();
    let mut observed = Observed::starting_at(now);
    let seen = progress.iter().flat_map(|progress| &progress.status.machines);
    let mut told = progress.iter().flat_map(|progress| &progress.status.machines);
    if told.all(|row| row.last_seen_at.is_some()) {
        // Whoever tells of every machine when it was seen has been listening for long enough.
        observed.listening_since = Timestamp::UNIX_EPOCH;
    }
    observed.last_poll = seen.filter_map(|row| Some((row.uuid, row.last_seen_at?))).collect::<OrdMap<_, _>>();
    if progress.is_some_and(|progress| progress.status.counts_approximate) {
        observed.telemetry = Telemetry::Unreadable;
    }
    let glimpse = Glimpse { unnamed, ..super::lacks::glimpse(catalog, progress) };
    let account = catalog.account.name.clone().unwrap_or_else(|| "account".to_owned());
    Sketch { world, observed, glimpse, account }
}

/// Identities by what rows call them: slug or uuid.
struct Names {
    environments: BTreeMap<String, EnvironmentId>,
    rings: BTreeMap<String, RingId>,
}

struct Draft<'a> {
    world: World,
    at: Timestamp,
    unnamed: BTreeSet<Uuid>,
    memory: &'a mut Memory,
}

impl Draft<'_> {
    fn fold(&mut self, at: Timestamp, by: &str, change: Change) {
        let revision = self.world.revision + 1;
        self.world.apply(&Entry { revision, at, by: by.to_owned(), cause: Cause::Tick, change });
    }

    fn account(&mut self, catalog: &Catalog) {
        let told = &catalog.account;
        let account = Account {
            auto_deploy: told.auto_deploy,
            track_config_tags: told.track_config_tags,
            config_tag_pattern: told.config_tag_pattern.clone(),
        };
        self.fold(Timestamp::UNIX_EPOCH, NOT_TOLD, Change::AccountChanged { account });
    }

    /// Environments, rings and releases: the listed ones, and those that rows speak of.
    fn catalog(&mut self, catalog: &Catalog, progress: Option<&Progress>) -> Names {
        let rows = progress.map_or(&[][..], |progress| &progress.status.machines);
        let listed: Vec<Environment> =
            catalog.environments.iter().flatten().map(|told| self.environment(told)).collect();
        let environments = self.environments(listed, rows);
        let listed: Vec<Ring> = catalog.rings.iter().flatten().map(|told| self.ring(told, rows)).collect();
        let rings = self.rings(listed, rows);
        for told in catalog.releases.iter().flatten() {
            let since = self.memory.since("release", &told.uuid.to_string(), self.at);
            self.fold(since, NOT_TOLD, Change::ReleasePublished { release: release(told, since) });
        }
        Names { environments, rings }
    }

    fn environments(&mut self, listed: Vec<Environment>, rows: &[RowTold]) -> BTreeMap<String, EnvironmentId> {
        let mut known = BTreeMap::new();
        for environment in listed {
            known.insert(environment.slug.clone(), environment.id);
            known.insert(environment.id.to_string(), environment.id);
            self.fold(Timestamp::UNIX_EPOCH, NOT_TOLD, Change::EnvironmentCreated { environment });
        }
        // Rows come in promotion order, so the order of those that are not listed is the order they come in.
        for (order, row) in (1..).zip(rows) {
            if known.contains_key(&row.environment) {
                continue;
            }
            let id = row
                .environment
                .parse()
                .map_or_else(|_| EnvironmentId::named(&told_name(&row.environment)), EnvironmentId);
            self.unnamed.extend(row.environment.parse::<Uuid>().is_err().then_some(id.0));
            known.insert(row.environment.clone(), id);
            let (slug, name) = (row.environment.clone(), row.environment.clone());
            let config_values = crate::domain::fleet::ConfigValues::new();
            let environment = Environment { id, name, slug, promotion_order: Some(order), config_values, paused: None };
            self.fold(Timestamp::UNIX_EPOCH, NOT_TOLD, Change::EnvironmentCreated { environment });
        }
        known
    }

    fn rings(&mut self, listed: Vec<Ring>, rows: &[RowTold]) -> BTreeMap<String, RingId> {
        let mut known = BTreeMap::new();
        for ring in listed {
            known.insert(ring.slug.clone(), ring.id);
            known.insert(ring.id.to_string(), ring.id);
            self.fold(Timestamp::UNIX_EPOCH, NOT_TOLD, Change::RingCreated { ring });
        }
        for row in rows {
            if known.contains_key(&row.ring) {
                continue;
            }
            let id = row.ring.parse().map_or_else(|_| RingId::named(&told_name(&row.ring)), RingId);
            self.unnamed.extend(row.ring.parse::<Uuid>().is_err().then_some(id.0));
            known.insert(row.ring.clone(), id);
            let ring = Ring { id, slug: row.ring.clone(), settings: guessed(&row.ring, rows), paused: None };
            self.fold(Timestamp::UNIX_EPOCH, NOT_TOLD, Change::RingCreated { ring });
        }
        known
    }

    fn environment(&mut self, told: &EnvironmentTold) -> Environment {
        Environment {
            id: told.uuid,
            name: told.name.clone().unwrap_or_else(|| told.slug.clone()),
            slug: told.slug.clone(),
            promotion_order: told.promotion_order,
            config_values: told.config_values.clone(),
            paused: self.pause(told.paused, told.pause.as_ref(), &told.uuid.to_string()),
        }
    }

    fn ring(&mut self, told: &RingTold, rows: &[RowTold]) -> Ring {
        let defaults = guessed(&told.slug, rows);
        let settings = RingSettings {
            name: told.name.clone().unwrap_or_else(|| told.slug.clone()),
            max_in_flight: told.max_in_flight,
            min_settle_seconds: told.min_settle_seconds,
            stall_timeout_seconds: told.stall_timeout_seconds,
            failure_count_threshold: told.failure_count_threshold.unwrap_or(defaults.failure_count_threshold),
            wave_ladder: if told.wave_ladder.is_empty() { defaults.wave_ladder } else { unclocked(&told.wave_ladder) },
            config_values: defaults.config_values,
        };
        let paused = self.pause(told.paused, told.pause.as_ref(), &told.uuid.to_string());
        Ring { id: told.uuid, slug: told.slug.clone(), settings, paused }
    }

    /// A hold of which it may not be told whose it is.
    fn pause(&mut self, paused: bool, told: Option<&Pause>, whose: &str) -> Option<Pause> {
        let since = || Pause { at: self.memory.since("hold", whose, self.at), by: NOT_TOLD.to_owned(), reason: None };
        told.cloned().or_else(|| paused.then(since))
    }

    fn progress(&mut self, progress: &Progress, names: &Names) {
        let Progress { rollout, status } = progress;
        let release = status.config_release_uuid.or(rollout.config_release_uuid);
        let id = release.unwrap_or_else(|| ReleaseId::named(&told_name(&rollout.uuid.to_string())));
        self.unnamed.extend(release.is_none().then_some(id.0));
        self.release_of(id, release.is_some());
        let since = self.memory.since("rollout", &rollout.uuid.to_string(), self.at);
        let started = Change::RolloutStarted {
            rollout: rollout.uuid,
            release: id,
            protected: status.protected.unwrap_or(rollout.protected),
            generation: GENERATION,
        };
        let by = rollout.started_by.as_deref().unwrap_or(NOT_TOLD).to_owned();
        self.fold(rollout.started_at.unwrap_or(since), &by, started);
        self.cursor(progress, names);
        for row in &status.machines {
            self.row(progress, id, row, names);
        }
        self.elected(rollout.uuid, &status.machines, names);
        self.halts(progress, names);
        self.ending(progress);
    }

    /// A release that is not listed is known by its uuid, if by anything.
    fn release_of(&mut self, id: ReleaseId, told: bool) {
        if self.world.releases.contains_key(&id) {
            return;
        }
        let since = self.memory.since("release", &id.to_string(), self.at);
        let name = if told { format!("release {}", id.short()) } else { "a release that is not named".to_owned() };
        self.fold(since, NOT_TOLD, Change::ReleasePublished { release: super::row::nameless(id, &name, since) });
    }

    /// Where the cursor stands; where that is not told, on the last environment in the path in which anybody may go, and
    /// nowhere where nobody may.
    fn cursor(&mut self, progress: &Progress, names: &Names) {
        let status = &progress.status;
        let told = status.current_environment.as_ref().and_then(|slug| names.environments.get(slug)).copied();
        let open: BTreeSet<EnvironmentId> = status
            .machines
            .iter()
            .filter(|row| row.eligible)
            .filter_map(|row| names.environments.get(&row.environment).copied())
            .collect();
        let path: Vec<(EnvironmentId, Cursor)> =
            self.world.path().into_iter().filter_map(|tier| Some((tier.id, place(tier)?))).collect();
        let last = path.iter().rposition(|(id, _)| told.map_or(open.contains(id), |told| told == *id));
        for (environment, cursor) in path.into_iter().take(last.map_or(0, |last| last + 1)) {
            let rollout = progress.rollout.uuid;
            let since = self.memory.since("open", &environment.to_string(), self.at);
            self.fold(since, NOT_TOLD, Change::CursorMoved { rollout, cursor, environment });
        }
    }

    fn row(&mut self, progress: &Progress, release: ReleaseId, row: &RowTold, names: &Names) {
        let Some(key) = lane_of(row, names) else { return };
        let settle = self.world.rings.get(&key.1).map(|ring| ring.settings.min_settle_seconds).unwrap_or_default();
        let mut made = machine(row, progress.rollout.uuid, release, settle, &mut |what| {
            self.memory.since(what, &row.uuid.to_string(), self.at)
        });
        (made.environment, made.ring) = (Some(key.0), Some(key.1));
        // Nobody that is paused holds the cursor back, so everybody who is paused has applied once.
        if made.paused.is_some() && progress.status.blocking.is_some_and(|blocking| blocking.paused == 0) {
            made.first_success.insert(release, Timestamp::UNIX_EPOCH);
        }
        self.fold(Timestamp::UNIX_EPOCH, NOT_TOLD, Change::MachineAdded { machine: Box::new(made) });
        for _ in 0..row.failures.min(FAILURES_MAX) {
            let (rollout, machine) = (progress.rollout.uuid, row.uuid);
            let failure = Change::FailureCounted { rollout, ring: key.1, machine };
            self.fold(Timestamp::UNIX_EPOCH, NOT_TOLD, failure);
        }
    }

    /// Everybody up to the last bucket that may go is elected.
    fn elected(&mut self, rollout: RolloutId, rows: &[RowTold], names: &Names) {
        let mut reached: BTreeMap<LaneKey, u8> = BTreeMap::new();
        for row in rows.iter().filter(|row| row.eligible) {
            if let Some(key) = lane_of(row, names) {
                let pct = reached.entry(key).or_default();
                *pct = (*pct).max(row.bucket.saturating_add(1));
            }
        }
        for ((environment, ring), pct) in reached {
            self.fold(Timestamp::UNIX_EPOCH, NOT_TOLD, Change::ElectionKept { rollout, environment, ring, pct });
        }
    }

    fn halts(&mut self, progress: &Progress, names: &Names) {
        for (name, reason) in &progress.status.halted_rings {
            let Some(ring) = names.rings.get(name).copied() else { continue };
            // A reason names the blocking machine.
            let rows = progress.status.machines.iter();
            let blamed = rows.filter(|row| reason.contains(&row.hostname)).max_by_key(|row| row.hostname.len());
            let halt = RingHalt {
                cause: if reason.contains("fail") { HaltCause::Threshold } else { HaltCause::Stall },
                machine: blamed.map_or(MachineId(Uuid::nil()), |row| row.uuid),
                reason: reason.clone(),
                at: self.memory.since("halt", name, self.at),
            };
            self.fold(
                Timestamp::UNIX_EPOCH,
                NOT_TOLD,
                Change::RingHalted { rollout: progress.rollout.uuid, ring, halt },
            );
        }
    }

    fn ending(&mut self, progress: &Progress) {
        let told = progress.status.status.as_deref().or(progress.rollout.status.as_deref());
        let ending = match told {
            Some("completed") => Ending::Completed,
            Some("superseded") => Ending::Superseded { by: RolloutId(Uuid::nil()) },
            Some("halted") => {
                let reason = progress.rollout.halt_reason.clone().or_else(|| progress.status.stall_reason.clone());
                Ending::Halted { reason: reason.unwrap_or_else(|| "why is not told".to_owned()) }
            }
            _ => return,
        };
        let rollout = progress.rollout.uuid;
        let since = self.memory.since("ending", &rollout.to_string(), self.at);
        self.fold(progress.rollout.ended_at.unwrap_or(since), NOT_TOLD, Change::RolloutEnded { rollout, ending });
    }
}

fn lane_of(row: &RowTold, names: &Names) -> Option<LaneKey> {
    Some((*names.environments.get(&row.environment)?, *names.rings.get(&row.ring)?))
}

/// What stands for the uuid of something that is told by name only; never sent anywhere.
fn told_name(name: &str) -> String {
    format!("told by name only: {name}")
}

/// A ladder whose later rungs never come due here: when an environment opened is not told, so the rows say who is
/// elected.
fn unclocked(ladder: &[Rung]) -> Vec<Rung> {
    let never = |rung: &Rung| Rung { after_seconds: if rung.after_seconds == 0 { 0 } else { u64::MAX }, ..*rung };
    ladder.iter().map(never).collect()
}

/// The brakes of a ring that is not listed: capped where somebody holds a slot or waits for one, as the runbook says.
fn guessed(ring: &str, rows: &[RowTold]) -> RingSettings {
    let mine = || rows.iter().filter(|row| row.ring == ring);
    let holding = mine().filter(|row| row.holds_slot).count();
    let capped = holding > 0 || mine().any(|row| row.queue_position.is_some());
    let cap = if capped { u32::try_from(holding.max(1)).unwrap_or(u32::MAX) } else { 0 };
    let elected = mine().filter(|row| row.eligible).map(|row| row.bucket.saturating_add(1)).max();
    let ladder = vec![Rung { after_seconds: 0, pct: elected.unwrap_or(100).clamp(1, 100) }];
    RingSettings { max_in_flight: cap, wave_ladder: ladder, ..RingSettings::named(ring) }
}
