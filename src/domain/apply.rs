//! The one fold: `World::apply` is the only code that changes a world, in every process alike.

use jiff::Timestamp;

use super::audit::AuditHead;
use super::brake::Brake;
use super::change::{Change, Entry, LeaseEnd, Level};
use super::fleet::{
    Account, Applied, Failures, Interruption, LastResult, Lease, Machine, RUNS_REMEMBERED, Served, SwitchedOff,
};
use super::ids::{EnvironmentId, Epoch, Generation, MachineId, ReleaseId, RolloutId};
use super::keys;
use super::lane::LaneKey;
use super::release::Outcome;
use super::rollout::{Ending, Rollout};
use super::span::Seconds;
use super::world::{ROLLOUTS_KEPT, SeatRecord, SecretMark, SeenCommit, TAGS_KEPT, World};

impl World {
    /// Folds one entry of the journal. Total: an entry about something that is gone changes nothing but the revision.
    pub fn apply(&mut self, entry: &Entry) {
        self.revision = entry.revision;
        self.at = self.at.max(entry.at);
        keys::remember(&mut self.keys, entry);
        match &entry.change {
            Change::AccountChanged { account } => self.apply_account(entry, account),
            Change::EnvironmentCreated { .. }
            | Change::EnvironmentChanged { .. }
            | Change::RingCreated { .. }
            | Change::RingChanged { .. }
            | Change::ReleasePublished { .. }
            | Change::ReleaseYanked { .. } => self.apply_catalog(entry.at, &entry.change),
            Change::Paused { .. } | Change::Unpaused { .. } => self.apply_pause(entry.at, &entry.change),
            Change::RolloutStarted { .. }
            | Change::RolloutReset { .. }
            | Change::RolloutEnded { .. }
            | Change::CursorMoved { .. }
            | Change::RingHalted { .. }
            | Change::ElectionKept { .. }
            | Change::FailureCounted { .. } => self.apply_rollout(entry),
            Change::TagArrived { release, made_at } => {
                self.newest_tag_at = self.newest_tag_at.max(*made_at);
                self.tags.push_back(*release);
                while self.tags.len() > TAGS_KEPT {
                    self.tags.pop_front();
                }
            }
            Change::ClockAccepted => {}
            Change::SeatTaken { holder, epoch, agents } => self.apply_seat(entry.at, holder, *epoch, *agents),
            Change::SecretSet { name, version } => {
                let previous = self.secrets.get(name).map(|mark| mark.version);
                let mark = SecretMark { at: entry.at, by: entry.by.clone(), version: *version, previous };
                self.secrets.insert(name.clone(), mark);
                self.secrets_revision = entry.revision;
            }
            Change::CommitSeen { git_ref, commit } => {
                let (git_ref, commit) = (git_ref.clone(), commit.clone());
                self.seen_commit = Some(SeenCommit { git_ref, commit, at: entry.at });
            }
            Change::Kura(change) => self.kura.apply(entry.at, change),
            Change::Roll(change) => self.rolls.apply(entry.at, change),
            Change::Audited { link } => {
                self.audit = AuditHead { count: link.number, seal: Some(link.seal.clone()) };
            }
            _ => self.apply_machine(entry.at, &entry.change),
        }
    }

    /// Remembers what a window turns off, until it is on again (R121).
    fn apply_account(&mut self, entry: &Entry, account: &Account) {
        let before = std::mem::replace(&mut self.account, account.clone());
        let (at, by) = (entry.at, entry.by.clone());
        let fresh = || SwitchedOff { at, by, auto_deploy: false, track_config_tags: false };
        let mut stored = self.switched_off.take().unwrap_or_else(fresh);
        stored.auto_deploy |= before.auto_deploy;
        stored.track_config_tags |= before.track_config_tags;
        self.switched_off = Some(stored).filter(|stored| !stored.missing(account).is_empty());
        // What arrives while nobody follows it is not new once somebody does.
        self.seen_commit.take_if(|_| !account.auto_deploy);
    }

    /// An environment that a place in the path opens, rather than the cursor, starts its ladder then (R70, R77).
    fn note_opening(&mut self, environment: EnvironmentId, at: Timestamp) {
        let opens =
            |rollout: &&Rollout| self.is_open(rollout, environment) && !rollout.opened.contains_key(&environment);
        let Some(rollout) = self.running().filter(opens).map(|rollout| rollout.id) else { return };
        self.edit_rollout(rollout, |rollout| {
            rollout.opened.insert(environment, at);
        });
    }

