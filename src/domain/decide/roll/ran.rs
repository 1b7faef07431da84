//! What came of steps, as facts: what can never be done ends its roll, anything else is told and tried again.

use super::super::super::kura::step::{Outcome, Purpose, Ran, RollWork};
use super::super::super::roll::change::RollChange;
use super::super::super::roll::fleet_roll::Ending;
use super::super::super::roll::node::StepName;
use super::super::draft::Draft;
use super::finish::fails;
use super::turn::Move;

/// Records one outcome. Trouble is told once, and once more when it is over.
pub(super) fn record(draft: &mut Draft<'_>, ran: &Ran) {
    let Purpose::Roll { roll: Some(id), node, work } = &ran.step.purpose else { return };
    let Some(roll) = draft.world().rolls.roll(*id).cloned() else { return };
    let (object, trouble) = (&ran.step.object, ran.outcome.trouble());
    if ran.outcome != Outcome::Stale && roll.troubles.get(&object.to_string()) != trouble.as_ref() {
        draft.note(RollChange::WriteTroubled { roll: *id, object: object.clone(), trouble });
    }
    let RollWork::Step(step) = work else { return };
    let never = match &ran.outcome {
        Outcome::Invalid { why } | Outcome::Forbidden { why } => why,
        _ => return,
    };
    let runs = roll.in_turn() == Some(node.as_str()) && *step != StepName::Stage;
    if runs && let Move::Fails(reason) = fails(draft, &roll, node, *step, never) {
        draft.note(RollChange::Ended { roll: *id, ending: Ending::Failed { reason } });
    }
}
