//! Generated worlds: a seed is a fleet, people, agents and faults; after every change the rules are checked.

// What happens.
pub mod profile;
pub mod plot;
mod pen;
mod fleet;
pub mod generate;
pub mod kura;
pub mod rolls;
pub mod faults;

// What must be true, read naively from the rules.
mod naive;
mod steps;
mod sky;
mod promises;
pub mod check;

// One world from its beginning to its happy end, and many.
mod heal;
pub mod play;
pub mod shrink;
pub mod run;
