//! Where a control plane keeps things: the journal, and what lies beside it, in each of the ways there are.

pub mod journal;
pub mod presence;
pub mod results;
pub mod vault;
pub mod open;
