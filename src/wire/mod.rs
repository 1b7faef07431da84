//! Bodies of the HTTP API and of records on disk: exact shapes, locked by golden files.

// How anything is read, and what goes wrong.
pub mod problem;
mod trouble;
pub mod body;
pub mod depth;
pub mod values;
pub mod place;
pub mod reason;

// The nouns.
pub mod account;
pub mod environment;
pub mod ring;
pub mod machine;
pub mod release;
pub mod rollout;
pub mod secret;
pub mod kura;
pub mod roll;
pub mod result;

// What is said about them.
pub mod status;
pub mod told;
pub mod explain;
pub mod gauges;
pub mod counters;

// Agents.
pub mod agent;

// Everything together.
pub mod world;
pub mod stream;
pub mod sight;
pub mod process;
pub mod audit;

// A verb as a request, what would follow, and what is said to it.
pub mod call;
pub mod plan;
pub mod answer;
