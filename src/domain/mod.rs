//! The decision core: nouns, the one decision function and what can be said about a world. Pure and total.

// Nouns.
pub mod ids;
pub mod span;
pub mod release;
pub mod fleet;
pub mod rollout;
pub mod kura;
pub mod roll;
pub mod observed;

// The world and its one fold.
pub mod change;
pub mod bucket;
pub mod lane;
mod brake;
pub mod keys;
pub mod world;
mod apply;

// Questions and answers.
pub mod input;
pub mod refusal;
pub mod verdict;
pub mod audit;

// The one decision, and what follows from it.
pub mod decide;
pub mod nudge;
pub mod plan;

// What can be said about a world.
pub mod rows;
pub mod hold;
pub mod failure_mode;
pub mod preflight;
pub mod glimpse;
pub mod explain;
pub mod fallback;

// What must never be true of one.
pub mod invariants;

#[cfg(test)]
pub(crate) mod tests;
