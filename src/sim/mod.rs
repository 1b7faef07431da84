//! A world behind the same ports: virtual time, a seeded executor, agents, operators.

// Ground: who goes next, and what time it is.
pub mod shared;
pub mod executor;
pub mod pending;
pub mod clock;

// The ports of a simulated process.
pub mod journal;
pub mod stores;
pub mod host;
