//! Troubles that are over although nothing was written since: nobody wants that write any more (K27, K39).

use super::super::super::kura::change::KuraChange;
use super::super::super::kura::deployment::DeploymentStatus;
use super::super::super::kura::object::{ObjectKind, ObjectRef};
use super::super::super::kura::server::Server;
use super::super::super::kura::sight::Sight;
use super::super::super::kura::step::Step;
use super::super::draft::Draft;

/// Kinds that are written for a server.
const WRITTEN: [ObjectKind; 3] = [ObjectKind::KuraInstance, ObjectKind::KuraGateway, ObjectKind::Pod];

/// Ends the troubles of writes that are not among those the pass decided for the server, the steps from `first` on. What
/// cannot be read now is wanted as little as it is not wanted: its troubles stay.
pub(super) fn forgive(draft: &mut Draft<'_>, sight: &Sight, server: &Server, first: usize) {
    for object in server.troubles.keys().filter_map(|object| ObjectRef::told(object, &WRITTEN)) {
        let wanted = draft.steps_from(first).iter().any(|step: &Step| step.object == object);
        if !wanted && is_judged(draft, sight, server, object.kind) {
            draft.tell(KuraChange::WriteTroubled { server: server.id, object, trouble: None });
        }
    }
}

/// The pass could tell whether such an object is to be written. An instance is not written either while somebody else
/// writes it back (K28), or after its manifest was refused for good: there the trouble says why.
fn is_judged(draft: &Draft<'_>, sight: &Sight, server: &Server, kind: ObjectKind) -> bool {
    match kind {
        ObjectKind::Pod => sight.pods.is_fresh(draft.now) && sight.sets.is_fresh(draft.now),
        ObjectKind::KuraGateway => sight.gateways.is_fresh(draft.now),
        _ => {
            let refused = server.deployments.last().is_some_and(|row| row.status == DeploymentStatus::Failed);
            !refused && server.tug_of_war().is_none()
        }
    }
}
