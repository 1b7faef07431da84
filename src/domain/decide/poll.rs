//! Serving a machine: the order of questions that decides whether an agent gets its assignment (R17).

use super::super::change::Change;
use super::super::fleet::{Machine, RenderError};
use super::super::ids::MachineId;
use super::super::input::{Edition, Poll, Rendered};
use super::super::observed::{Observed, Telemetry};
use super::super::refusal::Refusal;
use super::super::release::Digest;
use super::super::rollout::Rollout;
use super::super::rows::LaneView;
use super::super::verdict::{Assignment, Reply};
use super::super::world::World;
use super::draft::Draft;

/// What the order of questions comes to.
enum Serving {
    /// Nothing is served now.
    Nothing,
    /// Done: served again without a slot, for drift runs (R16).
    Again,
    /// A holder, or served before in this generation: the content of then (R17, R27).
    Kept(Digest),
    /// A machine of an uncapped ring, for the first time.
    Joins,
    /// A free slot and its turn: the moment a lease is recorded (R18).
    Grant,
}

pub(super) fn poll(draft: &mut Draft<'_>, observed: &Observed, asked: &Poll) -> Reply {
    let Some(machine) = draft.world().machines.get(&asked.machine) else {
        return Reply::Refused(Refusal::NoMachine(asked.machine));
    };
    let Some(rollout) = draft.world().running() else { return answer(None, asked) };
    let serving = serving(draft.world(), observed, rollout, machine, draft.now);
    if matches!(serving, Serving::Nothing) {
        return answer(None, asked);
    }
    if asked.release != Some(rollout.release) {
        return Reply::RenderAgain;
    }
    let rollout = rollout.clone();
    let content = serve(draft, &rollout, asked, serving);
    answer(content.map(|content| assignment(draft.world(), &rollout, asked.machine, content)), asked)
}

/// The first hit wins (R17).
fn serving(world: &World, observed: &Observed, rollout: &Rollout, machine: &Machine, now: jiff::Timestamp) -> Serving {
    let Some(key) = machine.place() else { return Serving::Nothing };
    let Some(view) = LaneView::of(world, rollout, key, now) else { return Serving::Nothing };
    let environment_paused = world.environments.get(&key.0).is_none_or(|e| e.paused.is_some());
    if !view.open || machine.paused.is_some() || view.ring.paused.is_some() || environment_paused {
        return Serving::Nothing;
    }
    if machine.is_done(rollout.release) {
        return Serving::Again;
    }
    let halted = rollout.halted_rings.contains_key(&key.1);
    let elected = world.lanes().bucket(machine.id).is_some_and(|bucket| bucket < view.elected);
    if !view.ring.is_capped() {
        return match &machine.served {
            Some(served) if served.generation == rollout.generation => Serving::Kept(served.content.clone()),
            _ if elected && !halted => Serving::Joins,
            _ => Serving::Nothing,
        };
    }
    if let Some(lease) = &machine.lease {
        return Serving::Kept(lease.content.clone());
    }
    if halted || observed.telemetry == Telemetry::Unreadable || !elected {
        return Serving::Nothing;
    }
    let free = view.slots(now).free;
    if view.queue().take(free).any(|id| id == machine.id) { Serving::Grant } else { Serving::Nothing }
}

/// Records what serving changes, and says which content is served. What cannot be rendered is not served, but a
/// holder keeps the content of its grant (R17, R148).
fn serve(draft: &mut Draft<'_>, rollout: &Rollout, asked: &Poll, serving: Serving) -> Option<Digest> {
    let rendered = record_render(draft, rollout, asked);
    match serving {
        Serving::Nothing => None,
        Serving::Kept(content) => Some(content),
        Serving::Again => rendered,
        Serving::Joins => {
            let content = rendered?;
            let generation = rollout.generation;
            draft.push(Change::AssignmentServed { machine: asked.machine, generation, content: content.clone() });
            Some(content)
        }
        Serving::Grant => {
            let content = rendered?;
            let rollout = rollout.id;
            draft.push(Change::LeaseGranted { machine: asked.machine, rollout, content: content.clone() });
            Some(content)
        }
    }
}

/// Keeps whether the machine can be rendered, if that changed; answers with the rendered content.
fn record_render(draft: &mut Draft<'_>, rollout: &Rollout, asked: &Poll) -> Option<Digest> {
    let known = draft.world().machines.get(&asked.machine).and_then(|m| m.render_error.as_ref());
    match &asked.rendered {
        Rendered::Content(digest) => {
            if known.is_some() {
                draft.push(Change::RenderRecovered { machine: asked.machine });
            }
            Some(digest.clone())
        }
        Rendered::Missing(missing) => {
            let generation = rollout.generation;
            if known.is_none_or(|error| error.generation != generation || error.missing != *missing) {
                let error = RenderError { generation, missing: missing.clone(), at: draft.now };
                draft.push(Change::RenderFailed { machine: asked.machine, error });
            }
            None
        }
        Rendered::Nothing => None,
    }
}

fn assignment(world: &World, rollout: &Rollout, machine: MachineId, content: Digest) -> Assignment {
    let edition = Edition { release: rollout.release, generation: rollout.generation };
    let timeout_seconds = world.releases.get(&rollout.release).map(|r| r.timeout_seconds).unwrap_or_default();
    let rebuilds = world.machines.get(&machine).map_or(0, |known| known.rebuilds);
    Assignment { edition, timeout_seconds, content, rebuilds }
}

/// A run of anything but what is served now was withdrawn (R25, R95).
fn answer(assignment: Option<Assignment>, asked: &Poll) -> Reply {
    let served = assignment.as_ref().map(|a| a.edition);
    let cancel = asked.have.is_some() && asked.have != served;
    Reply::Assignment { assignment, cancel }
}
