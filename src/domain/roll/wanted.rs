//! Whether a step that was decided a moment ago is still to be carried out: looked at once more right before it is, so
//! that a person who stops a roll stops it (F60).

use super::super::kura::step::{Purpose, RollWork, Step};
use super::fleet_roll::Roll;
use super::rolls::Rolls;

/// A step of a roll is, while the roll goes on; giving a node back, while a person wants that. Probes, and taking away
/// what is ours, outlive it.
pub fn is_wanted(step: &Step, rolls: &Rolls) -> bool {
    match &step.purpose {
        Purpose::Roll { roll: Some(id), work: RollWork::Step(_), .. } => rolls.roll(*id).is_some_and(Roll::is_live),
        Purpose::Roll { node, work: RollWork::GiveBack, .. } => {
            rolls.ledger.get(node).is_some_and(|cordon| cordon.asked_by.is_some())
        }
        _ => true,
    }
}