    fn apply_catalog(&mut self, at: Timestamp, change: &Change) {
        match change {
            Change::EnvironmentCreated { environment } => {
                self.environments.insert(environment.id, environment.clone());
                self.note_opening(environment.id, at);
            }
            Change::EnvironmentChanged { environment, name, promotion_order, config_values } => {
                if let Some(found) = self.environments.get_mut(environment) {
                    name.clone_into(&mut found.name);
                    found.promotion_order = *promotion_order;
                    found.config_values = config_values.clone();
                }
                self.note_opening(*environment, at);
            }
            Change::RingCreated { ring } => {
                self.rings.insert(ring.id, ring.clone());
            }
            Change::RingChanged { ring, settings } => {
                if let Some(found) = self.rings.get_mut(ring) {
                    found.settings = settings.clone();
                }
            }
            Change::ReleasePublished { release } => {
                self.releases.insert(release.id, release.clone());
            }
            Change::ReleaseYanked { release, yank } => {
                if let Some(found) = self.releases.get_mut(release) {
                    found.yanked = Some(yank.clone());
                }
            }
            _ => {}
        }
    }

    fn apply_pause(&mut self, at: Timestamp, change: &Change) {
        let (what, pause) = match change {
            Change::Paused { what, pause } => (*what, Some(pause.clone())),
            Change::Unpaused { what } => (*what, None),
            _ => return,
        };
        match what {
            Level::Ring(_) | Level::Environment(_) if pause.is_some() => {}
            Level::Machine(_) => {}
            Level::Ring(id) => self.freeze_leases(Brake::Ring, |(_, ring)| *ring == id, at),
            Level::Environment(id) => self.freeze_leases(Brake::Environment, |(tier, _)| *tier == id, at),
        }
        match what {
            Level::Machine(id) => self.edit_machine(id, |m| {
                m.joined_at = if pause.is_none() { Some(at) } else { m.joined_at };
                m.paused = pause;
            }),
            Level::Ring(id) => {
                if let Some(ring) = self.rings.get_mut(&id) {
                    ring.paused = pause;
                }
            }
            Level::Environment(id) => {
                if let Some(environment) = self.environments.get_mut(&id) {
                    environment.paused = pause;
                }
            }
        }
    }

    /// Somebody else has the seat: where agents reach the new holder the silence is over.
    fn apply_seat(&mut self, at: Timestamp, holder: &str, epoch: Epoch, agents: bool) {
        if agents {
            self.freeze_leases(Brake::NoAgents, |_| true, at);
        }
        let deaf_since = if agents { None } else { self.seat.deaf_since.or(Some(at)) };
        self.seat = SeatRecord { epoch, holder: Some(holder.to_owned()), since: Some(at), deaf_since };
    }

    /// Adds the time under a brake that is released now to what its holders' stall timers leave out (R54). Where
    /// several brakes are on, the part they share is added once: when the last of them is released.
    fn freeze_leases(&mut self, released: Brake, concerns: impl Fn(&LaneKey) -> bool, at: Timestamp) {
        let lanes = self.lanes.iter().filter(|(key, _)| concerns(key));
        let holders: Vec<(MachineId, LaneKey)> =
            lanes.flat_map(|(key, lane)| lane.holders.iter().map(|machine| (*machine, *key))).collect();
        for (machine, key) in holders {
            let brakes = self.brakes(key);
            let since = |wanted: Brake| brakes.iter().find(|(brake, _)| *brake == wanted).and_then(|(_, since)| *since);
            let Some(since) = since(released) else { continue };
            let others = brakes.iter().filter(|(brake, _)| *brake != released).filter_map(|(_, since)| *since);
            let until = others.fold(at, Timestamp::min);
            self.edit_machine(machine, |m| {
                if let Some(lease) = &mut m.lease {
                    lease.frozen.0 += Seconds::between(since.max(lease.granted_at), until).0;
                }
            });
        }
    }

