//! Things a person has taken away: gateways, finalizers, orphans. The pass does it, under the version it sees (K42-K45).

use super::super::super::input::Order;
use super::super::super::kura::change::KuraChange;
use super::super::super::kura::estate::{ASKED_MAX, Asked};
use super::super::super::kura::incidents::user_of;
use super::super::super::kura::object::{ObjectKind, ObjectRef, Stamp};
use super::super::super::kura::orphans::claimed_by;
use super::super::super::kura::refusal::KuraRefusal;
use super::super::super::kura::seen::{cluster, fresh};
use super::super::super::observed::Observed;
use super::super::super::verdict::Reply;
use super::super::draft::Draft;
use super::verbs::Done;

/// Only one that nobody names (K42).
pub(super) fn delete_gateway(draft: &mut Draft<'_>, observed: &Observed, order: &Order, name: &str) -> Done {
    let sight = cluster(observed)?;
    fresh("instances", &sight.instances, draft.now)?;
    fresh("gateways", &sight.gateways, draft.now)?;
    let gateway = sight.gateways.get(name).ok_or_else(|| not_there("gateway", name))?;
    if let Some(by) = user_of(gateway, &draft.world().kura, sight) {
        return Err(KuraRefusal::InUse { gateway: name.to_owned(), by });
    }
    if gateway.stamp.is_leaving() {
        return Ok(Reply::Done);
    }
    ask(draft, order, ObjectRef::new(ObjectKind::KuraGateway, name), &gateway.stamp, None)
}

/// Only by a person, only with a reason, and only where a deletion waits for it (K44).
pub(super) fn strip_finalizer(
    draft: &mut Draft<'_>,
    observed: &Observed,
    order: &Order,
    name: &str,
    finalizer: Option<&str>,
) -> Done {
    if order.reason.as_deref().is_none_or(|reason| reason.trim().is_empty()) {
        return Err(KuraRefusal::ReasonMissing);
    }
    let sight = cluster(observed)?;
    let gateway = sight.gateways.get(name).map(|gateway| (ObjectKind::KuraGateway, &gateway.stamp));
    let instance = sight.instances.get(name).map(|live| (ObjectKind::KuraInstance, &live.stamp));
    let found = gateway.or(instance);
    let (kind, stamp) = found.ok_or_else(|| not_there("gateway or instance", name))?;
    let object = ObjectRef::new(kind, name);
    if !stamp.is_leaving() {
        return Err(KuraRefusal::NotLeaving { what: object.to_string() });
    }
    let finalizer = meant(&object, stamp, finalizer)?;
    ask(draft, order, object, stamp, Some(finalizer))
}

/// The finalizer that is meant: the one that is named, else the only one there is.
fn meant(object: &ObjectRef, stamp: &Stamp, named: Option<&str>) -> Result<String, KuraRefusal> {
    match (named, stamp.finalizers.as_slice()) {
        (Some(named), all) if all.iter().any(|known| known == named) => Ok(named.to_owned()),
        (None, [only]) => Ok(only.clone()),
        (Some(named), _) => Err(not_there("finalizer", &format!("{named} on {object}"))),
        (None, []) => Err(not_there("finalizer", &format!("on {object}"))),
        (None, all) => Err(KuraRefusal::WhichFinalizer { what: object.to_string(), finalizers: all.join(", ") }),
    }
}

/// Only one that nobody claims (K45).
pub(super) fn delete_orphan(draft: &mut Draft<'_>, observed: &Observed, order: &Order, name: &str) -> Done {
    let sight = cluster(observed)?;
    fresh("instances", &sight.instances, draft.now)?;
    let live = sight.instances.get(name).ok_or_else(|| not_there("instance", name))?;
    if let Some(by) = claimed_by(&draft.world().kura, live) {
        return Err(KuraRefusal::NotAnOrphan { instance: name.to_owned(), by });
    }
    if live.stamp.is_leaving() {
        return Ok(Reply::Done);
    }
    ask(draft, order, ObjectRef::new(ObjectKind::KuraInstance, name), &live.stamp, None)
}

pub(super) fn not_there(kind: &str, name: &str) -> KuraRefusal {
    KuraRefusal::NotThere { what: format!("{kind} {name}") }
}

/// Asked for twice is asked for once.
fn ask(draft: &mut Draft<'_>, order: &Order, object: ObjectRef, stamp: &Stamp, finalizer: Option<String>) -> Done {
    let waiting = &draft.world().kura.asked;
    if waiting.iter().any(|asked| (&asked.object, &asked.uid, &asked.finalizer) == (&object, &stamp.uid, &finalizer)) {
        return Ok(Reply::Done);
    }
    if waiting.len() >= ASKED_MAX {
        return Err(KuraRefusal::Full { what: "removals that wait", limit: ASKED_MAX });
    }
    let (by, at) = (order.by.clone(), draft.now);
    draft.tell(KuraChange::Asked { asked: Asked { object, uid: stamp.uid.clone(), finalizer, by, at } });
    Ok(Reply::Done)
}
