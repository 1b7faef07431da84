//! What came of steps, as facts: what can never be done ends its roll, anything else is told and tried again.

use super::super::super::kura::step::{Outcome, Purpose, Ran, RollWork};
use super::super::super::roll::change::RollChange;
use super::super::super::roll::fleet_roll::Ending;
use super::super::super::roll::node::{StepName, Verdict};
use super::super::draft::Draft;
use super::finish::fails;
use super::turn::Move;

/// Records one outcome. Trouble is told once, and once more when it is over.
pub(super) fn record(draft: &mut Draft<'_>, ran: &Ran) {
    let Purpose::Roll { roll, node, work } = &ran.step.purpose else { return };
    let Some(id) = roll else { return asked(draft, node, *work, &ran.outcome) };
    let Some(roll) = draft.world().rolls.roll(*id).cloned() else { return };
    let (object, trouble) = (&ran.step.object, ran.outcome.trouble());
    if ran.outcome != Outcome::Stale && roll.troubles.get(&object.to_string()) != trouble.as_ref() {
        draft.note(RollChange::WriteTroubled { roll: *id, object: object.clone(), trouble });
    }
    let RollWork::Step(step) = work else { return };
    let runs = roll.in_turn() == Some(node.as_str()) && *step != StepName::Stage;
    if let Some(never) = never(&ran.outcome).filter(|_| runs)
        && let Move::Fails(reason) = fails(draft, &roll, node, *step, never)
    {
        draft.note(RollChange::Ended { roll: *id, ending: Ending::Failed { reason } });
    }
}

/// A probe that a person asked for and that can never be made is answered all the same.
fn asked(draft: &mut Draft<'_>, node: &str, work: RollWork, outcome: &Outcome) {
    let waits = work == RollWork::Probe && draft.world().rolls.asked.contains_key(node);
    if let Some(why) = never(outcome).filter(|_| waits) {
        let (verdict, reason) = (Verdict::NotProven, format!("{node} is not proven: its probe cannot be made ({why})"));
        let (node, started_at) = (node.to_owned(), draft.now);
        draft.note(RollChange::Found { roll: None, node, verdict, reason, started_at, passive: false });
    }
}

/// Why something can never be done.
fn never(outcome: &Outcome) -> Option<&str> {
    match outcome {
        Outcome::Invalid { why } | Outcome::Forbidden { why } => Some(why),
        _ => None,
    }
}
