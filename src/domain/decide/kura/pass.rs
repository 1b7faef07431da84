//! The reconciler's pass over the estate: schedule, then bring every server a step nearer to what is wanted of it.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::super::super::kura::change::KuraChange;
use super::super::super::kura::front::{Front, front};
use super::super::super::kura::object::{ObjectKind, ObjectRef, Stamp};
use super::super::super::kura::rested::{Rest, is_settled};
use super::super::super::kura::server::{Server, ServerStatus};
use super::super::super::kura::sight::Sight;
use super::super::super::kura::step::{Deed, Purpose, Ran, STEPS_PER_PASS, Step};
use super::super::super::kura::ways::Ways;
use super::super::super::observed::Observed;
use super::super::draft::Draft;
use super::collect::ClassUse;
use super::{collect, converge, destroy, forgive, project, ran, roll, schedule};

/// A tick: newest intent first, whether or not the cluster can be seen; then the cluster.
pub(in super::super) fn ticked(draft: &mut Draft<'_>, observed: &Observed) {
    if draft.world().kura.is_empty() {
        return;
    }
    schedule::schedule(draft);
    if let Some(sight) = &observed.cluster {
        tend(draft, sight);
    }
    draft.limit_steps(STEPS_PER_PASS);
}

/// Steps were carried out, or the cluster looks otherwise. What was tried since the tick is not tried again before the
/// next one: what is seen of it may lag behind what was written.
pub(in super::super) fn seen(
    draft: &mut Draft<'_>,
    observed: &Observed,
    outcomes: &[Ran],
    tried: &BTreeSet<ObjectRef>,
) {
    outcomes.iter().for_each(|one| ran::record(draft, one));
    if let Some(sight) = &observed.cluster {
        outcomes.iter().for_each(|one| collect::leave_class(draft, sight, one));
        tend(draft, sight);
    }
    draft.drop_steps(|step| tried.contains(&step.object) || outcomes.iter().any(|one| one.step.object == step.object));
    draft.limit_steps(STEPS_PER_PASS);
}

/// Every server that is not at rest in the order in which they were added, then what is nobody's. Nothing is written on a
/// reading of instances that is not fresh (K27); who serves is told by the endpoints all the same (K2).
fn tend(draft: &mut Draft<'_>, sight: &Sight) {
    let is_seen = sight.instances.is_fresh(draft.now);
    // What is decided about one server changes no other.
    let (servers, rested) = (draft.world().kura.servers.clone(), draft.world().kura.rested.clone());
    let (mut rest, due) = Rest::begin(rested.take(), &servers, sight, draft.now);
    let due = due.iter().filter_map(|id| servers.get(id));
    let mut due: Vec<&Server> = due.filter(|one| one.status != ServerStatus::Destroyed).collect();
    due.sort_by_cached_key(|server| server.number);
    let ways = Ways::of(sight);
    for server in due {
        let (told, first) = (draft.told(), draft.step_count());
        match server.status {
            ServerStatus::Destroying if is_seen => destroy::destroy(draft, sight, server),
            ServerStatus::Destroying => {}
            _ => serve(draft, &ways, server, is_seen),
        }
        if is_seen && !server.troubles.is_empty() {
            forgive::forgive(draft, sight, &since(draft, server, told), first);
        }
        let is_idle = draft.told() == told && draft.step_count() == first;
        note_rest(&mut rest, sight, server, is_idle);
    }
    rested.leave(rest);
    if is_seen {
        collect::collect(draft, sight);
        remove_what_was_asked(draft, sight);
    }
}

/// Whether the next pass has to look at a server for which this one did what it could.
fn note_rest(rest: &mut Rest, sight: &Sight, server: &Server, is_idle: bool) {
    if !is_idle || !is_settled(server) {
        rest.is_busy(server.id);
        return;
    }
    let imprint = server.wanted_tag().map(|tag| server.imprint(tag));
    let gateway = imprint.as_ref().and_then(|imprint| imprint.gateway.as_deref());
    let front = front(server, sight);
    let endpoint = front.as_ref().map(Front::key);
    rest.rests(server.id, [Some(server.instance_name.as_str()), gateway, endpoint.as_deref()].into_iter().flatten());
}

/// Each question on what the one before has left of the server; mostly that is what it was.
fn serve(draft: &mut Draft<'_>, ways: &Ways<'_>, server: &Server, is_seen: bool) {
    let (sight, told) = (ways.sight, draft.told());
    if is_seen {
        converge::converge(draft, ways, server);
        roll::roll(draft, sight, &since(draft, server, told));
    }
    project::project(draft, sight, &since(draft, server, told));
}

/// A server as it is by now, given how many facts had been told when it was `server`.
pub(super) fn since<'a>(draft: &Draft<'_>, server: &'a Server, told: usize) -> Cow<'a, Server> {
    let now = || draft.world().kura.servers.get(&server.id).cloned();
    match draft.told() == told {
        true => Cow::Borrowed(server),
        false => now().map_or(Cow::Borrowed(server), Cow::Owned),
    }
}

/// Under the version that is seen now; another object of the same name is left alone, and so is a class that came into
/// use again. What cannot be read now is not taken for gone.
fn remove_what_was_asked(draft: &mut Draft<'_>, sight: &Sight) {
    for asked in draft.world().kura.asked.clone() {
        let contact = match asked.object.kind {
            ObjectKind::KuraGateway => &sight.gateways.contact,
            ObjectKind::IngressClass => &sight.classes.contact,
            _ => &sight.instances.contact,
        };
        if !contact.is_fresh(draft.now) {
            continue;
        }
        let done = |draft: &mut Draft<'_>| {
            let (object, uid, finalizer) = (asked.object.clone(), asked.uid.clone(), asked.finalizer.clone());
            draft.tell(KuraChange::AskedDone { object, uid, finalizer, trouble: None });
        };
        let left = match asked.object.kind {
            ObjectKind::IngressClass => collect::class_use(draft, sight, &asked.object.name, asked.at),
            _ => ClassUse::Nobody,
        };
        if left == ClassUse::Lagging {
            continue;
        }
        let is_it = |stamp: &&Stamp| stamp.uid == asked.uid && left == ClassUse::Nobody;
        let Some(stamp) = stamp_of(sight, &asked.object).filter(is_it) else {
            done(draft);
            continue;
        };
        let deed = match &asked.finalizer {
            Some(finalizer) if !stamp.finalizers.contains(finalizer) => {
                done(draft);
                continue;
            }
            Some(finalizer) => Deed::StripFinalizer { from: stamp.version(), finalizer: finalizer.clone() },
            None if stamp.is_leaving() => continue,
            None => Deed::Delete { from: stamp.version() },
        };
        draft.step(Step { object: asked.object.clone(), deed, purpose: Purpose::Asked });
    }
}

fn stamp_of<'a>(sight: &'a Sight, object: &ObjectRef) -> Option<&'a Stamp> {
    match object.kind {
        ObjectKind::IngressClass => sight.classes.get(&object.name).map(|class| &class.stamp),
        ObjectKind::KuraGateway => sight.gateways.get(&object.name).map(|gateway| &gateway.stamp),
        ObjectKind::KuraInstance => sight.instances.get(&object.name).map(|live| &live.stamp),
        _ => None,
    }
}
