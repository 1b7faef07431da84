//! Troubles that are over although nothing was written since: nobody wants that write any more.

use super::super::super::ids::RollId;
use super::super::super::kura::object::{ObjectKind, ObjectRef};
use super::super::super::roll::change::RollChange;
use super::super::draft::Draft;

/// Kinds that rolls write to.
const WRITTEN: [ObjectKind; 3] = [ObjectKind::Pod, ObjectKind::Job, ObjectKind::Node];

/// Ends the troubles of writes that are not among those the pass decided, the steps from `first` on.
pub(super) fn forgive(draft: &mut Draft<'_>, first: usize) {
    let rolls = draft.world().rolls.rolls.iter();
    let troubled: Vec<(RollId, String)> =
        rolls.flat_map(|roll| roll.troubles.keys().map(|object| (roll.id, object.clone()))).collect();
    for (roll, known) in troubled {
        let wanted = draft.steps_from(first).iter().any(|step| step.object.to_string() == known);
        if let Some(object) = ObjectRef::told(&known, &WRITTEN).filter(|_| !wanted) {
            draft.note(RollChange::WriteTroubled { roll, object, trouble: None });
        }
    }
}
