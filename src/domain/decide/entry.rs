//! `decide`: the table of contents of everything the control plane ever decides.

use jiff::Timestamp;

use super::super::input::Input;
use super::super::observed::Observed;
use super::super::verdict::{Reply, Verdict};
use super::super::world::World;

/// Decides one input. Pure, total, and the same in every process: time is an argument, new identities come with it.
pub fn decide(world: &World, observed: &Observed, input: &Input, now: Timestamp) -> Verdict {
    let _ = (world, observed, input, now);
    Verdict { changes: Vec::new(), reply: Reply::Done }
}
