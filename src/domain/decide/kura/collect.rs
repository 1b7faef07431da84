//! Gateways nobody names any more, deleted after the apply that led away from them, with their class (K42, K43).

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::super::super::kura::change::KuraChange;
use super::super::super::kura::estate::{ASKED_MAX, Asked, Estate};
use super::super::super::kura::incidents::{class_of, used_classes};
use super::super::super::kura::object::{ACCOUNT_LABEL, ObjectKind, ObjectRef, REGION_LABEL};
use super::super::super::kura::sight::Sight;
use super::super::super::kura::step::{Deed, Outcome, Purpose, Ran, Step};
use super::super::super::kura::traffic::Gateway;
use super::super::draft::Draft;

/// Who has the class of a collected gateway taken away.
const COLLECTOR: &str = "collector";

/// Never on an empty, failed or stale reading; the pass has asked for fresh instances already.
pub(super) fn collect(draft: &mut Draft<'_>, sight: &Sight) {
    if sight.instances.rows.is_empty() || !sight.gateways.is_fresh(draft.now) {
        return;
    }
    let left = left(&draft.world().kura, sight);
    if left.is_empty() {
        return;
    }
    let used = used_classes(&draft.world().kura, sight);
    for gateway in left.into_iter().filter(|gateway| !used.contains(class_of(gateway))) {
        delete(draft, gateway, &Purpose::Collect);
    }
}

/// Gateways that stay, and for whose tenant and region, as their labels say, an apply succeeded after they were created.
fn left<'a>(estate: &Estate, sight: &'a Sight) -> Vec<&'a Gateway> {
    let staying = || sight.gateways.rows.values().filter(|gateway| !gateway.stamp.is_leaving());
    let of = |gateway: &'a Gateway| Some((gateway.stamp.label(ACCOUNT_LABEL)?, gateway.stamp.label(REGION_LABEL)?));
    let places: BTreeSet<(&str, &str)> = staying().filter_map(of).collect();
    if places.is_empty() {
        return Vec::new();
    }
    let mut applied: BTreeMap<(&str, &str), Timestamp> = BTreeMap::new();
    for server in estate.servers.values() {
        let place = (server.tenant.as_str(), server.region.as_str());
        if let Some(last) = server.applied.as_ref().filter(|_| places.contains(&place)) {
            let known = applied.entry(place).or_insert(last.at);
            *known = last.at.max(*known);
        }
    }
    let since = |gateway: &'a Gateway| applied.get(&of(gateway)?);
    staying().filter(|gateway| since(gateway).is_some_and(|at| gateway.stamp.created_at < *at)).collect()
}

/// Deletes a gateway under the version it was seen in.
pub(super) fn delete(draft: &mut Draft<'_>, gateway: &Gateway, purpose: &Purpose) {
    let object = ObjectRef::new(ObjectKind::KuraGateway, &gateway.stamp.name);
    let deed = Deed::Delete { from: gateway.stamp.version() };
    draft.step(Step { object, deed, purpose: purpose.clone() });
}

/// A gateway was deleted: the class of the cluster that only it served is to go as well. Kept as a fact, so that a write
/// that fails is tried again when the gateway is long gone.
pub(super) fn leave_class(draft: &mut Draft<'_>, sight: &Sight, ran: &Ran) {
    let (object, is_delete) = (&ran.step.object, matches!(ran.step.deed, Deed::Delete { .. }));
    if object.kind != ObjectKind::KuraGateway || !is_delete || ran.outcome != Outcome::Done {
        return;
    }
    let class = sight.gateways.get(&object.name).map_or(object.name.as_str(), class_of);
    let shared = sight.gateways.rows.values().any(|other| other.stamp.name != object.name && class_of(other) == class);
    let Some(row) = sight.classes.get(class).filter(|row| !shared && !row.stamp.is_leaving()) else { return };
    let (object, uid, at) = (ObjectRef::new(ObjectKind::IngressClass, class), row.stamp.uid.clone(), draft.now);
    let waiting = &draft.world().kura.asked;
    if waiting.len() < ASKED_MAX && waiting.iter().all(|asked| asked.object != object || asked.uid != uid) {
        let (finalizer, by) = (None, COLLECTOR.to_owned());
        draft.tell(KuraChange::Asked { asked: Asked { object, uid, finalizer, by, at } });
    }
}

/// Who stands on the class of a gateway that was deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClassUse {
    /// Nobody: it may go.
    Nobody,
    /// A gateway that is older than its deletion: the reading lags behind what was written.
    Lagging,
    /// An instance, a manifest, or a gateway that was made since: it stays.
    Again,
}

/// Who stands on a class whose gateway was deleted at `since`.
pub(super) fn class_use(draft: &Draft<'_>, sight: &Sight, class: &str, since: Timestamp) -> ClassUse {
    if used_classes(&draft.world().kura, sight).contains(class) {
        return ClassUse::Again;
    }
    let staying = sight.gateways.rows.values().filter(|gateway| !gateway.stamp.is_leaving());
    match staying.filter(|gateway| class_of(gateway) == class).map(|gateway| gateway.stamp.created_at).max() {
        None => ClassUse::Nobody,
        Some(newest) if newest > since => ClassUse::Again,
        Some(_) => ClassUse::Lagging,
    }
}
