//! Who answers by itself: agents with their habits, and what they are at when the scenario starts.

use super::super::agents::agent::Served;
use super::super::agents::behaviour::Behaviour;
use super::super::agents::roster::Roster;
use super::file::given::{Agents, Given, Habits, MachineGiven, NodeGiven, StatusWord};
use super::ground::Ground;
use super::ids::Ids;
use super::prelude::UNDER_WAY;
use super::records::Records;
use crate::control::ports::ApplyResult;
use crate::domain::ids::MachineId;
use crate::domain::input::Edition;
use crate::domain::observed::{Node, VIP_LABEL};
use crate::domain::release::Outcome;
use crate::domain::span::Seconds;

/// Enrols the agents of the machines of `given`, and remembers what they were served before the start.
pub(super) fn enrol(given: &Given, ground: &Ground, ids: &mut Ids, roster: &mut Roster, records: &mut Records) {
    for machine in given.machines.iter().map(|machine| &machine.value) {
        let id = ids.machine(&machine.id);
        if let Some(behaviour) = behaviour(&given.agents, machine.agent.as_ref()) {
            roster.enroll(ground.now(), id, behaviour);
        }
        look_back(given, machine, id, (ground, ids, records));
    }
    let Some(rollout) = given.rollout.as_ref().map(|rollout| &rollout.value) else { return };
    let deadline = given.releases.iter().find(|release| release.value.id == rollout.release.value);
    let timeout = Seconds(deadline.map_or(0, |release| release.value.timeout_seconds));
    let edition = Edition { release: ids.release(&rollout.release.value), generation: UNDER_WAY };
    for lease in rollout.leases.iter().filter(|_| rollout.status == StatusWord::Running) {
        let machine = ids.machine(&lease.machine.value);
        records.was_served(machine, edition, true);
        let served = Served { edition, timeout, done: false, rebuilds: None };
        roster.resume(ground.now(), machine, served, lease.granted.after(ground.start));
    }
}

/// Puts up the nodes of `given`.
pub(super) fn put_up(given: &Given, ground: &Ground) {
    let nodes = given.nodes.iter().map(|node| &node.value);
    let node = |node: &NodeGiven| Node {
        ready: node.ready,
        unschedulable: node.unschedulable,
        version: node.version.clone(),
        holds_vip: node.labels.contains_key(VIP_LABEL),
    };
    ground.outside.nodes.with(|known| known.extend(nodes.map(|given| (given.name.clone(), node(given)))));
}

/// The character of one agent; none = nothing answers by itself on this machine.
pub(super) fn behaviour(all: &Agents, own: Option<&Agents>) -> Option<Behaviour> {
    match (all, own) {
        (_, Some(Agents::None)) | (Agents::None, None) => None,
        (Agents::None, Some(Agents::Automatic(own))) => Some(of(&Habits::default(), own)),
        (Agents::Automatic(all), None) => Some(of(all, &Habits::default())),
        (Agents::Automatic(all), Some(Agents::Automatic(own))) => Some(of(all, own)),
    }
}

/// Own habits go before those of all machines, those before the defaults.
fn of(all: &Habits, own: &Habits) -> Behaviour {
    let usual = Behaviour::default();
    let seconds = |pick: fn(&Habits) -> Option<u64>, usual: Seconds| pick(own).or(pick(all)).map_or(usual, Seconds);
    let first = own.first_poll.or(all.first_poll).map(|moment| Seconds(u64::try_from(moment.0).unwrap_or(0)));
    Behaviour {
        poll: seconds(|habits| habits.poll_seconds, usual.poll),
        first_poll: first.unwrap_or(usual.first_poll),
        nudge: seconds(|habits| habits.nudge_seconds, usual.nudge),
        apply: seconds(|habits| habits.apply_seconds, usual.apply),
        outcome: own.outcome.or(all.outcome).map_or(usual.outcome, Into::into),
        heals_after: None,
        retries: own.retries.or(all.retries).unwrap_or(usual.retries),
        retry: seconds(|habits| habits.retry_seconds, usual.retry),
        drift: seconds(|habits| habits.drift_seconds, usual.drift),
        failed_state: usual.failed_state,
    }
}

/// What a machine has applied it was served, and it told so.
fn look_back(given: &Given, machine: &MachineGiven, id: MachineId, around: (&Ground, &mut Ids, &mut Records)) {
    let (ground, ids, records) = around;
    let Some(name) = &machine.applied else { return };
    let ours = given.rollout.as_ref().is_some_and(|rollout| rollout.value.release.value == *name);
    let edition = Edition { release: ids.release(name), generation: if ours { UNDER_WAY } else { 0 } };
    records.was_served(id, edition, false);
    let at = super::prelude::success_of(machine).after(ground.start);
    let result = ApplyResult {
        machine: id,
        release: edition.release,
        generation: edition.generation,
        outcome: Outcome::Success,
        started_at: at,
        finished_at: at,
        received_at: at,
        changed_count: 0,
        failed_states: Vec::new(),
        log_tail: String::new(),
        rebuilds: None,
    };
    ground.outside.results.file_past(ground.account, result);
}
