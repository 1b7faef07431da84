//! What an agent says: results that move the queue, failures that stop it, and a machine that starts from nothing.

use super::super::change::{Change, LeaseEnd};
use super::super::fleet::Machine;
use super::super::ids::{MachineId, RingId};
use super::super::input::Report;
use super::super::refusal::Refusal;
use super::super::release::Outcome;
use super::super::rollout::{HaltCause, RingHalt, Rollout};
use super::super::verdict::Reply;
use super::super::world::World;
use super::draft::Draft;

/// Files a result. One of another release or generation frees nothing and proves nothing here (R175).
pub(super) fn report(draft: &mut Draft<'_>, told: &Report) -> Reply {
    let Some(machine) = draft.world().machines.get(&told.machine) else {
        return Reply::Refused(Refusal::NoMachine(told.machine));
    };
    let Some(rollout) = draft.world().current() else { return Reply::Done };
    let of_this_generation = rollout.release == told.edition.release && rollout.generation == told.edition.generation;
    let repeated = told.run.is_some_and(|run| machine.recent_runs.contains(&run));
    if !of_this_generation || repeated || is_of_an_earlier_system(machine, told) {
        return Reply::Done;
    }
    match told.outcome {
        Outcome::Canceled => {}
        Outcome::Success if is_old_news(machine, rollout) => {}
        Outcome::Success => succeed(draft, told),
        Outcome::Failed | Outcome::Timeout => fail(draft, told),
    }
    Reply::Done
}

/// A late report of what ran before the machine was reimaged proves nothing of the system it has now (R153). An agent
/// that does not say what it was served as is believed once something was served to the new system.
fn is_of_an_earlier_system(machine: &Machine, told: &Report) -> bool {
    let unserved = machine.rebuilt_at.is_some() && machine.lease.is_none() && machine.served.is_none();
    told.rebuilds.map_or(unserved, |rebuilds| rebuilds != machine.rebuilds)
}

/// A drift run of a done machine that found nothing to do changes no fact (R42).
fn is_old_news(machine: &Machine, rollout: &Rollout) -> bool {
    machine.lease.is_none() && machine.is_done(rollout.release)
}

/// A success frees the slot and opens the settle window (R22, R40).
fn succeed(draft: &mut Draft<'_>, told: &Report) {
    draft.push(filed(told));
    draft.end_lease(told.machine, LeaseEnd::Success);
}

/// A failure keeps the slot (R26) and counts, unless its run was being withdrawn (R57, R176).
fn fail(draft: &mut Draft<'_>, told: &Report) {
    draft.push(filed(told));
    let Some(rollout) = draft.world().running().cloned() else { return };
    let Some(ring) = counted_against(draft.world(), told.machine) else { return };
    draft.push(Change::FailureCounted { rollout: rollout.id, ring, machine: told.machine });
    halt_at_threshold(draft, rollout.id, ring, told);
}

/// The ring a failure counts against: none while the machine, its ring or its environment is paused (R176).
fn counted_against(world: &World, machine: MachineId) -> Option<RingId> {
    let machine = world.machines.get(&machine)?;
    let (environment, ring) = machine.place()?;
    let held = machine.paused.is_some()
        || world.rings.get(&ring)?.paused.is_some()
        || world.environments.get(&environment)?.paused.is_some();
    (!held).then_some(ring)
}

/// The line stops at ingestion, not at the next tick (R60); the first reason stays (R68).
fn halt_at_threshold(draft: &mut Draft<'_>, rollout: super::super::ids::RolloutId, ring: RingId, told: &Report) {
    let world = draft.world();
    let Some(settings) = world.rings.get(&ring).map(|r| &r.settings) else { return };
    let Some(running) = world.rollout(rollout) else { return };
    let failures = running.failures.get(&ring).copied().unwrap_or(0);
    if failures < settings.failure_count_threshold || running.halted_rings.contains_key(&ring) {
        return;
    }
    let reason = halt_reason(world.hostname(told.machine), told, failures, settings.failure_count_threshold);
    let halt = RingHalt { cause: HaltCause::Threshold, machine: told.machine, reason, at: draft.now };
    draft.push(Change::RingHalted { rollout, ring, halt });
}

fn halt_reason(hostname: &str, told: &Report, failures: u32, threshold: u32) -> String {
    let what = match (told.outcome, &told.failed_state) {
        (Outcome::Timeout, _) => "ran past its deadline".to_owned(),
        (_, Some(state)) => format!("failed in {state}"),
        (_, None) => "failed".to_owned(),
    };
    format!("{hostname} {what}: failure {failures}, the threshold is {threshold}")
}

fn filed(told: &Report) -> Change {
    Change::ResultReported {
        machine: told.machine,
        release: told.edition.release,
        generation: told.edition.generation,
        outcome: told.outcome,
        failed_state: told.failed_state.clone(),
        run: told.run,
    }
}

/// A reimaged machine has proven nothing and holds nothing (R152, R153, R173).
pub(super) fn rebuilt(draft: &mut Draft<'_>, machine: MachineId, version: Option<String>) -> Reply {
    if !draft.world().machines.contains_key(&machine) {
        return Reply::Refused(Refusal::NoMachine(machine));
    }
    draft.end_lease(machine, LeaseEnd::Rebuilt);
    draft.push(Change::MachineRebuilt { machine, version });
    Reply::Done
}
