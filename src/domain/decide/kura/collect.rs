//! Gateways nobody names any more, deleted after the apply that led away from them, with their class (K42, K43).

use super::super::super::kura::incidents::{class_of, used_classes};
use super::super::super::kura::object::{ACCOUNT_LABEL, ObjectKind, ObjectRef, REGION_LABEL};
use super::super::super::kura::server::Server;
use super::super::super::kura::sight::Sight;
use super::super::super::kura::step::{Deed, Purpose, Step};
use super::super::super::kura::traffic::Gateway;
use super::super::draft::Draft;

/// Never on an empty, failed or stale reading; the pass has asked for fresh instances already.
pub(super) fn collect(draft: &mut Draft<'_>, sight: &Sight) {
    if sight.instances.rows.is_empty() || !sight.gateways.is_fresh(draft.now) {
        return;
    }
    let used = used_classes(&draft.world().kura, sight);
    let staying = sight.gateways.rows.values().filter(|gateway| !gateway.stamp.is_leaving());
    for gateway in staying.filter(|gateway| !used.contains(class_of(gateway))) {
        if was_left(draft, gateway) {
            delete(draft, sight, gateway, &Purpose::Collect);
        }
    }
}

/// An apply for the tenant and region of its labels succeeded after it was created.
fn was_left(draft: &Draft<'_>, gateway: &Gateway) -> bool {
    let left = |server: &Server| {
        let ours = gateway.stamp.label(ACCOUNT_LABEL) == Some(&server.tenant)
            && gateway.stamp.label(REGION_LABEL) == Some(&server.region);
        ours && server.applied.as_ref().is_some_and(|applied| gateway.stamp.created_at < applied.at)
    };
    draft.world().kura.servers.values().any(left)
}

/// The gateway and the class of the cluster that only it served.
pub(super) fn delete(draft: &mut Draft<'_>, sight: &Sight, gateway: &Gateway, purpose: &Purpose) {
    let name = &gateway.stamp.name;
    let mut step = |kind, name: &str, from| {
        let (object, purpose) = (ObjectRef::new(kind, name), purpose.clone());
        draft.step(Step { object, deed: Deed::Delete { from }, purpose });
    };
    step(ObjectKind::KuraGateway, name, gateway.stamp.version());
    let class = gateway.class.as_ref().unwrap_or(name);
    let others = |other: &Gateway| other.stamp.uid != gateway.stamp.uid && other.class.as_ref() == Some(class);
    let shared = sight.gateways.rows.values().any(others);
    if let Some(row) = sight.classes.get(class).filter(|row| !shared && !row.stamp.is_leaving()) {
        step(ObjectKind::IngressClass, class, row.stamp.version());
    }
}
