//! Simulated node agents: what one does, and when the whole roster does it.

pub mod behaviour;
pub mod agent;
pub mod roster;
