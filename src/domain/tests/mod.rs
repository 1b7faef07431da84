//! The rules of ring rollouts, one test per rule or row of a table, each naming what it proves.

mod rig;
mod audit;
mod kura;
pub(crate) mod roll;
mod scope;
mod leases;
mod queue;
mod settling;
mod stalls;
mod failures;
mod promotion;
mod starting;
mod pausing;
mod plans;
mod plan_lines;
mod stopping;
mod settings;
mod membership;
mod sentences;
mod failure_modes;
mod preflight;
mod unattended;
mod states;
mod reasons;
mod content;
mod corners;
mod random;
