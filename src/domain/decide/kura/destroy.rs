//! A server is taken down: its instance, then the gateways only it used, then it is gone (K51).

use super::super::super::ids::ServerId;
use super::super::super::kura::change::KuraChange;
use super::super::super::kura::incidents::user_of;
use super::super::super::kura::object::{ACCOUNT_LABEL, ObjectKind, ObjectRef, REGION_LABEL};
use super::super::super::kura::server::{Server, ServerStatus};
use super::super::super::kura::sight::Sight;
use super::super::super::kura::step::{Deed, Purpose, Step};
use super::super::super::kura::traffic::Gateway;
use super::super::draft::Draft;
use super::collect;

pub(super) fn destroy(draft: &mut Draft<'_>, sight: &Sight, server: &Server) {
    let id = server.id;
    if let Some(live) = sight.instances.get(&server.instance_name) {
        if !live.stamp.is_leaving() {
            let object = ObjectRef::new(ObjectKind::KuraInstance, &server.instance_name);
            let deed = Deed::Delete { from: live.stamp.version() };
            draft.step(Step { object, deed, purpose: Purpose::Destroy { server: id } });
        }
        return;
    }
    if !sight.gateways.is_fresh(draft.now) || looks_emptied(draft, sight, id) {
        return;
    }
    let left: Vec<Gateway> =
        sight.gateways.rows.values().filter(|one| is_only_its(draft, sight, server, one)).cloned().collect();
    for gateway in left.iter().filter(|gateway| !gateway.stamp.is_leaving()) {
        collect::delete(draft, gateway, &Purpose::Destroy { server: id });
    }
    if left.is_empty() {
        draft.tell(KuraChange::StatusChanged { server: id, status: ServerStatus::Destroyed });
    }
}

/// No instance at all is seen although others are to be there: that is no reading to take something down on.
fn looks_emptied(draft: &Draft<'_>, sight: &Sight, id: ServerId) -> bool {
    let stays = |other: &Server| other.id != id && !other.status.is_leaving() && other.applied.is_some();
    sight.instances.rows.is_empty() && draft.world().kura.servers.values().any(stays)
}

/// It carries the server's labels, and nobody else names it.
fn is_only_its(draft: &Draft<'_>, sight: &Sight, server: &Server, gateway: &Gateway) -> bool {
    gateway.stamp.label(ACCOUNT_LABEL) == Some(&server.tenant)
        && gateway.stamp.label(REGION_LABEL) == Some(&server.region)
        && user_of(gateway, &draft.world().kura, sight).is_none()
}
