//! A machine: why it is in the state it is in.

use jiff::Timestamp;

use super::super::fleet::Machine;
use super::super::hold::by_whom_in_passing;
use super::super::ids::MachineId;
use super::super::observed::Observed;
use super::super::rollout::Rollout;
use super::super::rows::{LaneView, RowState, row_state};
use super::super::span::Seconds;
use super::super::world::World;
use super::ring::on_holder;
use super::sentence::Explanation;

pub(super) fn explain(world: &World, observed: &Observed, id: MachineId, now: Timestamp) -> Explanation {
    let Some(machine) = world.machines.get(&id) else {
        return Explanation::of("this machine does not exist any more");
    };
    let name = &machine.hostname;
    let Some(key) = machine.place() else { return out_of_scope(machine) };
    let Some(rollout) = world.current() else { return Explanation::of(format!("{name} waits for a first rollout")) };
    let Some(view) = LaneView::of(world, rollout, key, now) else { return out_of_scope(machine) };
    let elected = view.open && world.lanes().bucket(id).is_some_and(|bucket| bucket < view.elected);
    let said = match row_state(rollout, &view, machine, elected) {
        RowState::Paused => paused(machine, rollout, &view),
        RowState::Applied => applied(machine, rollout, &view, now),
        RowState::Failed => failed(machine),
        RowState::Errored => errored(machine),
        _ if !rollout.is_running() => behind(world, machine, rollout),
        RowState::Pending if machine.lease.is_some() => on_holder(world, observed, &view, machine, now),
        RowState::Pending => Explanation::of(format!("{name} converges; its ring is not capped, so it holds no slot")),
        RowState::Queued => queued(world, &view, machine, now),
        RowState::Waiting => waiting(world, &view, machine),
    };
    match rollout.is_running() {
        true => skewed(said, machine),
        false => said,
    }
}

/// A reimaged machine runs the version of its image until it converges (R154).
fn skewed(mut said: Explanation, machine: &Machine) -> Explanation {
    if let Some(version) = machine.version.as_ref().filter(|_| machine.rebuilt_at.is_some()) {
        said.sentence += &format!("; until it converges it runs {version}, as its image does");
    }
    said
}

fn out_of_scope(machine: &Machine) -> Explanation {
    let missing = match (machine.environment, machine.ring) {
        (None, None) => "environment and no ring",
        (None, _) => "environment",
        _ => "ring",
    };
    Explanation::of(format!("{} is out of scope: it has no {missing}", machine.hostname)).next(&["assign it"])
}

fn paused(machine: &Machine, rollout: &Rollout, view: &LaneView<'_>) -> Explanation {
    let Some(pause) = &machine.paused else { return Explanation::default() };
    let is_last = view.open && view.lane.unfinished.is_empty() && view.lane.skipped.len() == 1;
    let holds = match (machine.first_success.contains_key(&rollout.release), is_last) {
        (true, _) => "",
        (false, false) => " and, not having applied the release, holds the promotion cursor",
        (false, true) => " and is the only one left: unpause it, it holds the promotion cursor",
    };
    Explanation::of(format!("{} is paused {}{holds}", machine.hostname, by_whom_in_passing(pause)))
        .on(&pause.by)
        .since(Some(pause.at))
        .next(&["check its node for a cordon", "unpause it: it rejoins the queue at its bucket"])
}

fn applied(machine: &Machine, rollout: &Rollout, view: &LaneView<'_>, now: Timestamp) -> Explanation {
    let first = machine.first_success.get(&rollout.release).copied();
    let end = first.map(|at| view.ring.settings.min_settle_seconds.after(at)).filter(|end| now < *end);
    match end {
        Some(end) => {
            let left = Seconds::between(now, end);
            Explanation::of(format!("{} is done and settles for another {left}", machine.hostname))
                .since(first)
                .next(&["wait: it ends by itself"])
        }
        None => Explanation::of(format!("{} is done", machine.hostname)).since(first),
    }
}

fn failed(machine: &Machine) -> Explanation {
    let result = machine.last_result.as_ref();
    let state = result.and_then(|r| r.failed_state.as_deref());
    let what = state.map_or_else(|| "failed".to_owned(), |state| format!("failed in {state}"));
    let consequence = match machine.lease {
        Some(_) => "keeps its slot, so nobody else is admitted",
        None => "keeps its place in the queue",
    };
    Explanation::of(format!("{} {what} and {consequence}", machine.hostname))
        .on(&machine.hostname)
        .since(result.map(|r| r.at))
        .next(&["read the failing state", "fix it, then reset", "or pause it to skip it, then reset"])
}

fn errored(machine: &Machine) -> Explanation {
    let Some(error) = &machine.render_error else { return Explanation::default() };
    let sentence = format!("{} cannot be rendered: {} missing", machine.hostname, error.missing.join(", "));
    Explanation::of(sentence)
        .on(&error.missing.join(", "))
        .since(Some(error.at))
        .next(&["add what is missing to the config values or secrets", "its next poll picks it up"])
}

fn behind(world: &World, machine: &Machine, rollout: &Rollout) -> Explanation {
    let release = world.release_name(rollout.release);
    let version = machine.version.as_ref().map_or(String::new(), |v| format!(" at {v}"));
    Explanation::of(format!("{} is behind{version}: {release} has no running rollout", machine.hostname))
        .next(&["start the release again: done machines are passed over"])
}

fn queued(world: &World, view: &LaneView<'_>, machine: &Machine, now: Timestamp) -> Explanation {
    let place = view.queue().position(|id| id == machine.id).map_or(0, |at| at + 1);
    let settle = view.ring.settings.min_settle_seconds;
    let holder = view.lane.holders.iter().next().map(|id| ("held by", *id));
    let window = view.lane.settling(settle, now).next().map(|(_, id)| ("kept for the settling", *id));
    match holder.or(window).filter(|_| view.slots(now).free == 0) {
        Some((how, on)) => {
            let on = world.hostname(on);
            Explanation::of(format!("{} is number {place} in the queue; the slot is {how} {on}", machine.hostname))
                .on(on)
                .next(&["wait: the order is fixed, only pauses and assignments change who is in it"])
        }
        None => Explanation::of(format!("{} is number {place} in the queue of {}", machine.hostname, view.ring.slug)),
    }
}

fn waiting(world: &World, view: &LaneView<'_>, machine: &Machine) -> Explanation {
    let slug = world.environment_slug(view.key.0);
    match view.open {
        false => Explanation::of(format!("{} waits for environment {slug} to open", machine.hostname)).on(slug),
        true => Explanation::of(format!("{} waits to be elected by the ladder of its ring", machine.hostname))
            .on(&view.ring.slug),
    }
}
