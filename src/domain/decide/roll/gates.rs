//! Gates: opened or kept shut by a person, for the revision and the wait they were shown with (F54).

use jiff::Timestamp;

use super::super::super::ids::RollId;
use super::super::super::input::Order;
use super::super::super::roll::change::RollChange;
use super::super::super::roll::fleet_roll::{Ending, Roll};
use super::super::super::roll::refusal::RollRefusal;
use super::super::super::verdict::Reply;
use super::super::draft::Draft;
use super::verbs::{Done, live};

/// What a decision was shown with: the revision, and since when it waited.
pub(super) type Shown<'a> = (&'a String, Option<Timestamp>);

/// Opens it. Where there is another one, that waits from now on (F37).
pub(super) fn approve(draft: &mut Draft<'_>, order: &Order, id: RollId, gate: &str, shown: Shown<'_>) -> Done {
    let roll = live(draft, id)?;
    let gate = checked(&roll, gate, shown)?;
    draft.note(RollChange::GateApproved { roll: id, gate, by: order.by.clone() });
    reach(draft, id);
    Ok(Reply::Done)
}

/// Ends the roll; what is staged stays, and nothing else was changed (F20).
pub(super) fn deny(draft: &mut Draft<'_>, order: &Order, id: RollId, gate: &str, shown: Shown<'_>) -> Done {
    let roll = live(draft, id)?;
    let gate = checked(&roll, gate, shown)?;
    let (by, reason) = (order.by.clone(), order.reason.clone());
    draft.note(RollChange::Ended { roll: id, ending: Ending::Denied { gate, by, reason } });
    Ok(Reply::Done)
}

/// It waits, with that revision, since then. The name it has: people write it as they see it, in capitals on the command
/// line (F43).
fn checked(roll: &Roll, gate: &str, (revision, since): Shown<'_>) -> Result<String, RollRefusal> {
    let waiting = roll.gate.as_ref().filter(|known| known.gate.eq_ignore_ascii_case(gate));
    let Some(waiting) = waiting else {
        let waiting = roll.gate.as_ref().map(|known| known.gate.clone());
        let (revision, gate) = (roll.revision.clone(), gate.to_owned());
        return Err(RollRefusal::NotAwaiting { roll: roll.name(), revision, gate, waiting });
    };
    if *revision != roll.revision || since.is_some_and(|since| since != waiting.since) {
        let since_given = since.map_or_else(String::new, |since| format!(" since {since}"));
        return Err(RollRefusal::Outdated {
            gate: waiting.gate.clone(),
            revision: roll.revision.clone(),
            since: waiting.since,
            given: format!("{revision}{since_given}"),
        });
    }
    Ok(waiting.gate.clone())
}

/// The next gate waits, where there is one and the canary is green.
pub(super) fn reach(draft: &mut Draft<'_>, id: RollId) {
    let next = draft.world().rolls.roll(id).filter(|roll| roll.gate.is_none() && roll.is_live());
    if let Some(gate) = next.and_then(Roll::next_gate).map(str::to_owned) {
        draft.note(RollChange::GateReached { roll: id, gate });
    }
}
