//! The plan of a verb: everything that would follow, rehearsed with the one decision function and changing nothing.

mod thing;
mod moved;
mod outline;
mod rehearsal;
mod fleet;
mod ring;
mod kura;
mod roll;
mod written;

pub use moved::{Moved, moved};
pub use outline::{EndedLease, Plan, PlanKind, PlanLine, plan};
pub use thing::{Thing, touched};
