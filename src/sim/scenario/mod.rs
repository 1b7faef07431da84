//! Scenario files: a world, what happens to it, and what must be seen.

// The file.
pub mod file;
mod ids;

// The world at the start.
mod prelude;
mod underway;
mod enrolment;
mod estate;

// What a run stands on, and what it remembers.
mod ground;
mod process;
pub mod ladders;
mod ticks;
mod requests;
mod records;
mod witness;

// What happens.
mod playbill;
mod agents;
mod calm;
mod call;
mod acts;
pub mod screens;
mod seats;
mod check;

// What is seen, and whether it is what was expected.
mod dress;
mod views;
mod look;
mod judge;

// All of it in motion.
pub mod run;
pub mod live;
pub mod report;
pub mod schema;