    fn apply_rollout(&mut self, entry: &Entry) {
        let at = entry.at;
        match &entry.change {
            Change::RolloutStarted { rollout, release, protected, generation } => {
                self.start_rollout(Rollout {
                    id: *rollout,
                    release: *release,
                    protected: *protected,
                    generation: *generation,
                    cursor: None,
                    opened: imbl::OrdMap::new(),
                    elected: imbl::OrdMap::new(),
                    halted_rings: imbl::OrdMap::new(),
                    failures: imbl::OrdMap::new(),
                    started_by: entry.by.clone(),
                    started_at: at,
                    reset_at: None,
                    ending: None,
                    ended_at: None,
                });
            }
            Change::RolloutReset { rollout, protected, generation } => {
                self.next_generation = self.next_generation.max(generation + 1);
                self.edit_rollout(*rollout, |r| {
                    r.protected = *protected;
                    r.generation = *generation;
                    r.cursor = None;
                    r.opened = imbl::OrdMap::new();
                    r.elected = imbl::OrdMap::new();
                    r.halted_rings = imbl::OrdMap::new();
                    r.failures = imbl::OrdMap::new();
                    r.reset_at = Some(at);
                });
                self.reindex();
            }
            Change::RolloutEnded { rollout, ending } => self.end_rollout(*rollout, ending, at),
            Change::CursorMoved { rollout, cursor, environment } => self.edit_rollout(*rollout, |r| {
                r.cursor = Some(cursor.clone());
                r.opened.insert(*environment, at);
            }),
            Change::RingHalted { rollout, ring, halt } => self.edit_rollout(*rollout, |r| {
                r.halted_rings.entry(*ring).or_insert_with(|| halt.clone());
            }),
            Change::ElectionKept { rollout, environment, ring, pct } => self.edit_rollout(*rollout, |r| {
                r.elected.insert((*environment, *ring), *pct);
            }),
            Change::FailureCounted { rollout, ring, machine } => {
                self.edit_rollout(*rollout, |r| *r.failures.entry(*ring).or_insert(0) += 1);
                let generation = self.rollout(*rollout).map_or(0, |r| r.generation);
                self.edit_machine(*machine, |m| {
                    let count = m.failures.filter(|f| f.generation == generation).map_or(0, |f| f.count);
                    m.failures = Some(Failures { generation, count: count + 1 });
                });
            }
            _ => {}
        }
    }

    fn start_rollout(&mut self, rollout: Rollout) {
        self.next_generation = self.next_generation.max(rollout.generation + 1);
        self.rollouts.push_back(rollout);
        while self.rollouts.len() > ROLLOUTS_KEPT {
            self.rollouts.pop_front();
        }
        self.reindex();
    }

    /// A release that was displaced is nobody's proof of anything if it is started again (R175).
    fn end_rollout(&mut self, id: RolloutId, ending: &Ending, at: Timestamp) {
        let Some(release) = self.rollout(id).map(|r| r.release) else { return };
        self.edit_rollout(id, |r| {
            r.ending = Some(ending.clone());
            r.ended_at = Some(at);
        });
        if matches!(ending, Ending::Superseded { .. }) {
            let proven = |m: &&Machine| m.applied.is_some_and(|a| a.release == release);
            let done: Vec<MachineId> = self.machines.values().filter(proven).map(|m| m.id).collect();
            done.into_iter().for_each(|m| self.edit_machine(m, |m| m.applied = None));
        }
    }

    fn edit_rollout(&mut self, id: RolloutId, edit: impl FnOnce(&mut Rollout)) {
        if let Some(rollout) = self.rollouts.iter_mut().rev().find(|r| r.id == id) {
            edit(rollout);
        }
    }

