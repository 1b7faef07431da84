//! Verbs as commands: what is meant, what would follow, how much is asked, sent once, and what came of it.

pub mod args;
pub mod manner;
pub mod span;
pub mod names;
pub mod aim;
pub mod rollouts;
pub mod fleet;
pub mod tiers;
pub mod account;
pub mod kura;
pub mod cluster;
pub mod rolls;
pub mod start_roll;
pub mod friction;
pub mod ask;
pub mod send;
pub mod record;
pub mod tell;
pub mod witness;
mod basic;
pub mod run;
