//! What people do about fleet rolls.

use super::super::super::ids::RollId;
use super::super::super::input::Order;
use super::super::super::observed::Observed;
use super::super::super::roll::change::RollChange;
use super::super::super::roll::fleet_roll::{Ending, Roll};
use super::super::super::roll::refusal::RollRefusal;
use super::super::super::roll::rolls::ASKED_MAX;
use super::super::super::roll::sight::FleetSight;
use super::super::super::roll::verb::RollVerb;
use super::super::super::verdict::Reply;
use super::super::draft::Draft;
use super::{gates, start};

pub(in super::super) fn verb(draft: &mut Draft<'_>, observed: &Observed, order: &Order, verb: &RollVerb) -> Reply {
    let done = match verb {
        RollVerb::Start { .. } => start::start(draft, observed, order, verb),
        RollVerb::Approve { roll, gate, revision, awaiting_since } => {
            gates::approve(draft, order, *roll, gate, (revision, *awaiting_since))
        }
        RollVerb::Deny { roll, gate, revision, awaiting_since } => {
            gates::deny(draft, order, *roll, gate, (revision, *awaiting_since))
        }
        RollVerb::Abort { roll } => abort(draft, order, *roll),
        RollVerb::Probe { node } => probe(draft, observed, order, node),
        RollVerb::Uncordon { node } => uncordon(draft, order, node),
    };
    done.unwrap_or_else(|refusal| Reply::Refused(refusal.into()))
}

/// What a verb comes to.
pub(super) type Done = Result<Reply, RollRefusal>;

/// A roll that goes on.
pub(super) fn live(draft: &Draft<'_>, id: RollId) -> Result<Roll, RollRefusal> {
    let roll = draft.world().rolls.roll(id).cloned().ok_or(RollRefusal::NoRoll(id))?;
    match roll.is_live() {
        true => Ok(roll),
        false => Err(RollRefusal::Over { roll: roll.name(), state: roll.state().word() }),
    }
}

/// No node is touched any more; one in turn stays as it is, on the ledger. Repeating it is no error.
fn abort(draft: &mut Draft<'_>, order: &Order, id: RollId) -> Done {
    let roll = draft.world().rolls.roll(id).cloned().ok_or(RollRefusal::NoRoll(id))?;
    if roll.ended.as_ref().is_some_and(|ended| matches!(ended.ending, Ending::Aborted { .. })) {
        return Ok(Reply::Done);
    }
    live(draft, id)?;
    let ending = Ending::Aborted { by: order.by.clone(), reason: order.reason.clone() };
    draft.note(RollChange::Ended { roll: id, ending });
    Ok(Reply::Done)
}

/// The pass makes the probe; asked for twice it is made once.
fn probe(draft: &mut Draft<'_>, observed: &Observed, order: &Order, node: &str) -> Done {
    let fleet = fleet(observed)?;
    if let Some(why) = fleet.trouble(draft.now) {
        return Err(RollRefusal::Unseen { why });
    }
    if fleet.nodes.get(node).is_none() {
        return Err(RollRefusal::NoNode(node.to_owned()));
    }
    let asked = &draft.world().rolls.asked;
    if asked.contains_key(node) {
        return Ok(Reply::Done);
    }
    if asked.len() >= ASKED_MAX {
        return Err(RollRefusal::Full { what: "probes that wait", limit: ASKED_MAX });
    }
    draft.note(RollChange::ProbeAsked { node: node.to_owned(), by: order.by.clone() });
    Ok(Reply::Done)
}

/// Only a cordon of ours, and only once its roll has ended: the pass gives it back under the version it sees.
fn uncordon(draft: &mut Draft<'_>, order: &Order, node: &str) -> Done {
    let rolls = &draft.world().rolls;
    let cordon = rolls.ledger.get(node).ok_or_else(|| RollRefusal::NotOurs { node: node.to_owned() })?;
    if let Some(roll) = rolls.rolls.iter().find(|roll| roll.in_turn() == Some(node)) {
        return Err(RollRefusal::InTurn { node: node.to_owned(), roll: roll.name() });
    }
    if cordon.asked_by.is_none() {
        draft.note(RollChange::UncordonAsked { node: node.to_owned(), by: order.by.clone() });
    }
    Ok(Reply::Done)
}

/// The fleet, where a cluster is connected.
pub(super) fn fleet(observed: &Observed) -> Result<&FleetSight, RollRefusal> {
    let sight = observed.cluster.as_ref().map(|sight| &sight.fleet);
    sight.ok_or_else(|| RollRefusal::Unseen { why: super::super::super::kura::sight::NO_CLUSTER.to_owned() })
}
