//! Fleets of nodes that rolls go through: what happens to them, what must be true of every verdict, and the happy end.

pub mod acts;
pub(super) mod generate;
pub mod steps;
mod naive;
mod figures;
mod heal;
