//! Worlds of faults: two to four processes on one journal, and everything that goes wrong between them and the rest.

// What happens.
pub mod generate;

// What must be true of the seat and of consoles, and what was seen.
pub(super) mod seats;
mod ladder;
pub mod tally;
pub(super) mod patrol;
