//! What entries of `when` do: one file per family of verbs.

mod perform;
mod agents;
mod rollouts;
mod faults;
mod console;
mod kura;
mod rolls;