    fn apply_machine(&mut self, at: Timestamp, change: &Change) {
        match change {
            Change::MachineAdded { machine } => {
                self.drop_machine(machine.id);
                let joined = Machine { joined_at: Some(at), ..(**machine).clone() };
                self.machines.insert(machine.id, joined);
                self.hostnames.insert(machine.hostname.clone(), machine.id);
                self.lanes.insert(machine);
            }
            Change::MachineRemoved { machine } => self.drop_machine(*machine),
            Change::MachineAssigned { machine, environment, ring, node } => self.edit_machine(*machine, |m| {
                if m.place() != environment.zip(*ring) {
                    m.served = None;
                }
                m.joined_at = Some(at);
                m.environment = *environment;
                m.ring = *ring;
                node.clone_into(&mut m.node);
            }),
            Change::MachineRebuilt { machine, version } => self.edit_machine(*machine, |m| {
                m.version.clone_from(version);
                forget(m);
                m.rebuilt_at = Some(at);
                m.rebuilds = m.rebuilds.saturating_add(1);
            }),
            Change::LeaseGranted { machine, rollout, content } => self.edit_machine(*machine, |m| {
                let content = content.clone();
                m.lease = Some(Lease { rollout: *rollout, granted_at: at, frozen: Seconds(0), content });
                m.served = None;
                m.render_error = None;
            }),
            Change::LeaseEnded { machine, cause } => {
                let current = self.current().map(|r| (r.release, r.generation));
                self.edit_machine(*machine, |m| release_slot(m, *cause, current, at));
            }
            Change::AssignmentServed { machine, generation, content } => self.edit_machine(*machine, |m| {
                m.served = Some(Served { generation: *generation, content: content.clone(), at });
                m.render_error = None;
            }),
            Change::ResultReported { machine, release, generation, outcome, failed_state, run } => {
                let failed_state = failed_state.clone();
                let (release, generation, outcome) = (*release, *generation, *outcome);
                self.edit_machine(*machine, |m| {
                    m.recent_runs.extend(*run);
                    let surplus = m.recent_runs.len().saturating_sub(RUNS_REMEMBERED);
                    m.recent_runs.drain(..surplus);
                    let mut result = LastResult { release, generation, outcome, at, failed_state, repeats: false };
                    result.repeats = repeats(m, &result);
                    file_result(m, result);
                });
            }
            Change::RenderFailed { machine, error } => {
                self.edit_machine(*machine, |m| m.render_error = Some(error.clone()));
            }
            Change::RenderRecovered { machine } => self.edit_machine(*machine, |m| m.render_error = None),
            _ => {}
        }
    }

    /// Takes a machine out of the fleet and of its indexes, if it is there.
    fn drop_machine(&mut self, id: MachineId) {
        if let Some(gone) = self.machines.remove(&id) {
            self.hostnames.remove(&gone.hostname);
            self.lanes.remove(&gone);
        }
    }
}

/// The operator's uncap keeps what was served (R125): the ring has no leases any more, its runs go on.
fn release_slot(machine: &mut Machine, cause: LeaseEnd, current: Option<(ReleaseId, Generation)>, at: Timestamp) {
    let Some(lease) = machine.lease.take() else { return };
    let Some((release, generation)) = current else { return };
    match cause {
        LeaseEnd::Uncapped => {
            machine.served = Some(Served { generation, content: lease.content, at: lease.granted_at });
        }
        LeaseEnd::Success | LeaseEnd::Rebuilt | LeaseEnd::Removed => {}
        _ => machine.interrupted = Some(Interruption { at, cause, release }),
    }
}

/// What a result proves: the marker, the anchor of the window, what is shown as the last of it (R40, R130, R131).
fn file_result(machine: &mut Machine, result: LastResult) {
    if result.outcome == Outcome::Success {
        machine.first_success.entry(result.release).or_insert(result.at);
        machine.applied = Some(Applied { release: result.release, at: result.at });
        machine.interrupted = None;
        machine.rebuilt_at = None;
    } else if machine.lease.is_none() && machine.is_done(result.release) {
        machine.joined_at = Some(result.at);
    }
    machine.last_result = Some(result);
}

/// Failed in the same state in an earlier generation of the same release, with no success in between.
fn repeats(machine: &Machine, result: &LastResult) -> bool {
    machine.last_result.as_ref().is_some_and(|last| {
        let same = last.release == result.release && last.failed_state == result.failed_state;
        let both = last.outcome.is_failure() && result.outcome.is_failure();
        same && both && (last.generation < result.generation || last.repeats)
    })
}

/// What a rebuild wipes: every proof and every mark of the old system (R153, R173).
fn forget(machine: &mut Machine) {
    machine.served = None;
    machine.applied = None;
    machine.first_success = imbl::OrdMap::new();
    machine.last_result = None;
    machine.render_error = None;
    machine.failures = None;
    machine.interrupted = None;
    machine.recent_runs = Vec::new();
}
