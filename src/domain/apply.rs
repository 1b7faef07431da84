//! The one fold: `World::apply` is the only code that changes a world, in every process alike.

use jiff::Timestamp;

use super::change::{Change, Entry, LeaseEnd, Level};
use super::fleet::{Applied, Failures, Interruption, LastResult, Lease, Machine, RUNS_REMEMBERED, Served};
use super::ids::{EnvironmentId, Generation, MachineId, ReleaseId, RingId, RolloutId};
use super::release::Outcome;
use super::rollout::{Ending, Rollout};
use super::span::Seconds;
use super::world::{ROLLOUTS_KEPT, SeatRecord, TAGS_KEPT, World};

impl World {
    /// Folds one entry of the journal. Total: an entry about something that is gone changes nothing but the revision.
    pub fn apply(&mut self, entry: &Entry) {
        self.revision = entry.revision;
        self.at = self.at.max(entry.at);
        match &entry.change {
            Change::AccountChanged { .. }
            | Change::EnvironmentCreated { .. }
            | Change::EnvironmentChanged { .. }
            | Change::RingCreated { .. }
            | Change::RingChanged { .. }
            | Change::ReleasePublished { .. }
            | Change::ReleaseYanked { .. } => self.apply_catalog(&entry.change),
            Change::Paused { .. } | Change::Unpaused { .. } => self.apply_pause(entry.at, &entry.change),
            Change::RolloutStarted { .. }
            | Change::RolloutReset { .. }
            | Change::RolloutEnded { .. }
            | Change::CursorMoved { .. }
            | Change::RingHalted { .. }
            | Change::ElectionKept { .. }
            | Change::FailureCounted { .. } => self.apply_rollout(entry),
            Change::TagArrived { release } => {
                self.tags.push_back(*release);
                while self.tags.len() > TAGS_KEPT {
                    self.tags.pop_front();
                }
            }
            Change::ClockAccepted => {}
            Change::SeatTaken { holder, epoch } => {
                self.seat = SeatRecord { epoch: *epoch, holder: Some(holder.clone()), since: Some(entry.at) };
            }
            _ => self.apply_machine(entry.at, &entry.change),
        }
    }

    fn apply_catalog(&mut self, change: &Change) {
        match change {
            Change::AccountChanged { account } => self.account = account.clone(),
            Change::EnvironmentCreated { environment } => {
                self.environments.insert(environment.id, environment.clone());
            }
            Change::EnvironmentChanged { environment, name, promotion_order, config_values } => {
                if let Some(found) = self.environments.get_mut(environment) {
                    name.clone_into(&mut found.name);
                    found.promotion_order = *promotion_order;
                    found.config_values = config_values.clone();
                }
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
        if pause.is_none() {
            self.freeze_leases(what, at);
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

    /// Adds the part of a pause that ends now to what its holders' stall timers leave out (R54). Where the ring and
    /// the environment are both paused, the part they share is added once: when the later of the two ends.
    fn freeze_leases(&mut self, what: Level, at: Timestamp) {
        let holders: Vec<(MachineId, EnvironmentId, RingId)> = self
            .lanes
            .iter()
            .filter(|((environment, ring), _)| what == Level::Ring(*ring) || what == Level::Environment(*environment))
            .flat_map(|((environment, ring), lane)| lane.holders.iter().map(|m| (*m, *environment, *ring)))
            .collect();
        for (machine, environment, ring) in holders {
            let ring_since = self.rings.get(&ring).and_then(|r| r.paused.as_ref()).map(|p| p.at);
            let environment_since = self.environments.get(&environment).and_then(|e| e.paused.as_ref()).map(|p| p.at);
            let (own, other) = match what {
                Level::Ring(_) => (ring_since, environment_since),
                _ => (environment_since, ring_since),
            };
            let Some(since) = own else { continue };
            self.edit_machine(machine, |m| {
                if let Some(lease) = &mut m.lease {
                    let from = since.max(lease.granted_at);
                    lease.frozen.0 += Seconds::between(from, other.unwrap_or(at).min(at)).0;
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
