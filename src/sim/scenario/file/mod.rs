//! Scenario files as text: values with their places, and the types that are read from them.

// How anything is read.
pub mod place;
mod hint;
pub mod node;
pub mod read;
mod tagged;
pub mod moment;
pub mod name;

// The world at the start.
pub mod given;
pub mod kura_given;

// What happens: one file per family of verbs.
pub mod agents;
pub mod rollouts;
pub mod faults;
pub mod console;
pub mod kura;
pub mod rolls;
pub mod act;

// What is looked at, and what must be true of it.
pub mod view;
pub mod expect;
pub mod expectation;

// All of it.
pub mod scenario;
