//! A ring: who holds its slots, who settles, who is next.

use jiff::Timestamp;

use super::super::fleet::{Machine, Ring};
use super::super::hold::by_whom;
use super::super::ids::{MachineId, RingId};
use super::super::observed::Observed;
use super::super::rollout::Rollout;
use super::super::rows::LaneView;
use super::super::span::Seconds;
use super::super::world::World;
use super::sentence::Explanation;

pub(super) fn explain(world: &World, observed: &Observed, id: RingId, now: Timestamp) -> Explanation {
    let Some(ring) = world.rings.get(&id) else { return Explanation::of("this ring does not exist any more") };
    let Some(rollout) = world.running() else {
        return Explanation::of(format!("{} waits for a rollout: none is running", ring.slug));
    };
    if let Some(halt) = rollout.halted_rings.get(&id) {
        return Explanation::of(format!("{} is halted: {}", ring.slug, halt.reason))
            .on(world.hostname(halt.machine))
            .since(Some(halt.at))
            .next(&["fix the machine, or pause it to skip it", "then reset"]);
    }
    if let Some(pause) = &ring.paused {
        return Explanation::of(format!("{} is paused {}", ring.slug, by_whom(pause)))
            .since(Some(pause.at))
            .next(&["check the holder's node for a cordon", "unpause the ring"]);
    }
    match liveliest(world, rollout, id, now) {
        Some(view) => open_lane(world, observed, ring, &view, now),
        None => Explanation::of(format!("{} has no machines", ring.slug)).next(&["assign machines to it"]),
    }
}

/// Of the environments a ring spans: the one that is open and unfinished, else any.
fn liveliest<'a>(world: &'a World, rollout: &'a Rollout, id: RingId, now: Timestamp) -> Option<LaneView<'a>> {
    let keys = world.lanes().iter().map(|(key, _)| *key).filter(|(_, ring)| *ring == id);
    let views = keys.filter_map(|key| LaneView::of(world, rollout, key, now));
    views.max_by_key(|view| (view.open, !view.lane.holders.is_empty(), view.lane.unfinished.len()))
}

fn open_lane(world: &World, observed: &Observed, ring: &Ring, view: &LaneView<'_>, now: Timestamp) -> Explanation {
    let slug = world.environment_slug(view.key.0);
    if !view.open {
        return Explanation::of(format!("{} waits for environment {slug} to open", ring.slug)).on(slug);
    }
    if let Some(pause) = world.environments.get(&view.key.0).and_then(|e| e.paused.as_ref()) {
        return Explanation::of(format!("environment {slug} is paused {}", by_whom(pause)))
            .since(Some(pause.at))
            .next(&["unpause the environment"]);
    }
    if view.lane.unfinished.is_empty() {
        return Explanation::of(format!("every machine of {} that is not paused is done", ring.slug));
    }
    working(world, observed, view, now)
}

/// A lane at work: on its oldest holder, a settle window, or the head of its queue.
pub(super) fn working(world: &World, observed: &Observed, view: &LaneView<'_>, now: Timestamp) -> Explanation {
    if !view.ring.is_capped() {
        return uncapped(view);
    }
    let holders = view.lane.holders.iter().filter_map(|id| world.machines.get(id));
    let oldest = holders.min_by_key(|m| m.lease.as_ref().map(|l| l.granted_at));
    if let Some(holder) = oldest {
        return on_holder(world, observed, view, holder, now);
    }
    let settle = view.ring.settings.min_settle_seconds;
    let settling = view.lane.settling(settle, now).next().copied();
    match (view.slots(now).free, view.queue().next(), settling) {
        (0, _, Some((first, machine))) => on_window(world, machine, first, settle, now),
        (_, Some(next), _) => on_head(world, observed, next, now),
        _ => Explanation::of(format!("the ladder of {} has not elected anybody yet", view.ring.slug)),
    }
}

fn uncapped(view: &LaneView<'_>) -> Explanation {
    let (left, all) = (view.lane.unfinished.len(), view.lane.members.len());
    Explanation::of(format!("{} is not capped: {left} of {all} machines still converge, all at once", view.ring.slug))
        .on(&view.ring.slug)
        .next(&["wait for them", "or cap the ring, which adopts what is in flight"])
}

/// The sentence about a holder: how long, is it there, and when its ring would halt.
pub(super) fn on_holder(
    world: &World,
    observed: &Observed,
    view: &LaneView<'_>,
    holder: &Machine,
    now: Timestamp,
) -> Explanation {
    let ring = view.ring;
    let Some(lease) = &holder.lease else { return Explanation::of(format!("{} holds no slot", holder.hostname)) };
    let held = Seconds::between(lease.granted_at, now);
    let left = Seconds(ring.settings.stall_timeout_seconds.0.saturating_sub(world.stall_age(view.key, lease, now).0));
    let offline = world.is_online(observed, holder.id, now) == Some(false);
    let seen = observed.last_seen(holder.id);
    let away = match seen.filter(|_| offline) {
        Some(at) => format!(", offline for {}", Seconds::between(at, now)),
        None if offline => ", offline".to_owned(),
        None => String::new(),
    };
    let stall = match ring.settings.stall_timeout_seconds.is_off() {
        true => String::new(),
        false => format!(", {} halts in {left}", ring.slug),
    };
    let waiting = match view.queue().count() {
        0 => String::new(),
        n => format!(", {n} queued behind it"),
    };
    let next: &[&str] = match offline {
        true => &["bring the machine back: it goes on with its lease", "or pause it: the only skip"],
        false => &["wait for its report"],
    };
    Explanation::of(format!("{} has held its slot for {held}{away}{stall}{waiting}", holder.hostname))
        .on(&holder.hostname)
        .since(Some(lease.granted_at))
        .next(next)
}

fn on_window(world: &World, machine: MachineId, first: Timestamp, settle: Seconds, now: Timestamp) -> Explanation {
    let name = world.hostname(machine);
    let left = Seconds::between(now, settle.after(first));
    Explanation::of(format!("{name} settles for another {left}, then the next machine gets its slot"))
        .on(name)
        .since(Some(first))
        .next(&["wait: it ends by itself"])
}

/// A head that is offline and was never served has no timer: nobody but a reader will notice (R55).
fn on_head(world: &World, observed: &Observed, next: MachineId, now: Timestamp) -> Explanation {
    let name = world.hostname(next);
    let missing = world.machines.get(&next).and_then(|m| m.render_error.as_ref());
    if let Some(error) = missing {
        return Explanation::of(format!("{name} is next and cannot be rendered: {} missing", error.missing.join(", ")))
            .on(name)
            .since(Some(error.at))
            .next(&["add what is missing: its next poll gets the slot"]);
    }
    if world.is_online(observed, next, now) == Some(false) {
        return Explanation::of(format!("{name} is next, offline and holds no slot: no timer will fire"))
            .on(name)
            .since(observed.last_seen(next))
            .next(&["bring it back", "or pause it: the next machine gets the slot"]);
    }
    Explanation::of(format!("{name} is next and gets its slot at its next poll")).on(name).next(&["wait: a minute"])
}
