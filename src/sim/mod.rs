//! A world behind the same ports: virtual time, a seeded executor, agents, operators.

// Ground: who goes next, and what time it is.
pub mod shared;
pub mod executor;
pub mod pending;
pub mod clock;

// The ports of a simulated process, the lines that lead to them, and where it stands on its way.
pub mod trail;
pub mod line;
mod fence;
mod book;
pub mod journal;
pub mod stores;
pub mod renderer;
pub mod cluster;
pub mod host;

// Who acts: node agents, people, fate.
pub mod agents;
pub mod operator;
pub mod post;
pub mod script;
pub mod fleet;

// All of it in motion, and what a witness sees of it.
pub mod record;
pub mod toll;
mod errands;
pub mod attached;
pub mod stage;

// Worlds worth looking at.
pub mod presets;

// Worlds from files, with what must be seen of them.
pub mod scenario;

// Worlds nobody thought of, with faults.
pub mod seeds;
