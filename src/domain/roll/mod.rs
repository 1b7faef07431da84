//! Fleet rolls: an image through a fleet of nodes, canary, gate, one node after another, each proven green (F1-F60).

// What is seen of the fleet.
pub mod sight;

// Facts.
pub mod spec;
pub mod node;
pub mod fleet_roll;
pub mod totals;
pub mod change;
pub mod rolls;
mod apply;
pub mod past;

// What people ask for, and why not.
pub mod verb;
pub mod refusal;

// Questions a decision asks.
pub mod order;
pub mod quorum;
pub mod partition;
pub mod probe;
pub mod due;
pub mod green;
pub mod eta;

// What people see of it, in the same words everywhere.
pub mod words;
pub mod host;
pub mod advice;

// What is written to the cluster.
pub mod manifest;
pub mod wanted;

// What must never be true of it.
pub mod invariants;
