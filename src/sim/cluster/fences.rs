//! Who had the seat when a write was taken: whoever lost it finishes what is in flight, and never over a write of
//! somebody who took it since.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::super::shared::Shared;
use super::super::toll::{Mishap, Toll};
use crate::domain::ids::Epoch;
use crate::domain::kura::object::ObjectRef;
use crate::domain::kura::step::{Outcome, Step};

/// A write that was taken from somebody who had lost the seat.
#[derive(Debug, Clone)]
pub struct Beyond {
    /// When.
    pub at: Timestamp,
    /// From whom.
    pub process: String,
    /// Which epoch it had.
    pub epoch: Epoch,
    /// To what.
    pub object: ObjectRef,
}

/// A step that was answered.
pub(super) struct Answered<'a> {
    pub(super) step: &'a Step,
    pub(super) outcome: &'a Outcome,
    /// Something was written by it.
    pub(super) wrote: bool,
    /// There was such an object before it.
    pub(super) was_there: bool,
    /// It was begun in time, and arrived after its caller had given up.
    pub(super) was_under_way: bool,
    pub(super) at: Timestamp,
    pub(super) process: &'a str,
    /// The last epoch of that process, and that of the seat.
    pub(super) seat: Option<(Epoch, Epoch)>,
}

/// Everything noted of one cluster.
#[derive(Debug, Clone, Default)]
pub struct Fences {
    written_in: BTreeMap<ObjectRef, Epoch>,
    /// Writes of those who had lost the seat, in order.
    pub beyond: Vec<Beyond>,
}

impl Fences {
    /// Notes what became of a step. The rule it breaks, if it does.
    pub(super) fn note(&mut self, answered: &Answered<'_>, toll: &Shared<Toll>) -> Option<String> {
        let Answered { step, at, process, .. } = *answered;
        let (epoch, current) = answered.seat?;
        let count = |mishap| toll.with(|toll| toll.count(mishap));
        if !answered.wrote {
            if epoch < current && *answered.outcome == Outcome::Stale {
                count(Mishap::FencedWrite);
            }
            return None;
        }
        let before = self.written_in.insert(step.object.clone(), epoch);
        if epoch == current {
            return None;
        }
        count(Mishap::LastWrite);
        let (object, process) = (step.object.clone(), process.to_owned());
        // What was made anew was over nothing: whoever came since has taken it away, and finds it again.
        let over = before.filter(|before| *before > epoch && answered.was_there).map(|newer| {
            format!("A21: {process} wrote to {object} in epoch {epoch}, over the holder of epoch {newer}")
        });
        if !answered.was_under_way {
            self.beyond.push(Beyond { at, process, epoch, object });
        }
        over
    }
}
